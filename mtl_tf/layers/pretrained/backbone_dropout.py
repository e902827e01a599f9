"""Dropout in third-party Keras models as a pure function of a seed."""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterable, Iterator

import keras
import tensorflow as tf

from mtl_tf.layers.dropout import Dropout, salted

_SEED: contextvars.ContextVar = contextvars.ContextVar("seed", default=None)


@contextlib.contextmanager
def seeded(seed: tf.Tensor | None) -> Iterator[None]:
    """Within the block, `make_pure` layers draw from this int32 `[2]` seed."""
    token = _SEED.set(seed)
    try:
        yield
    finally:
        _SEED.reset(token)


class PureSeed(keras.random.SeedGenerator):
    """The seeds of one layer, as a function of the seed of the call.

    Keras keeps a counter in each dropout layer. A checkpoint would have to
    contain it, and two halves of a batch would race for it.

    Args:
        salt: distinguishes the layers of a model.
    """

    # Does not call Keras's constructor, which makes the counter.
    def __init__(self, salt: str):
        self.salt = salt

    def next(self, ordered: bool = True) -> tf.Tensor:
        """A seed uint32 `[2]`.

        Raises:
            ValueError: the call had no seed.
        """
        return tf.bitcast(salted(_seed(), self.salt), tf.uint32)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return {"salt": self.salt}


def make_pure(layers: Iterable[keras.layers.Layer]) -> None:
    """Makes layers, in a fixed order, draw from the seed of `seeded`.

    Keras's dropout is replaced by this project's short dropout, which draws
    half as many bits. It matters because an encoder drops mostly attention
    weights.
    """
    for number, layer in enumerate(layers):
        for generator in list(layer._seed_generators):
            layer._seed_generators.remove(generator)
        salt = f"encoder/{number}"
        # Bypasses Keras's tracking, which is locked once a layer is built.
        change = functools.partial(object.__setattr__, layer)
        if _is_plain_dropout(layer):
            change("call", _short(Dropout(layer.rate, salt, short=True)))
        elif isinstance(getattr(layer, "seed_generator", None), _GENERATOR):
            change("seed_generator", PureSeed(salt))


_GENERATOR = keras.random.SeedGenerator


def _is_plain_dropout(layer: keras.layers.Layer) -> bool:
    return type(layer) is keras.layers.Dropout and layer.noise_shape is None


def _short(dropout: Dropout) -> Callable:
    """The `call` of a dropout layer."""

    def call(inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        if not training:
            return inputs
        return dropout.call(inputs, training=True, seed=_seed())

    return call


def _seed() -> tf.Tensor:
    """The seed of the current call, int32 `[2]`."""
    seed = _SEED.get()
    if seed is None:
        raise ValueError("training with dropout needs a seed, got None")
    return seed
