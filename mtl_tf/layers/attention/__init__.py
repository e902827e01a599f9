"""Self-attention and the Transformer."""
