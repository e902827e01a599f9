"""Dropout inside Keras models of others as a pure function of a seed."""

import contextlib
import contextvars
from collections.abc import Iterable, Iterator

import keras
import tensorflow as tf

from mtl_tf.layers.dropout import salted

_SEED: contextvars.ContextVar = contextvars.ContextVar("seed", default=None)


@contextlib.contextmanager
def seeded(seed: tf.Tensor | None) -> Iterator[None]:
    """Layers that `make_pure` changed draw from this seed, int32 `[2]`."""
    token = _SEED.set(seed)
    try:
        yield
    finally:
        _SEED.reset(token)


class PureSeed(keras.random.SeedGenerator):
    """Seeds of one layer as a function of the seed of the call.

    Keras keeps a counter in each dropout layer, which a checkpoint would have
    to hold, and which two halves of a batch would race for.

    Args:
        salt: distinguishes the layers of a model.
    """

    # Not Keras's own constructor: it makes the counter.
    def __init__(self, salt: str):
        self.salt = salt

    def next(self, ordered: bool = True) -> tf.Tensor:
        """A seed uint32 `[2]`.

        Raises:
            ValueError: the call had no seed.
        """
        seed = _SEED.get()
        if seed is None:
            raise ValueError("training with dropout needs a seed, got None")
        return tf.bitcast(salted(seed, self.salt), tf.uint32)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return {"salt": self.salt}


def make_pure(layers: Iterable[keras.layers.Layer]) -> None:
    """Lets layers, in a fixed order, draw from the seed of `seeded`."""
    for number, layer in enumerate(layers):
        for generator in list(layer._seed_generators):
            layer._seed_generators.remove(generator)
        if isinstance(getattr(layer, "seed_generator", None), _GENERATOR):
            # Past Keras's tracking, which is closed once a layer is built.
            pure = PureSeed(f"encoder/{number}")
            object.__setattr__(layer, "seed_generator", pure)


_GENERATOR = keras.random.SeedGenerator
