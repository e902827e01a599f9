"""Regression of pairs of texts: signatures take `text` and `text_pair`."""

from .regression import ServedRegression

TYPE = ServedRegression
