"""What a trained run makes of a text, token by token."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.scheme import RecurrentScheme
from mtl_tf.prediction.text_prediction import features_of
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.text.encoding.pieces import PieceEncoder

_AT_ONCE = 64  # prefixes that are read in one batch


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
        text: what was read.
    """

    label: str
    tokens: tuple[str, ...]
    known: np.ndarray
    scores: np.ndarray
    poles: tuple[str, str]
    inspect: dict[str, np.ndarray]
    text: str = ""


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
    reading = read_text(run, text)
    labels = run.tasks[index]["labels"]
    # A figure's texts are few: compiling a shape for each would take longer.
    with recurrence.options(jit=False):
        probabilities = prefix_scores(run.model, reading, index)
        inspect = _inspect(run.model, reading, index)
    return Trace(
        label=label,
        tokens=reading.tokens,
        known=reading.known,
        scores=polarity(probabilities[:, : len(labels)]),
        poles=(labels[0], labels[-1]),
        inspect=inspect,
        text=text,
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


def prefix_scores(model: Any, reading: "Reading", task: int) -> np.ndarray:
    """The model's answer after each token of a text.

    A recurrence in one direction has it at hand: the head reads each step's
    state. Any other scheme reads every prefix as a text of its own.

    Args:
        model: a `MultiTaskModel`.
        reading: the text of T tokens.
        task: the task's number.

    Returns:
        float32 `[T, labels]`, probabilities.
    """
    scheme = model.scheme
    one_way = (
        isinstance(scheme, RecurrentScheme)
        and len(scheme.directions) == 1
        and scheme.pooling == "last"
        and isinstance(model.embedding, Embedding)
    )
    beside = (model.hidden, model.wide, model.characters, model.casing)
    if one_way and not any(beside):
        return _scores_of_steps(model, reading.columns["tokens"], task)
    return _scores_of_prefixes(model, reading, task)


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


def _scores_of_prefixes(
    model: Any, reading: "Reading", task: int
) -> np.ndarray:
    columns = reading.prefixes()
    scores = []
    for start in range(0, len(reading.tokens), _AT_ONCE):
        stop = start + _AT_ONCE
        part = {name: value[:, start:stop] for name, value in columns.items()}
        batch = {"task": tf.constant([task]), **part}
        output = model(batch, key=model.key_of(task))
        scores.append(output["scores"].numpy()[0])
    return np.concatenate(scores)


def _inspect(
    model: Any, reading: "Reading", task: int
) -> dict[str, np.ndarray]:
    batch = {"task": tf.constant([task]), **reading.columns}
    key = model.key_of(task)
    tensors = model(batch, inspect=True, key=key)["inspect"]
    return {
        name: value.numpy()[0, 0]
        for name, value in tensors.items()
        if value.shape.rank == 4
    }


@dataclasses.dataclass(frozen=True)
class Reading:
    """What a run reads of a text.

    Attributes:
        tokens: the T tokens; of a pretrained encoder the pieces, special ones
            among them.
        known: bool [T], whether the run's vocabulary has them.
        columns: what a batch has of the text: "tokens" int32 `[1, 1, T]`, and
            where the run reads them "characters" and "casing".
        ends: ids of the special pieces that every text ends with.
    """

    tokens: tuple[str, ...]
    known: np.ndarray
    columns: dict[str, tf.Tensor]
    ends: tuple[int, ...] = ()

    def prefixes(self) -> dict[str, tf.Tensor]:
        """Every prefix of the text as a text of its own, `[1, T, T, ...]`.

        Each has the special pieces at its end.
        """
        size, end = len(self.tokens), len(self.ends)
        cut = np.tril(np.ones([size, size], bool))
        prefixes = {}
        for name, value in self.columns.items():
            value = value.numpy()[0, 0]
            is_kept = cut.reshape([size, size, *[1] * (value.ndim - 1)])
            prefixes[name] = np.where(is_kept, value, 0)
        for row in range(size):
            # The last ones have them already.
            if end and row + end < size:
                prefixes["tokens"][row, row + 1 : row + 1 + end] = self.ends
            elif end:
                prefixes["tokens"][row] = self.columns["tokens"].numpy()[0, 0]
        return {
            name: tf.constant(value)[None] for name, value in prefixes.items()
        }


def read_text(run: Run, text: str) -> Reading:
    """What a run reads of a text.

    Raises:
        DataError: the text has no tokens.
    """
    encoder = run.encoder
    columns = {
        name: value.to_tensor()[None]
        for name, value in encoder.of_texts(tf.constant([text])).items()
    }
    ids = columns["tokens"].numpy()[0, 0]
    if isinstance(encoder, PieceEncoder):
        around = len(encoder.specials.start) + len(encoder.specials.end)
        if len(ids) <= around:
            raise DataError(f"the text {text!r} has no tokens")
        names = [encoder.pieces[number] for number in ids]
        known = ids != encoder.specials.unknown + 1
        ends = tuple(number + 1 for number in encoder.specials.end)
        return Reading(tuple(names), known, columns, ends)
    [tokens] = encoder.tokenizer(tf.constant([text])).to_list()
    if not tokens:
        raise DataError(f"the text {text!r} has no tokens")
    names = [token.decode() for token in tokens[: len(ids)]]
    return Reading(tuple(names), ids != encoder.vocabulary.OOV, columns)


def same_tokens(traces: list[Trace]) -> tuple[str, ...]:
    """The tokens of traces of one text.

    Raises:
        ConfigError: the runs split the text differently.
    """
    first = traces[0]
    for trace in traces[1:]:
        if trace.tokens != first.tokens:
            raise ConfigError(
                f"the runs {first.label} and {trace.label} split the text "
                f"{' '.join(first.tokens[:5])!r}... into other tokens: they "
                "cannot share an axis"
            )
    return first.tokens
