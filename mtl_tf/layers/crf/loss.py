"""The loss of a conditional random field, for `compile`."""

import keras
import tensorflow as tf

from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.crf import recursions
from mtl_tf.layers.crf.likelihood import (
    Sentences,
    log_likelihood,
    make_chain,
    prepare,
)
from mtl_tf.layers.crf.recursions import IMPOSSIBLE, Chain

# Rows of the potentials besides transitions and tokens: the start scores, the
# end scores, and `Chain.reached`.
_ROWS = 4


def pack_potentials(
    logits: tf.Tensor, chain: Chain, end: tf.Tensor
) -> tf.Tensor:
    """All inputs of the loss in one tensor, with the batch as first axis.

    A Keras loss sees only one output. With the transitions in this output, the
    loss does not need to hold the layer or find it again in a loaded model.

    Args:
        logits: float32 `[B, T, C]`, `IMPOSSIBLE` where there is no token.
        chain: the chain of one group.
        end: float32 `[C]`: the end scores.

    Returns:
        float32 `[B, C + 4 + T, C]`.
    """
    labels = logits.shape[-1]
    scores = chain.transitions[0, :, :labels]
    reached = tf.repeat(chain.reached[0][:, None], labels, 1)
    head = tf.concat([scores, end[None], reached], 0)
    rows = tf.concat([tf.shape(logits)[:1], tf.shape(head)], 0)
    return tf.concat([tf.broadcast_to(head, rows), logits], 1)


def best_tags(potentials: tf.Tensor) -> tf.Tensor:
    """The most probable tags of sentences, from the potentials of a `CRF`.

    This is the Viterbi path, the same as the layer's "prediction".

    Args:
        potentials: float32 `[B, C + 4 + T, C]`, as predicted by a model with
            `CRF(..., returns="potentials")`.

    Returns:
        int32 `[B, T]`, 0 where there is no token.
    """
    potentials = tf.convert_to_tensor(potentials)
    sentences, chain, after = _unpack(potentials)
    run = recursions.best(sentences.logits, sentences.mask, chain)
    final = run.state["scores"] + after[:, None]
    last = tf.argmax(final, -1, output_type=tf.int32)
    tags = recursions.trace(
        run.sequences["scores"], last, sentences.mask, chain
    )
    return sentences.ungroup(tags)


def _unpack(
    potentials: tf.Tensor, tagged: tf.Tensor | None = None
) -> tuple[Sentences, Chain, tf.Tensor]:
    """Sentences, their chain and their end scores, as one group.

    Args:
        potentials: see `pack_potentials`.
        tagged: bool `[B, T]`, false for tokens that are skipped.
    """
    labels = potentials.shape[-1]
    # The same in all sentences; a replica may have no sentence.
    head = at_least_one_step(potentials[:1, : labels + _ROWS], 0)
    head = tf.ensure_shape(head, [1, labels + _ROWS, labels])
    scores, start, end, reached = tf.split(head, [labels, 1, 1, 2], 1)
    logits = potentials[:, labels + _ROWS :]
    # Written so that NaN counts as a token and is not hidden.
    mask = ~tf.reduce_all(logits <= IMPOSSIBLE / 2, -1)
    if tagged is not None:
        mask &= tagged
    sentences = prepare(
        logits[None],
        mask[None],
        tf.zeros([1], tf.int32),
        tf.ones([1, labels], tf.bool),
        axis=0,
    )
    chain = make_chain(scores, start[:, 0], reached[..., 0])
    return sentences, chain, tf.pad(end[:, 0], [[0, 0], [0, 1]])


@keras.saving.register_keras_serializable(package="mtl_tf")
class CRFLoss(keras.losses.Loss):
    """The negative log-likelihood of tags, from the "potentials" of a `CRF`.

    The loss is that of whole sentences: a mean over sentences, not over tokens.
    Tokens that the CRF's mask leaves out and tokens with a negative tag are
    skipped.

    Args:
        name, reduction: as in all losses of Keras; reduces `[B]`.

    Input shape: tags `[B, T]` as `y_true`, the potentials as `y_pred`, and
        optionally a weight `[B]` or `[B, 1]` for each sentence.

    A model that ends in a CRF, `Sequential` or functional, has several outputs.
    Compile it with `loss={"potentials": CRFLoss()}`, not with `loss=CRFLoss()`,
    and train it on the tags or on `{"potentials": tags}`. A model that ends in
    `CRF(..., returns="potentials")` has one output. Compile it with
    `loss=CRFLoss()` and decode its predictions with `best_tags`.

    Raises:
        ValueError: other shapes.

    Example: see `CRF`.
    """

    def __init__(
        self, name: str = "crf_loss", reduction: str = "sum_over_batch_size"
    ):
        # Independent of floatx: half precision would also round large labels.
        super().__init__(name, reduction, dtype="float32")

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Checks the shape of the weights and computes the reduced loss."""
        shape = tuple(getattr(sample_weight, "shape", ()))
        if len(shape) > 1 and shape[1:] != (1,):
            # Keras would multiply sentences by the tokens of other sentences.
            raise ValueError(
                f"{self.name}: a sentence has one weight, [batch], got shape "
                f"{shape}; leave tokens out by negative tags"
            )
        return super().__call__(y_true, y_pred, sample_weight)

    def call(self, y_true, y_pred):
        """The loss of each sentence, float32 `[B]`."""
        tags = tf.cast(y_true, tf.int32)
        self._check(tags.shape, y_pred.shape)
        sentences, chain, after = _unpack(y_pred, tags >= 0)
        return -log_likelihood(sentences, chain, after, tags[None])

    def _check(self, tags: tf.TensorShape, potentials: tf.TensorShape) -> None:
        if potentials.rank != 3 or tags.rank != 2:
            raise ValueError(
                f"{self.name}: needs tags [batch, time] and a CRF's potentials "
                "[batch, labels + 4 + time, labels], got shapes "
                f"{tuple(tags)} and {tuple(potentials)}"
            )
        if None not in potentials[1:] and (
            potentials[1] < potentials[2] + _ROWS
        ):
            raise ValueError(
                f"{self.name}: the shape {tuple(potentials)} is not that of a "
                "CRF's 'potentials': let the model end in a CRF layer and "
                'compile it with loss={"potentials": CRFLoss()}'
            )
        time = potentials[1] and potentials[1] - potentials[2] - _ROWS
        if None not in (time, tags[1]) and time != tags[1]:
            raise ValueError(
                f"{self.name}: tags of {tags[1]} tokens, but potentials "
                f"{tuple(potentials)} of {time}"
            )
