"""The language model that encoders are pre-trained with."""

import keras
import keras_nlp
import tensorflow as tf

from mtl_tf.models.masked_language_model import MaskedLanguageModel
from tests.traces import compiled


def test_activations_are_of_one_pass():
    network = keras_nlp.models.BertBackbone(20, 1, 2, 8, 16)
    model = MaskedLanguageModel(keras.saving.serialize_keras_object(network), 0)
    model.build()
    tokens = tf.constant([[[3, 8, 9, 4]]])
    places = tf.constant([[[1]]])
    given = {
        "tokens": tokens,
        "places": places,
        "pieces": places,
        "counted": tf.ones([1, 1, 1]),
    }
    assert compiled(lambda: model(given)["loss"])
