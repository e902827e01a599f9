"""The multi-pointer-generator against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.answering import pointer_mixture
from mtl_tf.layers.answering.pointer_decoder import PointerDecoder
from mtl_tf.layers.recurrent import recurrence
from tests.layers import question_reference as reference
from tests.layers.layer_testing import assert_gradient, run_layer_test

UNITS, VOCABULARY, OWN = 4, 7, 3
# Context, question and answer of each of three examples.
SIZES = [(5, 3, 4), (2, 1, 1), (3, 3, 2)]
LONG, SHORT, WORDS = 5, 3, 4
# 7, 8 and 9 are words of the examples' own. In the first example 3 stands in
# the vocabulary, twice in the context and in the question.
CONTEXT_IDS = [[3, 7, 3, 8, 2], [5, 7, 0, 0, 0], [1, 2, 9, 0, 0]]
QUESTION_IDS = [[3, 9, 4], [6, 0, 0], [7, 7, 8]]
TARGETS = [[3, 8, 9, 6], [7, 0, 0, 0], [9, 7, 0, 0]]


@pytest.fixture(autouse=True)
def not_compiled():
    """For speed: compiling takes longer than a few small steps."""
    with recurrence.options(jit=False):
        yield


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return tf.constant(values, tf.float32)


def mask(size, part):
    real = np.arange(size) < np.array([s[part] for s in SIZES])[:, None]
    return tf.constant(real[None])


ANSWERS = normal(1, 3, WORDS, UNITS)
TARGET = tf.constant([TARGETS])
TEXTS = {
    "context": normal(1, 3, LONG, UNITS, seed=1),
    "context_mask": mask(LONG, 0),
    "context_ids": tf.constant([CONTEXT_IDS]),
    "question": normal(1, 3, SHORT, UNITS, seed=2),
    "question_mask": mask(SHORT, 1),
    "question_ids": tf.constant([QUESTION_IDS]),
}


def make(**options):
    return PointerDecoder(VOCABULARY, UNITS, name="decoder", **options)


def built(**options):
    layer = make(**options)
    layer.build()
    draw = np.random.default_rng(7)
    for weight in layer.weights:
        weight.assign(0.7 * draw.normal(size=weight.shape))
    return layer


def expected(weights, row):
    """Distributions of one example's steps, in NumPy."""
    long, short, words = SIZES[row]
    return reference.mixtures(
        weights,
        np.array(ANSWERS, np.float64)[0, row, :words],
        np.array(TEXTS["context"], np.float64)[0, row, :long],
        np.array(TEXTS["question"], np.float64)[0, row, :short],
        (CONTEXT_IDS[row][:long], QUESTION_IDS[row][:short]),
        OWN,
    )


def in_row(texts):
    return {name: value[0] for name, value in texts.items()}


def candidates(layer, mixture, count):
    """The candidates of one hypothesis per example."""
    ids = [in_row(TEXTS)[f"{name}_ids"] for name in layer.pointers]
    ids = tf.concat(ids, 1)
    mixture = {name: value[:, 0] for name, value in mixture.items()}
    first = pointer_mixture.first_places(ids)
    return layer.candidates(mixture, ids, first, count)


def distribution(layer, mixture):
    """Probabilities of the extended vocabulary, `[B, V + own words]`."""
    found = np.zeros([len(SIZES), VOCABULARY + OWN])
    log_p, ids = candidates(layer, mixture, VOCABULARY)
    for row, places in enumerate(ids.numpy()):
        np.add.at(found[row], places, np.exp(log_p[row]))
    return found


def parameters(question):
    lstm = 4 * UNITS * (3 * UNITS + 1)
    own = UNITS**2 + 2 * UNITS**2 + 3 * UNITS
    return lstm + VOCABULARY * UNITS + own * (1 + question)


