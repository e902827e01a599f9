"""Keras layers, one mechanism a file."""
