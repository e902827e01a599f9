"""Base of the layers with task-specific parameters."""

import math
from collections.abc import Callable, Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, machine, random
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import mark, marks_of

_INIT = {"name": "glorot", "range": 0.1, "seed": 0}


# Numbers are drawn in pieces of this size. In float64, all vectors of a large
# vocabulary at once would take twice their memory, plus a float32 copy.
_DRAWN = 1 << 20
# Weights of fewer bytes are not checked against the free memory.
_LARGE = 1 << 26


def check_init(init: Mapping | None) -> dict:
    """Completes and checks the options for initialising weights.

    Args:
        init: `name`, `range` and `seed`; missing fields are glorot, 0.1 and 0.
            `name` is "glorot" (uniform within sqrt(6 / (fan in + fan out)),
            where the matrix of each gate or task counts separately), "uniform"
            (within `range`, including biases, as in Liu et al. 2016) or
            "normal" (with `range` as standard deviation, no biases, as in Sun
            2019).

    Raises:
        ConfigError: an unknown field or a wrong value.
    """
    init = dict(init or {})
    for field in init:
        checks.one_of("field of init", field, list(_INIT))
    init = _INIT | init
    checks.one_of("init.name", init["name"], ["glorot", "uniform", "normal"])
    checks.positive("init.range", init["range"])
    checks.not_negative_integer("init.seed", init["seed"])
    return init


