"""Dropout of whole words."""

from typing import Self

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.special_ids import OOV
from mtl_tf.layers.dropout import Dropout


@keras.saving.register_keras_serializable(package="mtl_tf")
class WordDropout(Dropout):
    """Replaces a fraction of the words by the unknown word.

    Iyyer et al. (2015) drop words. Replacing them keeps the positions of a
    sentence's tags, and trains the vector of unknown words. With `first` only
    rare words are replaced, as Lample et al. (2016) replace singletons: rare
    words resemble the unseen words of other texts most.

    Args:
        rate: fraction of the words to replace, at least 0 and below 1.
        first: words with smaller ids are kept.
        salt: see `Dropout`.

    Input shape: int32, any; 0 is padding and stays.
    Output shape: the same.
    Masking: none.

    Example:
        ```python
        seed = tf.constant([1, 2])
        tokens = WordDropout(0.05)(tokens, training=True, seed=seed)
        ```
    """

    def __init__(
        self,
        rate: float,
        salt: str = "words",
        first: int = 1,
        **kwargs,
    ):
        super().__init__(rate, salt, **kwargs)
        self.first = checks.positive_integer("first", first)

    def drop(self, x, keep_mask):
        """See `Dropout.drop`."""
        return tf.where(keep_mask | (x < self.first), x, OOV)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {"first": self.first}

    @classmethod
    def from_config(cls, config: dict) -> Self:
        """The layer of a config; older ones also name the unknown word."""
        unknown = config.get("unknown", OOV)
        if unknown != OOV:
            raise ValueError(f"unknown must be {OOV}, got {unknown!r}")
        return cls(**{k: v for k, v in config.items() if k != "unknown"})
