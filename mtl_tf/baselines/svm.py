"""Linear models on TF-IDF features that several tasks learn together."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.baselines.ngrams import Features, scikit_learn, stack
from mtl_tf.core import random
from mtl_tf.evaluation import evaluator, task_types
from mtl_tf.evaluation.probabilities import fit_temperature
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.runs.data.run_data import RunData
from mtl_tf.tasks.task import Task

#: What an SVM reads: each feature once for all tasks and once for each, an SVM
#: for each task, or one SVM that does not know the task.
FEATURES = ("shared_private", "private", "shared")
GRID = (0.03, 0.1, 0.3, 1.0, 3.0)  # of C, small to large
# Margins of an SVM are about 1: ten times as sure is sure enough.
_LEAST_TEMPERATURE = 0.1
# Of a label that the training examples do not have.
_NEVER = -1e9


def seed_of(seed: int) -> int:
    """The seed of the SVMs of a run."""
    return random.fold(seed, "linear") % 2**31


def blocks_of(tasks: Sequence[Task], features: str) -> list[list[int]]:
    """Which tasks an SVM learns together, by their numbers.

    One SVM needs one set of labels, so tasks share with those of their type
    that have the same labels: five-class with five-class, binary with binary.

    Args:
        tasks: the tasks.
        features: one of `FEATURES`.
    """
    groups: dict[Any, list[int]] = {}
    for number, task in enumerate(tasks):
        # Numbers of two tasks are of two scales.
        is_alone = features == "private" or not task.labels
        key = number if is_alone else (task.type, tuple(task.labels))
        groups.setdefault(key, []).append(number)
    return list(groups.values())


class Block:
    """Tasks with the same labels and the SVM that learns them together.

    Args:
        loaded: the run's data.
        members: the numbers of the tasks.
        copies: whether each task has a copy of the features of its own.
        seed: of the order in which the SVM takes the examples.

    Attributes:
        penalty: the chosen C, after `fit`.
        temperatures: what the margins of each task are divided by, by its
            number, after `calibrate`.
    """

    def __init__(
        self, loaded: RunData, members: Sequence[int], copies: bool, seed: int
    ):
        self.loaded, self.members, self.seed = loaded, list(members), seed
        self.features = Features(
            [loaded.train[n] for n in members],
            loaded.encoder.size,
            # A copy of all there is would only be another C.
            copies and len(self.members) > 1,
        )
        self.penalty = 0.0
        self.scores: dict[float, float] = {}
        self.temperatures: dict[int, float] = {}
        self._model = None
        # Whether an example may have several labels.
        self._several = False

    def fit(self) -> None:
        """Trains with each C and keeps the best on the validation splits."""
        members = self.members
        splits = [self.loaded.train[n] for n in members]
        rows = stack([self.features(s, k) for k, s in enumerate(splits)])
        labels = np.concatenate(
            [_labels(self.loaded.tasks[n], s) for n, s in zip(members, splits)]
        )
        validation = {
            n: self.features(self.loaded.validation[n], k)
            for k, n in enumerate(self.members)
        }
        best = -np.inf
        for penalty in GRID:
            model = self._fitted(rows, labels, penalty)
            score = self._validate(model, validation)
            self.scores[penalty] = score
            if score > best:
                best, self.penalty, self._model = score, penalty, model
        logging.info(
            "%s: C %g, validation %.2f", self._names(), self.penalty, best
        )

    def _fitted(self, rows: Any, labels: np.ndarray, penalty: float) -> Any:
        self._several = labels.ndim == 2
        return _svm(rows, labels, penalty, self.seed)

    def _predicted(self, model: Any, rows: Any) -> np.ndarray:
        return _predict(model, rows, self._several)

    def _validate(self, model: Any, rows: Mapping[int, Any]) -> float:
        """The mean of the tasks' primary scores; 0 if there is none."""
        scored = [
            predictions_of(
                self.loaded.tasks[n],
                self.loaded.validation[n],
                self._predicted(model, rows[n]),
                # Areas below curves are of these, not of the decisions.
                scores=self._scores(model, rows[n], n),
            )
            for n in self.members
        ]
        results = evaluator.evaluate(scored, "validation")
        return results["mean"]["overall"] or 0.0

    def predict(self, split: EncodedSplit, number: int) -> np.ndarray:
        """The labels of a split of the task of that number.

        Returns:
            int64 [n], or 0 and 1 [n, labels] of a multi-label task; float64
            [n] where the task's answers are numbers.
        """
        rows = self.features(split, self.members.index(number))
        return self._predicted(self._model, rows)

    def calibrate(self) -> None:
        """Fits a temperature to each task's margins, on validation examples.

        As Guo et al. (2017) do with logits: the predictions stay the same.
        """
        for number in self.members:
            split = self.loaded.validation[number]
            if not len(split):
                continue
            task = self.loaded.tasks[number]
            self.temperatures[number] = fit_temperature(
                task_types.of(task.type).probabilities,
                _labels(task, split),
                self.probabilities(split, number),
                _LEAST_TEMPERATURE,
            )

    def probabilities(self, split: EncodedSplit, number: int) -> np.ndarray:
        """The probability of each label, float64 [n, labels].

        Args:
            split: of the task of that number.
            number: the task's.
        """
        rows = self.features(split, self.members.index(number))
        return self._scores(self._model, rows, number)

    def _scores(self, model: Any, rows: Any, number: int) -> np.ndarray:
        """A model's `probabilities` for rows of features."""
        labels, size = len(self.loaded.tasks[number].labels), rows.shape[0]
        if isinstance(model, int):
            return np.tile(np.eye(labels)[model], [size, 1])
        if not size:
            return np.zeros([0, labels])
        if not hasattr(model, "decision_function"):
            return np.float64(model.predict(rows))[:, :labels]
        margins = model.decision_function(rows)
        temperature = self.temperatures.get(number, 1.0)
        if self._several:
            # Each label has an SVM; places behind the labels have some, too.
            margins = margins.reshape(size, -1)[:, :labels]
            return 0.5 * (1.0 + np.tanh(margins / (2.0 * temperature)))
        if margins.ndim == 1:
            # The margin of the second of two classes.
            margins = np.stack([-margins, margins], 1) / 2
        logits = np.full([size, labels], _NEVER)
        logits[:, model.classes_] = margins
        logits /= temperature
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def parameters(self) -> int:
        """How many weights the SVM has, or those of all labels together."""
        models = getattr(self._model, "estimators_", [self._model])
        return sum(
            int(np.size(getattr(model, name, ())))
            for model in models
            for name in ("coef_", "intercept_")
        )

    def _names(self) -> str:
        return ", ".join(self.loaded.tasks[n].name for n in self.members)


