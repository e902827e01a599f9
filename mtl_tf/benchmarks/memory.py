"""The peak memory of work that has a process to itself."""

import multiprocessing
from collections.abc import Callable
from typing import Any

from mtl_tf.benchmarks import timing


def peak_mb_of(function: Callable[..., Any], *arguments: Any) -> float:
    """The peak memory of a new process that calls `function(*arguments)`.

    In 10^6 bytes, with what Python and TensorFlow take. The process has the
    threads of this one.

    Args:
        function: at the top of a module.
        *arguments: what can be pickled.
    """
    return result_of(_peak, function, arguments)


def result_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a new process returns that calls `function(*arguments)`.

    Args:
        function: at the top of a module.
        *arguments: what can be pickled.
    """
    import tensorflow as tf

    threads = tf.config.threading.get_intra_op_parallelism_threads()
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_threaded, (threads, function, arguments))


def _peak(function: Callable, arguments: tuple) -> float:
    function(*arguments)
    return timing.peak_memory_mb()


def _threaded(threads: int, function: Callable, arguments: tuple) -> Any:
    import tensorflow as tf

    # 0 leaves them to TensorFlow.
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return function(*arguments)
