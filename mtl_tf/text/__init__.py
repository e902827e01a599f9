"""Strings to ids: tokenizers, vocabularies and pretrained vectors."""
