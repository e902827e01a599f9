"""TFDS builders, one folder a corpus."""
