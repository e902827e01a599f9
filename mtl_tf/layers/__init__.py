"""Keras layers, one mechanism per file."""
