"""Losses and predictions of the task types."""