@pytest.mark.extended
@pytest.mark.parametrize("question", [True, False])
def test_losses_are_the_papers(question):
    layer = run_layer_test(
        lambda: make(question=question),
        (ANSWERS, TARGET, TEXTS),
        parameters=parameters(question),
        output_shapes={"losses": (1, 3, WORDS)},
        symbolic=(),
    )
    layer = built(question=question)
    found = layer(ANSWERS, TARGET, TEXTS)["losses"][0]
    for row, (*_, words) in enumerate(SIZES):
        shares = expected(reference.decoder_weights(layer), row)
        np.testing.assert_allclose(shares.sum(-1), 1.0)
        wanted = [shares[t, TARGETS[row][t]] for t in range(words)]
        if not question:
            # The second text's own words are out of reach.
            reachable = np.array(wanted) > 0
            losses = found[row, :words].numpy()
            np.testing.assert_allclose(
                losses[reachable], -np.log(wanted)[reachable], rtol=1e-4
            )
            assert np.all(losses[~reachable] > 60)
            continue
        np.testing.assert_allclose(
            found[row, :words], -np.log(wanted), rtol=1e-4
        )
        assert not np.any(found[row, words:])


def test_a_word_collects_what_all_three_give():
    layer = built()
    state, texts = layer.start(3), in_row(TEXTS)
    _, mixture = layer.advance(ANSWERS[0, :, :1], state, texts)
    found = distribution(layer, mixture)
    np.testing.assert_allclose(found.sum(-1), 1.0, rtol=1e-5)
    weights = reference.decoder_weights(layer)
    shares = expected(weights, 0)[0]
    np.testing.assert_allclose(found[0], shares, rtol=1e-4, atol=1e-12)
    c, q, generate, copy, vocabulary = next(
        reference.decoder_steps(
            weights,
            np.array(ANSWERS, np.float64)[0, 0],
            np.array(TEXTS["context"], np.float64)[0, 0],
            np.array(TEXTS["question"], np.float64)[0, 0],
        )
    )
    of_three = generate * vocabulary[3] + (1 - generate) * (
        copy * (c[0] + c[2]) + (1 - copy) * q[0]
    )
    np.testing.assert_allclose(found[0, 3], of_three, rtol=1e-4)


@pytest.mark.parametrize("question", [True, False])
def test_few_candidates_hold_the_best_words_once(question):
    layer = built(question=question)
    _, mixture = layer.advance(ANSWERS[0, :, :1], layer.start(3), in_row(TEXTS))
    whole = distribution(layer, mixture)
    for count in (1, 2, 3):
        log_p, ids = candidates(layer, mixture, count)
        for row, found in enumerate(np.exp(log_p)):
            words = ids[row].numpy()[found > 0]
            assert len(set(words)) == len(words)
            np.testing.assert_allclose(
                np.sort(found)[::-1][:count],
                np.sort(whole[row])[::-1][:count],
                rtol=1e-5,
            )
            order = np.argsort(found)[::-1][:count]
            np.testing.assert_array_equal(
                ids[row].numpy()[order], np.argsort(whole[row])[::-1][:count]
            )


def test_first_places_are_where_words_occur_first():
    draw = np.random.default_rng(4)
    ids = draw.integers(0, 9, [5, 12])
    found = pointer_mixture.first_places(tf.constant(ids, tf.int32))
    expected = [[list(row).index(word) for word in row] for row in ids]
    np.testing.assert_array_equal(found, expected)
    assert pointer_mixture.first_places(tf.zeros([0, 3], tf.int32)).shape == (
        0,
        3,
    )
    one = pointer_mixture.first_places(tf.constant([[7]]))
    np.testing.assert_array_equal(one, [[0]])


@pytest.mark.parametrize("question", [True, False])
def test_sources_are_the_terms_of_a_words_probability(question):
    """Equation 13, whose terms are divided by their sum."""
    layer = built(question=question)
    found = layer(ANSWERS, TARGET, TEXTS, inspect=True)["sources"][0].numpy()
    weights = reference.decoder_weights(layer)
    for row, (long, short, words) in enumerate(SIZES):
        steps = reference.decoder_steps(
            weights,
            np.array(ANSWERS, np.float64)[0, row, :words],
            np.array(TEXTS["context"], np.float64)[0, row, :long],
            np.array(TEXTS["question"], np.float64)[0, row, :short],
        )
        for place, (c, q, generate, copy, vocabulary) in enumerate(steps):
            word = TARGETS[row][place]
            of_context = c[np.array(CONTEXT_IDS[row][:long]) == word].sum()
            of_question = q[np.array(QUESTION_IDS[row][:short]) == word].sum()
            terms = [
                generate * vocabulary[word] if word < VOCABULARY else 0.0,
                (1 - generate) * copy * of_context,
                (1 - generate) * (1 - copy) * of_question,
            ]
            if sum(terms):
                np.testing.assert_allclose(
                    found[row, place], terms / np.sum(terms), atol=1e-4
                )


