"""The benchmark's case about Transformers, with small sizes."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.benchmarks import contestants as contestants
from mtl_tf.benchmarks import made_data as data
from mtl_tf.benchmarks import transformer
from mtl_tf.benchmarks.transformer import KerasTransformer
from mtl_tf.core.errors import RunError
from tests.benchmarks.benchmark_testing import SMALL, check_form, column

SIZES = SMALL.of_transformers()


def test_the_stack_has_our_weights_and_our_scores():
    scheme = transformer._scheme(SIZES)
    model = contestants.make_model(SIZES, SIZES.vocabulary, scheme)
    draw = np.random.default_rng(0)
    for weight in model.weights:  # also biases
        weight.assign(draw.normal(0, 0.5, weight.shape))
    other = KerasTransformer(model)
    assert sum(w.numpy().size for w in other.trainable_weights) == sum(
        w.numpy().size for w in model.trainable_weights
    )
    batch = next(iter(data.batches(SIZES, 4)))
    short = tf.sequence_mask([7, 2, 5, 7], dtype=tf.int32)
    batch = {**batch, "tokens": batch["tokens"] * short}
    np.testing.assert_allclose(
        other(batch), model(batch)["logits"][0], rtol=1e-4, atol=1e-5
    )
    dropped = other(batch, training=True)
    assert np.abs(dropped - other(batch)).max() > 1e-3


def test_other_weights_are_refused_before_anything_is_timed(monkeypatch):
    weights_of = transformer._weights_of
    monkeypatch.setattr(
        transformer,
        "_weights_of",
        lambda block: [2.0 * weight for weight in weights_of(block)],
    )
    monkeypatch.setattr(transformer, "compete", None)
    with pytest.raises(RunError, match="did not do the same work"):
        transformer.transformer(SMALL, 1)


@pytest.mark.slow
def test_a_step_is_timed_beside_two_forms_of_the_stack():
    result = transformer.transformer(SMALL, 1)
    check_form(result)
    names = ["mtl_tf", "keras_nlp", "keras_nlp_jit_part"]
    assert column(result, "contestant") == names
    others, targets = result["rows"][1:], result["targets"]
    for row, target in zip(others, targets, strict=True):
        what = f"time of {row['contestant']} over mtl_tf's"
        assert target["what"] == what
        assert (target["rule"], target["limit"]) == ("at least", 1.0)
        assert target["value"] == row["times_ours"]
