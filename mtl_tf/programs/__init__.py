"""Shared parts of all command-line programs: runner, help, flags, streams."""
