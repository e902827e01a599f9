"""Predictions for examples, from what a model gives, by task type."""
