"""Scores of what needs no neural network, beside those of a model."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.baselines import ngrams, ridge, svm, task_types
from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import evaluator
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction import task_types as prediction_types
from mtl_tf.prediction.scored_split import task_predictions
from mtl_tf.runs.data import run_data
from mtl_tf.runs.data.run_data import RunData

# More training tokens than that take the linear baseline minutes.
_MOST_TOKENS = 5_000_000


def add(loaded: RunData, parts: Iterable[dict[str, Any]], seed: int) -> None:
    """Adds `yardsticks` to the scores of each task of a run.

    "majority" is the score of the most frequent label, of the labels that
    more than half of the examples have, of the mean value, or of each word's
    most frequent tag; "linear" that of the linear baseline (`linear`), of
    tasks that give a text or two a label, several or a number, if
    scikit-learn is installed and the training texts have at most five million
    words (of texts with several labels they count once for each label).

    Args:
        loaded: what the run trained on.
        parts: scores of splits, as `evaluator.evaluate` returns them.
        seed: of the run.
    """
    loaded = loaded.labelled()
    block_of = _linear(loaded, seed)
    for part in parts:
        for number, task in enumerate(loaded.tasks):
            scores = part["tasks"][task.name]
            if scores[scores["primary"]] is None:
                continue
            yardsticks = _of_task(loaded, number, part["split"], block_of)
            if yardsticks:
                scores["yardsticks"] = yardsticks


def _of_task(
    loaded: RunData, number: int, name: str, block_of: dict[int, svm.Block]
) -> dict[str, float]:
    """The primary scores of a task's yardsticks on a split."""
    task = loaded.tasks[number]
    described, types = task.to_json(), task_types.of(task.type)
    split = run_data.encode_split(task, name, loaded.encoder)
    scores = {}
    predicted = types.majority(described, loaded.train[number], split)
    if predicted is not None:
        scores["majority"] = _score(described, task, split, name, predicted)
    if block := block_of.get(number):
        scores["linear"] = _score(
            described,
            task,
            split,
            name,
            block.predict(split, number),
            # Areas below curves are of these, not of the decisions.
            block.probabilities(split, number),
        )
    return scores


def _score(
    described: dict[str, Any],
    task: Any,
    split: EncodedSplit,
    name: str,
    predicted: Sequence[Any] | np.ndarray,
    probabilities: np.ndarray | None = None,
) -> float:
    types = prediction_types.of(task.type)
    labels = types.targets(task, name)
    if labels is None:
        labels = types.encoded_targets(described, split)
    scored = task_predictions(
        described, labels=labels, predictions=predicted, scores=probabilities
    )
    scores = evaluator.evaluate([scored], name)["tasks"][task.name]
    return scores[scores["primary"]]


def _linear(loaded: RunData, seed: int) -> dict[int, svm.Block]:
    """The fitted linear baseline of each task that has one, by number."""
    numbers = [
        number
        for number, task in enumerate(loaded.tasks)
        if task_types.of(task.type).linear
    ]
    tokens = sum(_tokens(loaded, number) for number in numbers)
    if not numbers or tokens > _MOST_TOKENS:
        return {}
    try:
        ngrams.scikit_learn()
    except ConfigError:
        logging.info(
            "The linear baseline, which a model should beat, is not beside "
            "the results: scikit-learn is not installed "
            "(pip install 'mtl_tf[baselines]')."
        )
        return {}
    tasks = [loaded.tasks[n] for n in numbers]
    block_of = {}
    for members in svm.blocks_of(tasks, svm.FEATURES[0]):
        in_run = [numbers[n] for n in members]
        block = make_block(loaded, in_run, True, svm.seed_of(seed))
        block.fit()
        block.calibrate()
        block_of |= dict.fromkeys(in_run, block)
    return block_of


def make_block(
    loaded: RunData, members: Sequence[int], copies: bool, seed: int
) -> svm.Block:
    """The linear model of the tasks of these numbers; see `svm.Block`."""
    numbers = task_types.of(loaded.tasks[members[0]].type).numbers
    kind = ridge.RidgeBlock if numbers else svm.Block
    return kind(loaded, members, copies, seed)


def _tokens(loaded: RunData, number: int) -> int:
    """How many words of a task's training texts are learnt from."""
    task, columns = loaded.tasks[number], loaded.train[number].columns
    words = sum(
        len(column.values)
        for name, column in columns.items()
        if name.endswith(ngrams.TOKENS)
    )
    # An SVM for each label, where an example may have several.
    several = columns[task.features[-1].name].values.ndim == 2
    return words * (len(task.labels) if several else 1)
