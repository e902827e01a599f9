"""Tasks, the sources of their examples, and look-up of tasks by name."""
