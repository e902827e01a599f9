"""TFDS builders, one folder for each corpus."""
