"""Pretrained encoders, with adapters and long texts."""
