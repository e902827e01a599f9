"""From predictions to the structure of `results.json`."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.evaluation import metrics, tagging_metrics, translation_metrics
from mtl_tf.text.translation import languages_of


@dataclasses.dataclass(frozen=True)
class TaskPredictions:
    """What a model said about one task's examples.

    Attributes:
        name: the task's name.
        labels: integers [n], the right answers; of tagging n sequences of
            integers, one a token; of translation n references, real text.
        predictions: integers [n]; of tagging n sequences, which may be shorter
            where the model did not read the whole sentence; of translation n
            hypotheses, real text.
        class_names: names of the classes.
        kind: the task's kind.
        metrics: names of the metrics; the first is the primary one.
        losses: numbers [n], the loss of each example, or None.
        clean: bool [n], the clean part (`clean.SeenTexts`), or None where
            it is not known.
        validation_in_training: how many of the task's validation texts
            stand in its training texts too, or None where not known.
        diagnostics: numbers [n] by name that the model gives for each
            example beside its answer, such as whether a discriminator
            guessed the task. They have no part in any score.
        scheme: of a tagging task, how its labels write spans; "" where they
            are of words.
        scores: of a classification task numbers [n, classes], the
            probabilities of all classes, or None. They are not scored.
        bleu_tokenizer: of a translation task; see
            `translation_metrics.bleu`.
        restricted: of a translation task `predictions` and `labels` once more,
            with words outside the training vocabulary replaced, for the
            scoring of Dong et al. (2015); None leaves it out.
    """

    name: str
    labels: Sequence[Any] | np.ndarray
    predictions: Sequence[Any] | np.ndarray
    class_names: Sequence[str]
    kind: str = "classification"
    metrics: Sequence[str] = ("accuracy", "macro_f1")
    losses: Sequence[float] | np.ndarray | None = None
    clean: Sequence[bool] | np.ndarray | None = None
    validation_in_training: int | None = None
    diagnostics: Mapping[str, Sequence[float] | np.ndarray] = dataclasses.field(
        default_factory=dict
    )
    scheme: str = ""
    scores: Sequence[Sequence[float]] | np.ndarray | None = None
    bleu_tokenizer: str = ""
    restricted: tuple[Sequence[str], Sequence[str]] | None = None


def evaluate(tasks: Iterable[TaskPredictions], split: str) -> dict[str, Any]:
    """Scores every task, and their means.

    Args:
        tasks: the predictions of each task.
        split: name of the split that they belong to.

    Returns:
        A structure for `results.json`, all scores from 0 to 100:

            {"split": split,
             "tasks": {name: {"kind": kind, "primary": metric,
                              "examples": n, metric: score, ...,
                              "loss": mean loss,
                              "confusion": {"classes": names,
                                            "matrix": [[count, ...], ...]},
                              "clean": {"examples": n, metric: score, ...},
                              "validation_in_training": count,
                              "diagnostics": {name: mean, ...}}},
             "mean": {"overall": score, kind: score, ...,
                      "clean": {"overall": score, kind: score, ...},
                      "diagnostics": {name: mean, ...}}}

        The rows of a matrix are labels, its columns predictions. Tagging tasks
        have no confusion, but `"tokens": count`, also of the clean part, and
        `"types": {type: {"precision": score, "recall": score, "f1": score,
        "support": count}}`: types of spans, or the tags of words. Translation
        tasks have `"signatures": {metric: sacrebleu's signature}` and, if
        asked for, `paper_bleu`, the case-insensitive BLEU of `restricted`. The
        means
        are over the tasks' primary metrics, those of diagnostics over the
        tasks' means. The score of an empty part is None, and no mean counts
        it. What is not known is absent.

    Raises:
        ConfigError: a metric has an unknown name.
        ValueError: the arrays of a task do not fit together.
    """
    scored = {task.name: _score(task) for task in tasks}
    return {"split": split, "tasks": scored, "mean": mean(scored)}


def mean(tasks: dict[str, dict]) -> dict[str, Any]:
    """The means over tasks, as `evaluate` describes them.

    Args:
        tasks: the scores by task name; runs that train every task alone
            join theirs here.

    Returns:
        The part `mean` of the results.
    """
    result = _means([(task["kind"], _primary(task)) for task in tasks.values()])
    parts = [
        (task["kind"], task["clean"].get(task["primary"]))
        for task in tasks.values()
        if "clean" in task
    ]
    if parts:
        result["clean"] = _means(parts)
    diagnostics = _mean_diagnostics(tasks.values())
    if diagnostics:
        result["diagnostics"] = diagnostics
    return result


def brief(results: Mapping[str, Any]) -> dict[str, Any]:
    """What a line of `metrics.jsonl` keeps of `evaluate`'s results.

    Returns:
        {"mean": score, "tasks": {name: {metric: number, ...,
        "diagnostics": {name: mean, ...}}}, "diagnostics": {name: mean, ...}}.
    """
    tasks = {
        name: {
            key: value
            for key, value in scores.items()
            if isinstance(value, (int, float))
            and key not in ("examples", "tokens")
            or key == "diagnostics"
        }
        for name, scores in results["tasks"].items()
    }
    means = results["mean"]
    found = {"mean": means["overall"], "tasks": tasks}
    if "diagnostics" in means:
        found["diagnostics"] = means["diagnostics"]
    return found


def _mean_diagnostics(tasks: Iterable[dict]) -> dict[str, float | None]:
    by_name: dict[str, list[float]] = {}
    for task in tasks:
        for name, value in task.get("diagnostics", {}).items():
            by_name.setdefault(name, [])
            if value is not None:
                by_name[name].append(value)
    return {name: _mean(values) for name, values in by_name.items()}


def _primary(task: dict) -> float | None:
    return task[task["primary"]]


def _means(scores: list[tuple[str, float | None]]) -> dict[str, Any]:
    known = [(kind, score) for kind, score in scores if score is not None]
    means = {"overall": _mean([score for _, score in known])}
    for kind in sorted({kind for kind, _ in scores}):
        means[kind] = _mean([score for k, score in known if k == kind])
    return means


def _mean(scores: list[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _score(task: TaskPredictions) -> dict[str, Any]:
    scorer = _SCORERS[task.kind](task)
    size = scorer.size
    result: dict[str, Any] = {
        "kind": task.kind,
        "primary": task.metrics[0],
        **scorer.part(np.ones(size, bool)),
        **scorer.details(),
    }
    if task.losses is not None:
        result["loss"] = _mean_of(task.name, "losses", task.losses, size)
    if task.clean is not None:
        clean = np.asarray(task.clean, dtype=bool).reshape(-1)
        _same_length(task.name, "clean", clean, size)
        result["clean"] = scorer.part(clean)
    if task.validation_in_training is not None:
        result["validation_in_training"] = int(task.validation_in_training)
    if task.diagnostics:
        result["diagnostics"] = {
            name: _mean_of(task.name, f"diagnostics {name}", values, size)
            for name, values in task.diagnostics.items()
        }
    return result


class _Classes:
    """Scores examples that have one label each."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {name: metrics.get(name) for name in task.metrics}
        self._names = list(task.class_names)
        self._labels = np.asarray(task.labels).reshape(-1)
        self._predictions = np.asarray(task.predictions).reshape(-1)
        self.size = len(self._labels)

    def part(self, chosen: np.ndarray) -> dict[str, Any]:
        """The scores of the examples where bool [n] `chosen` holds."""
        labels, predictions = self._labels[chosen], self._predictions[chosen]
        scores: dict[str, Any] = {"examples": len(labels)}
        for name, metric in self._metrics.items():
            score = metric(labels, predictions)
            scores[name] = score if len(labels) else None
        return scores

    def details(self) -> dict[str, Any]:
        """What the whole has beside its scores."""
        matrix = metrics.confusion_matrix(
            self._labels, self._predictions, len(self._names)
        )
        table = matrix.astype(int).tolist()
        return {"confusion": {"classes": self._names, "matrix": table}}


