"""Distillation losses on teachers' probabilities, for text-level heads.

Hinton et al. 2015, "Distilling the Knowledge in a Neural Network" (section 2):
the logits of teacher and student are divided by a temperature T. The
cross-entropy of both is multiplied by T squared, so that its gradient is as
large as that of the labels.
"""

from collections.abc import Callable, Mapping

import tensorflow as tf

#: Columns of a batch: the teachers' probabilities `[G, B, C]`; the share of
#: their loss in the loss of an example `[G, B]`, 0 without a teacher; and the
#: temperature `[G, B]`.
SCORES, SHARE = "teacher_scores", "teacher_share"
TEMPERATURE = "teacher_temperature"

# Smaller probabilities count as 0, to keep the logarithm finite.
_SMALLEST = 1e-30


def with_teachers(
    losses: tf.Tensor,
    logits: tf.Tensor,
    batch: Mapping[str, tf.Tensor],
    soft_loss: Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor],
) -> tf.Tensor:
    """Mixes the teachers' loss into the losses of examples.

    Args:
        losses: float32 `[G, B]`, for the labels.
        logits: float32 `[G, B, C]`, of the student.
        batch: contains `SCORES`, `SHARE` and `TEMPERATURE`. Without them the
            losses are returned unchanged.
        soft_loss: such as `softmax_loss`.

    Returns:
        float32 `[G, B]`.
    """
    if SCORES not in batch:
        return losses
    share = batch[SHARE]
    # Padding rows, and tasks without teachers, have share 0.
    known = share > 0.0
    temperature = tf.where(known, batch[TEMPERATURE], 1.0)
    scores = _as_wide(tf.cast(batch[SCORES], tf.float32), logits)
    soft = soft_loss(logits, scores, temperature[..., None])
    soft = tf.where(known, soft * tf.square(temperature), 0.0)
    return (1.0 - share) * losses + share * soft


def softmax_loss(
    logits: tf.Tensor, scores: tf.Tensor, temperature: tf.Tensor
) -> tf.Tensor:
    """The cross-entropy for examples with exactly one label, `[G, B]`.

    Args:
        logits: float32 `[G, B, C]`, very low for labels that a task does not
            have.
        scores: the teachers' probabilities, `[G, B, C]`, 0 for such labels.
        temperature: `[G, B, 1]`.
    """
    tempered = tf.math.log(tf.maximum(scores, _SMALLEST)) / temperature
    targets = tf.where(scores > 0.0, tf.exp(tempered), 0.0)
    targets = tf.math.divide_no_nan(
        targets, tf.reduce_sum(targets, -1, keepdims=True)
    )
    return -tf.reduce_sum(targets * tf.nn.log_softmax(logits / temperature), -1)


def sigmoid_loss(valid: tf.Tensor) -> Callable[..., tf.Tensor]:
    """The mean cross-entropy over independent (multi-label) labels.

    Args:
        valid: bool `[G, 1, C]`, which labels the groups' tasks have.

    Returns:
        A function like `softmax_loss`.
    """

    def loss(
        logits: tf.Tensor, scores: tf.Tensor, temperature: tf.Tensor
    ) -> tf.Tensor:
        odds = tf.math.log(tf.maximum(scores, _SMALLEST))
        odds -= tf.math.log(tf.maximum(1.0 - scores, _SMALLEST))
        losses = tf.nn.sigmoid_cross_entropy_with_logits(
            tf.sigmoid(odds / temperature),
            tf.where(valid, logits / temperature, 0.0),
        )
        count = tf.reduce_sum(tf.cast(valid, tf.float32), -1)
        return tf.reduce_sum(tf.where(valid, losses, 0.0), -1) / count

    return loss


def _as_wide(scores: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Pads scores with 0 to as many labels as there are logits."""
    missing = tf.maximum(logits.shape[-1] - tf.shape(scores)[-1], 0)
    wide = tf.pad(scores, [[0, 0], [0, 0], [0, missing]])
    return tf.reshape(wide[..., : logits.shape[-1]], tf.shape(logits))
