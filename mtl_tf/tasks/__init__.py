"""What a task is, where its examples come from, and tasks by name."""
