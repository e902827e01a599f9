"""Loads a trained run: `mtl_tf.load(run_directory)`."""

from collections.abc import Mapping
from typing import Any

from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.prediction.inference import Predictor
from mtl_tf.runs import fitting, systems
from mtl_tf.runs.building import build
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory import kinds, run_weights, seals
from mtl_tf.runs.directory.run_boundaries import boundaries_of
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.loaded.loaded_run import Run


def load(
    run_directory: str,
    decoding: Mapping[str, Any] | None = None,
    weights: str = run_weights.BEST,
) -> Run:
    """Loads a run that `launch.train` made.

    Args:
        run_directory: the run's `--model_dir`.
        decoding: for a run whose model writes texts, decoding options that
            replace those of its config, such as fields of `Decoding`.
        weights: "best" for the weights with the best validation score, "last"
            for those of the newest training state.

    Raises:
        RunError: it is no directory of a run with such weights.
        ConfigError: a value of `decoding` is wrong, or the run writes no
            texts; or `weights` is unknown.
    """
    checks.one_of("weights", weights, run_weights.CHOICES)
    directory = RunDirectory(run_directory)
    kinds.check_is_run(run_directory)
    config = directory.read("config.json")
    if config["train_separately"]:
        raise RunError(
            f"{run_directory} holds one run for each task: name one of "
            f"{directory.file('tasks')}/*"
        )
    run_weights.check(directory, weights)
    seals.check(directory)
    tasks = directory.read("labels.json")["tasks"]
    encoder = run_data.load_encoder(directory.file("vocabulary"), config, tasks)
    model = build(config, encoder, tasks)
    system = systems.of_type(tasks[0]["type"])
    decoder = system.make_decoder(model, encoder, config, **(decoding or {}))
    if decoding and not decoder:
        raise ConfigError(
            f"{', '.join(sorted(decoding))}: only runs that write texts, such "
            f"as translations, have such a setting, and {run_directory} does "
            "not"
        )
    data = directory.read("data.json")
    if directory.has(fitting.FILE):
        fitted = directory.read(fitting.FILE)
        tasks = [task | fitted.get(task["name"], {}) for task in tasks]
    types = [task["type"] for task in tasks]
    boundaries = boundaries_of(directory.file("data.json"), data, tasks)
    predictor = Predictor(model, types, boundaries, data["axes"], decoder)
    run = Run(directory, config, tasks, encoder, predictor, weights)
    run.weights_for(tasks[0]["name"])
    if weights != run_weights.BEST and directory.has(fitting.FILE):
        logging.warning(
            "Thresholds and temperatures of %s were fitted with the best "
            "weights, not with these.",
            directory.file(fitting.FILE),
        )
    return run
