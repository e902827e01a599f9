"""Sharing schemes, one per file."""
