"""The recursions of a linear-chain CRF, over batches of groups.

They run in `recurrence`: compiled, in shards, with a hand-written backward
loop. Sums over the paths are matrix products of exponentials, scaled at every
step by the largest score. If a sum that is not zero would still leave the range
of float32, the batch is computed again by log-sum-exp.

A chain of K - 1 labels has one more state, START (the last one), in which every
sentence begins. The first token is therefore a step like the others, and masked
tokens can be skipped.
"""

import functools
from typing import NamedTuple

import tensorflow as tf

from mtl_tf.layers.recurrent.lstm import zero_state
from mtl_tf.layers.recurrent.recurrence import Recurrence, Result
from mtl_tf.layers.recurrent.steps import Operations, Tensors

# The score of what is forbidden. It is finite, so that no gradient is NaN, and
# far below all allowed paths.
IMPOSSIBLE = -1e9

# Smaller sums count as zero. Products that float32 (minimum 1e-38) flushed to
# zero are less than 1e-6 of any larger sum.
_TINY = 1e-30


class Chain(NamedTuple):
    """The scores of a chain's transitions.

    Attributes:
        transitions: float32 `[G, K, K]`, from the first to the second state.
            The last row is from START; the last column is `IMPOSSIBLE`.
        reached: float32 `[G, 2]`: how many states can be reached at the first
            token, and at later ones. (If it is too large, results are correct
            but slow.)
    """

    transitions: tf.Tensor
    reached: tf.Tensor


def sums(
    logits: tf.Tensor,
    mask: tf.Tensor,
    chain: Chain,
    *,
    reverse: bool = False,
    keep: bool = False,
) -> Result:
    """Sums over all paths up to every token (the forward variables).

    With `reverse` and a chain whose transitions are transposed, these are the
    backward variables, including the token's own logits.

    Args:
        logits: float32 `[G, B, T, K]`, `IMPOSSIBLE` for START.
        mask: bool `[G, B, T]`, false where there is no token.
        chain: the transitions.
        reverse: from the last token to the first.
        keep: whether a gradient will be taken.

    Returns:
        "scores" `[G, B, K]` (and `[G, B, T, K]` as a sequence), the logarithm
        of the sums minus "total" `[G, B, 1]`. Gradients are right only for
        results that stay the same when a number is added to "scores" of a token
        and subtracted from "total".
    """
    run = _Call(logits, mask, chain, reverse, keep)
    fast, usable = run.by_products()
    # The branch that is not taken is not even compiled.
    return tf.cond(usable, lambda: fast, run.by_logarithms)


class _Call(NamedTuple):
    """The arguments of `sums`."""

    logits: tf.Tensor
    mask: tf.Tensor
    chain: Chain
    reverse: bool
    keep: bool

    def by_products(self) -> tuple[Result, tf.Tensor]:
        """The sums by matrix products, and whether they are accurate."""
        transitions = self.chain.transitions
        # Per column, so that one rare transition does not spoil the others.
        scale = tf.stop_gradient(tf.reduce_max(transitions, -2))
        scale = tf.where(scale > IMPOSSIBLE / 2, scale, 0.0)
        result = _recurrences(self.logits.shape[-1]).sums(
            self.logits + scale[:, None, None],
            self.mask,
            {"transitions": tf.exp(transitions - scale[:, None])},
            start_state(self.logits),
            reverse=self.reverse,
            training=self.keep,
            sequences=("scores",),
            emits=("reached",),
        )
        first = at_first(self.mask, self.reverse)
        at_start, later = tf.unstack(
            self.chain.reached[:, :, None, None], axis=1
        )
        missed = result.emitted["reached"][..., 0] < tf.where(
            first, at_start, later
        )
        usable = ~tf.reduce_any(missed & self.mask)
        return result._replace(emitted={}), usable

    def by_logarithms(self) -> Result:
        """The sums by log-sum-exp, which cannot leave the range of float32."""
        return _recurrences(self.logits.shape[-1]).log_sums(
            self.logits,
            self.mask,
            {},
            start_state(self.logits),
            {"transitions": _by_row(self.chain.transitions, self.logits)},
            reverse=self.reverse,
            training=self.keep,
            sequences=("scores",),
        )


def best(logits: tf.Tensor, mask: tf.Tensor, chain: Chain) -> Result:
    """The best path's score up to every token and state.

    Arguments and results are those of `sums`.
    """
    return _recurrences(logits.shape[-1]).best(
        logits,
        mask,
        {},
        start_state(logits),
        {"transitions": _by_row(chain.transitions, logits)},
        sequences=("scores",),
    )


