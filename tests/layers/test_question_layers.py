"""Coattention and the decoder's blocks against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.answering.answer_block import AnswerBlock
from mtl_tf.layers.answering.coattention import DualCoattention
from mtl_tf.layers.attention.self_attention import SelfAttention
from tests.layers import question_reference as reference
from tests.layers.layer_testing import run_layer_test

UNITS = 6
SIZES = [(5, 3), (2, 1), (4, 3)]  # of each context and question
CONTEXT_MASK = np.arange(5) < np.array([c for c, _ in SIZES])[:, None]
QUESTION_MASK = np.arange(3) < np.array([q for _, q in SIZES])[:, None]


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return tf.constant(values, tf.float32)


CONTEXT, QUESTION = normal(3, 5, UNITS), normal(3, 3, UNITS, seed=1)


def randomize(layer):
    draw = np.random.default_rng(7)
    for weight in layer.weights:
        weight.assign(0.5 * draw.normal(size=weight.shape))
    return layer


def double(x, *place):
    return np.array(x, np.float64)[place]


def masks():
    return tf.constant(CONTEXT_MASK), tf.constant(QUESTION_MASK)


def coattend(layer, context=CONTEXT, question=QUESTION):
    context_mask, question_mask = masks()
    of_context, of_question = layer(
        context, context_mask, question, question_mask
    )
    return (*of_context, *of_question)


# Coattention


def test_coattention_is_the_papers():
    context_mask, question_mask = masks()
    layer = run_layer_test(
        lambda: DualCoattention(UNITS, name="coattention"),
        (CONTEXT, context_mask, QUESTION, question_mask),
        parameters=2 * UNITS,
        output_shapes=(((3, 5, 6), (3, 5, 6)), ((3, 3, 6), (3, 3, 6))),
    )
    found = coattend(randomize(layer))
    for row, (long, short) in enumerate(SIZES):
        expected = reference.coattention(
            layer,
            double(CONTEXT, row, slice(long)),
            double(QUESTION, row, slice(short)),
        )
        for got, wanted in zip(found, expected):
            got = got[row, : len(wanted)]
            np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_padding_of_either_text_changes_nothing():
    layer = DualCoattention(UNITS)
    layer.build()
    before = coattend(randomize(layer))
    noise = tf.where(CONTEXT_MASK[..., None], CONTEXT, 50.0)
    after = coattend(layer, noise, QUESTION)
    noise = tf.where(QUESTION_MASK[..., None], QUESTION, -50.0)
    for found in (after, coattend(layer, CONTEXT, noise)):
        for n, (a, b) in enumerate(zip(found, before)):
            real = CONTEXT_MASK if n < 2 else QUESTION_MASK
            a, b = np.array(a)[real], np.array(b)[real]
            np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("empty", ["context", "question"])
def test_beside_a_text_without_tokens_stands_its_dummy(empty):
    layer = randomize(_built(DualCoattention(UNITS)))
    context_mask, question_mask = masks()
    if empty == "context":
        context_mask = tf.zeros_like(context_mask)
    else:
        question_mask = tf.zeros_like(question_mask)
    of_context, of_question = layer(
        CONTEXT, context_mask, QUESTION, question_mask
    )
    found, dummy = (
        (of_question.summary, layer.context_dummy)
        if empty == "context"
        else (of_context.summary, layer.question_dummy)
    )
    expected = np.broadcast_to(dummy.numpy(), found.shape)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_groups_of_examples_are_examples():
    layer = randomize(_built(DualCoattention(UNITS)))
    context_mask, question_mask = masks()
    grouped = layer(
        *(x[None] for x in (CONTEXT, context_mask, QUESTION, question_mask))
    )
    for a, b in zip(tf.nest.flatten(grouped), coattend(layer)):
        np.testing.assert_allclose(a[0], b, atol=1e-6)


def _built(layer):
    layer.build()
    return layer


# Wide heads


def test_heads_as_wide_as_the_inputs_of_another_text():
    layer = SelfAttention(
        UNITS, 3, head_units=UNITS, bias=False, name="attention"
    )
    context_mask, _ = masks()
    layer.build(CONTEXT.shape)
    assert layer.count_params() == 4 * UNITS * 3 * UNITS
    found, _ = randomize(layer)(CONTEXT, context_mask, QUESTION)
    for row, (long, short) in enumerate(SIZES):
        expected = reference.attention(
            layer,
            double(QUESTION, row, slice(short)),
            double(CONTEXT, row, slice(long)),
        )
        np.testing.assert_allclose(found[row, :short], expected, atol=1e-5)
    again = SelfAttention.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


def test_heads_need_a_width_that_is_given_or_divides():
    with pytest.raises(ConfigError, match=r"multiple of heads \(4\), got 6"):
        SelfAttention(6, 4)
    with pytest.raises(ConfigError, match="head_units must be a positive"):
        SelfAttention(6, 3, head_units=0)


def test_a_causal_place_reads_nothing_behind_it():
    layer = randomize_built(SelfAttention(UNITS, 2, causal=True))
    mask = tf.ones([3, 5], tf.bool)
    before, weights = layer(CONTEXT, mask)
    assert not np.any(np.triu(weights, 1))
    changed = tf.concat([CONTEXT[:, :3], 9 * CONTEXT[:, 3:]], 1)
    after, _ = layer(changed, mask)
    np.testing.assert_allclose(after[:, :3], before[:, :3], atol=1e-6)
    assert np.all(np.any(after[:, 3:] != before[:, 3:], -1))
    # Queries are the last places.
    last, _ = layer(CONTEXT, mask, CONTEXT[:, 3:])
    np.testing.assert_allclose(last, before[:, 3:], atol=1e-6)


def randomize_built(layer):
    layer.build(CONTEXT.shape)
    return randomize(layer)


# Blocks of the decoder


def make_block(**options):
    return AnswerBlock(UNITS, 2, 7, name="block", **options)


def test_a_block_is_the_papers():
    context_mask, question_mask = masks()
    attention = 4 * UNITS * 2 * UNITS
    layer = run_layer_test(
        make_block,
        (QUESTION, question_mask, CONTEXT, context_mask),
        parameters=2 * attention + 2 * 6 * 7 + 7 + 6 + 3 * 2 * UNITS,
        output_shapes=(3, 3, 6),
    )
    found = randomize(layer)(QUESTION, question_mask, CONTEXT, context_mask)
    for row, (long, short) in enumerate(SIZES):
        expected = reference.answer_block(
            layer,
            double(QUESTION, row, slice(short)),
            double(CONTEXT, row, slice(long)),
        )
        np.testing.assert_allclose(found[row, :short], expected, atol=1e-5)


def test_place_by_place_a_block_gives_what_it_gives_at_once():
    layer = randomize_built(make_block())
    context_mask, _ = masks()
    answer = normal(3, 4, UNITS, seed=5)
    expected = layer(answer, tf.ones([3, 4], tf.bool), CONTEXT, context_mask)
    cache = layer.empty(3, 6)
    for place in range(4):
        found, cache = layer.advance(
            answer[:, place : place + 1],
            tf.constant(place),
            cache,
            CONTEXT,
            context_mask,
            layer.folded(),
        )
        np.testing.assert_allclose(found[:, 0], expected[:, place], atol=1e-5)
    assert cache.shape == (3, 6, UNITS)


def test_dropout_is_a_function_of_the_seed():
    layer = randomize_built(make_block(dropout=0.5))
    context_mask, question_mask = masks()
    read = (QUESTION, question_mask, CONTEXT, context_mask)

    def call(seed, **options):
        return layer(*read, seed=tf.constant(seed), **options).numpy()

    one = call([1, 2], training=True)
    np.testing.assert_array_equal(one, call([1, 2], training=True))
    assert np.any(one != call([1, 3], training=True))
    np.testing.assert_array_equal(call([1, 2]), layer(*read))
