"""Sums of n-grams' vectors, against plain Python."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.inputs.wide_features import WideFeatures
from tests.layers.layer_testing import assert_gradient, run_layer_test

BUCKETS, D, TASKS = 97, 3, 3
# Two groups of two texts; 1 is the unknown word.
TOKENS = np.array(
    [[[5, 6, 1, 5, 6], [7, 0, 0, 0, 0]], [[0] * 5, [9, 8, 7, 6, 5]]], np.int32
)
TASK = tf.constant([2, 0])
CHARACTERS = np.random.default_rng(1).integers(97, 110, [2, 2, 5, 6])
CHARACTERS[TOKENS == 0] = 0
CHARACTERS[..., 4:] = 0
CHARACTERS[0, 0, 1, 1:] = 0
CHARACTERS = CHARACTERS.astype(np.int32)


def make(characters=0, rate=0.0, **options):
    options = {"name": "wide", "init": {"seed": 1}} | options
    return WideFeatures(BUCKETS, TASKS, D, 2, characters, rate, **options)


def with_vectors(*arguments, **options):
    layer = make(*arguments, **options)
    layer.build()
    draw = np.random.default_rng(0)
    for weight in layer.weights:
        weight.assign(draw.normal(size=weight.shape))
    return layer


def bucket(kind, parts):
    """The hash in Python's own integers, as 64 bits with a sign."""

    def wrapped(value):
        return (value + 2**63) % 2**64 - 2**63

    code = kind
    for part in parts:
        code = wrapped(code * -7046029254386353131)
        code ^= wrapped(int(part) * -4417276706812531889)
        code ^= code >> 29
    return code % BUCKETS


def joined(characters, longest):
    """The n-grams of neighbouring words of one character."""
    ones = [n[0] if n[0] and not any(n[1:]) else 0 for n in characters]
    for width in range(3, longest):
        for part in zip(*(ones[n:] for n in range(width))):
            if all(part):
                yield bucket(-width, part)


def tables(layer):
    return [weight.numpy().astype(np.float64) for weight in layer.weights]


def reference(
    vectors, tokens, task, characters=None, longest=0, weights=None, join=False
):
    shared, private = vectors[0], vectors[1].reshape(TASKS, BUCKETS, D)
    if weights is None:
        weights = np.ones([BUCKETS])
    found = np.zeros([2, 2, D])
    for g, b in np.ndindex(2, 2):
        words = [int(n) for n in tokens[g, b] if n]
        codes = [bucket(1, [n]) for n in words if n > 1]
        codes += [
            bucket(2, pair) for pair in zip(words, words[1:]) if min(pair) > 1
        ]
        for place in range(len(words) if longest else 0):
            own = [n for n in characters[g, b, place] if n]
            own = [2**21, *own, 2**21 + 1]
            for width in range(3, longest + 1):
                for start in range(len(own) - width + 1):
                    part = own[start : start + width]
                    codes.append(bucket(-width, part))
        if join:
            codes += joined(characters[g, b], longest)
        if codes:
            both = (shared + private[task[g]]) * weights[:, None]
            length = np.sqrt(max(np.sum(weights[codes] ** 2), 1.0))
            found[g, b] = both[codes].sum(0) / length
    return found


@pytest.mark.parametrize("longest", [0, 4])
def test_sums(longest):
    layer = with_vectors(longest)
    found = layer(TOKENS, TASK, CHARACTERS).numpy()
    expected = reference(tables(layer), TOKENS, TASK, CHARACTERS, longest)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert not found[1, 0].any() and found[0, 1].any()
    # More padding changes nothing.
    wider = np.pad(TOKENS, [(0, 0), (0, 0), (0, 3)])
    characters = np.pad(CHARACTERS, [(0, 0), (0, 0), (0, 3), (0, 2)])
    again = layer(wider, TASK, characters)
    np.testing.assert_allclose(again, found, atol=1e-6)


