"""Fits on validation examples, at the end of training or later.

First a temperature for the probabilities of each task (Guo et al. 2017, section
4.2). Then what the task's type fits, such as thresholds, on the probabilities
with that temperature.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.evaluation.probabilities import (
    COLDEST,
    HOTTEST,
    Probabilities,
    fit_temperature,
    holds_elsewhere,
)
from mtl_tf.evaluation.thresholds import (
    best_threshold,
    threshold_of_precision,
)
from mtl_tf.prediction import task_types

# Each validation fits a temperature for each choice, and more examples would
# take long.
_ENOUGH = 2000
# Fewer examples say little about probabilities.
_FEW = 50
# A value this close to an end of the range counts as the end.
_NEAR = 0.99


@dataclasses.dataclass(frozen=True)
class Wish:
    """A threshold that the user asks for.

    Attributes:
        label: a label of a task.
        precision: the lowest precision of the label, from 0 to 1; 0 for the
            threshold with the best F1.
    """

    label: str
    precision: float = 0.0

    def threshold(
        self, task: Mapping[str, Any], labels: np.ndarray, scores: np.ndarray
    ) -> float:
        """The threshold that fulfils the wish on the examples.

        Args:
            task: for messages.
            labels: bool [n], which examples have the label.
            scores: the label's probabilities, [n].

        Raises:
            ConfigError: no threshold reaches the precision.
        """
        if not labels.any():
            raise ConfigError(
                f"the task {task['name']} has no validation example with the "
                f"label {self.label!r}: there is nothing to choose its "
                "threshold on"
            )
        if not self.precision:
            return best_threshold(labels, scores)
        threshold, most = threshold_of_precision(labels, scores, self.precision)
        if threshold is None:
            raise ConfigError(
                f"no threshold gives the label {self.label!r} of the task "
                f"{task['name']} a precision of {self.precision:g} on the "
                f"{len(labels)} validation examples: the most is {most:.3f}"
            )
        return threshold


def settled(
    task: Mapping[str, Any],
    targets: Any,
    outputs: Mapping[str, Any],
    temperature: bool,
    wishes: Sequence[Wish] = (),
) -> dict[str, Any]:
    """Fits what a run needs on the validation examples of a task.

    Args:
        task: the run's description of the task.
        targets: the targets of the examples.
        outputs: the model's outputs for them.
        temperature: whether to fit a temperature.
        wishes: the thresholds asked for.

    Returns:
        JSON values, such as "temperature", "thresholds", "decision".

    Raises:
        ConfigError: a wish cannot be fulfilled.
    """
    types, values = task_types.of(task["type"]), {}
    kind = scoring.of(task["type"]).probabilities
    if not len(targets):
        return values
    if temperature and kind is not None:
        scores = np.asarray(outputs["scores"])[:, : len(task["labels"])]
        values["temperature"] = _temperature(
            kind, task["name"], targets, scores
        )
        # Thresholds apply to the probabilities that users see.
        outputs = {**outputs, "scores": kind.tempered(scores, **values)}
    if types.fits:
        values |= types.fit(task, targets, outputs)
    if len(wishes) > 1 and not types.several_thresholds:
        raise ConfigError(
            f"the task {task['name']} gives a text one label: it can have the "
            "threshold of one, got those of "
            f"{' and '.join(wish.label for wish in wishes)}"
        )
    for wish in wishes:
        look_up(
            wish.label,
            dict.fromkeys(task["labels"]),
            f"label of {task['name']}",
        )
        values |= types.decision({**task, **values}, targets, outputs, wish)
    return values


def best_choice(
    task: Mapping[str, Any], targets: Any, outputs: Mapping[str, Any]
) -> int:
    """Finds a model's best choice for a task on validation examples.

    It has the lowest mean loss. Probabilities are compared after fitting a
    temperature to each choice. Otherwise a choice that is merely less confident
    would win.

    Args:
        task: the run's description of the task.
        targets: the targets of the examples, at least one.
        outputs: the model's outputs for them, also by choice (`TaskModel`).

    Returns:
        The index of the choice; of equal ones the first.
    """
    kind = scoring.of(task["type"]).probabilities
    if kind is None or "choice_scores" not in outputs:
        return int(np.argmin(outputs["choice_loss"].mean(0)))
    some = slice(None, None, -(-len(targets) // _ENOUGH))
    targets = np.asarray(targets)[some]
    scores = outputs["choice_scores"][some, :, : len(task["labels"])]
    losses = []
    for number in range(scores.shape[1]):
        temperature = fit_temperature(kind, targets, scores[:, number])
        tempered = kind.tempered(scores[:, number], temperature)
        losses.append(kind.losses(targets, tempered).mean())
    return int(np.argmin(losses))


def _temperature(
    kind: Probabilities, name: str, targets: Any, scores: np.ndarray
) -> float:
    """The fitted temperature; 1 if it would not hold for other examples."""
    temperature = fit_temperature(kind, targets, scores)
    if temperature != 1 and not holds_elsewhere(kind, targets, scores):
        logging.warning(
            "task %s: the temperature stays 1: a temperature fitted on four "
            "fifths of the %d validation examples does not lower the log loss "
            "of the rest (fitted on all of them, it is %.2f).",
            name,
            len(scores),
            temperature,
        )
        return 1.0
    is_right = np.array_equal(kind.predicted(scores), targets)
    if is_right and temperature < COLDEST / _NEAR:
        # The loss falls with every lower one, as no mistake limits it.
        logging.warning(
            "task %s: the temperature stays 1: the model predicts all %d "
            "validation examples correctly, so that they tell no temperature.",
            name,
            len(scores),
        )
        return 1.0
    _comment(name, temperature, len(scores))
    return temperature


def _comment(name: str, temperature: float, examples: int) -> None:
    """Warns of a temperature that reflects the examples, not the model."""
    if examples < _FEW:
        logging.warning(
            "task %s: a temperature fitted on %d validation examples is not "
            "reliable.",
            name,
            examples,
        )
    if temperature > _NEAR * HOTTEST:
        logging.warning(
            "task %s: the temperature %.1f is the highest that is tried: "
            "the model's probabilities say nothing about the labels of the "
            "validation examples.",
            name,
            temperature,
        )
    elif temperature < COLDEST / _NEAR:
        logging.warning(
            "task %s: the temperature %.3f is the lowest that is tried: the "
            "model is far less confident than it could be: its probabilities "
            "hardly differ between examples.",
            name,
            temperature,
        )
