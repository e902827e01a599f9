"""An external memory: addressing, reading and writing (Liu et al. 2016)."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.recurrent.steps import Operations, Tensors

ALIGNS = ("cosine", "mlp")

# Vectors with a smaller squared length count as zero.
_NOTHING = 1e-12


def _inverse_length(x: tf.Tensor) -> tf.Tensor:
    """1 / |x| over the last axis; 0, without gradient, where x is zero."""
    square = tf.reduce_sum(x * x, -1)
    real = square > _NOTHING
    return tf.where(real, tf.math.rsqrt(tf.where(real, square, 1.0)), 0.0)


def cosine(memory: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """The cosine between every segment and a key; 0 where either is zero.

    The first key is zero whenever biases start at zero. No direction is better
    than another then, so the gradient is 0 as well.

    Args:
        memory: `[..., K, M]`.
        key: `[..., M]`.

    Returns:
        `[..., K]`.
    """
    inner = tf.linalg.matvec(memory, key)
    return inner * _inverse_length(memory) * _inverse_length(key)[..., None]


@keras.saving.register_keras_serializable(package="mtl_tf")
class ExternalMemory(StackedLayer):
    """An external memory: its initial state, reading and writing.

    Equations 5 to 9 of Liu et al. (2016). A memory is a matrix of K segments of
    size M. Every text has its own copy, which starts as a trainable matrix and
    is never passed to another text. This layer does not run by itself. Another
    layer calls `address`, `read` and `write` in the step of its recurrence,
    with the memory and its key in the step's state.

    Args:
        slots: number of segments K.
        width: size M of a segment.
        source: size of the vectors that the keys are emitted from.
        align: the function g of equation 8: "cosine", or "mlp",
            `v^T tanh(W_a [segment; key])`.
        tasks: 0 for one set of parameters for all tasks; otherwise the number
            of tasks, each with its own parameters, stacked.
        role: prefix of the names of its weights and states.
        init: see `base.check_init`.

    Input shape: texts `[G, B, ...]` and tasks int32 `[G]`, from which
        `parameters` and `start` make weights, constants and the first state; in
        a step the state, and for `write` vectors `[G, B, source]`.
    Output shape: the state of a step is the memory `[G, B, K, M]` and its key
        `[G, B, M]`; the weights of its segments are `[G, B, K]`, and what is
        read is `[G, B, M]`.
    Masking: none of its own. The recurrence keeps the state where the mask is
        false.

    Example:
        ```python
        memory = ExternalMemory(50, 20, source=100)
        memory.build()
        weights, constants = memory.parameters(x, task)
        state = memory.start(x, task)
        # in a step
        alpha = memory.address(ops, state)
        r = memory.read(ops, state, alpha)
        state = memory.write(ops, state, alpha, hidden)
        ```
    """

    def __init__(
        self,
        slots: int,
        width: int,
        source: int,
        align: str = "cosine",
        tasks: int = 0,
        role: str = "external",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.slots = checks.positive_integer("memory_slots", slots)
        self.width = checks.positive_integer("memory_width", width)
        self.source = checks.positive_integer("source", source)
        self.align = checks.one_of("align", align, ALIGNS)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        self.role = role

    def build(self, *_):
        """Makes the weights."""
        stack = (self.tasks,) if self.tasks else ()
        width = self.width

        def add(name, *shape, gates=1):
            name = f"{self.role}_{name}"
            return self.add(name, *shape, stack=stack, gates=gates)

        self.initial = add("initial", self.slots, width)
        self.keys = add("keys", self.source, 3 * width, gates=3)
        self.keys_bias = add("keys_bias", 3 * width)
        if self.align == "mlp":
            # W_a; its two halves read the segment and the key.
            self.align_kernel = add("align", 2 * width, width)
            self.align_score = add("align_score", width, 1)
        self.built = True

    def _per_text(self, value: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        """A value, per group or shared, for each text of `x` [G, B, ...].

        Returns:
            `[G, B, ...]`.
        """
        value = value[:, None] if self.tasks else value[None, None]
        static = [*x.shape[:2], *value.shape[2:]]
        shape = tf.concat([tf.shape(x)[:2], value.shape[2:]], 0)
        return tf.ensure_shape(tf.broadcast_to(value, shape), static)

    def parameters(
        self, x: tf.Tensor, task: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], dict[str, tf.Tensor]]:
        """The weights and constants that a recurrence over `x` needs."""
        role, width = self.role, self.width
        weights = {f"{role}_keys": self.of_task(self.keys, task)}
        if self.align == "mlp":
            kernel = self.of_task(self.align_kernel, task)
            weights[f"{role}_align_segment"] = kernel[..., :width, :]
            weights[f"{role}_align_key"] = kernel[..., width:, :]
            weights[f"{role}_align_score"] = self.of_task(
                self.align_score, task
            )
        weights = {name: self.cast(w) for name, w in weights.items()}
        bias = self._per_text(self.of_task(self.keys_bias, task), x)
        return weights, {f"{role}_bias": bias}

    def start(self, x: tf.Tensor, task: tf.Tensor) -> dict[str, tf.Tensor]:
        """The state before the first token of `x` [G, B, ...].

        It contains the memory `[G, B, K, M]`, named by the role, and the key
        `[G, B, M]` that equation 5 emits from zeros.
        """
        memory = self.of_task(self.initial, task)
        key, _, _ = tf.split(self.of_task(self.keys_bias, task), 3, axis=-1)
        return {
            self.role: self._per_text(memory, x),
            f"{self.role}_key": self._per_text(tf.tanh(key), x),
        }

    def address(self, ops: Operations, state: Tensors) -> tf.Tensor:
        """Equation 7: how much each segment aligns with the key, `[G, B, K]`.

        The weights sum to 1.
        """
        memory, key = state[self.role], state[f"{self.role}_key"]
        if self.align == "cosine":
            return ops.softmax(cosine(memory, key))
        segments = ops.matmul(memory, f"{self.role}_align_segment")
        key = ops.matmul(key, f"{self.role}_align_key")[:, :, None]
        hidden = ops.tanh(segments + key)
        score = ops.matmul(hidden, f"{self.role}_align_score")
        return ops.softmax(tf.squeeze(score, -1))

    def read(
        self, ops: Operations, state: Tensors, weights: tf.Tensor
    ) -> tf.Tensor:
        """Equation 6: the weighted sum of the segments, `[G, B, M]`."""
        memory = state[self.role]
        return ops.keep(tf.linalg.matvec(memory, weights, transpose_a=True))

    def write(
        self,
        ops: Operations,
        state: Tensors,
        weights: tf.Tensor,
        source: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Equations 5 and 9: the memory and its key after a step.

        `[k; e; a] = [tanh; s; tanh](W_m source + b_m)` and
        `M' = M (1 - weights e^T) + weights a^T`.

        Args:
            ops, state: those of the step.
            weights: `[G, B, K]`.
            source: `[G, B, source]`.
        """
        a = ops.matmul(source, f"{self.role}_keys")
        a += ops.constants[f"{self.role}_bias"]
        # The two parts that go through tanh are adjacent.
        keys, erase = tf.split(a, [2 * self.width, self.width], axis=-1)
        key, add = tf.split(ops.tanh(keys), 2, axis=-1)
        erase, add = ops.sigmoid(erase)[..., None, :], add[..., None, :]
        memory, weights = state[self.role], weights[..., None]
        return {
            self.role: memory + weights * (add - memory * erase),
            f"{self.role}_key": key,
        }

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "slots": self.slots,
            "width": self.width,
            "source": self.source,
            "align": self.align,
            "tasks": self.tasks,
            "role": self.role,
        }
