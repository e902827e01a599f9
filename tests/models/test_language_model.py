"""The language model of a recurrent scheme against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.models.pretraining.language_model import LanguageModel
from mtl_tf.models.registry import make_scheme

WORDS, DIMENSION = 12, 5


def made(bidirectional=True, name="lstm", **options):
    scheme = make_scheme(
        {
            "name": name,
            "units": 4,
            "sharing": "shared",
            "bidirectional": bidirectional,
        },
        1,
        {"seed": 3},
    )
    model = LanguageModel(scheme, WORDS, DIMENSION, init={"seed": 3}, **options)
    model.build()
    draw = np.random.default_rng(5)
    for variable in model.variables:
        variable.assign(draw.normal(size=variable.shape) * 0.7)
    return model


def batch(tokens):
    return {"tokens": tf.constant(tokens, tf.int32)[None]}


def expected(model, tokens):
    """The sum of what each direction's states say of their neighbours."""
    vectors = model.embedding.vectors.numpy()
    bias = model.words.bias.numpy()
    total = np.zeros(len(tokens))
    for layer, projection in zip(model.scheme.directions, model.projections):
        kernel, offset = (v.numpy() for v in projection.variables)
        for row, text in enumerate(tokens):
            x = tf.constant(vectors[text][None, None])
            mask = tf.constant(text[None, None] > 0)
            states = layer(x, mask, sequence=True).sequences["hidden"][0, 0]
            for place, state in enumerate(states.numpy()):
                other = place - 1 if layer.reverse else place + 1
                if not 0 <= other < len(text) or text[other] < 2:
                    continue
                logits = vectors @ (state @ kernel + offset) + bias
                logits = logits.astype(np.float64)
                total[row] += np.log(np.exp(logits).sum()) - logits[text[other]]
    return total


@pytest.mark.by_default("lstm-False")
@pytest.mark.parametrize(
    "name, bidirectional",
    [
        ("lstm", False),
        ("lstm", True),
        ("hyper_lstm", False),
        ("me_lstm", False),
    ],
)
def test_each_state_tells_the_word_beside_it(name, bidirectional):
    model = made(bidirectional, name)
    tokens = np.random.default_rng(1).integers(2, WORDS, (3, 6))
    tokens[1, 2] = 1  # Unknown: read, not told.
    loss = model(batch(tokens))["loss"]
    np.testing.assert_allclose(loss[0], expected(model, tokens), rtol=1e-5)


@pytest.mark.extended
def test_padding_changes_nothing():
    model = made()
    tokens = np.random.default_rng(2).integers(2, WORDS, (2, 5))
    longer = np.pad(tokens, [(0, 0), (0, 4)])
    np.testing.assert_allclose(
        model(batch(longer))["loss"], model(batch(tokens))["loss"], rtol=1e-5
    )


@pytest.mark.extended
def test_training_tells_words_from_samples_which_the_seed_draws():
    model = made(samples=4)
    given = batch(np.random.default_rng(2).integers(2, WORDS, (2, 5)))

    def loss(seed):
        return model(given, training=True, seed=tf.constant(seed))["loss"]

    np.testing.assert_array_equal(loss([1, 2]), loss([1, 2]))
    assert np.all(loss([1, 2]) != loss([1, 3]))
    # Of more words than there are, all are taken.
    full = made(samples=WORDS)
    np.testing.assert_allclose(
        full(given, training=True)["loss"], full(given)["loss"], rtol=1e-5
    )


def test_word_vectors_are_the_weights_of_the_output():
    model = made()
    assert model.words.kernel is model.embedding.vectors
    assert len(model.trainable_variables) == 1 + 1 + 2 * 3 + 2 * 2
