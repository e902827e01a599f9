"""Where a task's examples come from, one kind of source per file."""