def test_ngrams_of_characters_run_over_words_of_one_character():
    characters = np.where(np.arange(6) > 0, 0, CHARACTERS)  # Of one each.
    characters[1, 1, 3, 1] = 99
    layer = with_vectors(5, join_characters=True)
    found = layer(TOKENS, TASK, characters).numpy()
    arguments = tables(layer), TOKENS, TASK, characters, 5
    assert len(list(joined(characters[0, 0], 5))) == 5
    assert len(list(joined(characters[1, 1], 5))) == 1
    np.testing.assert_allclose(found, reference(*arguments, join=True), 1e-5)
    assert not np.allclose(found, reference(*arguments))
    wider = np.pad(TOKENS, [(0, 0), (0, 0), (0, 3)])
    characters = np.pad(characters, [(0, 0), (0, 0), (0, 3), (0, 2)])
    again = layer(wider, TASK, characters)
    np.testing.assert_allclose(again, found, atol=1e-6)


def test_weights_by_document_frequency():
    layer = with_vectors(4, idf=True)
    counts = np.random.default_rng(5).integers(0, 4, [BUCKETS])
    layer.set_document_counts(counts, 9)
    weights = [np.log(10 / (1 + n)) + 1 if n else 0.0 for n in counts]
    found = layer(TOKENS, TASK, CHARACTERS).numpy()
    expected = reference(
        tables(layer), TOKENS, TASK, CHARACTERS, 4, np.array(weights)
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(layer.trainable_variables) == 2
    # N-grams that no text had may not make a text's others count less.
    layer.set_document_counts(0 * counts, 9)
    assert not np.any(layer(TOKENS, TASK, CHARACTERS))


def test_layer():
    layer = run_layer_test(
        lambda: make(4),
        (tf.constant(TOKENS), TASK, tf.constant(CHARACTERS)),
        parameters=(1 + TASKS) * BUCKETS * D,
        output_shapes=(2, 2, D),
    )
    assert not np.any(make(4)(TOKENS, TASK, CHARACTERS))
    assert [marks_of(w).is_private for w in layer.weights] == [False, True]
    with pytest.raises(ValueError, match="wide: n-grams of characters need"):
        layer(TOKENS, TASK)


def test_its_vectors_have_a_learning_rate_of_their_own():
    layer = WideFeatures(4, tasks=2, dimension=2)
    layer.build()
    assert len(layer.trainable_variables) == 2
    assert all(marks_of(weight).is_wide for weight in layer.trainable_variables)


def test_gradient():
    layer = with_vectors(3)
    weights = np.random.default_rng(2).normal(size=[2, 2, D])
    vectors = tables(layer)

    def loss():
        found = reference(vectors, TOKENS, TASK, CHARACTERS, 3)
        return np.sum(weights * found**2)

    with tf.GradientTape() as tape:
        found = layer(TOKENS, TASK, CHARACTERS)
        total = tf.reduce_sum(tf.cast(weights, tf.float32) * found**2)
    gradients = tape.gradient(total, layer.weights)
    for gradient, value, weight in zip(gradients, vectors, layer.weights):
        # Only what occurs is changed.
        assert isinstance(gradient, tf.IndexedSlices)
        assert_gradient(gradient, loss, value, weight.name)


def test_short_texts_of_short_words():
    layer = with_vectors(5)
    tokens = np.full([2, 2, 1], 5, np.int32)
    characters = np.full([2, 2, 1, 1], 97, np.int32)
    found = layer(tokens, TASK, characters)
    expected = reference(tables(layer), tokens, TASK, characters, 5)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_head_reads_one_of_the_two_alone_for_some_texts():
    layer = WideFeatures(4, dimension=2, alone=0.25, encoder_alone=0.5)
    layer.build()
    summary, wide = tf.ones([1, 4000, 3]), 5.0 * tf.ones([1, 4000, 2])
    options = {"training": True, "seed": tf.constant([1, 2])}
    found = layer.beside(summary, wide, tf.constant([0]), **options).numpy()[0]
    kinds, counts = np.unique(found.round(3), axis=0, return_counts=True)
    # Scaled up, so that the mean stays.
    one, other = [1.333] * 3, [10.0] * 2
    expected = [[0, 0, 0, *other], [*one, 0, 0], [*one, *other]]
    np.testing.assert_allclose(kinds, expected)
    np.testing.assert_allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.03)
    plain = layer.beside(summary, wide, tf.constant([0])).numpy()[0]
    np.testing.assert_array_equal(plain, [[1, 1, 1, 5, 5]] * 4000)
    with pytest.raises(ConfigError, match="must be less than 1 together"):
        WideFeatures(4, alone=0.5, encoder_alone=0.5)


