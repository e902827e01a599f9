"""A linear-chain conditional random field."""

from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import (
    StackedLayer,
    check_label_counts,
    choose,
    own_labels,
)
from mtl_tf.layers.crf import recursions
from mtl_tf.layers.crf.constraints import Constraints
from mtl_tf.layers.crf.likelihood import (
    Sentences,
    log_likelihood,
    make_chain,
    prepare,
)
from mtl_tf.layers.crf.loss import pack_potentials
from mtl_tf.layers.crf.recursions import IMPOSSIBLE, Chain

_ALL, _POTENTIALS = "all", "potentials"


class Decoded(NamedTuple):
    """The best label sequences.

    Attributes:
        tags: int32 `[..., T]`, 0 where there is no token.
        score: float32 `[...]`: the path's score, not normalised.
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

    It needs Keras's TensorFlow backend: the recursions are loops compiled by
    XLA with hand-written gradients (`tf.custom_gradient`), which `keras.ops`
    cannot express.

    Args:
        units: number C of labels.
        tasks: 0 for one set of transitions; otherwise the number of tasks, each
            with its own transitions, stacked.
        label_counts: how many of the C labels each task has, if some have
            fewer. The labels after them are never decoded and have the marginal
            0. Default: all have C.
        constraints: forbidden transitions: a `Constraints` (see
            `allowed_transitions`), or with tasks a list with one, or None, for
            each. Each has its task's label count. A gold path with a forbidden
            transition has a log-likelihood of about -1e9 and gives no gradient
            to the forbidden scores.
        returns: "all" for the dictionary below, or "potentials" for these
            alone. With the latter, a model that ends in the layer is compiled
            with `loss=CRFLoss()`; `best_tags` decodes its one output.
        init: see `base.check_init`.

    Input shape: logits `[B, T, C]`, tags int `[B, T]` and a mask bool `[B, T]`;
        with tasks, "task" int32 `[B]`. Or, for G groups with one task each,
        `[G, B, T, C]`, `[G, B, T]`, `[G, B, T]` and `[G]`.
    Output shape: see the methods. A call returns a dictionary of "logits" as
        given, "scores", the marginals `[..., T, C]`, "prediction" int32
        `[..., T]`, "confidence" `[..., T]`, the prediction's marginals, and
        "loss" `[...]` if there are tags. Without tasks and groups also
        "potentials" `[B, C + 4 + T, C]`, which `CRFLoss` reads.
    Masking: padding changes nothing. Its predictions and scores are 0. Masked
        tokens within a sentence are skipped: the tokens around them are
        neighbours. A sentence without tokens has the loss 0. Without a mask, a
        call takes the mask that Keras attached to the logits (from
        `mask_zero=True`, `Masking` ...), and passes it on. In the methods, no
        mask means that every position is a token.
    Raises:
        ConfigError: a wrong argument, or another backend of Keras.

    Example:
        ```python
        tokens = keras.Input([None], dtype="int32")
        hidden = keras.layers.Embedding(9000, 100, mask_zero=True)(tokens)
        lstm = keras.layers.LSTM(100, return_sequences=True)
        hidden = keras.layers.Bidirectional(lstm)(hidden)
        output = CRF(9)(keras.layers.Dense(9)(hidden))
        model = keras.Model(tokens, output)
        model.compile("adam", loss={"potentials": CRFLoss()})
        model.fit(ids, {"potentials": tags})
        model.predict(ids)["prediction"]
        ```
    """

    def __init__(
        self,
        units: int,
        tasks: int = 0,
        label_counts: Sequence[int] | None = None,
        constraints: Constraints | Sequence[Constraints | None] | None = None,
        returns: str = _ALL,
        **kwargs,
    ):
        super().__init__(**kwargs)
        _check_backend()
        self.supports_masking = True
        # Its loops compile themselves, so Keras must not compile the whole
        # step.
        self.supports_jit = False
        self.units = checks.positive_integer("units", units)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        self.returns = checks.one_of("returns", returns, (_ALL, _POTENTIALS))
        if self.tasks and self.returns == _POTENTIALS:
            raise ConfigError("returns='potentials' needs tasks=0")
        sets = max(self.tasks, 1)
        counts = [self.units] * sets if label_counts is None else label_counts
        self.label_counts = check_label_counts(counts)
        _check_counts(self.label_counts, sets, self.units)
        self.constraints = _checked(constraints, self.tasks, self.label_counts)
        allowed = [
            _padded(constraint, count, self.units)
            for constraint, count in zip(self.constraints, self.label_counts)
        ]
        self._allowed = Constraints(*map(np.stack, zip(*allowed)))
        self._reached = {
            reverse: np.stack(
                [_reached(constraint, reverse) for constraint in allowed]
            )
            for reverse in (False, True)
        }

    def build(self, input_shape=None, *_):
        """Makes the transitions, whatever the input's shape."""
        stack = (self.tasks,) if self.tasks else ()
        size = self.units
        self.transitions = self.add("transitions", size, size, stack=stack)
        self.start = self.add("start", size, stack=stack)
        self.end = self.add("end", size, stack=stack)
        mark(self.transitions, label_axes=2)
        mark(self.start, self.end, label_axes=1)
        self.built = True

    def call(self, logits, mask=None, tags=None, task=None):
        """Decodes; see "Output shape"."""
        if mask is None:
            # Keras passes its mask only if logits are the only tensor.
            mask = getattr(logits, "_keras_mask", None)
        if self.returns == _POTENTIALS:
            return self._potentials_alone(logits, mask)
        scores = self.marginals(logits, mask, task)
        prediction = self.viterbi(logits, mask, task).tags
        confidence = tf.gather(scores, prediction[..., None], batch_dims=-1)
        output = {
            "logits": logits,
            "scores": scores,
            "prediction": prediction,
            "confidence": confidence[..., 0],
        }
        if tags is not None:
            output["loss"] = -self.log_likelihood(logits, tags, mask, task)
        if not self.tasks and len(logits.shape) == 3:
            output["potentials"] = self._potentials(logits, mask)
        if mask is not None:
            # `compute_mask` cannot: it does not know whether there is a "loss",
            # which has no time axis. Nor have "potentials", which contain their
            # mask: Keras would multiply sentence losses by it.
            for name in ("scores", "prediction", "confidence"):
                output[name]._keras_mask = mask
        return output

    def _potentials_alone(self, logits, mask) -> tf.Tensor:
        if len(logits.shape) != 3:
            raise ValueError(
                f"{self.name}: returns='potentials' needs logits [batch, time, "
                f"labels], got shape {tuple(logits.shape)}"
            )
        return self._potentials(logits, mask)

    def compute_mask(self, inputs, previous_mask=None):
        """None for potentials, which contain it; otherwise as in Keras."""
        if self.returns == _POTENTIALS:
            return None
        return super().compute_mask(inputs, previous_mask)

    def log_likelihood(self, logits, tags, mask=None, task=None):
        """The logarithm of the probability of `tags`.

        Args:
            logits, tags, mask, task: see the class. Without a mask, every
                position is a token. Tokens with a negative tag are skipped, as
                in `CRFLoss`.

        Returns:
            float32 `[B]` or `[G, B]`.
        """
        tags = tf.cast(tags, tf.int32)
        known = tags >= 0
        mask = known if mask is None else tf.cast(mask, tf.bool) & known
        sentences = self._sentences(logits, mask, task)
        tags = tf.reshape(tags, tf.shape(sentences.mask))
        chain = self._chain(sentences)
        after = self._after(sentences)
        return log_likelihood(sentences, chain, after, tags)

    def viterbi(self, logits, mask=None, task=None) -> Decoded:
        """The path with the highest score; arguments as in `log_likelihood`."""
        sentences = self._sentences(logits, mask, task)
        chain = self._chain(sentences)
        run = recursions.best(sentences.logits, sentences.mask, chain)
        final = run.state["scores"] + self._after(sentences)[:, None]
        last = tf.argmax(final, -1, output_type=tf.int32)
        tags = recursions.trace(
            run.sequences["scores"], last, sentences.mask, chain
        )
        score = run.state["total"][..., 0] + tf.reduce_max(final, -1)
        score += tf.reduce_sum(sentences.shift, -1)
        return Decoded(sentences.ungroup(tags), sentences.ungroup(score))

    def marginals(self, logits, mask=None, task=None):
        """The probability of every label at every token.

        Uses the forward and backward recursions; arguments as in
        `log_likelihood`.

        Returns:
            float32 `[B, T, C]` or `[G, B, T, C]`, 0 where there is no token.
        """
        sentences = self._sentences(logits, mask, task)
        before, after = (
            recursions.sums(
                sentences.logits,
                sentences.mask,
                self._chain(sentences, reverse),
                reverse=reverse,
            ).sequences["scores"]
            for reverse in (False, True)
        )
        # Both include the token's own logits.
        joint = (before + after - sentences.logits)[..., :-1]
        joint = tf.where(sentences.mask[..., None], joint, 0.0)
        valid = sentences.mask[..., None] & sentences.valid[:, None, None]
        return sentences.ungroup(tf.where(valid, tf.nn.softmax(joint), 0.0))

    def _potentials(self, logits, mask) -> tf.Tensor:
        sentences = self._sentences(logits, mask, None)
        end = self._after(sentences)[0, :-1]
        logits = sentences.ungroup(sentences.logits)[..., :-1]
        return pack_potentials(logits, self._chain(sentences), end)

    def _sentences(self, logits, mask, task) -> Sentences:
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
        # Without groups, tasks belong to rows: each row is a group of one.
        axis = 1 if self.tasks else 0
        if not grouped:
            logits, mask = (tf.expand_dims(t, axis) for t in (logits, mask))
        if not self.tasks:
            task = tf.zeros(tf.shape(logits)[:1], tf.int32)
        valid = own_labels(self.label_counts, task, self.units)
        return prepare(logits, mask, task, valid, None if grouped else axis)

    def _scores(self, name: str, allowed: np.ndarray, task) -> tf.Tensor:
        """The groups' scores of one kind; `IMPOSSIBLE` where forbidden."""
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

    def _chain(self, sentences: Sentences, reverse: bool = False) -> Chain:
        task = sentences.task
        inner = self._scores("transitions", self._allowed.transitions, task)
        first = "end" if reverse else "start"
        outer = self._scores(first, getattr(self._allowed, first), task)
        if reverse:
            inner = tf.linalg.matrix_transpose(inner)
        reached = tf.gather(tf.constant(self._reached[reverse]), task)
        return make_chain(inner, outer, reached)

    def _after(self, sentences: Sentences) -> tf.Tensor:
        """The end scores `[G, K]`; a sentence without tokens ends in START."""
        end = self._scores("end", self._allowed.end, sentences.task)
        return tf.pad(end, [[0, 0], [0, 1]])

    def get_config(self) -> dict:
        """The constructor's arguments."""
        constraints = [
            allowed and [mask.tolist() for mask in allowed]
            for allowed in self.constraints
        ]
        return super().get_config() | {
            "units": self.units,
            "tasks": self.tasks,
            "label_counts": self.label_counts,
            "constraints": constraints if self.tasks else constraints[0],
            "returns": self.returns,
        }


