"""Dropout of Keras's layers that is a function of the call's seed."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.pretrained import backbone_dropout

RATE = 0.3
SEED = tf.constant([3, 4])


@pytest.fixture
def layers():
    made = [keras.layers.Dropout(RATE), keras.layers.Dropout(RATE)]
    backbone_dropout.make_pure(made)
    return made


def dropped(layer, seed=SEED):
    with backbone_dropout.seeded(seed):
        return np.array(layer(tf.ones([200, 300]), training=True))


def test_a_share_of_the_inputs_is_dropped_and_the_others_scaled(layers):
    found = dropped(layers[0])
    # Three standard deviations of 60,000 draws are 0.006.
    assert np.mean(found == 0.0) == pytest.approx(RATE, abs=0.006)
    np.testing.assert_allclose(found[found > 0], 1 / (1 - RATE), rtol=1e-4)


def test_what_is_dropped_depends_on_seed_and_layer_alone(layers):
    one = dropped(layers[0])
    np.testing.assert_array_equal(one, dropped(layers[0]))
    for other in (dropped(layers[1]), dropped(layers[0], SEED + 1)):
        both = np.mean((one == 0.0) & (other == 0.0))
        assert both == pytest.approx(RATE**2, abs=0.004)


def test_nothing_is_dropped_unless_it_trains(layers):
    assert np.all(np.array(layers[0](tf.ones([3, 4]))) == 1.0)
    with pytest.raises(ValueError, match="training with dropout needs a seed"):
        layers[0](tf.ones([3, 4]), training=True)


def test_dropout_of_whole_rows_stays_so():
    layer = keras.layers.Dropout(RATE, noise_shape=(200, 1))
    backbone_dropout.make_pure([layer])
    found = dropped(layer)
    assert set(np.mean(found == 0.0, axis=1)) == {0.0, 1.0}
    np.testing.assert_array_equal(found, dropped(layer))
