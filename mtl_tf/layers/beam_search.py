"""Beam search over token sequences, in a graph."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.special_ids import BOS, EOS, PAD

_NEVER = float("-inf")

State = dict[str, tf.Tensor]


class Candidates(NamedTuple):
    """The tokens that may come next, in any order.

    Attributes:
        log_probabilities: float32 `[N, C]`; minus infinity where a candidate
            must not be chosen, such as one that is listed twice.
        ids: int32 `[N, C]`.
    """

    log_probabilities: tf.Tensor
    ids: tf.Tensor


Attention = tf.Tensor | Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]
Step = Callable[
    [tf.Tensor, State, tf.Tensor], tuple[State, Candidates, Attention]
]


class _Beams(NamedTuple):
    """The hypotheses of B sources, best first; all `[B, K]` except the state.

    Attributes:
        tokens: the last token.
        log_probability: log probability of all tokens so far.
        length: number of tokens so far, including the end.
        ended: whether the end token was chosen.
        closed: whether it will not be continued: it ended, was cut, or can no
            longer win.
        state: state of the decoder, `[B, K, ...]` by name.
    """

    tokens: tf.Tensor
    log_probability: tf.Tensor
    length: tf.Tensor
    ended: tf.Tensor
    closed: tf.Tensor
    state: State


def check_options(beam: int, n_best: int, length_penalty: float) -> None:
    """Checks the options of a `BeamSearch`.

    Raises:
        ConfigError: a value is wrong.
    """
    checks.positive_integer("beam", beam)
    checks.positive_integer("n_best", n_best)
    if n_best > beam:
        raise ConfigError(f"n_best must be at most beam ({beam}), got {n_best}")
    checks.not_negative("length_penalty", length_penalty)


def penalty_divisor(length: tf.Tensor, length_penalty: float) -> tf.Tensor:
    """The divisors that turn log probabilities into scores.

    Args:
        length: int32, of any shape: lengths of sequences, including the end.
        length_penalty: at least 0; see `BeamSearch`.

    Returns:
        float32, of the shape of `length`.
    """
    if not length_penalty:
        return tf.ones(tf.shape(length))
    return ((5.0 + tf.cast(length, tf.float32)) / 6.0) ** float(length_penalty)


def candidates_needed(beam: int) -> int:
    """How many of the best tokens a step must give.

    Args:
        beam: hypotheses per source.
    """
    # Two of them may be padding and the start, which are never chosen.
    return beam + 2


class BeamSearch:
    """Finds the best sequences by beam search.

    Equation 15 of Dong et al. (2015). A hypothesis that has ended keeps its
    place in the beam and competes with the open ones by score. A source is done
    when no other hypothesis can beat its `n_best` best ended ones, or at its
    length limit. Unfinished hypotheses then rank after the finished ones.

    The score is the log probability, divided by `((5 + length) / 6) ** penalty`
    (Wu et al. 2016), where length includes the end. Padding and the start token
    are never chosen. Ties are won by the better parent and the earlier
    candidate.

    Args:
        step: `step(tokens, state, places) -> (state, candidates,
            attention)`, one step of the decoder. Its inputs are the last tokens
            int32 `[B, K]`, the state `[B, K, ...]` by name and `places` int64
            `[N, 2]`, the source and the hypothesis of each of the N open ones;
            only these need an output layer. It returns the new state, the open
            hypotheses' `Candidates` for the next token, among them the best
            `candidates_needed(beam)`, and the attention `[B, K, S]`. The
            attention may also be a function of the chosen tokens, of the
            hypotheses that they continue, both int32 `[B, K]`, and of the
            tokens' log probabilities, float32 `[B, K]`. Ids may stand for
            different words in each source (as in a pointer-generator); `tokens`
            returns them unchanged.
        beam: hypotheses per source, K; 1 is greedy search.
        n_best: number of sequences to return.
        length_penalty: at least 0.
        attention: whether to return the whole attention, not only its maximum.

    Raises:
        ConfigError: a value is wrong.

    Example:
        ```python
        best = BeamSearch(step, beam=10)(state, limit)["tokens"]
        ```
    """

    def __init__(
        self,
        step: Step,
        beam: int = 10,
        n_best: int = 1,
        length_penalty: float = 0.0,
        attention: bool = False,
    ):
        self._step = step
        check_options(beam, n_best, length_penalty)
        self.beam, self.n_best = beam, n_best
        self.length_penalty = length_penalty
        self.attention = checks.boolean("attention", attention)

    def __call__(self, state: State, limit: tf.Tensor) -> dict:
        """Searches.

        Args:
            state: the decoder's state before the first token, `[B, ...]`.
            limit: maximum number of tokens in each source's sequences,
                including the end, int32 `[B]`.

        Returns:
            The best sequences, best first: "tokens" int32 `[B, n, U]` without
            the end, padded with 0; "length" int32 `[B, n]`; "score" and the
            undivided "log_probability" float32 `[B, n]` (minus infinity where
            there are fewer sequences); "aligned" int32 `[B, n, U]`, the
            position with the most attention; and "attention" `[B, n, U, S]` if
            requested.
        """
        beams = self._first(state, tf.shape(limit)[0])
        places = [None, self.beam]
        written = [(tf.int32, places)] * 3
        written += [(tf.float32, [*places, None])] if self.attention else []
        arrays = [
            tf.TensorArray(dtype, 1, dynamic_size=True, element_shape=shape)
            for dtype, shape in written
        ]

        def body(t, beams, arrays):
            beams, out = self._extend(beams, t, limit)
            arrays = [a.write(t, x) for a, x in zip(arrays, out)]
            return t + 1, beams, arrays

        _, beams, arrays = tf.while_loop(
            # At least one step, so that shapes are known if there is no source.
            lambda t, beams, _: (t < 1) | ~tf.reduce_all(beams.closed),
            body,
            (tf.constant(0), beams, arrays),
            shape_invariants=self._shapes(beams, arrays),
        )
        return self._collect(beams, arrays)

    def _first(self, state: State, batch) -> _Beams:
        """One open hypothesis per source, and empty places for the others."""
        shape = tf.stack([batch, self.beam])
        is_vacant = tf.broadcast_to(tf.range(self.beam) > 0, shape)

        def repeat(x):
            return tf.repeat(x[:, None], self.beam, axis=1)

        return _Beams(
            tokens=tf.fill(shape, BOS),
            log_probability=tf.where(is_vacant, _NEVER, 0.0),
            length=tf.zeros(shape, tf.int32),
            ended=tf.zeros(shape, tf.bool),
            closed=is_vacant,
            state={name: repeat(x) for name, x in state.items()},
        )

    def _shapes(self, beams, arrays):
        def relaxed(x):
            return tf.TensorShape([None, *x.shape[1:]])

        return (
            tf.TensorShape([]),
            tf.nest.map_structure(relaxed, beams),
            [tf.TensorShape(None) for _ in arrays],
        )

    def _extend(self, beams: _Beams, t, limit):
        """Adds one token; also returns what is recorded of the step."""
        open_beams = tf.where(~beams.closed)
        state, candidates, attention = self._step(
            beams.tokens, beams.state, open_beams
        )
        gained, ids = self._best_tokens(
            candidates, open_beams, tf.shape(beams.closed)
        )
        choices = tf.shape(ids)[-1]
        log_probability = beams.log_probability[..., None] + gained
        length = beams.length + tf.cast(~beams.closed, tf.int32)
        score = log_probability / self._divisor(length)[..., None]
        _, best = tf.math.top_k(_flat(score), self.beam)
        parent = best // choices

        def of_parent(x):
            return tf.gather(x, parent, axis=1, batch_dims=1)

        def of_chosen(x):
            return tf.gather(_flat(x), best, axis=1, batch_dims=1)

        tokens, total = of_chosen(ids), of_chosen(log_probability)
        ends = tf.equal(tokens, EOS)
        extended = _Beams(
            tokens=tokens,
            log_probability=total,
            length=of_parent(length),
            ended=of_parent(beams.ended) | ends,
            closed=of_parent(beams.closed) | ends | tf.equal(total, _NEVER),
            state={name: of_parent(x) for name, x in state.items()},
        )
        finished = self._settled(extended, limit) | (t + 1 >= limit)
        extended = extended._replace(closed=extended.closed | finished[:, None])
        if callable(attention):
            attention = attention(tokens, parent, of_chosen(gained))
        else:
            attention = of_parent(attention)
        aligned = tf.argmax(attention, -1, output_type=tf.int32)
        out = [tokens, parent, aligned]
        return extended, out + ([attention] if self.attention else [])

    def _best_tokens(self, candidates: Candidates, open_beams, shape):
        """The best tokens of every hypothesis and their log probabilities.

        Returns:
            Both `[B, K, k]`. A closed hypothesis only continues as itself.
        """
        choices = tf.minimum(
            candidates_needed(self.beam), tf.shape(candidates.ids)[1]
        )
        best, at = tf.math.top_k(candidates.log_probabilities, choices)
        ids = tf.gather(candidates.ids, at, batch_dims=1)
        best = tf.where((ids == PAD) | (ids == BOS), _NEVER, best)
        itself = tf.where(tf.range(choices) > 0, _NEVER, 0.0)
        shape = tf.concat([shape, [choices]], 0)

        def spread(values, otherwise):
            full = tf.broadcast_to(otherwise, shape)
            full = tf.tensor_scatter_nd_update(full, open_beams, values)
            return tf.ensure_shape(full, [None, self.beam, None])

        return spread(best, itself), spread(ids, PAD)

    def _divisor(self, length):
        return penalty_divisor(length, self.length_penalty)

    def _settled(self, beams: _Beams, limit):
        """Which sources' `n_best` best can no longer be beaten, bool `[B]`."""
        score = beams.log_probability / self._divisor(beams.length)
        ended = tf.where(beams.ended, score, _NEVER)
        last = tf.math.top_k(ended, self.n_best)[0][:, -1]
        # A log probability only decreases, but a longer length divides it by
        # more.
        hope = beams.log_probability / self._divisor(limit)[:, None]
        hope = tf.reduce_max(tf.where(beams.closed, _NEVER, hope), 1)
        return last >= hope

    def _collect(self, beams: _Beams, arrays) -> dict:
        """Follows the best hypotheses back to their first tokens."""
        # Ended ones first; within both parts the order is already right.
        order = tf.argsort(tf.cast(~beams.ended, tf.int32), stable=True)
        slots = order[:, : self.n_best]

        def of_best(x):
            return tf.gather(x, slots, axis=1, batch_dims=1)

        log_probability = of_best(beams.log_probability)
        score = log_probability / of_best(self._divisor(beams.length))
        length = of_best(beams.length - tf.cast(beams.ended, tf.int32))
        length = tf.where(tf.equal(score, _NEVER), 0, length)
        tokens, parents, *emitted = [array.stack() for array in arrays]
        earlier = tf.scan(
            lambda slots, parent: tf.gather(parent, slots, batch_dims=1),
            parents,
            slots,
            reverse=True,
        )
        ancestors = tf.concat([earlier[1:], slots[None]], 0)
        longest = tf.reduce_max(length)

        def along(x):
            x = tf.gather(x, ancestors, axis=2, batch_dims=2)
            x = tf.transpose(x, [1, 2, 0, *range(3, x.shape.rank)])
            x = x[:, :, : tf.maximum(longest, 0)]
            real = tf.sequence_mask(length, tf.shape(x)[2])
            real = tf.reshape(
                real, tf.concat([tf.shape(x)[:3], [1] * (x.shape.rank - 3)], 0)
            )
            return tf.where(real, x, tf.zeros([], x.dtype))

        results = {
            "tokens": along(tokens),
            "length": length,
            "score": score,
            "log_probability": log_probability,
            "aligned": along(emitted[0]),
        }
        if self.attention:
            results["attention"] = along(emitted[1])
        return results


def _flat(x: tf.Tensor) -> tf.Tensor:
    """Reshapes `[B, K, k]` to `[B, K * k]`."""
    return tf.reshape(x, [-1, x.shape[1] * tf.shape(x)[2]])