def _svm(rows: Any, labels: np.ndarray, penalty: float, seed: int) -> Any:
    """A fitted SVM, or the only label that there is.

    Args:
        rows: the features, sparse [n, features].
        labels: integers [n], or 0 and 1 [n, labels] where an example has any
            number of labels: then there is an SVM for each.
        penalty: C.
        seed: of the order of the examples.
    """
    if labels.ndim == 2:
        if not rows.shape[1]:
            return scikit_learn().dummy.DummyClassifier().fit(rows, labels)
        svm = scikit_learn().svm.LinearSVC(C=penalty, random_state=seed)
        with warnings.catch_warnings():
            # Of labels that all examples have, or none.
            warnings.simplefilter("ignore", UserWarning)
            several = scikit_learn().multiclass.OneVsRestClassifier(svm)
            return several.fit(rows, labels)
    if len(np.unique(labels)) < 2 or not rows.shape[1]:
        return int(np.bincount(labels).argmax()) if len(labels) else 0
    model = scikit_learn().svm.LinearSVC(C=penalty, random_state=seed)
    return model.fit(rows, labels)


def _predict(model: Any, rows: Any, several: bool) -> np.ndarray:
    """The label of each row, or 0 and 1 for each of `several` labels."""
    if isinstance(model, int):
        return np.full(rows.shape[0], model)
    if not rows.shape[0]:
        return np.zeros(0, np.int64)
    predicted = model.predict(rows)
    # scikit-learn forgets that there may be several where there is one.
    return predicted.reshape(len(predicted), -1) if several else predicted


def _labels(task: Task, split: EncodedSplit) -> np.ndarray:
    """The labels of an encoded split of the task."""
    return split.columns[task.features[-1].name].values


def predictions_of(
    task: Task, split: EncodedSplit, predicted: np.ndarray, **extra: Any
) -> TaskPredictions:
    """What is scored of a task's encoded split; `extra` are other fields."""
    return TaskPredictions(
        name=task.name,
        type=task.type,
        class_names=task.labels,
        metrics=task.metrics,
        labels=_labels(task, split),
        predictions=predicted,
        settings=task.settings,
        **extra,
    )
