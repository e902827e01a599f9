"""What all command-line programs share: runner, help, flags, streams."""
