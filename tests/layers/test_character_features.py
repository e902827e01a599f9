"""Features of words' characters, and words that are dropped."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.inputs.character_features import CharacterCNN, CharacterLSTM
from mtl_tf.layers.inputs.word_dropout import WordDropout
from tests.layers.layer_testing import run_layer_test

pytestmark = pytest.mark.usefixtures("without_jit")

# Words of three, one and no characters, and of two; one id is a code point.
CHARACTERS = np.array(
    [[[[3, 4, 5], [6, 0, 0]]], [[[0, 0, 0], [9731, 3, 0]]]], np.int32
)


def make_cnn():
    return CharacterCNN(filters=7, width=3, dimension=4, size=40, name="c")


def make_lstm():
    return CharacterLSTM(units=3, dimension=4, size=40, name="c")


@pytest.mark.by_default("make_cnn-7-251")
@pytest.mark.parametrize(
    "make, units, parameters",
    [
        (make_cnn, 7, 40 * 4 + 3 * 4 * 7 + 7),
        (make_lstm, 6, 40 * 4 + 2 * (4 + 3 + 1) * 12),
    ],
)
def test_features(make, units, parameters):
    layer = run_layer_test(
        make,
        (tf.constant(CHARACTERS),),
        parameters=parameters,
        output_shapes=(2, 1, 2, units),
    )
    assert layer.units == units
    assert not any(marks_of(weight).is_private for weight in layer.weights)
    found = layer(tf.constant(CHARACTERS)).numpy()
    assert not np.any(found[1, 0, 0])
    # Padding changes nothing, and neither do other words.
    wide = tf.pad(CHARACTERS, [[0, 0], [0, 0], [0, 1], [0, 4]])
    np.testing.assert_allclose(layer(wide)[:, :, :2], found, atol=1e-6)
    np.testing.assert_allclose(
        layer(CHARACTERS[1:, :, 1:])[0, 0, 0], found[1, 0, 1], atol=1e-6
    )
    assert not np.any(layer(tf.zeros([2, 1, 1, 0], tf.int32)))
    # 9731 = 1 + 39 * 249 + 19 shares a vector with 20.
    same = np.where(CHARACTERS == 9731, 20, CHARACTERS)
    np.testing.assert_array_equal(layer(same), found)


def test_convolution_is_the_largest_answer_in_the_word():
    layer = make_cnn()
    found = layer(tf.constant(CHARACTERS)).numpy()
    vectors, kernel, bias = (np.array(w) for w in layer.weights)
    word = np.pad(vectors[[3, 4, 5]], [(1, 1), (0, 0)])
    windows = np.stack([word[i : i + 3].reshape(-1) for i in range(3)])
    expected = np.tanh(windows @ kernel[0] + bias[0]).max(0)
    np.testing.assert_allclose(found[0, 0, 0], expected, atol=1e-6)


def test_wrong_sizes():
    with pytest.raises(ConfigError, match=r"characters\.filters must be"):
        CharacterCNN(filters=0)
    with pytest.raises(ConfigError, match=r"characters\.size"):
        CharacterLSTM(size=1)


def test_words_are_dropped():
    layer = WordDropout(0.25)
    tokens = tf.random.stateless_uniform([100, 100], [1, 2], 0, 9, tf.int32)
    seed = tf.constant([3, 4])
    dropped = layer(tokens, training=True, seed=seed).numpy()
    again = layer(tokens, training=True, seed=seed)
    np.testing.assert_array_equal(dropped, again)
    assert np.any(dropped != layer(tokens, training=True, seed=seed + 1))
    tokens = tokens.numpy()
    changed = dropped != tokens
    assert np.all(dropped[changed] == 1) and np.all(tokens[changed] > 1)
    assert abs(changed[tokens > 1].mean() - 0.25) < 0.02
    np.testing.assert_array_equal(layer(tokens), tokens)
    config = layer.get_config()
    assert WordDropout.from_config(config).rate == 0.25
    # Older files name the unknown word.
    assert WordDropout.from_config(config | {"unknown": 1}).rate == 0.25
    with pytest.raises(ValueError, match="unknown must be 1, got 2"):
        WordDropout.from_config(config | {"unknown": 2})


def test_rare_words_alone_are_dropped():
    layer = WordDropout(0.5, first=5)
    tokens = tf.random.stateless_uniform([100, 100], [1, 2], 0, 9, tf.int32)
    dropped = layer(tokens, training=True, seed=tf.constant([3, 4])).numpy()
    tokens = tokens.numpy()
    changed = dropped != tokens
    assert np.all(dropped[changed] == 1) and not changed[tokens < 5].any()
    assert abs(changed[tokens >= 5].mean() - 0.5) < 0.02
    assert WordDropout.from_config(layer.get_config()).first == 5
