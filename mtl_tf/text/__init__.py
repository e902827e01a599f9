"""Strings to ids and back: tokenizers, vocabularies, pretrained vectors."""
