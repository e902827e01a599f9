"""Encoder, attention and decoder of multi-target translation."""
