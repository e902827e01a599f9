"""A linear-chain conditional random field."""

from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers import crf_recursions as recursions
from mtl_tf.layers.base import (
    StackedLayer,
    check_label_counts,
    choose,
    own_labels,
)
from mtl_tf.layers.crf_constraints import Constraints
from mtl_tf.layers.crf_recursions import IMPOSSIBLE, Chain


class Decoded(NamedTuple):
    """The best paths.

    Attributes:
        tags: int32 `[..., T]`, 0 where there is no token.
        score: float32 `[...]`: the path's score, which is not normalised.
    """

    tags: tf.Tensor
    score: tf.Tensor


@keras.saving.register_keras_serializable(package="mtl_tf")
class CRF(StackedLayer):
    """A linear-chain conditional random field over given logits.

    Lafferty et al. (2001); as an output layer, Lample et al. (2016), section
    2.2. With logits x, transitions A, start scores b and end scores e,

        score(y) = b[y_1] + sum_t x_t[y_t] + sum_t A[y_(t-1), y_t] + e[y_n]
        log p(y) = score(y) - log sum_y' exp score(y')

    Everything is computed in float32 and in logarithms, whatever the policy.

    Args:
        units: number C of labels.
        tasks: 0: one set of transitions; else one for each of so many tasks,
            stacked.
        label_counts: how many of the C labels each task has, for tasks with
            fewer; labels behind them are never decoded, and have the marginal
            0. Default: all have C.
        constraints: forbid transitions: a `Constraints` (see
            `allowed_transitions`), or with tasks a list with one, or None,
            for each; of each task's own label count. A gold path through what
            is forbidden has a log-likelihood of about -1e9 and gives no
            gradient to the forbidden scores.
        init: see `base.check_init`.

    Input shape: logits `[B, T, C]`, tags int `[B, T]` and a mask bool
        `[B, T]`; with tasks, "task" int32 `[B]`. Or, of G groups that have a
        task each, `[G, B, T, C]`, `[G, B, T]`, `[G, B, T]` and `[G]`.
    Output shape: see the methods; called, it returns a dictionary of "logits"
        as they were given, "scores", the marginals `[..., T, C]`,
        "prediction" int32 `[..., T]`, "confidence" `[..., T]`, the
        prediction's marginals, and "loss" `[...]` if there are tags.
    Masking: padding changes nothing; its predictions and scores are 0. Tokens
        that a mask leaves out within a sentence are stepped over: those around
        them are neighbours. A sentence without tokens has the loss 0.

    Example:
        ```python
        logits = keras.layers.Dense(9)(hidden)
        model = keras.Model(tokens, CRF(9, name="crf")(logits))
        model.compile("adam", loss={"logits": model.get_layer("crf").loss})
        model.fit(tokens, {"logits": tags})  # tags are -1 at padding
        ```
    """

    def __init__(
        self,
        units: int,
        tasks: int = 0,
        label_counts: Sequence[int] | None = None,
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        sets = max(self.tasks, 1)
        counts = [self.units] * sets if label_counts is None else label_counts
        self.label_counts = check_label_counts(counts)
        _check_counts(self.label_counts, sets, self.units)
        self.constraints = _checked(constraints, self.tasks, self.label_counts)
        allowed = [
            _padded(one, count, self.units)
            for one, count in zip(self.constraints, self.label_counts)
        ]
        self._allowed = Constraints(*map(np.stack, zip(*allowed)))
        self._reached = {
            reverse: np.stack([_reached(one, reverse) for one in allowed])
            for reverse in (False, True)
        }

    def build(self, input_shape=None, *_):
        """Makes the transitions, whatever the input's shape."""
        stack = (self.tasks,) if self.tasks else ()
        size = self.units
        self.transitions = self.add("transitions", size, size, stack=stack)
        self.start = self.add("start", size, stack=stack)
        self.end = self.add("end", size, stack=stack)
        self.built = True

    def call(self, logits, mask=None, tags=None, task=None):
        """Decodes; see "Output shape"."""
        scores = self.marginals(logits, mask, task)
        prediction = self.viterbi(logits, mask, task).tags
        own = tf.gather(scores, prediction[..., None], batch_dims=-1)
        output = {
            "logits": logits,
            "scores": scores,
            "prediction": prediction,
            "confidence": own[..., 0],
        }
        if tags is not None:
            output["loss"] = -self.log_likelihood(logits, tags, mask, task)
        return output

    def loss(self, y_true, y_pred):
        """The negative log-likelihood, as `compile` wants a loss.

        Args:
            y_true: tags `[B, T]`, negative where there is no token.
            y_pred: logits `[B, T, C]`.

        Returns:
            float32 `[B]`.
        """
        tags = tf.cast(y_true, tf.int32)
        return -self.log_likelihood(y_pred, tags, tags >= 0)

    def log_likelihood(self, logits, tags, mask=None, task=None):
        """The logarithm of the probability of `tags`.

        Args:
            logits, tags, mask, task: see the class; without a mask, every
                position is a token.

        Returns:
            float32 `[B]` or `[G, B]`.
        """
        given = self._given(logits, mask, task)
        tags = tf.reshape(tf.cast(tags, tf.int32), tf.shape(given.mask))
        chain = self._chain(given)
        path = self._path_score(given, chain, tags)
        run = recursions.sums(given.logits, given.mask, chain, keep=True)
        final = run.state["scores"] + self._after(given)[:, None]
        total = run.state["total"][..., 0] + tf.reduce_logsumexp(final, -1)
        return given.ungroup(path - total)

    def viterbi(self, logits, mask=None, task=None) -> Decoded:
        """The path of the highest score; the arguments are as above."""
        given = self._given(logits, mask, task)
        chain = self._chain(given)
        run = recursions.best(given.logits, given.mask, chain)
        final = run.state["scores"] + self._after(given)[:, None]
        last = tf.argmax(final, -1, output_type=tf.int32)
        tags = recursions.trace(
            run.sequences["scores"], last, given.mask, chain
        )
        score = run.state["total"][..., 0] + tf.reduce_max(final, -1)
        score += tf.reduce_sum(given.shift, -1)
        return Decoded(given.ungroup(tags), given.ungroup(score))

    def marginals(self, logits, mask=None, task=None):
        """The probability of every label at every token.

        By the forward and backward recursions; the arguments are as above.

        Returns:
            float32 `[B, T, C]` or `[G, B, T, C]`, 0 where there is no token.
        """
        given = self._given(logits, mask, task)
        before, after = (
            recursions.sums(
                given.logits,
                given.mask,
                self._chain(given, reverse),
                reverse=reverse,
            ).sequences["scores"]
            for reverse in (False, True)
        )
        # Both hold the token's own logits.
        joint = (before + after - given.logits)[..., :-1]
        joint = tf.where(given.mask[..., None], joint, 0.0)
        kept = given.mask[..., None] & given.own[:, None, None]
        return given.ungroup(tf.where(kept, tf.nn.softmax(joint), 0.0))

    def _given(self, logits, mask, task) -> "_Given":
        logits = tf.cast(logits, tf.float32)
        if logits.shape[-1] != self.units:
            raise ValueError(
                f"{self.name}: logits must have {self.units} labels, got shape "
                f"{tuple(logits.shape)}"
            )
        if self.tasks and task is None:
            raise ValueError(f"{self.name}: transitions of tasks need a task")
        if mask is None:
            mask = tf.ones(tf.shape(logits)[:-1], tf.bool)
        grouped = logits.shape.rank == 4
        # Without groups, tasks are those of rows: each is a group of one.
        axis = 1 if self.tasks else 0
        if not grouped:
            logits, mask = (tf.expand_dims(t, axis) for t in (logits, mask))
        if not self.tasks:
            task = tf.zeros(tf.shape(logits)[:1], tf.int32)
        own = own_labels(self.label_counts, task, self.units)
        usable = mask[..., None] & own[:, None, None]
        # What does not count cannot harm, were it infinite.
        logits = tf.where(usable, logits, IMPOSSIBLE)
        # The largest logit becomes 0: paths keep their differences, and large
        # logits do not eat the precision of small ones.
        shift = tf.reduce_max(logits, -1, keepdims=True)
        logits = tf.where(usable, logits - shift, IMPOSSIBLE)
        logits = tf.pad(
            logits, [[0, 0]] * 3 + [[0, 1]], constant_values=IMPOSSIBLE
        )
        shift = tf.where(mask, shift[..., 0], 0.0)
        axis = None if grouped else axis
        return _Given(logits, mask, task, own, shift, axis)

    def _scores(self, name: str, allowed: np.ndarray, task) -> tf.Tensor:
        """The groups' scores of one kind, `IMPOSSIBLE` where forbidden."""
        weight = getattr(self, name)
        if self.tasks:
            scores = choose(weight, task)
        else:
            rows = tf.concat([tf.shape(task), weight.shape], 0)
            scores = tf.ensure_shape(
                tf.broadcast_to(weight.value, rows),
                [*task.shape, *weight.shape],
            )
        allowed = tf.gather(tf.constant(allowed), task)
        return tf.where(allowed, tf.cast(scores, tf.float32), IMPOSSIBLE)

    def _chain(self, given: "_Given", reverse: bool = False) -> Chain:
        task = given.task
        inner = self._scores("transitions", self._allowed.transitions, task)
        first = "end" if reverse else "start"
        outer = self._scores(first, getattr(self._allowed, first), task)
        if reverse:
            inner = tf.linalg.matrix_transpose(inner)
        rows = tf.concat([inner, outer[:, None]], 1)
        transitions = tf.pad(
            rows, [[0, 0], [0, 0], [0, 1]], constant_values=IMPOSSIBLE
        )
        reached = tf.gather(tf.constant(self._reached[reverse]), task)
        return Chain(transitions, reached)

    def _after(self, given: "_Given") -> tf.Tensor:
        """The end scores `[G, K]`; a sentence without tokens ends in START."""
        end = self._scores("end", self._allowed.end, given.task)
        return tf.pad(end, [[0, 0], [0, 1]])

    def _path_score(self, given: "_Given", chain: Chain, tags) -> tf.Tensor:
        """The score of given tags `[G, B, T]`, float32 `[G, B]`."""
        mask, start = given.mask, self.units
        tags = tf.where(mask, tags, 0)
        chosen = tf.cast(tf.one_hot(tags, start + 1), tf.bool)
        emitted = tf.reduce_sum(tf.where(chosen, given.logits, 0.0), -1)
        before = tf.where(
            recursions.at_first(mask), start, _previous(tags, mask)
        )
        group = tf.range(tf.shape(tags)[0])[:, None, None]
        place = (group * (start + 1) + before) * (start + 1) + tags
        moved = tf.gather(tf.reshape(chain.transitions, [-1]), place)
        score = tf.reduce_sum(tf.where(mask, emitted + moved, 0.0), -1)
        place = group * (start + 1) + tags
        ended = tf.gather(tf.reshape(self._after(given), [-1]), place)
        last = recursions.at_first(mask, reverse=True)
        return score + tf.reduce_sum(tf.where(last, ended, 0.0), -1)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        constraints = [
            one and [part.tolist() for part in one] for one in self.constraints
        ]
        return super().get_config() | {
            "units": self.units,
            "tasks": self.tasks,
            "label_counts": self.label_counts,
            "constraints": constraints if self.tasks else constraints[0],
        }


class _Given(NamedTuple):
    """What the methods of `CRF` were given, in groups.

    Attributes:
        logits: float32 `[G, B, T, C + 1]`, the largest of a token's own 0;
            the last label is `recursions`' START.
        mask, task: bool `[G, B, T]` and int32 `[G]`.
        own: bool `[G, C]`: the labels of the group's task.
        shift: float32 `[G, B, T]`: what was taken from the logits.
        axis: the axis that stands for groups, None if there were groups.
    """

    logits: tf.Tensor
    mask: tf.Tensor
    task: tf.Tensor
    own: tf.Tensor
    shift: tf.Tensor
    axis: int | None

    def ungroup(self, result: tf.Tensor) -> tf.Tensor:
        """Takes the axis of groups away again, if there was none."""
        return result if self.axis is None else tf.squeeze(result, self.axis)


def _previous(tags: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tag of the token before each token; holes are stepped over."""
    shape = tf.shape(tags)
    number = tf.cumsum(tf.cast(mask, tf.int32), -1)
    number = tf.reshape(number, [-1, shape[-1]])
    # Where the count reaches n first, there is token n.
    place = tf.searchsorted(number, tf.maximum(number - 1, 1))
    place = tf.minimum(place, tf.maximum(shape[-1] - 1, 0))
    tags = tf.reshape(tags, [-1, shape[-1]])
    return tf.reshape(tf.gather(tags, place, batch_dims=1), shape)


def _check_counts(counts: Sequence[int], sets: int, units: int) -> None:
    if len(counts) != sets:
        raise ConfigError(
            f"label_counts must have one entry for each of {sets} sets of "
            f"transitions, got {len(counts)}"
        )
    if max(counts) > units:
        raise ConfigError(
            f"label_counts must not be above units ({units}), got {max(counts)}"
        )


def _checked(constraints, tasks: int, counts) -> list[Constraints | None]:
    """The constraints of each set of transitions, as bool arrays."""
    if constraints is None:
        constraints = [None] * len(counts)
    elif not tasks:
        constraints = [constraints]
    if len(constraints) != len(counts):
        raise ConfigError(
            f"constraints must have one entry for each of {len(counts)} "
            f"tasks, got {len(constraints)}"
        )
    found = []
    for one, count in zip(constraints, counts):
        one = one and Constraints(*(np.array(part, bool) for part in one))
        shapes = one and [part.shape for part in one]
        wanted = [(count, count), (count,), (count,)]
        if one and shapes != wanted:
            raise ConfigError(
                f"constraints must have the shapes {wanted}, got {shapes}"
            )
        found.append(one)
    return found


def _padded(one: Constraints | None, count: int, units: int) -> Constraints:
    """Constraints of all labels, those behind the task's own forbidden."""
    if one is None:
        free = np.ones(count, bool)
        one = Constraints(np.ones([count, count], bool), free, free)
    more = units - count
    return Constraints(*(np.pad(part, [(0, more)] * part.ndim) for part in one))


def _reached(allowed: Constraints, reverse: bool) -> np.ndarray:
    """`Chain.reached` for one set of transitions."""
    follows = allowed.transitions.T if reverse else allowed.transitions
    now = allowed.end if reverse else allowed.start
    first, later = now.sum(), np.zeros_like(now)
    for _ in range(len(now) + 1):
        now = (now[:, None] & follows).any(0)
        later |= now
    return np.array([first, later.sum()], np.float32)
