"""Losses on teachers' probabilities."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.heads import distillation
from mtl_tf.layers.heads.classification import ClassificationHead
from mtl_tf.layers.heads.multi_label import MultiLabelHead

G, B, H = 2, 3, 4
TASK = tf.constant([0, 1])


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def made(head):
    """A head with drawn weights, and what it reads."""
    head.build({"summary": (None, None, H)})
    draw = np.random.default_rng(0)
    for weight in head.weights:
        weight.assign(draw.normal(size=weight.shape))
    summary = draw.normal(size=(G, B, H)).astype("float32")
    return head, {"summary": tf.constant(summary)}, draw


def with_teachers(batch, scores, share, temperature):
    rows = np.ones([G, B], np.float32)
    return batch | {
        distillation.SCORES: tf.constant(scores, tf.float32),
        distillation.SHARE: tf.constant(rows * share, tf.float32),
        distillation.TEMPERATURE: tf.constant(rows * temperature, tf.float32),
    }


@pytest.mark.parametrize("share, temperature", [(0.0, 2), (0.3, 4), (1.0, 1)])
def test_the_loss_is_that_of_hinton(share, temperature):
    head, encoded, draw = made(ClassificationHead([3, 3]))
    label = np.array([[0, 1, 2], [2, 2, 0]])
    batch = {"task": TASK, "label": tf.constant(label, tf.int32)}
    hard = head(encoded, batch)
    teacher = draw.normal(size=(G, B, 3))
    found = head(
        encoded, with_teachers(batch, softmax(teacher), share, temperature)
    )["loss"]
    logits = hard["logits"].numpy() / temperature
    soft = -np.sum(softmax(teacher / temperature) * np.log(softmax(logits)), -1)
    expected = (1 - share) * hard["loss"] + share * temperature**2 * soft
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_padding_and_tasks_without_teachers_change_nothing():
    head, encoded, _ = made(ClassificationHead([3, 2]))
    batch = {"task": TASK, "label": tf.zeros([G, B], tf.int32)}
    hard = head(encoded, batch)["loss"]
    # As `alike` and padding rows leave it: zeros, of fewer labels.
    nothing = with_teachers(batch, np.zeros([G, B, 2]), 0.0, 0.0)
    with tf.GradientTape() as tape:
        loss = head(encoded, nothing)["loss"]
    np.testing.assert_array_equal(loss, hard)
    gradients = tape.gradient(loss, head.trainable_variables)
    assert all(np.isfinite(tf.convert_to_tensor(g)).all() for g in gradients)


def test_labels_of_other_tasks_get_no_part():
    head, encoded, _ = made(ClassificationHead([3, 2]))
    batch = {"task": TASK, "label": tf.zeros([G, B], tf.int32)}
    scores = np.zeros([G, B, 3])
    scores[0], scores[1, :, :2] = 1 / 3, 1 / 2
    with tf.GradientTape() as tape:
        loss = head(encoded, with_teachers(batch, scores, 1.0, 2.0))["loss"]
    assert np.isfinite(loss).all() and np.max(loss) < 100
    gradients = tape.gradient(loss, head.trainable_variables)
    assert all(np.isfinite(tf.convert_to_tensor(g)).all() for g in gradients)


def test_labels_by_themselves():
    head, encoded, draw = made(MultiLabelHead([3, 2]))
    labels = (draw.random((G, B, 3)) < 0.5).astype("int32")
    batch = {"task": TASK, "labels": tf.constant(labels)}
    hard = head(encoded, batch)
    teacher = draw.normal(size=(G, B, 3))
    given = with_teachers(batch, 1 / (1 + np.exp(-teacher)), 0.5, 2.0)
    found = head(encoded, given)["loss"].numpy()
    wanted = 1 / (1 + np.exp(-teacher / 2))
    said = 1 / (1 + np.exp(-hard["logits"].numpy().astype(float) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        soft = -(wanted * np.log(said) + (1 - wanted) * np.log(1 - said))
    soft = np.stack([soft[0].mean(-1), soft[1, :, :2].mean(-1)])
    expected = 0.5 * hard["loss"] + 0.5 * 4 * soft
    np.testing.assert_allclose(found, expected, rtol=1e-4)
