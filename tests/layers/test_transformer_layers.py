"""Attention, feed-forward, blocks, positions against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.attention import self_attention
from mtl_tf.layers.attention.self_attention import SelfAttention
from mtl_tf.layers.attention.transformer_block import TransformerBlock
from mtl_tf.layers.attention.transformer_encoder import TransformerEncoder
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.feed_forward import FeedForward
from mtl_tf.layers.inputs.positions import Positions
from tests.layers import transformer_reference as reference
from tests.layers.layer_testing import run_layer_test

LENGTHS = [5, 2, 0]
MASK = np.arange(5) < np.array(LENGTHS)[:, None]
SEED = tf.constant([1, 2])
BLOCK = 4 * 36 + 4 * 6 + 2 * 6 * 7 + 7 + 6 + 4 * 6


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return tf.constant(values, tf.float32)


X = normal(3, 5, 6)


def randomize(layer):
    """Weights, also biases and gains, that no mistake leaves unseen."""
    draw = np.random.default_rng(7)
    for weight in layer.weights:
        weight.assign(0.5 * draw.normal(size=weight.shape))
    return layer


def make_attention(**options):
    return SelfAttention(6, 3, name="attention", **options)


def make_encoder(norm="pre", **options):
    return TransformerEncoder(2, 6, 3, 7, norm=norm, name="encoder", **options)


def test_attention():
    layer = run_layer_test(
        make_attention,
        (X, tf.constant(MASK)),
        parameters=4 * 36 + 4 * 6,
        output_shapes=((3, 5, 6), (3, 3, 5, 5)),
    )
    y, weights = randomize(layer)(X, MASK)
    for text, length in enumerate(LENGTHS[:2]):
        words = np.array(X, np.float64)[text, :length]
        expected, maps = reference.attention(layer, words)
        np.testing.assert_allclose(y[text, :length], expected, atol=1e-5)
        np.testing.assert_allclose(
            weights[text, :, :length, :length], maps, atol=1e-6
        )
        assert not np.any(weights[text, :, :, length:])
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, atol=1e-5)


def test_attention_of_some_places_is_theirs_among_all():
    layer = make_attention()
    layer.build(X.shape)
    y, weights = randomize(layer)(X, MASK)
    some, some_weights = layer(X, MASK, X[:, 1:3])
    np.testing.assert_allclose(some, y[:, 1:3], atol=1e-6)
    np.testing.assert_allclose(some_weights, weights[:, :, 1:3], atol=1e-6)


@pytest.mark.by_default(
    "False-1",
    "False-100",
    "False-67108864",
    "None-1",
    "None-100",
    "None-67108864",
)
@pytest.mark.parametrize("at_once", [1, 100, 1 << 26])
@pytest.mark.parametrize("jit", [None, False, True])
def test_places_read_in_parts_where_nobody_asks_for_weights(
    monkeypatch, at_once, jit
):
    layer = make_attention()
    layer.build(X.shape)
    expected, _ = randomize(layer)(X, MASK)
    held = []
    softmax = tf.nn.softmax

    def noting(scores):
        held.append(scores.shape)
        return softmax(scores)

    monkeypatch.setattr(self_attention, "_SCORES_AT_ONCE", at_once)
    monkeypatch.setattr(tf.nn, "softmax", noting)

    def call(x, mask):
        y, weights = layer(x, mask, return_weights=False)
        assert weights is None
        return y

    if jit is not None:
        specs = [
            tf.TensorSpec([None, None, 6]),
            tf.TensorSpec([None, None], tf.bool),
        ]
        call = tf.function(call, input_signature=specs, jit_compile=jit)
    np.testing.assert_allclose(call(X, MASK), expected, atol=1e-5)
    for texts, places in ((0, 5), (3, 0)):
        none = X[:texts, :places], MASK[:texts, :places]
        assert call(*none).shape == (texts, places, 6)
    if jit is None:
        # One row of 3 texts, 3 heads and 5 places is the least there is.
        most = max(shape.num_elements() for shape in held)
        assert most == {1: 45, 100: 90}.get(at_once, 225)


def test_attention_drops_weights_in_training():
    layer = make_attention(dropout=0.5)
    layer.build(X.shape)
    one, weights = layer(X, MASK, training=True, seed=SEED)
    two, _ = layer(X, MASK, training=True, seed=SEED)
    np.testing.assert_array_equal(one, two)
    assert np.any(one != layer(X, MASK, training=True, seed=SEED + 1)[0])
    y, undropped = layer(X, MASK)
    assert np.any(one != y)
    np.testing.assert_array_equal(weights, undropped)


def test_feed_forward():
    layer = run_layer_test(
        lambda: FeedForward(6, 7, name="feed_forward"),
        (X,),
        parameters=2 * 6 * 7 + 7 + 6,
        output_shapes=(3, 5, 6),
    )
    expected = reference.feed_forward(randomize(layer), np.array(X))
    np.testing.assert_allclose(layer(X), expected, atol=1e-5)


def test_block_is_a_layer():
    run_layer_test(
        lambda: TransformerBlock(6, 3, 7, 0.1, name="block"),
        (X, tf.constant(MASK)),
        parameters=BLOCK,
        output_shapes=((3, 5, 6), (3, 3, 5, 5)),
    )


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_encoder(norm):
    layer = TransformerEncoder.from_config(make_encoder(norm).get_config())
    layer.build(X.shape)
    assert layer.count_params() == 2 * BLOCK + (2 * 6 if norm == "pre" else 0)
    states, attention = randomize(layer)(X, MASK)
    for text, length in enumerate(LENGTHS[:2]):
        words = np.array(X, np.float64)[text, :length]
        expected, maps = reference.encoder(layer, words)
        np.testing.assert_allclose(states[text, :length], expected, atol=1e-5)
        for got, wanted in zip(attention, maps):
            np.testing.assert_allclose(
                got[text, :, :length, :length], wanted, atol=1e-5
            )
        assert not np.any(states[text, length:])
    assert not np.any(states[2])
    place = tf.constant([3, 0, 1])
    one, _ = layer(X, MASK, place)
    np.testing.assert_allclose(one[0], states[0, 3], atol=1e-5)
    np.testing.assert_allclose(one[1], states[1, 0], atol=1e-5)


def test_blocks_start_from_and_drop_different_values():
    first, second = make_encoder().blocks
    for block in (first, second):
        block.build(X.shape)
    for a, b in zip(first.trainable_variables, second.trainable_variables):
        if a.name.endswith("kernel"):
            assert np.all(np.array(a) != np.array(b)), a.path
    salts = [
        dropout.salt
        for block in (first, second)
        for dropout in (
            block.attention.dropout,
            block.attention_dropout,
            block.feed_forward.dropout,
            block.feed_forward_dropout,
        )
    ]
    assert len(set(salts)) == 8


@pytest.mark.parametrize(
    "dropped, expected",
    [
        ({"block/attention", "block/feed_forward"}, lambda block: X),
        (
            {"block/attention"},
            lambda block: X + block.feed_forward(block.feed_forward_norm(X)),
        ),
        (
            {"block_attention/weights", "block/feed_forward"},
            lambda block: X + block.attention.output_bias,
        ),
        (
            {"block/attention", "block_feed_forward/hidden"},
            lambda block: X + block.feed_forward.output_bias,
        ),
    ],
)
def test_where_dropout_is(dropped, expected, monkeypatch):
    """Where all is dropped nothing passes."""
    monkeypatch.setattr(
        Dropout, "call", lambda self, x, **_: x * (self.salt not in dropped)
    )
    block = TransformerBlock(6, 3, 7, 0.1, name="block")
    block.build(X.shape)
    got, _ = randomize(block)(X, MASK)
    np.testing.assert_allclose(got, expected(block), atol=1e-5)


def test_gradients_of_texts_without_words_are_finite():
    layer = make_encoder(dropout=0.2)
    layer.build(X.shape)
    empty = tf.zeros([3, 5], tf.bool)
    with tf.GradientTape() as tape:
        tape.watch(X)
        states, _ = layer(X, empty, training=True, seed=SEED)
        loss = tf.reduce_sum(states**2 + states)
    gradients = tape.gradient(loss, [X, *layer.trainable_variables])
    assert not np.any(states)
    for gradient in gradients:
        assert not np.any(tf.convert_to_tensor(gradient))


def test_half_precision_keeps_the_softmax_in_single():
    half, single = (
        make_encoder(dtype=dtype) for dtype in ("mixed_bfloat16", "float32")
    )
    states = []
    for layer in (half, single):
        layer.build(X.shape)
        states.append(layer(X, MASK))
    (got, weights), (expected, _) = states
    assert got.dtype == tf.bfloat16
    assert {v.dtype for v in half.variables} == {"float32"}
    np.testing.assert_allclose(tf.cast(got, tf.float32), expected, atol=0.05)
    for weight in weights:
        assert weight.dtype == tf.float32
        np.testing.assert_allclose(np.sum(weight, -1), 1.0, atol=1e-5)


EMBEDDED = normal(2, 3, 4, 6)


def test_learned_positions():
    layer = run_layer_test(
        lambda: Positions("learned", 3, name="positions"),
        (EMBEDDED,),
        parameters=3 * 6,
        output_shapes=(2, 3, 4, 6),
    )
    [table] = layer.get_weights()
    # The fourth word has the place of the third, the last one there is.
    np.testing.assert_allclose(
        layer(EMBEDDED), EMBEDDED + table[[0, 1, 2, 2]], atol=1e-6
    )
    # Padding has no place of its own: the decay of a step's rows would move
    # vectors that no word has.
    mask = np.zeros([2, 3, 4], bool)
    mask[:, 1, :2] = True
    with tf.GradientTape() as tape:
        found = layer(EMBEDDED, tf.constant(mask))
    np.testing.assert_allclose(found, EMBEDDED + table[[0, 1, 1, 1]], atol=1e-6)
    [vectors] = layer.trainable_variables
    gradient = tape.gradient(found, vectors.value)
    assert set(gradient.indices.numpy()) == {0, 1}
    other = Positions("learned", 3, init={"seed": 1}, name="positions")
    other.build(EMBEDDED.shape)
    assert np.any(other.get_weights()[0] != np.array(table))


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_sinusoidal_positions(dtype):
    layer = run_layer_test(
        lambda: Positions("sinusoidal", dtype=dtype, name="positions"),
        (EMBEDDED,),
        parameters=0,
        output_shapes=(2, 3, 4, 6),
    )
    zeros = tf.zeros([1, 1, 400, 6])
    # Places far from the start are exact in half precision too.
    np.testing.assert_allclose(
        layer(zeros)[0, 0], reference.sines(400, 6), atol=1e-4
    )


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: SelfAttention(6, 4), r"multiple of heads \(4\), got 6"),
        (lambda: SelfAttention(6, 0), "heads must be a positive integer"),
        (lambda: SelfAttention(6, 3, 1.0), "dropout rate must be"),
        (lambda: FeedForward(6, 0), "feed_forward must be a positive"),
        (lambda: TransformerBlock(6, 3, 7, norm="pst"), "mean 'post'"),
        (lambda: TransformerEncoder(0, 6, 3, 7), "layers must be a positive"),
        (lambda: Positions("lerned"), "did you mean 'learned'"),
        (lambda: Positions("learned", 0), "max_positions must be a positive"),
    ],
)
def test_wrong_options(make, message):
    with pytest.raises(ConfigError, match=message):
        make()
