"""Linear models to compare with."""
