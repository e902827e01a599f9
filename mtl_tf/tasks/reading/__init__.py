"""Readers of the lines, rows and files of examples."""