def trace(
    scores: tf.Tensor, last: tf.Tensor, mask: tf.Tensor, chain: Chain
) -> tf.Tensor:
    """Follows the best path back.

    Args:
        scores: the sequence that `best` returned, `[G, B, T, K]`.
        last: int32 `[G, B]`: the best path's state at the last token.
        mask, chain: the arguments of `best`.

    Returns:
        int32 `[G, B, T]`, the best path; 0 where there is no token.
    """
    begin = start_state(scores)["scores"][:, :, None]
    before = tf.concat([begin, scores[:, :, :-1]], 2)
    last = tf.cast(last, tf.float32)[..., None]
    # Transposed, so that a step looks up the row of the state after it.
    turned = tf.linalg.matrix_transpose(chain.transitions)
    result = _recurrences(scores.shape[-1]).trace(
        before[:, :, : tf.shape(scores)[2]],
        mask,
        {},
        {"state": last},
        {"transitions": _by_row(turned, scores)},
        reverse=True,
        sequences=("state",),
    )
    # The state after a step belongs to the token before it.
    states = tf.concat([result.sequences["state"], last[:, :, None]], 2)
    states = tf.cast(states[:, :, 1:, 0], tf.int32)
    return tf.where(mask, states, 0)


def start_state(logits: tf.Tensor) -> dict[str, tf.Tensor]:
    """The state before the first token, for logits `[G, B, T, K]`."""
    labels = logits.shape[-1] - 1
    state = zero_state(logits, scores=labels + 1, total=1)
    scores = tf.constant([IMPOSSIBLE] * labels + [0.0])
    return state | {"scores": state["scores"] + scores}


def at_first(mask: tf.Tensor, reverse: bool = False) -> tf.Tensor:
    """Where the first token is (the last one if `reverse`), as bool."""
    number = tf.cumsum(tf.cast(mask, tf.int32), -1, reverse=reverse)
    return mask & tf.equal(number, 1)


def _by_row(transitions: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """`[G, K, K]` to `[G, B, K, K]`, because constants are split by rows."""
    rows = logits.shape[1]
    shape = tf.shape(transitions)
    count = tf.shape(logits)[1] if rows is None else rows
    shape = tf.concat([shape[:1], [count], shape[1:]], 0)
    spread = tf.broadcast_to(transitions[:, None], shape)
    static = logits.shape[:2] + transitions.shape[1:]
    return tf.ensure_shape(spread, static)


def _scaled(scores: tf.Tensor, state: Tensors) -> dict[str, tf.Tensor]:
    """The new state, whose largest score is 0.

    Long sentences lose no precision, because only "total" grows. Results that
    use both do not depend on the largest score, so it needs no gradient.
    """
    top = tf.stop_gradient(tf.reduce_max(scores, -1, keepdims=True))
    return {"scores": scores - top, "total": state["total"] + top}


def _sum_step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    sums = ops.matmul(tf.exp(state["scores"]), "transitions")
    possible = sums > _TINY
    reached = tf.reduce_sum(tf.cast(possible, tf.float32), -1, keepdims=True)
    ops.emit("reached", reached)
    # The inner tf.where keeps the other branch's gradient finite.
    logarithm = tf.math.log(tf.where(possible, sums, 1.0))
    scores = tf.where(possible, logarithm, IMPOSSIBLE)
    return _scaled(scores + inputs["logits"], state)


def _log_sum_step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    paths = state["scores"][..., None] + ops.constants["transitions"]
    return _scaled(tf.reduce_logsumexp(paths, -2) + inputs["logits"], state)


def _best_step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    paths = state["scores"][..., None] + ops.constants["transitions"]
    return _scaled(tf.reduce_max(paths, -2) + inputs["logits"], state)


def _trace_step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    after = tf.cast(state["state"], tf.int32)[..., 0]
    paths = inputs["logits"] + tf.gather(
        ops.constants["transitions"], after, batch_dims=2
    )
    best = tf.argmax(paths, -1, output_type=tf.int32)
    return {"state": tf.cast(best, tf.float32)[..., None]}


def _project(x: tf.Tensor, weights: Tensors) -> Tensors:
    del weights
    return {"logits": x}


class _Recurrences(NamedTuple):
    """The compiled recurrences by what they compute."""

    sums: Recurrence
    log_sums: Recurrence
    best: Recurrence
    trace: Recurrence


@functools.cache
def _recurrences(states: int) -> _Recurrences:
    """The recurrences of all CRF layers with this number of states.

    The layers share their compilations. (A trace for several numbers of states
    would lose the static shapes.)
    """
    del states
    steps = (_sum_step, _log_sum_step, _best_step, _trace_step)
    return _Recurrences(*(Recurrence(step, _project) for step in steps))