def _check_backend() -> None:
    backend = keras.config.backend()
    if backend != "tensorflow":
        raise ConfigError(
            "a CRF needs Keras's TensorFlow backend (its recursions are "
            f"TensorFlow's loops), got {backend!r}; set "
            "KERAS_BACKEND=tensorflow before Keras is imported"
        )


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
    checked = []
    for allowed, count in zip(constraints, counts):
        allowed = allowed and Constraints(
            *(np.array(mask, bool) for mask in allowed)
        )
        shapes = allowed and [mask.shape for mask in allowed]
        expected = [(count, count), (count,), (count,)]
        if allowed and shapes != expected:
            raise ConfigError(
                f"constraints must have the shapes {expected}, got {shapes}"
            )
        checked.append(allowed)
    return checked


def _padded(allowed: Constraints | None, count: int, units: int) -> Constraints:
    """Constraints for all labels; those after the task's own are forbidden."""
    if allowed is None:
        free = np.ones(count, bool)
        allowed = Constraints(np.ones([count, count], bool), free, free)
    missing = units - count
    return Constraints(
        *(np.pad(mask, [(0, missing)] * mask.ndim) for mask in allowed)
    )


def _reached(allowed: Constraints, reverse: bool) -> np.ndarray:
    """`Chain.reached` for one set of transitions."""
    follows = allowed.transitions.T if reverse else allowed.transitions
    now = allowed.end if reverse else allowed.start
    first, later = now.sum(), np.zeros_like(now)
    for _ in range(len(now) + 1):
        now = (now[:, None] & follows).any(0)
        later |= now
    return np.array([first, later.sum()], np.float32)