class _Tags:
    """Scores sentences that have a label for each token."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {
            name: tagging_metrics.get(name) for name in task.metrics
        }
        self._scheme = task.scheme
        self._gold = tagging_metrics.names_of(task.labels, task.class_names)
        self._predicted = tagging_metrics.names_of(
            task.predictions, task.class_names
        )
        self.size = len(self._gold)
        _same_length(task.name, "predictions", self._predicted, self.size)

    def part(self, chosen: np.ndarray) -> dict[str, Any]:
        """The scores of the sentences where bool [n] `chosen` holds."""
        gold = [self._gold[n] for n in np.flatnonzero(chosen)]
        predicted = [self._predicted[n] for n in np.flatnonzero(chosen)]
        tokens = sum(map(len, gold))
        scores: dict[str, Any] = {"examples": len(gold), "tokens": tokens}
        for name, metric in self._metrics.items():
            score = metric(gold, predicted, self._scheme)
            scores[name] = score if tokens else None
        return scores

    def details(self) -> dict[str, Any]:
        """What the whole has beside its scores."""
        types = tagging_metrics.by_type(
            self._gold, self._predicted, self._scheme
        )
        return {"types": types}


class _Translations:
    """Scores translations as one corpus."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {
            name: translation_metrics.get(name) for name in task.metrics
        }
        self._texts = (list(task.predictions), list(task.labels))
        self._restricted = task.restricted
        language = languages_of(task.name)[1]
        self._settings = (task.bleu_tokenizer, language)
        self.size = len(task.labels)
        _same_length(task.name, "predictions", self._texts[0], self.size)
        for side in task.restricted or ():
            _same_length(task.name, "restricted", side, self.size)

    def _scores(self, chosen: np.ndarray) -> dict[str, Any]:
        def part(texts):
            return [[side[n] for n in np.flatnonzero(chosen)] for side in texts]

        texts = part(self._texts)
        scores = {
            name: metric(*texts, *self._settings)
            for name, metric in self._metrics.items()
        }
        if self._restricted:
            metric, texts = translation_metrics.bleu_lc, part(self._restricted)
            scores["paper_bleu"] = metric(*texts, *self._settings)
        return scores

    def part(self, chosen: np.ndarray) -> dict[str, Any]:
        """The scores of the pairs where bool [n] `chosen` holds."""
        examples = int(np.sum(chosen))
        scores = {
            name: score.value if examples else None
            for name, score in self._scores(chosen).items()
        }
        return {"examples": examples, **scores}

    def details(self) -> dict[str, Any]:
        """What the whole has beside its scores."""
        scores = self._scores(np.zeros(self.size, bool))
        signatures = {name: score.signature for name, score in scores.items()}
        return {"signatures": signatures}


_SCORERS = {
    "classification": _Classes,
    "tagging": _Tags,
    "translation": _Translations,
}


def _mean_of(task: str, what: str, values, examples: int) -> float | None:
    values = np.asarray(values, dtype=np.float64).reshape(-1)
    _same_length(task, what, values, examples)
    return _mean(values.tolist())


def _same_length(name: str, what: str, values: Any, length: int) -> None:
    if len(values) != length:
        raise ValueError(
            f"task {name}: {what} must have one value for each of the "
            f"{length} examples, got {len(values)}"
        )
