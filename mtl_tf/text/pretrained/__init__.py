"""Presets of pretrained encoders."""
