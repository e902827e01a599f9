"""What the layers with task-specific parameters have in common."""

import math
from collections.abc import Callable, Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, random
from mtl_tf.core.errors import ConfigError

_INIT = {"name": "glorot", "range": 0.1, "seed": 0}


# Numbers that are drawn at a time: in float64 all of a large vocabulary's
# vectors would take twice their memory, and half of that again as float32.
_DRAWN = 1 << 20


def check_init(init: Mapping | None) -> dict:
    """Completes and checks how weights are initialised.

    Args:
        init: `name`: "glorot" (uniform within sqrt(6 / (fan in + fan out)),
            where a gate's or task's matrix counts by itself), "uniform"
            (within `range`, biases too, as Liu et al. 2016 do) or "normal"
            (with `range` as standard deviation, no biases, as Sun 2019
            does); `range`; `seed`. Missing fields are glorot, 0.1 and 0.

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
    """A layer whose weights may be stacked, one slice a task.

    Weights are float32 under any dtype policy, as are states and losses: a
    pure half precision is a mixed one.

    Initial values are a pure function of the init's seed, the layer's name,
    the weight's name and the task's number.

    Args:
        init: see `check_init`.
    """

    def __init__(self, *, init: Mapping | None = None, **kwargs):
        # Labels, masks and weights of examples pass through: Keras must not
        # cast them to a half precision. The layers cast what they compute on.
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
            name: its name.
            *shape: of one slice: `[fan in, gates * fan out]`, or one axis for
                a bias.
            stack: leading axes, each of whose slices is drawn by itself.
            gates: number of matrices that lie side by side in a slice.
            limit: draw uniformly within it, whatever the init says.

        Raises:
            ValueError: a size is not known, as of `keras.Input([None, None])`.
        """
        if None in shape:
            raise ValueError(
                f"{self.name}: the last axis of its inputs must have a known "
                f"size to make the weight {name!r}, got None"
            )
        # autocast=False keeps gathers sparse and float32 states exact.
        weight = self.add_weight(
            name=name,
            shape=(*stack, *shape),
            dtype="float32",
            initializer=self.initializer(name, shape, gates, limit),
            autocast=False,
        )
        # A stack belongs to tasks: fine-tuning can train it alone.
        weight.is_private = bool(stack)
        return weight

    def initializer(
        self,
        name: str,
        shape: tuple[int, ...],
        gates: int = 1,
        limit: float | None = None,
    ) -> Callable:
        """A Keras initializer of a weight; the arguments are those of `add`."""
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
        """What the groups' tasks own of a weight, or all if they share it.

        Args:
            weight: that `add` returned: `[tasks, ...]` or without that axis.
            task: int32 `[G]`.

        Returns:
            `[G, ...]`; of a shared weight its variable.
        """
        return choose(weight, task) if weight.is_private else weight.value

    def cast(self, x: tf.Tensor) -> tf.Tensor:
        """Casts a weight or input to the policy's compute dtype."""
        return tf.cast(x, self.compute_dtype)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = super().get_config() | {"init": dict(self.init)}
        config.pop("autocast", None)
        return config


def choose(stack: keras.Variable, task: tf.Tensor) -> tf.Tensor:
    """The slices of a stacked weight that the groups' tasks own.

    The gradient is a `tf.IndexedSlices` on the stack: one slice a group.

    Args:
        stack: `[tasks, ...]`.
        task: int32 `[G]`.

    Returns:
        `[G, ...]`.
    """
    return tf.gather(stack.value, task)


def mark_labels(*weights: keras.Variable, axes: int = 1) -> None:
    """Says that the last `axes` axes of weights are the labels of a task.

    A head is as wide as its task with the most labels: a run that starts from
    another takes what is of a task's own labels by it.
    """
    for weight in weights:
        weight.label_axes = axes


def at_least_one_step(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Pads an empty axis to one step: XLA cannot loop over an empty array."""
    if x.shape[axis]:
        return x
    missing = tf.cast(tf.equal(tf.shape(x)[axis], 0), tf.int32)
    padding = [[0, missing if a == axis else 0] for a in range(x.shape.rank)]
    return tf.pad(x, padding)


def mask_of(x: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
    """The mask of texts: the given one, that of Keras, or of tokens alone.

    Args:
        x: `[..., D]`.
        mask: bool `[...]`; None for what Keras knows of `x`, which looks for
            itself only if a layer is given no other tensor.

    Returns:
        bool `[...]`.
    """
    if mask is None:
        mask = getattr(x, "_keras_mask", None)
    if mask is None:
        return tf.ones(tf.shape(x)[:-1], tf.bool)
    return tf.cast(mask, tf.bool)


def keep_keras_mask(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns `y`, of the places of `x`, with what Keras knows of their mask.

    A mask that was given beside `x` does not go on: layers that take theirs
    as an argument would be said to destroy it.
    """
    mask = getattr(x, "_keras_mask", None)
    if mask is not None:
        y._keras_mask = mask
    return y


def check_label_counts(counts: Sequence[int]) -> list[int]:
    """Returns the tasks' numbers of labels as a list.

    Raises:
        ConfigError: there is none, or one that is no positive integer.
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
        units: the number of labels that all tasks are given.

    Returns:
        bool `[G, units]`.
    """
    return tf.sequence_mask(tf.gather(tf.constant(counts), task), units)


def _fill(draw: Callable[[int], np.ndarray], shape: tuple) -> np.ndarray:
    """Float32 numbers of a shape, the same as if all were drawn at once.

    Args:
        draw: the next so many numbers.
        shape: of the result.
    """
    values = np.empty(math.prod(shape), np.float32)
    for start in range(0, len(values), _DRAWN):
        part = values[start : start + _DRAWN]
        part[:] = draw(len(part))
    return values.reshape(shape)