@pytest.mark.parametrize("question", [True, False])
def test_step_by_step_words_have_the_losses_of_the_whole(question):
    layer, texts = built(question=question), in_row(TEXTS)
    losses = layer(ANSWERS, TARGET, TEXTS)["losses"][0]
    state = layer.start(3)
    for place in range(WORDS):
        state, mixture = layer.advance(
            ANSWERS[0, :, place : place + 1], state, texts
        )
        found = np.log(np.maximum(distribution(layer, mixture), 1e-30))
        for row, (*_, words) in enumerate(SIZES):
            if place < words and losses[row, place] < 60:
                np.testing.assert_allclose(
                    -found[row, TARGETS[row][place]],
                    losses[row, place],
                    rtol=1e-4,
                )


def test_an_example_has_the_loss_it_has_alone():
    layer = built()
    together = layer(ANSWERS, TARGET, TEXTS)["losses"][0]
    for row, (long, short, words) in enumerate(SIZES):
        sizes = {"context": long, "question": short}
        texts = {
            name: value[:, row : row + 1, : sizes[name.partition("_")[0]]]
            for name, value in TEXTS.items()
        }
        alone = layer(
            ANSWERS[:, row : row + 1, :words],
            TARGET[:, row : row + 1, :words],
            texts,
        )["losses"][0, 0]
        np.testing.assert_allclose(alone, together[row, :words], rtol=1e-5)


@pytest.mark.by_default("False")
@pytest.mark.parametrize("jit", [False, True])
def test_gradients_are_those_of_the_reference(jit):
    layer = built()
    with recurrence.options(jit=jit), tf.GradientTape() as tape:
        loss = tf.reduce_sum(
            layer(ANSWERS, TARGET, TEXTS, training=True)["losses"]
        )
    variables = {
        "output" if w is layer.output_layer.kernel else w.name: w.value
        for w in layer.weights
    }
    weights = reference.decoder_weights(layer)

    def total():
        return -sum(
            np.log(expected(weights, row)[t, TARGETS[row][t]])
            for row, (*_, words) in enumerate(SIZES)
            for t in range(words)
        )

    np.testing.assert_allclose(loss, total(), rtol=1e-5)
    for name, gradient in tape.gradient(loss, variables).items():
        assert_gradient(gradient, total, weights[name], name)


def test_sources_are_shares_of_one():
    layer = built()
    found = layer(ANSWERS, TARGET, TEXTS, inspect=True)["sources"]
    assert found.shape == (1, 3, WORDS, 3)
    np.testing.assert_allclose(np.sum(found, -1), 1.0, rtol=1e-6)
    without = built(question=False)(ANSWERS, TARGET, TEXTS, inspect=True)
    assert not np.any(without["sources"][..., 2])


def test_a_word_that_is_nowhere_has_a_finite_loss_and_gradient():
    layer = built()
    target = tf.constant([[[9, 0, 0, 0], [9, 0, 0, 0], [4, 0, 0, 0]]])
    with tf.GradientTape() as tape:
        losses = layer(ANSWERS, target, TEXTS, training=True)["losses"]
        loss = tf.reduce_sum(losses)
    assert losses[0, 1, 0] > 60
    for gradient in tape.gradient(loss, layer.trainable_variables):
        assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))


@pytest.mark.extended
def test_dropout_is_a_function_of_the_seed():
    layer = built(dropout=0.5)

    def losses(*seed):
        seed = tf.constant(seed)
        call = {"training": True, "seed": seed}
        return layer(ANSWERS, TARGET, TEXTS, **call)["losses"].numpy()

    np.testing.assert_array_equal(losses(1, 2), losses(1, 2))
    assert np.any(losses(1, 2) != losses(1, 3))
    np.testing.assert_array_equal(
        layer(ANSWERS, TARGET, TEXTS)["losses"],
        built()(ANSWERS, TARGET, TEXTS)["losses"],
    )
