"""Conditional random fields of linear chains."""
