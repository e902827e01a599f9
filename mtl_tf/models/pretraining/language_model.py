"""A recurrent language model that predicts the next and previous words."""

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core import random, special_ids
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.softmax_output import SoftmaxOutput
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class LanguageModel(keras.Model):
    """Predicts each word from the words before it and from those after it.

    Peters et al. (2018), section 3.1: the forward layer's state at a word
    predicts the next word, the backward layer's state predicts the previous
    one. Both use the same softmax, whose weights are the word vectors (Press
    and Wolf 2017). A dense layer per direction maps states to vectors.

    Args:
        scheme: a recurrent scheme that all tasks share. Its layers and the word
            vectors are trained.
        vocabulary_size: number of words, sorted from frequent to rare, see
            `SoftmaxOutput`.
        dimension: size of the word vectors.
        samples: number of sampled words in the softmax of a training step; 0
            for all words. Perplexities use all words.
        dropout: dropout rate for vectors and states.
        init: see `layers.base.check_init`.

    Input shape: a batch: "tokens" int32 `[G, B, T]`, 0 is padding.
    Output shape: "loss" float32 `[G, B]`, the negative log-likelihood in nats,
        summed over an example's words and both directions; "losses", which is
        empty. Unknown words are read but not predicted.
    Masking: padding changes nothing.
    """

    #: All blocks have the same length.
    static_shapes = True

    def __init__(
        self,
        scheme: RecurrentScheme,
        vocabulary_size: int,
        dimension: int,
        samples: int = 0,
        dropout: float = 0.0,
        init: Mapping[str, Any] | None = None,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.scheme = scheme
        self.embedding = Embedding(
            vocabulary_size, dimension, init=init, name="embedding"
        )
        self.words = SoftmaxOutput(
            vocabulary_size,
            # Sampling more words than there are would save nothing.
            samples=samples if samples < vocabulary_size else 0,
            init=init,
            name="words",
        )
        self.read = Dropout(dropout, salt="read")
        self.told = Dropout(dropout, salt="told")
        seed = self.words.init["seed"]
        self.projections = [
            keras.layers.Dense(
                dimension,
                name=f"{layer.name}_projection",
                kernel_initializer=keras.initializers.GlorotUniform(
                    random.fold(seed, layer.name, "projection") % 2**31
                ),
            )
            for layer in scheme.directions
        ]

    def build(self, input_shape=None):
        """Makes all weights."""
        self.embedding.build()
        self.scheme.build((None, None, None, self.embedding.dimension))
        self.words.build_above(self.embedding.vectors)
        for layer, projection in zip(self.scheme.directions, self.projections):
            projection.build((None, layer.units))
        self.built = True

    def call(self, batch, training: bool = False, seed=None) -> dict:
        """The losses of a batch.

        Args:
            batch: see the class.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for dropout and sampling.
        """
        tokens = batch["tokens"]
        mask = self.embedding.mask(tokens)
        x = self.read(self.embedding(tokens), training=training, seed=seed)
        task = tf.zeros(tf.shape(tokens)[:1], tf.int32)
        results = self.scheme.run(
            x, mask, task, training, inspect=False, sequence=True
        )
        loss = 0.0
        for layer, projection, result in zip(
            self.scheme.directions, self.projections, results
        ):
            states = self.told(
                result.sequences["hidden"], training=training, seed=seed
            )
            words, targets = tokens[:, :, :-1], tokens[:, :, 1:]
            states, following = states[:, :, :-1], states[:, :, 1:]
            if layer.reverse:
                states, words, targets = following, targets, words
            is_counted = (words > special_ids.PAD) & (targets > special_ids.OOV)
            flat = tf.reshape(states, [-1, layer.units])
            losses = self.words(
                projection(flat),
                tf.reshape(targets, [-1]),
                training=training,
                seed=seed,
            )
            losses = tf.reshape(losses, tf.shape(targets))
            loss += tf.reduce_sum(losses * tf.cast(is_counted, tf.float32), -1)
        return {"loss": loss, "losses": {}}
