"""A classification head whose labels' losses have factors."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.heads.classification import ClassificationHead
from mtl_tf.models.multi_task import build_model
from tests.layers.layer_testing import run_layer_test
from tests.models.model_testing import make_batch, make_tasks, small

WEIGHTS = [None, [0.5, 2.0, 3.0]]
TASK = tf.constant([1, 0])
LABEL = tf.constant([[0, 2, 1], [1, 0, 1]])
SUMMARY = tf.random.stateless_normal([2, 3, 4], [1, 2])


def make(weights=WEIGHTS):
    return ClassificationHead([2, 3], class_weights=weights, name="head")


def test_losses_have_the_factor_of_their_label():
    encoded, batch = {"summary": SUMMARY}, {"task": TASK, "label": LABEL}
    layer = run_layer_test(
        make,
        (encoded, batch),
        parameters=2 * (4 * 3 + 3),
        output_shapes={
            "logits": (2, 3, 3),
            "scores": (2, 3, 3),
            "prediction": (2, 3),
            "loss": (2, 3),
        },
        symbolic=(),
    )
    plain = make(None)
    plain.build({"summary": SUMMARY.shape})
    plain.set_weights(layer.get_weights())
    factors = layer(encoded, batch)["loss"] / plain(encoded, batch)["loss"]
    np.testing.assert_allclose(factors, [[0.5, 3, 2], [1, 1, 1]], rtol=1e-5)


@pytest.mark.extended
def test_a_model_takes_them_from_its_tasks():
    tasks = make_tasks(2, 2)
    tasks[1]["class_weights"] = [1.0, 5.0]
    model, batch = build_model(small(), 20, tasks), make_batch()
    plain = build_model(small(), 20, make_tasks(2, 2))
    factors = model(batch)["loss"] / plain(batch)["loss"]
    expected = np.where(batch["label"][1] == 1, 5.0, 1.0)
    np.testing.assert_allclose(factors[1], expected, rtol=1e-5)
    np.testing.assert_allclose(factors[0], 1.0, rtol=1e-5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([None, [1.0]], "of task 1 must be 3 numbers"), ([[0.0, 1], None], "pos")],
)
def test_wrong_factors(weights, message):
    with pytest.raises(ConfigError, match=message):
        make(weights)
