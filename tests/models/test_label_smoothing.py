"""A classification head whose labels share their target with all others."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.heads.classification import ClassificationHead
from mtl_tf.models.multi_task import build_model
from tests.models.model_testing import make_batch, make_tasks, small

SUMMARY = tf.random.stateless_normal([2, 3, 4], [1, 2])
BATCH = {
    "task": tf.constant([1, 0]),
    "label": tf.constant([[0, 2, 1], [1, 0, 1]]),
}
COUNTS = [2, 3]


def losses(label_smoothing, training):
    head = ClassificationHead(
        COUNTS, label_smoothing=label_smoothing, name="head"
    )
    head.build({"summary": SUMMARY.shape})
    head.dense.kernel.assign(np.linspace(-1, 1, 24).reshape(2, 4, 3) ** 2)
    return head({"summary": SUMMARY}, BATCH, training=training)


def test_each_task_has_the_loss_of_keras_on_its_own_labels():
    output = losses(0.2, True)
    for group, count in enumerate([3, 2]):
        targets = tf.one_hot(BATCH["label"][group], count)
        expected = keras.losses.categorical_crossentropy(
            targets,
            output["logits"][group, :, :count],
            from_logits=True,
            label_smoothing=0.2,
        )
        np.testing.assert_allclose(output["loss"][group], expected, rtol=1e-5)


def test_outside_training_nothing_is_smoothed():
    plain = losses(0.0, True)["loss"]
    np.testing.assert_array_equal(losses(0.2, False)["loss"], plain)
    assert np.all(losses(0.2, True)["loss"] != plain)


@pytest.mark.extended
def test_the_configs_share_comes_to_the_head_in_training_only():
    batch = make_batch()
    smooth = small() | {"head": {"label_smoothing": 0.3}}
    (model, plain) = (
        build_model(config, 20, make_tasks(2, 2))
        for config in (smooth, small())
    )
    seed = tf.constant([1, 2])
    for training, is_equal in ((False, True), (True, False)):
        first, second = (
            m(batch, training=training, seed=seed)["loss"]
            for m in (model, plain)
        )
        assert np.allclose(first, second) == is_equal


@pytest.mark.parametrize("value", [1.0, -0.1, "much"])
def test_what_is_no_share(value):
    with pytest.raises(ConfigError, match="head.label_smoothing must be"):
        ClassificationHead(COUNTS, label_smoothing=value)