def test_dropout_leaves_out_whole_ngrams():
    layer = with_vectors(0, 0.5)
    plain = layer(TOKENS, TASK).numpy()
    # One n-gram: it is there, twice as large, or not.
    seeds = [tf.constant([n, 7]) for n in range(20)]
    found = [
        layer(TOKENS, TASK, training=True, seed=seed)[0, 1].numpy()
        for seed in seeds
    ]
    kinds = {round(float(one[0] / plain[0, 1, 0]), 3) for one in found}
    assert kinds == {0.0, 2.0}


def test_some_texts_are_read_by_their_ngrams_alone():
    texts = 400
    layer = WideFeatures(BUCKETS, TASKS, D, alone=0.25, init={"seed": 1})
    layer.build()
    layer.vectors.assign(np.random.default_rng(0).normal(size=(BUCKETS, D)))
    tokens = tf.constant(np.tile(TOKENS[:1, :1], [2, texts, 1]))
    summary = tf.random.stateless_uniform([2, texts, 4], (1, 2)) + 1.0
    wide = layer(tokens, TASK)
    alone = np.concatenate([summary, wide], -1)
    np.testing.assert_array_equal(layer.beside(summary, wide, TASK), alone)
    seed = tf.constant([3, 4])
    read = layer.beside(summary, wide, TASK, training=True, seed=seed)
    again = layer.beside(summary, wide, TASK, training=True, seed=seed)
    np.testing.assert_array_equal(read, again)
    np.testing.assert_allclose(read[..., 4:], alone[..., 4:], rtol=1e-6)
    # Whole summaries are zero; the others are as large in the mean as all.
    kept = np.all(read[..., :4] != 0, -1)
    assert 0.65 < kept.mean() < 0.85
    expected = np.where(kept[..., None], alone[..., :4] / 0.75, 0.0)
    np.testing.assert_allclose(read[..., :4], expected, rtol=1e-6)


def test_outside_training_a_task_reads_its_share_of_the_summary():
    layer = WideFeatures(BUCKETS, TASKS, D, alone=0.25)
    layer.build()
    summary = tf.random.stateless_uniform([2, 3, 4], (1, 2))
    wide = tf.random.stateless_uniform([2, 3, D], (3, 4))
    numbers = np.array([0.25, 0.5, 0.75])[:TASKS]
    layer.shares.assign(numbers)
    own = numbers[TASK.numpy()][:, None, None] * summary
    read = layer.beside(summary, wide, TASK)
    np.testing.assert_allclose(read[..., :4], own, rtol=1e-6)
    np.testing.assert_array_equal(read[..., 4:], wide)
    read = layer.beside(summary, wide, TASK, share=0.125)
    np.testing.assert_allclose(read[..., :4], 0.125 * summary, rtol=1e-6)
    # What a gradient is taken of does not change with it.
    seed = tf.constant([3, 4])
    read = layer.beside(summary, wide, TASK, training=True, seed=seed)
    layer.shares.assign(tf.ones([TASKS]))
    again = layer.beside(summary, wide, TASK, training=True, seed=seed)
    np.testing.assert_array_equal(read, again)


def test_without_texts_of_ngrams_alone_there_are_no_shares():
    layer = WideFeatures(BUCKETS, TASKS, D)
    layer.build()
    assert layer.shares is None and len(layer.weights) == 2
