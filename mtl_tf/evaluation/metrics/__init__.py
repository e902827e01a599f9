"""Scores of predictions, from 0 to 100."""
