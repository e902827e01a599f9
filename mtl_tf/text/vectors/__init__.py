"""Pretrained word vectors and their files."""
