"""A joint model beside models of one task each, of the same config."""

import os
from collections.abc import Mapping
from typing import Any

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import tables
from mtl_tf.runs import training_run
from mtl_tf.runs.run_directory import RunDirectory

FOLDER = "single"


def train(
    config: Mapping[str, Any], model_dir: str, **options: Any
) -> dict[str, Any]:
    """Trains a joint model, then a model for each task alone.

    The second run stands in the folder `single` of the first; its primary
    scores stand as "single" among the `yardsticks` of the first's tasks, in
    what is returned, `results.json` and `results.md`. Stopped anywhere, the
    same call continues.

    Args:
        config: of the joint model; the others differ in `train_separately`
            alone, so each has the epochs, and the words, of the joint one.
        model_dir: the run directory of the joint model.
        **options: the others of `training_run.train`.

    Returns:
        The contents of `results.json` of the joint model.

    Raises:
        ConfigError: the config trains each task alone already.
        MtlError: as `training_run.train`.
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
    """The scores of both runs, split by split."""
    yield joint, single
    for split, part in joint["other_splits"].items():
        yield part, single["other_splits"][split]
