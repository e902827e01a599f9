"""The examples of a run's tasks."""
