"""The peak memory of work in a separate process."""

import multiprocessing
from collections.abc import Callable
from typing import Any

from mtl_tf.benchmarks import timing
from mtl_tf.programs import quiet


def peak_mb_of(function: Callable[..., Any], *arguments: Any) -> float:
    """The peak memory of a new process that calls `function(*arguments)`.

    In 10^6 bytes, including Python and TensorFlow. The new process uses as many
    threads as this one.

    Args:
        function: a function at the top level of a module.
        *arguments: picklable arguments.
    """
    return result_of(_peak, function, arguments)


def result_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a new process that calls `function(*arguments)`.

    Args:
        function: a function at the top level of a module.
        *arguments: picklable arguments.
    """
    import tensorflow as tf

    threads = tf.config.threading.get_intra_op_parallelism_threads()
    context = multiprocessing.get_context("spawn")
    # What it gets names modules that import TensorFlow.
    with context.Pool(1, initializer=quiet.import_silently) as pool:
        return pool.apply(_threaded, (threads, function, arguments))


def _peak(function: Callable, arguments: tuple) -> float:
    function(*arguments)
    return timing.peak_memory_mb()


def _threaded(threads: int, function: Callable, arguments: tuple) -> Any:
    import tensorflow as tf

    # 0 lets TensorFlow decide.
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return function(*arguments)
