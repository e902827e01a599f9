"""What a trained run makes of a text, token by token."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.layers import recurrence
from mtl_tf.models.scheme import RecurrentScheme
from mtl_tf.runs.loaded_run import Run
from mtl_tf.runs.text_prediction import features_of


@dataclasses.dataclass(frozen=True)
class Trace:
    """A run's way through a text of T tokens.

    Attributes:
        label: how figures name the run.
        tokens: the T tokens.
        known: bool [T], whether the run's vocabulary has them.
        scores: float64 [T], after each prefix: -1 for the task's first label,
            1 for its last.
        poles: names of the first and last label.
        inspect: what the scheme shows of itself, [T, size] by name.
    """

    label: str
    tokens: tuple[str, ...]
    known: np.ndarray
    scores: np.ndarray
    poles: tuple[str, str]
    inspect: dict[str, np.ndarray]


def trace(run: Run, task: str, text: str, label: str = "") -> Trace:
    """Follows a run through a text.

    Args:
        run: the run.
        task: whose weights and labels to take.
        text: the text; what the run cuts off is not in the trace.
        label: how figures name the run.

    Raises:
        ConfigError: the run has no such task, or one that does not classify:
            the figures show how the score of a whole text comes about.
        DataError: the text has no tokens.
    """
    index = run.task_index(task)
    *_, target = features_of(run.tasks[index])
    if not target.is_class:
        task_type = run.tasks[index]["type"]
        raise ConfigError(
            f"the task {task!r} is of the type {task_type!r}: this shows "
            "the score of a whole text after each of its tokens, which tasks "
            "that classify texts have"
        )
    run.weights_for(task)
    tokens, ids, known = read_text(run, text)
    labels = run.tasks[index]["labels"]
    # A figure's texts are few: compiling a shape for each would take longer.
    with recurrence.options(jit=False):
        probabilities = prefix_scores(run.model, ids, index)[:, : len(labels)]
        inspect = _inspect(run.model, ids, index)
    return Trace(
        label=label,
        tokens=tokens,
        known=known,
        scores=polarity(probabilities),
        poles=(labels[0], labels[-1]),
        inspect=inspect,
    )


def polarity(probabilities: np.ndarray) -> np.ndarray:
    """The expected place between the first label (-1) and the last (1).

    With two labels it is the difference of their probabilities.

    Args:
        probabilities: [T, labels], of labels in their order, such as from
            very negative to very positive.

    Returns:
        float64 [T].
    """
    places = np.linspace(-1.0, 1.0, probabilities.shape[-1])
    return probabilities.astype(np.float64) @ places


def prefix_scores(model: Any, ids: tf.Tensor, task: int) -> np.ndarray:
    """The model's answer after each token of a text.

    A recurrence in one direction has it at hand: the head reads each step's
    state. Any other scheme reads every prefix as a text of its own.

    Args:
        model: a `MultiTaskModel`.
        ids: int32 `[1, 1, T]`.
        task: the task's number.

    Returns:
        float32 `[T, labels]`, probabilities.
    """
    scheme = model.scheme
    one_way = (
        isinstance(scheme, RecurrentScheme)
        and len(scheme.directions) == 1
        and scheme.pooling == "last"
    )
    if one_way and model.hidden is None:
        return _scores_of_steps(model, ids, task)
    return _scores_of_prefixes(model, ids, task)


def _scores_of_steps(model: Any, ids: tf.Tensor, task: int) -> np.ndarray:
    batch = {"task": tf.constant([task])}
    encoded = model.scheme(
        model.embedding(ids, batch["task"]),
        model.embedding.mask(ids),
        batch["task"],
        sequence=True,
    )
    # The head of texts reads every step as if it were a text's summary.
    steps = encoded["sequence"][:, 0]
    head = model.heads[model.key_of(task) or next(iter(model.heads))]
    return head({"summary": steps}, batch)["scores"].numpy()[0]


def _scores_of_prefixes(model: Any, ids: tf.Tensor, task: int) -> np.ndarray:
    length = ids.shape[-1]
    lengths = tf.range(1, length + 1)
    prefixes = ids * tf.sequence_mask(lengths, length, dtype=ids.dtype)
    scores = []
    for start in range(0, length, 64):
        part = prefixes[:, start : start + 64]
        batch = {"task": tf.constant([task]), "tokens": part}
        output = model(batch, key=model.key_of(task))
        scores.append(output["scores"].numpy()[0])
    return np.concatenate(scores)


def _inspect(model: Any, ids: tf.Tensor, task: int) -> dict[str, np.ndarray]:
    batch = {"task": tf.constant([task]), "tokens": ids}
    key = model.key_of(task)
    found = model(batch, inspect=True, key=key)["inspect"]
    return {
        name: value.numpy()[0, 0]
        for name, value in found.items()
        if value.shape.rank == 4
    }


def read_text(
    run: Run, text: str
) -> tuple[tuple[str, ...], tf.Tensor, np.ndarray]:
    """What a run reads of a text.

    Returns:
        Its T tokens, their ids int32 `[1, 1, T]`, and whether the run's
        vocabulary has them, bool [T].

    Raises:
        ConfigError: the run reads more of words than their ids.
        DataError: the text has no tokens.
    """
    if run.encoder.characters or run.encoder.casing:
        raise ConfigError(
            f"the run {run.directory.path} reads characters or the casing of "
            "words: figures of texts are of runs that read words alone"
        )
    [tokens] = run.encoder.tokenizer(tf.constant([text])).to_list()
    if not tokens:
        raise DataError(f"the text {text!r} has no tokens")
    limit = run.encoder.max_length or len(tokens)
    ids = run.encoder(tf.constant([text])).to_tensor()[None]
    known = ids.numpy()[0, 0] != run.encoder.vocabulary.OOV
    return tuple(token.decode() for token in tokens[:limit]), ids, known


def same_tokens(traces: list[Trace]) -> tuple[str, ...]:
    """The tokens of traces of one text.

    Raises:
        ConfigError: the runs split the text differently.
    """
    first = traces[0]
    for other in traces[1:]:
        if other.tokens != first.tokens:
            raise ConfigError(
                f"the runs {first.label} and {other.label} split the text "
                f"{' '.join(first.tokens[:5])!r}... into other tokens: they "
                "cannot share an axis"
            )
    return first.tokens
