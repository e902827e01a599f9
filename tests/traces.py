"""What TensorFlow traces and compiles."""

import contextlib
from collections.abc import Callable, Iterator
from unittest import mock

import tensorflow as tf
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


def compiled(function: Callable) -> bool:
    """Whether a graph of it compiles something with XLA."""
    graph = tf.function(function).get_concrete_function().graph.as_graph_def()
    nodes = [*graph.node]
    for part in graph.library.function:
        nodes += part.node_def
    return any(node.attr["_XlaMustCompile"].b for node in nodes)
