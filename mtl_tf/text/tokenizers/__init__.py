"""Tokenizers, inside a served graph where they can be."""
