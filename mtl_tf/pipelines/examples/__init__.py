"""Splits of encoded examples, and what encodes them."""
