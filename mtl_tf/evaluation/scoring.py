"""Base classes of how a task type is scored."""

import abc
import collections
import dataclasses
import math
import os
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

import numpy as np

from mtl_tf.core import files, own_functions, strict_json
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.task_types import DEFAULT
from mtl_tf.evaluation.mistakes import Mistake, scores_alone
from mtl_tf.evaluation.probabilities import Probabilities
from mtl_tf.tasks import own_metrics
from mtl_tf.tasks import task_types as types_of_tasks


@dataclasses.dataclass(frozen=True)
class TaskPredictions:
    """What a model predicted for one task's examples.

    Attributes:
        name: the task's name.
        labels: the right labels of n examples: integers [n], or the form of the
            task's type.
        predictions: the predictions for the n examples, in the same form.
        class_names: the label names.
        type: the name of the task's type.
        metrics: names of the metrics; the first is the primary one.
        losses: numbers [n], the loss of each example, or None.
        clean: bool [n], whether an example is in the clean part
            (`clean.SeenTexts`); None if unknown.
        validation_in_training: how many of the task's validation texts are also
            training texts; None if unknown.
        diagnostics: further model outputs for each example, numbers [n] by
            name, such as whether a discriminator guessed the task. They are
            never scored.
        scores: numbers [n, classes] behind the predictions, or None. Only some
            types score them.
        settings: what the type must know about the task; see
            `TaskType.settings`.
        variants: further pairs of predictions and labels for the type's scorer,
            by name.
        confidences: for types with a label for each token, the model's
            confidence in each token's label, from 0 to 1; else None. They are
            not scored.
        examples: a digest of the examples' inputs, or None if unknown.
        units: a number for each example. Those with the same number share a
            text, such as questions about one context, so a bootstrap draws
            them together. None if unknown, or if no examples do.
    """

    name: str
    labels: Sequence[Any] | np.ndarray
    predictions: Sequence[Any] | np.ndarray
    class_names: Sequence[str]
    type: str = DEFAULT
    metrics: Sequence[str] = ("accuracy", "macro_f1")
    losses: Sequence[float] | np.ndarray | None = None
    clean: Sequence[bool] | np.ndarray | None = None
    validation_in_training: int | None = None
    diagnostics: Mapping[str, Sequence[float] | np.ndarray] = dataclasses.field(
        default_factory=dict
    )
    scores: Sequence[Sequence[float]] | np.ndarray | None = None
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    variants: Mapping[str, tuple[Sequence[Any], Sequence[Any]]] = (
        dataclasses.field(default_factory=dict)
    )
    confidences: Sequence[Sequence[float]] | None = None
    examples: str | None = None
    units: Sequence[int] | None = None


def units_of(keys: Iterable[Hashable]) -> list[np.ndarray]:
    """The indices of the examples with equal keys; see `Scorer.units`.

    Args:
        keys: one for each example.
    """
    units: dict[Hashable, list[int]] = {}
    for number, key in enumerate(keys):
        units.setdefault(key, []).append(number)
    return [np.array(unit) for unit in units.values()]


class Scorer(abc.ABC):
    """Scores one task's predictions, on all or some of its examples.

    Args:
        task: the predictions.

    Attributes:
        size: the number of examples.
        units: the indices of examples whose scores depend on each other, such
            as the turns of a dialogue: a bootstrap draws them together. None
            if the scores of examples do not.
    """

    size: int
    units: Sequence[np.ndarray] | None = None

    @abc.abstractmethod
    def __init__(self, task: TaskPredictions):
        pass

    @abc.abstractmethod
    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """The scores of a part of the examples.

        Args:
            selection: bool [n], which examples to score; or their integer
                indices, which may repeat.

        Returns:
            "examples", the number of scored examples, and each metric's score
            by name; None where there is nothing to score.
        """

    def details(self) -> dict[str, Any]:
        """Further results on all examples; none by default."""
        return {}


