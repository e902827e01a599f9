"""A small backbone, its layer and its batches."""

import keras
import tensorflow as tf

from mtl_tf.layers.pretrained.pretrained_encoder import PretrainedEncoder

SPECIALS = {"start": [2], "separator": [3], "end": [3], "pad": 0}


def make_backbone() -> keras.Model:
    """A BERT of three layers, the same at each call."""
    import keras_nlp

    keras.utils.set_random_seed(3)
    return keras_nlp.models.BertBackbone(
        vocabulary_size=20,
        num_layers=3,
        num_heads=2,
        hidden_dim=8,
        intermediate_dim=16,
        max_sequence_length=12,
    )


def made(backbone: keras.Model, **options) -> PretrainedEncoder:
    """The layer with the weights of a backbone."""
    config = keras.saving.serialize_keras_object(backbone)
    layer = PretrainedEncoder(config, SPECIALS, name="encoder", **options)
    layer.build()
    layer.set_pretrained(backbone)
    return layer


def batch(*rows: list[int]) -> tf.Tensor:
    """Pieces of the backbone as a batch of one group, `[1, B, T]`."""
    width = max(map(len, rows))
    found = [[p + 1 for p in row] + [0] * (width - len(row)) for row in rows]
    return tf.constant([found], tf.int32)
