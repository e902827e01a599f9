"""Thresholds and temperatures of a run, fitted on its validation examples."""

import types
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.evaluation import scored_examples
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction.calibrating import Wish
from mtl_tf.prediction.prediction_type import FITTED_FIELDS
from mtl_tf.prediction.scored_split import fitted_on
from mtl_tf.runs.directory import seals
from mtl_tf.runs.loaded.loaded_run import Run

#: A run's file: task name to what was fitted for it.
FILE = "fitted.json"


def fit(
    run: Run,
    validation: Sequence[EncodedSplit],
    temperature: bool = False,
    wishes: Mapping[str, Sequence[Wish]] = types.MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """Fits what the types of a run's tasks fit; the run uses it at once.

    `keep` writes it into the run's directory. See `calibrating`.

    Args:
        run: the run, loaded with its best weights.
        validation: the encoded validation split of each task.
        temperature: whether to fit temperatures.
        wishes: the thresholds asked for, by task.

    Returns:
        What was fitted, by task; tasks without anything are left out.

    Raises:
        ConfigError: a wish cannot be fulfilled, or the run has its last
            weights.
    """
    run.check_best(FILE)
    fitted = {}
    for index, (task, split) in enumerate(zip(run.tasks, validation)):
        run.weights_for(task["name"])
        for name in FITTED_FIELDS:
            task.pop(name, None)
        settled = fitted_on(
            run.predictor,
            split,
            task,
            index,
            run.config,
            temperature,
            wishes.get(task["name"], ()),
        )
        if settled:
            fitted[task["name"]] = settled
            task.update(settled)
    return fitted


def keep(run: Run, fitted: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes what `fit` returned into the run's directory.

    Deletes the predictions that the run has kept (`scored_examples`).
    """
    if fitted or run.directory.has(FILE):
        # Old probabilities must be gone even if the next lines fail.
        scored_examples.forget(run.directory.path)
        with seals.renewed(run.directory, FILE):
            run.directory.write(FILE, fitted)
