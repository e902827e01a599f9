"""The benchmark's case about pretrained encoders, with small sizes."""

import numpy as np
import pytest

from mtl_tf.benchmarks import encoder
from mtl_tf.benchmarks import made_data as data
from mtl_tf.core.errors import RunError
from tests.benchmarks.benchmark_testing import SMALL, check_form, column

SIZES = SMALL.of_encoders()


@pytest.fixture(scope="module")
def model():
    made = encoder._make_model(SIZES, "float32")
    draw = np.random.default_rng(0)
    for weight in made.weights:  # also biases
        weight.assign(draw.normal(0, 0.5, weight.shape))
    return made


def test_the_backbone_has_our_weights_and_our_scores(model):
    other = encoder.KerasEncoder(model)
    assert sum(w.numpy().size for w in other.trainable_weights) == sum(
        w.numpy().size for w in model.trainable_weights
    )
    batch = next(iter(data.batches(SIZES, 4)))
    np.testing.assert_allclose(
        other(batch), model(batch)["logits"][0], rtol=1e-4, atol=1e-5
    )
    dropped = other(batch, training=True)
    assert np.abs(dropped - other(batch)).max() > 1e-3


@pytest.mark.extended
def test_other_weights_are_refused_before_anything_is_timed(monkeypatch):
    class Other(encoder.KerasEncoder):
        def call(self, batch, training=False):
            return 2.0 * super().call(batch, training)

    monkeypatch.setattr(encoder, "KerasEncoder", Other)
    monkeypatch.setattr(encoder, "compete", None)
    with pytest.raises(RunError, match="did not do the same work"):
        encoder.encoder(SMALL, 1)


@pytest.mark.slow
def test_the_case():
    result = encoder.encoder(SMALL, 2)
    check_form(result)
    assert column(result, "contestant") == ["mtl_tf", "keras_hub"] * 2
    assert len(result["targets"]) == 2
