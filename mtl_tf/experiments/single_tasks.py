"""Trains a joint model and single-task models of the same config."""

import os
from collections.abc import Mapping
from typing import Any

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.tables import tables
from mtl_tf.runs import training_run
from mtl_tf.runs.directory.run_directory import RunDirectory

FOLDER = "single"


def train(
    config: Mapping[str, Any], model_dir: str, **options: Any
) -> dict[str, Any]:
    """Trains a joint model, then a model for each task alone.

    The second run is in the folder `single` of the first. Its primary scores
    are added as "single" to the `yardsticks` of the first run's tasks: in the
    return value, `results.json` and `results.md`. A stopped call can be
    repeated to resume.

    Args:
        config: the config of the joint model. The others differ only in
            `train_separately`, so each has the epochs and the words of the
            joint one.
        model_dir: the run directory of the joint model.
        **options: the other arguments of `training_run.train`.

    Returns:
        The contents of the joint model's `results.json`.

    Raises:
        ConfigError: the config already trains each task separately.
        MtlError: as for `training_run.train`.
    """
    if config["train_separately"]:
        raise ConfigError(
            "compare_single trains each task alone beside a joint model: "
            "train_separately must be False, got True"
        )
    training_run.train(config, model_dir, **options)
    alone = {**config, "train_separately": True}
    logging.info("The joint model is trained; now each task alone.")
    single = training_run.train(
        alone, os.path.join(model_dir, FOLDER), **options
    )
    run = RunDirectory(model_dir)
    with files.locked(model_dir):
        results = run.read("results.json")
        for joint, alone_scores in _parts(results, single):
            for name, task in joint["tasks"].items():
                score = alone_scores["tasks"][name][task["primary"]]
                if score is not None:
                    task.setdefault("yardsticks", {})["single"] = score
        page = tables.markdown(results, config["name"])
        files.write_text(run.file("results.md"), page)
        run.write("results.json", results)
    return results


def _parts(joint: dict[str, Any], single: dict[str, Any]):
    """The scores of both runs for each split."""
    yield joint, single
    for split, part in joint["other_splits"].items():
        yield part, single["other_splits"][split]
