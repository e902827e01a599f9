"""Counts what TensorFlow traces."""

import contextlib
from collections.abc import Iterator
from unittest import mock

from tensorflow.python.framework import func_graph


@contextlib.contextmanager
def counted() -> Iterator[list[str]]:
    """The names of the graphs that are traced inside it.

    They are those of functions, of the functions of data sets, and of loops
    and branches within them.
    """
    names: list[str] = []
    make = func_graph.FuncGraph.__init__

    def noted(graph, name, *args, **kwargs):
        names.append(name)
        make(graph, name, *args, **kwargs)

    with mock.patch.object(func_graph.FuncGraph, "__init__", noted):
        yield names
