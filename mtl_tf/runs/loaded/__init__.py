"""Runs and ensembles that are read again to predict and evaluate."""
