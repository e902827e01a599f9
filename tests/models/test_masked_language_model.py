"""The language model that encoders are pre-trained with."""

import keras
import keras_nlp
import numpy as np
import tensorflow as tf

from mtl_tf.layers.pretrained.sublayers import sublayers
from mtl_tf.models.pretraining.masked_language_model import MaskedLanguageModel
from tests.traces import compiled


def made(**options):
    network = keras_nlp.models.BertBackbone(20, 1, 2, 8, 16)
    config = keras.saving.serialize_keras_object(network)
    model = MaskedLanguageModel(config, 0, **options)
    model.build()
    return model


def batch():
    places = tf.constant([[[1]]])
    return {
        "tokens": tf.constant([[[3, 8, 9, 4]]]),
        "places": places,
        "pieces": places,
        "counted": tf.ones([1, 1, 1]),
    }


def test_activations_are_of_one_pass():
    model = made()
    assert compiled(lambda: model(batch())["loss"])


def test_its_precision_is_that_of_the_layers_but_not_of_weights_and_loss():
    model = made(precision="mixed_bfloat16")
    dtypes = {layer.compute_dtype for layer in sublayers(model.backbone)}
    assert "bfloat16" in dtypes
    assert {weight.dtype for weight in model.weights} == {"float32"}
    loss = model(batch())["loss"]
    assert loss.dtype == tf.float32
    # Near that of float32, and not the same.
    plain = made()(batch())["loss"]
    assert loss != plain
    np.testing.assert_allclose(loss, plain, rtol=0.05)
