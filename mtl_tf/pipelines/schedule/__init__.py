"""Which examples of which task make each batch."""
