"""Batches that other processes make."""
