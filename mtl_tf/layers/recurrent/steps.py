"""The operations of a recurrence's step, forward and when replayed.

A step is a plain function `step(ops, inputs, state) -> new state` on
dictionaries of tensors. The results of its operations in `ops` (matrix
products, sigmoid, tanh) are stored in the forward pass and have hand-written
gradients. Everything else is differentiated by a tape. A cell is therefore
written once, and its backward loop recomputes only cheap elementwise work.
"""

from collections.abc import Mapping
from typing import NamedTuple

import tensorflow as tf

from mtl_tf.layers.products import product

Tensors = Mapping[str, tf.Tensor]


class Operations:
    """The operations that a step may use, in a forward pass.

    Attributes:
        constants: tensors `[G, B, ...]` that every step reads as a whole, such
            as the keys of an attention.
        outputs: results of the operations, in the order of their calls.
        emitted: values passed to `emit`, by name.
    """

    def __init__(self, weights: Tensors, constants: Tensors):
        self._weights = weights
        self._transposed: Tensors = {}
        self.constants = constants
        self.outputs: list[tf.Tensor] = []
        self.emitted: dict[str, tf.Tensor] = {}

    def matmul(self, x: tf.Tensor, weight: str) -> tf.Tensor:
        """`product(x, weights[weight])` in the dtype of `x`.

        The name may also be that of a constant `[G, B, K, N]`: one matrix per
        example, such as the values of an attention. A step must not read such a
        constant in any other way.
        """
        return self._call(
            x,
            forward=lambda a: tf.cast(
                product(a, self._weights[weight]), x.dtype
            ),
            backward=lambda y, dy: tf.cast(
                product(dy, self._transposed[weight]), x.dtype
            ),
            weight=weight,
        )

    def sigmoid(self, x: tf.Tensor) -> tf.Tensor:
        """The logistic function."""
        return self._call(x, tf.sigmoid, lambda y, dy: dy * y * (1.0 - y))

    def tanh(self, x: tf.Tensor) -> tf.Tensor:
        """The hyperbolic tangent."""
        return self._call(x, tf.tanh, lambda y, dy: dy * (1.0 - y * y))

    def softmax(self, x: tf.Tensor) -> tf.Tensor:
        """The softmax over the last axis."""

        def backward(y, dy):
            return y * (dy - tf.reduce_sum(y * dy, -1, keepdims=True))

        return self._call(x, tf.nn.softmax, backward)

    def keep(self, x: tf.Tensor) -> tf.Tensor:
        """`x` itself, stored for the backward loop instead of recomputed."""
        return self._call(x, tf.identity, lambda y, dy: dy)

    def emit(self, name: str, value: tf.Tensor) -> None:
        """Returns `value` `[G, B, ...]` from the loop for inspection."""
        self.emitted[name] = value

    def _call(self, x, forward, backward, weight=None):
        del backward, weight
        self.outputs.append(forward(x))
        return self.outputs[-1]


class _Replay(Operations):
    """Returns the results that the forward pass stored.

    Attributes:
        inputs: inputs of the operations, in the order of their calls.
        weights_read: the name of the weight of each operation, or None.
    """

    def __init__(self, weights, constants, known_outputs):
        super().__init__(weights, constants)
        self._known_outputs = known_outputs
        self.inputs: list[tf.Tensor] = []
        self.weights_read: list[str | None] = []

    def _call(self, x, forward, backward, weight=None):
        y = self._known_outputs.get(len(self.outputs))
        if y is None:
            # Not stored, because at most its shape is used: XLA removes it.
            y = forward(x)
        self.inputs.append(x)
        self.weights_read.append(weight)
        self.outputs.append(y)
        return y


