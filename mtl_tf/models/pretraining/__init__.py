"""Models that learn from texts without labels."""
