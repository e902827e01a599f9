"""Multi-target translation."""