class _TapedReplay(_Replay):
    """A replay through which a tape pulls all cotangents back at once.

    Attributes:
        cotangents: cotangents of the operations' outputs that the tape has
            reached, by number of call.
    """

    def __init__(self, weights, transposed, constants, known_outputs, tape):
        super().__init__(weights, constants, known_outputs)
        self._transposed = transposed
        self._tape = tape
        self.cotangents: dict[int, tf.Tensor] = {}

    def _call(self, x, forward, backward, weight=None):
        n = len(self.outputs)
        with self._tape.stop_recording():
            y = super()._call(x, forward, backward, weight)

        def pull_back(dy):
            self.cotangents[n] = dy
            return backward(y, dy)

        # Otherwise the weight of a product that reads no input, no state and no
        # constant would have no gradient.
        self._tape.watch(x)
        return tf.custom_gradient(lambda _: (y, pull_back))(x)

    def products(self) -> list[tuple[str, tf.Tensor, tf.Tensor]]:
        """`Pulled.products`, after the tape's gradient has been taken."""
        return [
            (weight, x, self._cotangent(n))
            for n, (weight, x) in enumerate(zip(self.weights_read, self.inputs))
            if weight is not None
        ]

    def _cotangent(self, n: int) -> tf.Tensor:
        if n in self.cotangents:
            return self.cotangents[n]
        return tf.zeros_like(self.outputs[n])


def transpose(weights: Tensors) -> dict[str, tf.Tensor]:
    """Swaps the last two axes of all weights with at least two axes."""
    return {
        name: tf.linalg.matrix_transpose(w)
        for name, w in weights.items()
        if w.shape.rank > 1
    }


class Pulled(NamedTuple):
    """Cotangents of one step.

    Attributes:
        inputs, state, constants: by name, shaped like the values.
        products: `(weight name, input, cotangent of the output)` of every
            matrix product, in the order of the calls.
    """

    inputs: dict[str, tf.Tensor]
    state: dict[str, tf.Tensor]
    constants: dict[str, tf.Tensor]
    products: list[tuple[str, tf.Tensor, tf.Tensor]]


def masked_step(step, ops: Operations, inputs, state, mask) -> dict:
    """One step; rows where `mask` `[G, B]` is false keep their state."""
    new = step(ops, inputs, state)

    def freeze(name):
        rank = state[name].shape.rank
        real = tf.reshape(
            mask, tf.concat([tf.shape(mask), [1] * (rank - 2)], 0)
        )
        real = tf.ensure_shape(real, mask.shape + [1] * (rank - 2))
        return tf.where(real, new[name], state[name])

    return {name: freeze(name) for name in state}


def pull(
    step,
    weights,
    transposed,
    constants,
    inputs,
    state,
    mask,
    known_outputs,
    cotangents,
):
    """Pulls the cotangents of a step's new state back through the step.

    Args:
        step: the step function.
        weights, constants, inputs, state, mask: its arguments at this time.
        transposed: the weights with their last two axes swapped. Swapping them
            once before the loop makes its products faster than reading each
            weight transposed.
        known_outputs: outputs of its operations by number of call. Missing ones
            are recomputed.
        cotangents: cotangents of the new state, by name.

    Returns:
        A tuple of `Pulled` and the replay's operation outputs.
    """
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for group in (inputs, state, constants):
            tape.watch(list(group.values()))
        replay = _TapedReplay(
            weights, transposed, constants, known_outputs, tape
        )
        new_state = masked_step(step, replay, inputs, state, mask)
    gradients = tape.gradient(
        [new_state[name] for name in state],
        [dict(inputs), dict(state), dict(constants)],
        output_gradients=[cotangents[name] for name in state],
        unconnected_gradients="zero",
    )
    return Pulled(*gradients, replay.products()), replay.outputs


def product_inputs(
    step, weights, constants, inputs, state, known_outputs
) -> list[tf.Tensor]:
    """The input of every product of one step, in the order of the calls.

    The arguments are those of `pull`.
    """
    replay = _Replay(weights, constants, known_outputs)
    step(replay, inputs, state)
    read = zip(replay.inputs, replay.weights_read)
    return [x for x, weight in read if weight is not None]
