"""What labels of classification may ask for."""
