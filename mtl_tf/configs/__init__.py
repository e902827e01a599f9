"""One file an experiment; pure data."""
