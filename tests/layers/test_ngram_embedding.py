"""Means of the vectors of words' n-grams, against plain Python."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.inputs.ngram_embedding import NgramEmbedding
from tests.layers.layer_testing import assert_gradient, run_layer_test

N, D, V, K = 23, 3, 7, 5
OPEN = [
    tf.TensorSpec([None, None, None], tf.int32),
    tf.TensorSpec([None, None, None, None], tf.int32),
]


def random_ngrams(shape, seed):
    """Distinct n-grams of words, some of which have none or all K."""
    draw = np.random.default_rng(seed)
    rows = np.zeros([*shape, K], np.int32)
    for index in np.ndindex(*shape):
        size = draw.integers(0, K + 1)
        rows[index][:size] = draw.choice(np.arange(1, N), size, replace=False)
    return rows


TABLE = random_ngrams([V], 1)
TABLE[2], TABLE[3] = 0, [4, 9, 1, 22, 5]
# Two groups of two examples, of four own words each.
OWN = random_ngrams([2, 2, 4], 2)
OWN[0, 0, 1], OWN[0, 1, 0], OWN[1, 1, 3] = [3, 0, 0, 0, 0], [22, 21, 1, 0, 0], 0
IDS = np.random.default_rng(3).integers(0, V + 4, [2, 2, 9]).astype(np.int32)
IDS[0, 0, :4], IDS[1, 0, -2:] = [3, V + 1, 0, V + 1], 0


def make(**options):
    return NgramEmbedding(N, D, TABLE, name="ngrams", **options)


def reference(vectors, ids, own=None, table=TABLE):
    """The same, word by word, in the precision of `vectors`."""
    found = np.zeros([*ids.shape, D], vectors.dtype)
    for index in np.ndindex(*ids.shape):
        word, example = int(ids[index]), index[:-1]
        ngrams = []
        if 0 < word < len(table):
            ngrams = table[word]
        elif word >= len(table) and own is not None:
            place = word - len(table)
            if place < own.shape[-2]:
                ngrams = own[example][place]
        ngrams = [n for n in ngrams if n]
        if ngrams:
            found[index] = sum(vectors[n] for n in ngrams) / len(ngrams)
    return found


def called(layer, ids, own=None, in_graph=False):
    arguments = [tf.constant(x) for x in (ids, own) if x is not None]
    call = layer
    if in_graph:
        layer(*arguments)  # Weights are made outside of the graph.
        call = tf.function(layer, input_signature=OPEN[: len(arguments)])
    return call(*arguments)


def assert_same(layer, ids, own, in_graph):
    found = called(layer, ids, own, in_graph).numpy()
    expected = reference(layer.vectors.numpy(), ids, own)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.all(found[ids == 0] == 0)


def test_as_every_layer():
    layer = run_layer_test(
        make,
        (tf.constant(IDS), tf.constant(OWN)),
        parameters=N * D + V * K,
        output_shapes=(2, 2, 9, D),
    )
    assert [v.name for v in layer.trainable_variables] == ["vectors"]
    assert not any(marks_of(weight).is_private for weight in layer.weights)
    np.testing.assert_array_equal(layer.word_ngrams, TABLE)


@pytest.mark.parametrize("in_graph", [False, True])
def test_means_of_ngrams(in_graph):
    layer = make()
    assert_same(layer, IDS, OWN, in_graph)
    known = np.where(IDS < V, IDS, 3)
    assert_same(layer, known, None, in_graph)
    assert_same(layer, known, OWN[:, :, :0], in_graph)
    # Without n-grams own words have zeros, as those beyond their rows have,
    # which are not the next example's.
    assert_same(layer, IDS, None, in_graph)
    assert_same(layer, IDS, OWN[:, :, :2], in_graph)


@pytest.mark.by_default(
    "shape0-False",
    "shape1-False",
    "shape2-False",
    "shape3-False",
    "shape4-False",
)
@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize(
    "shape", [(2, 2, 0), (0, 2, 3), (2, 0, 3), (2, 2, 3), (1, 1, 1)]
)
def test_nothing(in_graph, shape):
    groups, rows, _ = shape
    layer = make()
    for ids in (np.zeros(shape, np.int32), np.full(shape, V + 1, np.int32)):
        assert_same(layer, ids, OWN[:groups, :rows], in_graph)
        assert_same(layer, ids, OWN[:groups, :rows, :0], in_graph)
        nothing = np.zeros([groups, rows, 3, 0], np.int32)
        assert not np.any(called(layer, ids, nothing, in_graph))


@pytest.mark.parametrize("shape", [(9,), (2, 9), (2, 1, 2, 9)])
def test_any_leading_axes(shape):
    layer = make()
    ids = np.resize(IDS, shape)
    own = np.resize(OWN, [*shape[:-1], 4, K])
    found = layer(tf.constant(ids), tf.constant(own))
    expected = reference(layer.vectors.numpy(), ids, own)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_padding_has_zeros_whatever_the_table_says():
    table = TABLE.copy()
    table[0] = [1, 2, 3, 0, 0]
    layer = NgramEmbedding(N, D, table)
    found = layer(tf.constant([0, 1, 0, V, 3]), tf.constant(OWN[0, 0]))
    assert not np.any(found[0]) and not np.any(found[2])
    assert np.any(found[4])


def test_own_words_are_computed_once_for_several_texts():
    layer = make()
    both = layer(tf.constant(IDS), tf.constant(OWN))
    own = layer.means(tf.constant(OWN))
    assert own.shape == (2, 2, 4, D)
    for part in (slice(0, 4), slice(4, 9)):
        found = layer.look_up(tf.constant(IDS[..., part]), own)
        np.testing.assert_array_equal(found, both[:, :, part])
    with pytest.raises(ValueError, match="own words must have one axis more"):
        layer.look_up(tf.constant(IDS), own[0])


# Gradients

# Words whose n-grams are not all that there are.
FEW_IDS = np.array(
    [[[3, V, 0, 3], [0, 2, 3, V + 1]], [[0] * 4, [V, 4, V, V + 9]]], np.int32
)
FEW_OWN = np.where(OWN[:, :, :2] > 12, 0, OWN[:, :, :2])


def loss_weights():
    return np.random.default_rng(5).normal(size=[*IDS.shape, D])


def gradient_of(layer, ids, own, weights):
    def gradient():
        with tf.GradientTape() as tape:
            found = layer(ids, own)
            loss = tf.reduce_sum(tf.cast(weights, tf.float32) * found**2)
        return tape.gradient(loss, layer.vectors.value)

    return gradient


def used_ngrams(ids, own):
    """Those of the words that occur, and of the examples' own words."""
    known = TABLE[ids[(ids > 0) & (ids < V)]]
    return {int(n) for n in [*known.ravel(), *own.ravel()] if n}