class _OwnScorer(Scorer):
    """Also computes a user's own metrics; see `mtl_tf.tasks.own_metrics`.

    Args:
        task: the predictions.
        scoring: the `Scoring` of the task's type.
    """

    def __init__(self, task: TaskPredictions, scoring: "Scoring"):
        paths = own_metrics.places(task.settings)
        own_names = [name for name in task.metrics if name in paths]
        built_in = tuple(name for name in task.metrics if name not in own_names)
        self._built_in = scoring.scorer(
            dataclasses.replace(task, metrics=built_in)
        )
        self._functions = {
            name: (paths[name], own_functions.load(paths[name]))
            for name in own_names
        }
        self._order = tuple(task.metrics)
        self._labels = [scoring.readable(task, label) for label in task.labels]
        self._predictions = [
            scoring.readable(task, label) for label in task.predictions
        ]
        self.size, self.units = self._built_in.size, self._built_in.units

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`."""
        scores = self._built_in.part(selection)
        rows = np.arange(self.size)[selection]
        labels = [self._labels[row] for row in rows]
        predictions = [self._predictions[row] for row in rows]
        for name, (path, function) in self._functions.items():
            scores[name] = _called(path, function, labels, predictions)
        first = {name: scores.pop(name) for name in self._order}
        return {"examples": scores.pop("examples"), **first, **scores}

    def details(self) -> dict[str, Any]:
        """The details of the type's scorer."""
        return self._built_in.details()


class Scoring(abc.ABC):
    """How tasks of a type are scored and their predictions written.

    Attributes:
        scorer: the class that scores one task.
        titles: the metrics' titles in tables, by name.
        digits: decimals in tables, for metrics that do not run from 0 to 100.
        ending: the ending of a file of predictions.
        measure: the title of the quantity that `mistakes` are sorted by; "" for
            the primary metric of each single example.
        probabilities: how the scores of `TaskPredictions` are probabilities of
            an example's labels; None if they are not.
    """

    scorer: type[Scorer]
    titles: Mapping[str, str] = {}
    digits: Mapping[str, int] = {}
    ending = "jsonl"
    measure = ""
    probabilities: Probabilities | None = None

    def scorer_of(self, task: TaskPredictions) -> Scorer:
        """The scorer of a task, which also computes the user's own metrics.

        Raises:
            ConfigError: a metric has an unknown name, or cannot be imported.
        """
        own_functions_of = own_metrics.places(task.settings)
        if any(name in own_functions_of for name in task.metrics):
            return _OwnScorer(task, self)
        return self.scorer(task)

    def total(self, tasks: Mapping[str, Mapping]) -> tuple[str, str] | None:
        """A joint score of all tasks of the type, if it has one.

        Args:
            tasks: the scores of each task by name, as in `results.json`.

        Returns:
            Its title and its text; None by default.
        """
        del tasks

    def write(
        self, directory: str, inputs: Sequence[Any], task: TaskPredictions
    ) -> str:
        """Writes the prediction for each example of a task to a file.

        Args:
            directory: the target directory. It is created if needed; an
                existing file of the same name is replaced.
            inputs: the examples in the order of the predictions: texts,
                mappings of several texts by name, or what the type reads.
            task: the predictions.

        Returns:
            The path of the file.

        Raises:
            RunError: the directory is not writable.
            ValueError: the numbers of inputs and predictions differ.
        """
        path = os.path.join(directory, f"{task.name}.{self.ending}")
        files.write_text(path, "".join(self.lines(inputs, task)))
        return path

    def lines(
        self, inputs: Sequence[Any], task: TaskPredictions
    ) -> Iterator[str]:
        """The lines of a file of predictions; by default a JSON object each."""
        rows = zip(inputs, task.labels, task.predictions, strict=True)
        for number, (text, label, prediction) in enumerate(rows):
            if isinstance(text, bytes):
                text = text.decode("utf-8", errors="replace")
            fields = text if isinstance(text, Mapping) else {"text": text}
            line = {
                **fields,
                "label": self.readable(task, label),
                "prediction": self.readable(task, prediction),
            }
            if task.scores is not None:
                scores = map(float, task.scores[number])
                line["scores"] = dict(zip(task.class_names, scores))
            yield strict_json.dumps(line) + "\n"

    def mistakes(self, task: TaskPredictions) -> list[Mistake]:
        """The examples that the model got wrong, the worst first.

        By default those without a perfect score, when each is scored alone by
        the primary metric.

        Args:
            task: the predictions.

        Raises:
            ConfigError: an unknown metric.
            ValueError: labels and predictions do not match.
        """
        primary = task.metrics[0]
        declared = types_of_tasks.of(task.type).metrics
        higher = own_metrics.higher_is_better(primary, declared, task.settings)
        return [
            Mistake(
                number,
                self.readable(task, task.labels[number]),
                self.readable(task, task.predictions[number]),
                score,
            )
            for number, score in scores_alone(
                self.scorer_of(task), primary, higher
            )
        ]

    def readable(self, task: TaskPredictions, value: Any) -> Any:
        """The form of a label or a prediction in JSON."""
        del task
        return value


def _called(
    path: str,
    function: Callable[..., Any],
    labels: Sequence[Any],
    predictions: Sequence[Any],
) -> float | None:
    if not labels:
        return None
    try:
        score = float(function(labels, predictions))
    except Exception as error:
        raise ConfigError(
            f"the metric {path} fails on {len(labels)} examples: "
            f"{type(error).__name__}: {error}"
        )
    if not math.isfinite(score):
        raise ConfigError(
            f"the metric {path} must return a finite number, got {score}"
        )
    return score


def check_length(name: str, quantity: str, values: Any, length: int) -> None:
    """Raises `ValueError` unless there is one value for each example.

    Args:
        name: the task's name.
        quantity: what the values are.
        values: n of them.
        length: the number of examples.
    """
    if len(values) != length:
        raise ValueError(
            f"task {name}: {quantity} must have one value for each of the "
            f"{length} examples, got {len(values)}"
        )


def repeated(
    predictions: Sequence[str], right: Callable[[str], int]
) -> dict[str, Any]:
    """The one text that most predictions are, unless it is mostly right.

    Args:
        predictions: the predicted texts.
        right: returns for how many examples a text is right.

    Returns:
        The text and its count under "repeated"; {} if there is none.
    """
    [(text, count)] = collections.Counter(predictions).most_common(1) or [
        ("", 0)
    ]
    # One alone repeats nothing.
    is_most = count > 1 and 2 * count > len(predictions)
    if not is_most or 2 * right(text) >= count:
        return {}
    return {"repeated": {"text": text, "count": count}}