class StackedLayer(keras.layers.Layer):
    """A layer whose weights may be stacked, with one slice per task.

    Weights, states and losses are float32 under any dtype policy, so a pure
    half-precision policy acts like a mixed one.

    Initial values depend only on the init's seed, the layer's name, the
    weight's name and the task's number.

    Args:
        init: see `check_init`.
    """

    def __init__(self, *, init: Mapping | None = None, **kwargs):
        # Labels, masks and example weights pass through, and Keras must not
        # cast them to half precision. The layers cast what they compute on.
        super().__init__(autocast=False, **kwargs)
        self.init = check_init(init)

    def add(
        self,
        name: str,
        *shape: int,
        stack: tuple[int, ...] = (),
        gates: int = 1,
        limit: float | None = None,
    ) -> keras.Variable:
        """Adds a weight that is initialised slice by slice.

        Args:
            name: name of the weight.
            *shape: shape of one slice: `[fan in, gates * fan out]`, or one axis
                for a bias.
            stack: leading axes. Each of their slices is drawn separately.
            gates: number of matrices that are concatenated in a slice.
            limit: draw uniformly within this limit, whatever the init says.

        Raises:
            ValueError: a size is unknown, as with `keras.Input([None, None])`.
            MemoryError: the machine has too little free memory.
        """
        if None in shape:
            raise ValueError(
                f"{self.name}: the last axis of its inputs must have a known "
                f"size to make the weight {name!r}, got None"
            )
        self._check_memory(name, (*stack, *shape))
        # autocast=False keeps gathers sparse and float32 states exact.
        weight = self.add_weight(
            name=name,
            shape=(*stack, *shape),
            dtype="float32",
            initializer=self.initializer(name, shape, gates, limit),
            autocast=False,
        )
        # A stack belongs to tasks, so fine-tuning can train it alone.
        mark(weight, is_private=bool(stack))
        return weight

    def _check_memory(self, name: str, shape: Sequence[int]) -> None:
        """Refuses a weight for which there is no memory.

        Several that fit one by one would otherwise end the process without a
        word.
        """
        # The numbers that are drawn, and the weight's copy of them.
        needed = 2 * 4 * math.prod(shape)
        if needed > _LARGE and needed > (free := machine.free_memory()):
            raise MemoryError(
                f"the weight {name} of {self.name}, {list(shape)}, takes "
                f"{needed / 1e9:,.1f} GB while it is made, and "
                f"{free / 1e9:,.1f} GB are free: choose smaller sizes"
            )

    def initializer(
        self,
        name: str,
        shape: tuple[int, ...],
        gates: int = 1,
        limit: float | None = None,
    ) -> Callable:
        """A Keras initializer for a weight; arguments as in `add`."""
        normal = self.init["name"] == "normal" and limit is None
        if limit is None:
            limit = self._limit(shape, gates)

        def draw(shape, dtype=None):
            generator = random.generator(self.init["seed"], self.name, name)
            if normal:
                return _fill(lambda n: generator.normal(0.0, limit, n), shape)
            return _fill(lambda n: generator.uniform(-limit, limit, n), shape)

        return draw

    def _limit(self, shape, gates: int) -> float:
        if self.init["name"] == "uniform":
            return self.init["range"]
        if len(shape) == 1:
            return 0.0
        if self.init["name"] == "normal":
            return self.init["range"]
        return math.sqrt(6.0 / (shape[0] + shape[1] // gates))

    def of_task(self, weight: keras.Variable, task: tf.Tensor) -> tf.Tensor:
        """The slices of a weight for the groups' tasks, or all if it is shared.

        Args:
            weight: a weight from `add`: `[tasks, ...]` or without that axis.
            task: int32 `[G]`.

        Returns:
            `[G, ...]`, or the variable of a shared weight.
        """
        is_private = marks_of(weight).is_private
        return choose(weight, task) if is_private else weight.value

    def cast(self, x: tf.Tensor) -> tf.Tensor:
        """Casts a weight or input to the policy's compute dtype."""
        return tf.cast(x, self.compute_dtype)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = super().get_config() | {"init": dict(self.init)}
        config.pop("autocast", None)
        return config


def choose(stack: keras.Variable, task: tf.Tensor) -> tf.Tensor:
    """The slices of a stacked weight that belong to the groups' tasks.

    The gradient is a `tf.IndexedSlices` on the stack, with one slice per group.

    Args:
        stack: `[tasks, ...]`.
        task: int32 `[G]`.

    Returns:
        `[G, ...]`.
    """
    return tf.gather(stack.value, task)


def at_least_one_step(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Pads an empty axis to one step: XLA cannot loop over an empty array."""
    if x.shape[axis]:
        return x
    missing = tf.cast(tf.equal(tf.shape(x)[axis], 0), tf.int32)
    padding = [[0, missing if a == axis else 0] for a in range(x.shape.rank)]
    return tf.pad(x, padding)


def mask_of(x: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
    """The mask of texts: the given mask, Keras's mask, or all true.

    Args:
        x: `[..., D]`.
        mask: bool `[...]`. None takes the mask that Keras attached to `x`.
            (Keras passes it automatically only if a layer gets no other
            tensor.)

    Returns:
        bool `[...]`.
    """
    if mask is None:
        mask = getattr(x, "_keras_mask", None)
    if mask is None:
        return tf.ones(tf.shape(x)[:-1], tf.bool)
    return tf.cast(mask, tf.bool)


def keep_keras_mask(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns `y` with the mask that Keras attached to `x`.

    A mask that was passed separately is not attached: Keras would warn that
    layers which take their mask as an argument destroy it.
    """
    mask = getattr(x, "_keras_mask", None)
    if mask is not None:
        y._keras_mask = mask
    return y


def check_label_counts(counts: Sequence[int]) -> list[int]:
    """Returns the tasks' numbers of labels as a list.

    Raises:
        ConfigError: the list is empty, or a number is not a positive integer.
    """
    if not counts:
        raise ConfigError("label_counts must name at least one task")
    for count in counts:
        checks.positive_integer("label_counts", count)
    return list(counts)


def own_labels(counts: Sequence[int], task: tf.Tensor, units: int) -> tf.Tensor:
    """Which of `units` labels the groups' tasks have.

    Args:
        counts: each task's number of labels.
        task: int32 `[G]`.
        units: number of labels in the outputs of all tasks.

    Returns:
        bool `[G, units]`.
    """
    return tf.sequence_mask(tf.gather(tf.constant(counts), task), units)


def _fill(draw: Callable[[int], np.ndarray], shape: tuple) -> np.ndarray:
    """Float32 numbers of a shape, the same as if all were drawn at once.

    Args:
        draw: returns the next numbers, given how many.
        shape: shape of the result.
    """
    values = np.empty(math.prod(shape), np.float32)
    for start in range(0, len(values), _DRAWN):
        part = values[start : start + _DRAWN]
        part[:] = draw(len(part))
    return values.reshape(shape)