@pytest.mark.parametrize("in_graph", [False, True])
def test_gradients_are_sparse_and_right(in_graph):
    layer, weights = make(), loss_weights()
    weights = weights[:, :, :4]
    ids, own = FEW_IDS, FEW_OWN
    layer(tf.constant(ids), tf.constant(own))
    gradient = gradient_of(layer, ids, own, weights)
    with warnings.catch_warnings():
        # Of sparse gradients that become dense.
        warnings.simplefilter("error")
        found = (tf.function(gradient) if in_graph else gradient)()
    assert isinstance(found, tf.IndexedSlices)
    used = used_ngrams(ids, own)
    assert 0 < len(used) < N - 1
    assert set(found.indices.numpy().tolist()) == used
    assert found.dense_shape.numpy().tolist() == [N, D]
    vectors = layer.vectors.numpy().astype(np.float64)

    def loss():
        expected = reference(vectors, ids, own)
        return np.sum(weights * expected**2)

    assert_gradient(found, loss, vectors, "vectors")


def test_a_step_moves_only_what_occurs():
    layer = make()
    layer(FEW_IDS, FEW_OWN)
    old = layer.vectors.numpy()
    gradient = gradient_of(layer, FEW_IDS, FEW_OWN, np.ones([2, 2, 4, D]))()
    keras.optimizers.SGD(0.1).apply([gradient], layer.trainable_variables)
    moved = np.flatnonzero(np.any(layer.vectors.numpy() != old, -1))
    # One own word of each of three examples occurs.
    own = FEW_OWN[[0, 0, 1], [0, 1, 1], [0, 1, 0]]
    assert set(moved.tolist()) == used_ngrams(FEW_IDS, own)


