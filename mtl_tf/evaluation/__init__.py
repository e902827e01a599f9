"""Metrics, the evaluator and its tables."""
