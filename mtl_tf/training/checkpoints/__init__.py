"""States and weights on disk."""
