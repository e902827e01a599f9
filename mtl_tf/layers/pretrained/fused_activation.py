"""Fuses activations of third-party Keras models into one pass."""

import functools
from collections.abc import Callable, Iterable

import keras
import tensorflow as tf

from mtl_tf.layers.recurrent import recurrence

Activation = Callable[[tf.Tensor], tf.Tensor]

# These have many operations, each a pass over a layer's largest tensor.
_NAMES = ("gelu", "gelu_approximate", "silu")


def fuse(layers: Iterable[keras.layers.Layer]) -> None:
    """Makes layers with such an activation compute it in one pass."""
    for layer in layers:
        activation = getattr(layer, "activation", None)
        if getattr(activation, "__name__", None) in _NAMES:
            # Bypasses Keras's tracking, which is locked once a layer is built.
            object.__setattr__(layer, "activation", _fused(activation))


@functools.cache
def _fused(activation: Activation) -> Activation:
    """The same function, compiled once for all layers.

    XLA fuses its operations into one loop, and those of its gradient into
    another. Both compute in float32, whatever the tensors' dtype. Where
    `recurrence` compiles nothing, as in exports, the plain activation is used.
    """

    @_compiled
    def forward(x: tf.Tensor) -> tf.Tensor:
        return tf.cast(activation(tf.cast(x, tf.float32)), x.dtype)

    @_compiled
    def backward(x: tf.Tensor, gradient: tf.Tensor) -> tf.Tensor:
        wide = tf.cast(x, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(wide)
            y = activation(wide)
        pulled = tape.gradient(y, wide, tf.cast(gradient, tf.float32))
        return tf.cast(pulled, x.dtype)

    @tf.custom_gradient
    def fused(x: tf.Tensor):
        return forward(x), lambda gradient: backward(x, gradient)

    def chosen(x: tf.Tensor) -> tf.Tensor:
        x = tf.convert_to_tensor(x)
        return fused(x) if recurrence.is_compiled() else activation(x)

    return chosen


_compiled = functools.partial(
    tf.function, jit_compile=True, reduce_retracing=True, autograph=False
)
