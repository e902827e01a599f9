"""MR: positive and negative sentences of reviews (Pang and Lee 2005)."""
