"""Training on texts without labels, before the tasks."""
