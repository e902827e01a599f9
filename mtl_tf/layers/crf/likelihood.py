"""The likelihood of a path through a linear-chain CRF, given its scores."""

from typing import NamedTuple

import tensorflow as tf

from mtl_tf.layers.crf import recursions
from mtl_tf.layers.crf.recursions import IMPOSSIBLE, Chain


class Sentences(NamedTuple):
    """Sentences in groups, as `prepare` makes them.

    Attributes:
        logits: float32 `[G, B, T, C + 1]`. The largest logit of each token is
            0. The last label is START of `recursions`.
        mask, task: bool `[G, B, T]` and int32 `[G]`.
        valid: bool `[G, C]`: the labels of the group's task.
        shift: float32 `[G, B, T]`: what was subtracted from the logits.
        axis: the axis that was added for groups; None if there were groups.
    """

    logits: tf.Tensor
    mask: tf.Tensor
    task: tf.Tensor
    valid: tf.Tensor
    shift: tf.Tensor
    axis: int | None

    def ungroup(self, result: tf.Tensor) -> tf.Tensor:
        """Removes the axis of groups again, if it was added."""
        return result if self.axis is None else tf.squeeze(result, self.axis)


def prepare(
    logits: tf.Tensor,
    mask: tf.Tensor,
    task: tf.Tensor,
    valid: tf.Tensor,
    axis: int | None = None,
) -> Sentences:
    """Prepares logits for the recursions.

    Args:
        logits: float32 `[G, B, T, C]`. They may be anything where there is no
            token or the task has no such label. Minus infinity forbids a label.
        mask, task, valid, axis: see `Sentences`.
    """
    usable = mask[..., None] & valid[:, None, None]
    # Unused logits must not do harm, even if infinite.
    logits = tf.where(usable, logits, IMPOSSIBLE)
    # The largest logit becomes 0. Differences between paths stay the same, and
    # large logits do not reduce the precision of small ones.
    shift = tf.reduce_max(logits, -1, keepdims=True)
    logits = tf.where(usable, logits - shift, IMPOSSIBLE)
    # Labels forbidden by minus infinity would make sums NaN. The comparison
    # leaves NaN itself unchanged.
    logits = tf.where(logits < IMPOSSIBLE, IMPOSSIBLE, logits)
    logits = tf.pad(logits, [[0, 0]] * 3 + [[0, 1]], constant_values=IMPOSSIBLE)
    shift = tf.where(mask, shift[..., 0], 0.0)
    return Sentences(logits, mask, task, valid, shift, axis)


def make_chain(
    transitions: tf.Tensor, outer: tf.Tensor, reached: tf.Tensor
) -> Chain:
    """Adds the state START to the scores of labels.

    Args:
        transitions: float32 `[G, C, C]`.
        outer: float32 `[G, C]`: scores from START to every label.
        reached: see `Chain`.
    """
    rows = tf.concat([transitions, outer[:, None]], 1)
    rows = tf.pad(rows, [[0, 0], [0, 0], [0, 1]], constant_values=IMPOSSIBLE)
    return Chain(rows, reached)


def log_likelihood(
    sentences: Sentences, chain: Chain, after: tf.Tensor, tags: tf.Tensor
) -> tf.Tensor:
    """The logarithm of the probability of `tags`.

    Args:
        sentences: the sentences.
        chain: the transitions.
        after: float32 `[G, C + 1]`: the end scores, 0 for START.
        tags: int32 `[G, B, T]`.

    Returns:
        float32 `[G, B]`, or without the group axis if it was added.
    """
    path = _path_score(sentences, chain, after, tags)
    run = recursions.sums(sentences.logits, sentences.mask, chain, keep=True)
    final = run.state["scores"] + after[:, None]
    total = run.state["total"][..., 0] + tf.reduce_logsumexp(final, -1)
    return sentences.ungroup(path - total)


def _path_score(sentences: Sentences, chain: Chain, after, tags) -> tf.Tensor:
    """The score of given tags `[G, B, T]`, float32 `[G, B]`."""
    mask, start = sentences.mask, sentences.logits.shape[-1] - 1
    tags = tf.where(mask, tags, 0)
    is_tag = tf.cast(tf.one_hot(tags, start + 1), tf.bool)
    emitted = tf.reduce_sum(tf.where(is_tag, sentences.logits, 0.0), -1)
    before = tf.where(recursions.at_first(mask), start, _previous(tags, mask))
    group = tf.range(tf.shape(tags)[0])[:, None, None]
    cell = (group * (start + 1) + before) * (start + 1) + tags
    moved = tf.gather(tf.reshape(chain.transitions, [-1]), cell)
    score = tf.reduce_sum(tf.where(mask, emitted + moved, 0.0), -1)
    cell = group * (start + 1) + tags
    ended = tf.gather(tf.reshape(after, [-1]), cell)
    last = recursions.at_first(mask, reverse=True)
    return score + tf.reduce_sum(tf.where(last, ended, 0.0), -1)


def _previous(tags: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tag of the token before each token; masked tokens are skipped."""
    shape = tf.shape(tags)
    number = tf.cumsum(tf.cast(mask, tf.int32), -1)
    number = tf.reshape(number, [-1, shape[-1]])
    # Token n is at the first position where the count reaches n.
    place = tf.searchsorted(number, tf.maximum(number - 1, 1))
    place = tf.minimum(place, tf.maximum(shape[-1] - 1, 0))
    tags = tf.reshape(tags, [-1, shape[-1]])
    return tf.reshape(tf.gather(tags, place, batch_dims=1), shape)
