"""Texts without labels, for pre-training and word vectors."""
