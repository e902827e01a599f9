"""Sums over the replicas of a training step."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

# Replicas are traced in threads of their own.
_THIS = threading.local()


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Within the block, `summed` returns its arguments.

    For the graphs of loops, in which TensorFlow cannot sum over replicas, and
    only if nothing that is summed there is used.
    """
    before = getattr(_THIS, "apart", False)
    _THIS.apart = True
    try:
        yield
    finally:
        _THIS.apart = before


def summed(tensors: list) -> list:
    """Sums tensors over the replicas; sparse ones are concatenated.

    The gradients of the sums are summed as well. Outside a replica there is
    nothing to sum.
    """
    import tensorflow as tf

    replica: Any = tf.distribute.get_replica_context()
    alone = replica is None or replica.num_replicas_in_sync == 1
    if alone or not tensors or getattr(_THIS, "apart", False):
        return tensors
    return replica.all_reduce(tf.distribute.ReduceOp.SUM, tensors)
