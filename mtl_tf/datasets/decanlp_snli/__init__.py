"""SNLI as question answering, as in decaNLP."""
