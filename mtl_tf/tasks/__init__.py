"""What a task is, groups of tasks, and their lookup by name."""
