"""The head of tagging tasks."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.crf.constraints import allowed_transitions
from mtl_tf.layers.heads.tagging import TaggingHead
from tests.layers.crf_reference import allows
from tests.layers.layer_testing import run_layer_test

pytestmark = pytest.mark.usefixtures("without_jit")

BIO = allowed_transitions(["O", "B-X", "I-X"], "bio")
TASK = np.array([1, 0], np.int32)
MASK = np.arange(4) < np.array([[4, 2, 0], [1, 3, 4]])[..., None]


def make_batch():
    draw = np.random.default_rng(0)
    sequence = draw.normal(size=(2, 3, 4, 6)).astype(np.float32)
    tags = draw.integers(0, 2, MASK.shape)
    return (
        {"sequence": tf.constant(sequence), "mask": tf.constant(MASK)},
        {"task": tf.constant(TASK), "tags": tf.constant(tags, tf.int32)},
    )


@pytest.mark.by_default("softmax")
@pytest.mark.parametrize("decoder", ["crf", "softmax"])
def test_head(decoder):
    constraints = {"constraints": [BIO, None]} if decoder == "crf" else {}
    encoded, batch = make_batch()
    layer = run_layer_test(
        lambda: TaggingHead([3, 5], decoder, name="tagging", **constraints),
        (encoded, batch),
        parameters=2 * (6 * 5 + 5) + (decoder == "crf") * 2 * (25 + 10),
        output_shapes={
            "logits": (2, 3, 4, 5),
            "scores": (2, 3, 4, 5),
            "prediction": (2, 3, 4),
            "confidence": (2, 3, 4),
            "loss": (2, 3),
        },
        symbolic=(),
    )
    output = {k: v.numpy() for k, v in layer(encoded, batch).items()}
    np.testing.assert_allclose(output["scores"].sum(-1), MASK, atol=1e-5)
    # Task 0, the second group's, has three labels.
    assert not np.any(output["scores"][1, ..., 3:])
    chosen = np.take_along_axis(
        output["scores"], output["prediction"][..., None], -1
    )
    np.testing.assert_array_equal(output["confidence"], chosen[..., 0])
    assert not np.any(output["prediction"][~MASK])
    assert output["loss"][0, 2] == 0
    assert np.all(output["loss"][MASK.any(-1)] > 0)
    if decoder == "crf":
        for path, real in zip(output["prediction"][1], MASK[1]):
            assert allows(BIO, path[real])
    else:
        logs = np.log(output["scores"].clip(1e-30))
        tags = batch["tags"].numpy()[..., None]
        gold = np.take_along_axis(logs, tags, -1)[..., 0]
        np.testing.assert_allclose(
            output["loss"], -(gold * MASK).sum(-1), rtol=1e-4
        )


@pytest.mark.parametrize("decoder", ["crf", "softmax"])
def test_a_loss_per_token_is_the_sentences_divided_by_its_tokens(decoder):
    encoded, batch = make_batch()
    whole, share = (
        TaggingHead([3, 5], decoder, per_token=way, name="tagging")
        for way in (False, True)
    )
    whole_loss, loss = (
        head(encoded, batch)["loss"].numpy() for head in (whole, share)
    )
    tokens = MASK.sum(-1)
    assert len(np.unique(tokens)) > 2 and loss[0, 2] == 0
    np.testing.assert_allclose(loss * tokens, whole_loss, rtol=1e-5)
    assert TaggingHead.from_config(share.get_config()).per_token


def test_wrong_options():
    with pytest.raises(ConfigError, match="did you mean 'crf'"):
        TaggingHead([2], "cfr")
    with pytest.raises(ConfigError, match="has no constraints"):
        TaggingHead([2], "softmax", [None])
    with pytest.raises(ConfigError, match="label_counts"):
        TaggingHead([])


@pytest.mark.extended
def test_transitions_are_learnt():
    """Tags alternate from either one: nothing but the order can be known."""
    draw = np.random.default_rng(0)
    first = draw.integers(0, 2, (1, 32, 1))
    tags = tf.constant((first + np.arange(8)) % 2, tf.int32)
    encoded = {
        "sequence": tf.ones([1, 32, 8, 3]),
        "mask": tf.ones([1, 32, 8], tf.bool),
    }
    losses, paths = {}, {}
    for decoder in ("crf", "softmax"):
        head = TaggingHead([2], decoder, name=decoder)
        batch = {"task": tf.constant([0]), "tags": tags}
        optimizer = keras.optimizers.Adam(0.2)
        losses[decoder], paths[decoder] = trained(
            head, optimizer, encoded, batch
        )
    # One bit is unknown, once for a sentence or at every token.
    np.testing.assert_allclose(losses["crf"], np.log(2), atol=0.1)
    assert losses["softmax"] > 7.9 * np.log(2)
    assert np.all(np.diff(paths["crf"]) != 0)


def trained(head, optimizer, encoded, batch):
    head.build({"sequence": encoded["sequence"].shape})
    optimizer.build(head.trainable_variables)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            output = head(encoded, batch)
            loss = tf.reduce_mean(output["loss"])
        variables = head.trainable_variables
        gradients = tape.gradient(loss, [v.value for v in variables])
        optimizer.apply(gradients, variables)
        return loss, output["prediction"]

    for _ in range(40):
        loss, path = step()
    return loss, path
