"""Optimizers, learning rates, and what changes their updates."""