# Weights


class Wrapped(keras.Model):
    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.embedding = layer

    def call(self, ids, own):
        return self.embedding(ids, own)


def test_the_table_is_kept_by_checkpoints_weights_and_exports(tmp_path):
    ids, own = tf.constant(IDS), tf.constant(OWN)
    model = Wrapped(make(init={"seed": 3}))
    expected = model(ids, own)
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    shapes = {tuple(v.shape) for v in optimizer.variables}
    assert (N, D) in shapes and (V, K) not in shapes

    # By the shape alone, as in a config.
    def empty():
        copy = Wrapped(NgramEmbedding(N, D, (V, K), name="ngrams"))
        assert not np.any(copy(tf.where(ids < V, ids, 0), own))
        return copy

    tf.train.Checkpoint(model=model).save(str(tmp_path / "checkpoint"))
    copy = empty()
    path = tf.train.latest_checkpoint(str(tmp_path))
    tf.train.Checkpoint(model=copy).restore(path).expect_partial()
    np.testing.assert_array_equal(copy(ids, own), expected)

    model.save_weights(tmp_path / "model.weights.h5")
    copy = empty()
    copy.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(copy(ids, own), expected)

    module = tf.Module()
    module.kept = [weight.value for weight in model.weights]
    module.serve = tf.function(model, input_signature=OPEN)
    tf.saved_model.save(module, str(tmp_path / "export"))
    served = tf.saved_model.load(str(tmp_path / "export"))
    np.testing.assert_array_equal(served.serve(ids, own), expected)


def test_pretrained_and_frozen_vectors():
    layer = make(trainable=False)
    layer.build()
    vectors = np.arange(N * D, dtype=np.float32).reshape([N, D])
    layer.set_vectors(vectors)
    found = layer(tf.constant([3]))
    expected = vectors[TABLE[3]].mean(0, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert layer.trainable_variables == []
    with pytest.raises(ValueError, match=r"vectors must have shape \(23, 3\)"):
        layer.set_vectors(vectors[1:])


def test_vectors_are_drawn_by_seed_within_the_range():
    draws = []
    for seed in (1, 1, 2):
        layer = make(init={"name": "normal", "range": 0.05, "seed": seed})
        layer.build()
        draws.append(layer.vectors.numpy())
    assert 0.04 < np.abs(draws[0]).max() <= 0.05
    np.testing.assert_array_equal(draws[0], draws[1])
    assert np.any(draws[0] != draws[2])


def test_half_precision():
    layer = make(dtype="mixed_bfloat16")
    found = layer(tf.constant(IDS), tf.constant(OWN))
    assert found.dtype == tf.bfloat16 and layer.vectors.dtype == "float32"
    np.testing.assert_array_equal(layer.word_ngrams, TABLE)
    expected = reference(layer.vectors.numpy(), IDS, OWN)
    np.testing.assert_allclose(tf.cast(found, "float32"), expected, atol=1e-3)


def test_mistakes():
    with pytest.raises(ConfigError, match="ngrams must be a positive"):
        NgramEmbedding(0, D, TABLE)
    with pytest.raises(ConfigError, match="ngram_dim must be a positive"):
        NgramEmbedding(N, 0, TABLE)
    with pytest.raises(ValueError, match=r"have shape \(words, .* got \(3,\)"):
        NgramEmbedding(N, D, [1, 2, 3])
    with pytest.raises(ValueError, match="between 0 and 21, got 0 to 22"):
        NgramEmbedding(22, D, TABLE)
    with pytest.raises(ValueError, match="between 0 and 22, got -22 to 0"):
        NgramEmbedding(N, D, -TABLE)
