"""The recurrence that all recurrent layers use.

`Recurrence` runs a step function over time. Its form was measured to be the
fastest. All products with the inputs are one matrix product before the loop.
The backward loop is written by hand (`steps`) and leaves the gradients of all
weights to one matrix product each after it. Only this core is compiled with
XLA. Because XLA's loops use a single thread on CPUs, the batch is split into
equal shards, at most as many as there are cores.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import tensorflow as tf

from mtl_tf.core import machine
from mtl_tf.layers.recurrent.loops import Loop
from mtl_tf.layers.recurrent.step_plan import Plan
from mtl_tf.layers.recurrent.steps import Operations, Tensors


@dataclasses.dataclass(frozen=True)
class Options:
    """How recurrences run; see `options`."""

    jit: bool | None = None
    shards: int | None = None


_DEFAULT = Options()
_OPTIONS = contextvars.ContextVar("mtl_tf_recurrence", default=_DEFAULT)


@contextlib.contextmanager
def options(
    jit: bool | None = None, shards: int | None = None
) -> Iterator[None]:
    """Sets how recurrences that are called or traced within the block run.

    Args:
        jit: compile the core with XLA. None keeps the setting from outside. The
            default is True, except on TPUs, which compile the whole step. An
            export needs False, because servers have XLA switched off.
        shards: maximum number of equal parts that the batch is split into. None
            keeps the setting from outside. The default is the number of CPU
            cores per replica, and 1 if there is an accelerator. A batch whose
            size is unknown while tracing is not split.
    """
    old = _OPTIONS.get()
    new = Options(
        old.jit if jit is None else jit,
        old.shards if shards is None else shards,
    )
    token = _OPTIONS.set(new)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def on_tpu() -> bool:
    """Whether whole steps are compiled, for TPUs."""
    strategy = tf.distribute.get_strategy()
    return isinstance(strategy, tf.distribute.TPUStrategy)


def is_compiled() -> bool:
    """Whether calls and traces at this point compile their core with XLA."""
    option = _OPTIONS.get().jit
    return not on_tpu() if option is None else option


def _shards(batch: int | None) -> int:
    """The number of shards for a batch of `batch` (None: unknown) rows.

    Shards are equal, so it is the largest divisor that the cores allow.
    """
    shards = _OPTIONS.get().shards
    if shards is None:
        strategy = tf.distribute.get_strategy()
        accelerated = on_tpu() or tf.config.list_logical_devices("GPU")
        cores = machine.cores() // strategy.num_replicas_in_sync
        shards = 1 if accelerated else cores
    if not batch:
        return 1
    return max(n for n in range(1, max(shards, 1) + 1) if batch % n == 0)


class Result(NamedTuple):
    """The result of a recurrence.

    Attributes:
        state: the state after the last real token, `[G, B, ...]` by name.
        sequences: the requested states, `[G, B, T, ...]` by name. Where the
            mask is false they repeat the frozen state.
        emitted: the requested emissions, `[G, B, T, ...]` by name.
    """

    state: dict[str, tf.Tensor]
    sequences: dict[str, tf.Tensor]
    emitted: dict[str, tf.Tensor]


class Recurrence:
    """Runs a step function over the time axis of a batch of groups.

    Args:
        step: `step(ops, inputs, state) -> new state`, on dictionaries of
            tensors `[G, B, ...]`. `ops` is a `steps.Operations`. It must call
            the same operations in the same order every time.
        project: `project(x, weights) -> inputs` computes everything that
            depends only on the inputs, for all steps at once. `x` is
            `[T, G, B, D]` and each result is `[T, G, B, ...]` (a step may need
            other axes after the first).

    Example:
        ```python
        def step(ops, inputs, state):
            a = inputs["a"] + ops.matmul(state["h"], "recurrent")
            return {"h": ops.tanh(a)}

        def project(x, weights):
            return {"a": product(x, weights["kernel"])}

        run = Recurrence(step, project)
        result = run(x, mask, weights, {"h": tf.zeros([groups, batch, 100])})
        ```
    """

    def __init__(
        self,
        step: Callable[[Operations, Tensors, Tensors], Tensors],
        project: Callable[[tf.Tensor, Tensors], Tensors],
    ):
        self._step = step
        self._project = project
        # One compiled function per way of running, so that shards, calls and
        # traces share its compilations.
        self._compiled: dict[tuple, Callable] = {}
        self._plans: dict[tuple, Plan] = {}

    def __call__(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        weights: Tensors,
        state: Tensors,
        constants: Tensors | None = None,
        *,
        reverse: bool = False,
        training: bool = False,
        sequences: Sequence[str] = (),
        emits: Sequence[str] = (),
    ) -> Result:
        """Runs the recurrence.

        Args:
            x: inputs `[G, B, T, D]`.
            mask: bool `[G, B, T]`; the state does not change where it is false.
            weights: the weights that `project` and `ops.matmul` read, by name.
            state: the initial state `[G, B, ...]` by name.
            constants: what every step reads as `ops.constants`, `[G, B, ...]`.
            reverse: run from the last step to the first.
            training: store what the backward loop reads. Without it gradients
                are the same, but they run the forward loop twice.
            sequences: names of the states to return for all steps.
            emits: names of the emissions to return for all steps, without
                gradients.

        Returns:
            A `Result`.
        """
        length = x.shape[2]
        if length == 0:
            # XLA cannot index an empty array, so it gets one masked step.
            x = tf.pad(x, [[0, 0], [0, 0], [0, 1], [0, 0]])
            mask = tf.pad(mask, [[0, 0], [0, 0], [0, 1]])
        batched = (x, mask, dict(state), dict(constants or {}))
        shards = _shards(x.shape[1])
        parts = _split(batched, shards)
        core = self._core(
            (*parts[0][0].shape[:2], x.dtype),
            reverse,
            training,
            tuple(sequences),
            tuple(emits),
        )
        parts = [core(dict(weights), *part) for part in parts]
        state, series, emitted = _join(parts)
        if length == 0:
            series, emitted = tf.nest.map_structure(
                lambda s: s[:, :, :0], (series, emitted)
            )
        return Result(state, series, emitted)

    def _core(self, shape, *flags):
        """The core for static numbers of groups and rows, and for flags."""

        def core(weights, x, mask, state, constants):
            return self._run(weights, x, mask, state, constants, *flags)

        if not is_compiled():
            return core
        # The shape is in the key because a relaxed trace would lose the special
        # form for one group. Different lengths share a trace. TensorFlow cannot
        # differentiate a function eagerly after it was used in a graph.
        key = (tf.inside_function(), shape, *flags)
        if key not in self._compiled:
            self._compiled[key] = tf.function(
                core, jit_compile=True, reduce_retracing=True, autograph=False
            )
        return self._compiled[key]

    def _run(
        self,
        weights,
        x,
        mask,
        state,
        constants,
        reverse,
        training,
        sequences,
        emits,
    ):
        """Runs projections and loop on one shard."""
        inputs = self._project(tf.transpose(x, [2, 0, 1, 3]), weights)
        mask = tf.transpose(mask, [2, 0, 1])
        loop = Loop(
            self._step, weights, mask, reverse, sequences, emits, self._plans
        )
        state, series, emitted = loop.run(
            inputs, state, constants, keep=training
        )
        back = tf.nest.map_structure(_batch_major, (series, emitted))
        return state, *back


def _batch_major(x: tf.Tensor) -> tf.Tensor:
    """`[T, G, B, ...]` to `[G, B, T, ...]`."""
    return tf.transpose(x, [1, 2, 0, *range(3, x.shape.rank)])


def _split(batched, shards: int) -> list:
    """Splits the batch axis of all tensors of a structure."""
    if shards == 1:
        return [batched]
    flat = [tf.split(t, shards, axis=1) for t in tf.nest.flatten(batched)]
    return [tf.nest.pack_sequence_as(batched, part) for part in zip(*flat)]


def _join(parts: list):
    """Undoes `_split` on the results."""
    if len(parts) == 1:
        return parts[0]
    return tf.nest.map_structure(lambda *t: tf.concat(t, axis=1), *parts)
