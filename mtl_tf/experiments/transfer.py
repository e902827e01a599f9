"""Transfer: train all tasks but one, freeze the shared part, train that one.

The last column of Table 3 of Chen et al. (2018): "we take turns choosing 15
tasks to train our model with multi-task learning, then the learned Meta-LSTM
are transferred to the remaining one task. The parameters of transferred
Meta-LSTM, theta_m, are fixed".
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import keras
from absl import logging

from mtl_tf.core import checks, files, renewal
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.evaluation.tables import tables
from mtl_tf.models.multi_task import build_model
from mtl_tf.pipelines import mixing
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.runs import systems, training_run
from mtl_tf.runs.data import kept_vocabularies, run_data
from mtl_tf.runs.directory import kinds, run_results
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.loaded import fewer_tasks
from mtl_tf.runs.systems import sharing
from mtl_tf.tasks import registry
from mtl_tf.tasks.task import Task
from mtl_tf.training.distribution import strategies
from mtl_tf.training.optimizers import freezing


@kept_vocabularies.keeping()
def transfer(
    config: Mapping[str, Any],
    model_dir: str,
    data_dir: str | None = None,
    manual_dir: str | None = None,
    strategy: str = "auto",
    targets: Sequence[str] | None = None,
    control: str = "",
) -> dict[str, Any]:
    """Makes each task of a config the new task of a transfer in turn.

    A turn trains one model jointly on the other tasks (`sources/<task>` in
    `model_dir`). Then it trains a model on the new task alone
    (`targets/<task>`), starting from the best weights of the first. The shared
    weights, theta_m, are frozen; word vectors continue training; the task's own
    weights start fresh. All these runs have the vocabulary of the whole group's
    training texts (`text.vocabulary_tasks`), so that both models share their
    word vectors. Labels of the new task are not seen before its own training,
    but its training words, without labels, are.

    The word vectors that the new task starts from have also learnt from the
    other tasks' labels. Two controls on the same first models
    (`controls/<control>`) separate the effects of these vectors and of the
    frozen weights: "random" takes the word vectors and freezes a random
    theta_m, "fresh_vectors" takes theta_m and new word vectors.

    Both models train for the config's epochs, without fine-tuning. If the
    config counts in steps (`fewer_tasks.STEPS`), these apply to the joint
    training, and the new task gets its share of them.

    Every part resumes after a kill, and finished ones are not repeated.

    Args:
        config: the config of a joint training on at least two tasks.
        model_dir: the directory of all runs and of their joint results.
        data_dir: the directory of prepared datasets.
        manual_dir: the directory of the corpora's own files.
        strategy: see `mtl_tf.training.distribution.strategies`.
        targets: names of the tasks that get a turn; all by default.
        control: one of `CONTROLS`, "" for the transfer itself.

    Returns:
        The contents of `results.json`, in the form of `training_run.train`: the
        new tasks' scores of all finished turns in `model_dir`. Besides the
        facts of every run, `run` has sums over the turns of the new models'
        `parameters` (their number is `models`) and of all `wall_time`, and
        `turns`: the facts of each turn's two runs, by the new task's name.

    Raises:
        MtlError: a mistake in the config, the data or the directory.
        Interrupted: a signal came; the state is saved.
    """
    strategies.check_one_process(strategy, "A transfer")
    config = json.loads(json.dumps(config))
    _check(config)
    if control:
        checks.one_of("control", control, tuple(CONTROLS))
    directories = Directories(data_dir, manual_dir)
    tasks = registry.resolve(config["tasks"], *directories)
    run_data.check_named_tasks(config["training"], tasks)
    names, target_names = _targets(tasks, targets)
    run = RunDirectory(model_dir)
    kinds.check(model_dir, kinds.TRANSFER)
    if not run.has("transfer.json"):
        training_run.check_options(config, tasks)
    config = _for_all(config, tasks)
    with files.locked(model_dir):
        run.check_or_write("transfer.json", {"config": config}, "the config")
        clean = CleanParts.of_config(config, *directories)
        turns = _Turns(
            config, run, names, directories, strategy, clean, control
        )
        for number, name in enumerate(target_names):
            logging.info(
                "Turn %d of %d: transfer to %s",
                number + 1,
                len(target_names),
                name,
            )
            renewal.point()
            turns.take(name)
        results = turns.results()
        title = f"{config['name']}: {control or 'transfer'}"
        written = RunDirectory(run.file(turns.folder))
        files.write_text(
            written.file("results.md"), tables.markdown(results, title)
        )
        written.write("results.json", results)
    return results


#: Control -> what its new models take from the first (`freezing.PARTS`).
CONTROLS = {"random": ("embedding",), "fresh_vectors": ("shared",)}


def folder_of(control: str) -> str:
    """The folder of a control's results and new runs, in `model_dir`."""
    return os.path.join("controls", control) if control else ""


def _check(config: Mapping[str, Any]) -> None:
    if config["train_separately"]:
        raise ConfigError(
            "transfer trains on several tasks at once: train_separately must "
            "be False, got True"
        )
    if mixing.class_of(config["pipeline"]["mixing"]).in_phases:
        raise ConfigError(
            "transfer leaves each task out once: pipeline.mixing cannot be "
            "phases, which name tasks"
        )


def _targets(
    tasks: Sequence[Task], targets: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """The names of all tasks, and of those that get a turn."""
    names = [task.name for task in tasks]
    if len(names) < 2:
        raise ConfigError(f"transfer needs at least two tasks, got {names}")
    known = {name: name for name in names}
    return names, [look_up(name, known, "target") for name in targets or names]


def _for_all(config: dict[str, Any], tasks: Sequence[Task]) -> dict[str, Any]:
    """The config with sizes that fit all tasks, before hours of training.

    The labels of a new task may ask for other sizes than those of the rest.

    Raises:
        ConfigError: the tasks share no weights.
    """
    if systems.of_type(tasks[0].type) is not sharing.SYSTEM:
        return config  # All tasks share its encoder.
    if sharing.shares_encoder(config["model"]["encoder"]):
        return config
    # Neither sizes nor which weights are shared depend on the words.
    described = [task.to_json() for task in tasks]
    model = build_model(sharing.model_config(config), 2, described)
    if not freezing.PARTS["shared"](model, model.trainable_variables):
        raise ConfigError(
            "transfer freezes the weights that the tasks share, but model."
            f"scheme {config['model']['scheme']['name']!r} as it is "
            "configured has none besides the word vectors"
        )
    if model.wide is None:
        return config
    wide = config["model"]["wide"] | {"dimension": model.wide.dimension}
    return config | {"model": config["model"] | {"wide": wide}}


def source_config(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The config of a turn's first model, on all tasks but the new one.

    Args:
        config: the plain config of all tasks.
        name: the new task's name.
    """
    entries = registry.single_entries(config["tasks"])
    return _part(config, [e for e in entries if registry.name_of(e) != name])


def target_config(
    config: Mapping[str, Any], name: str, source: str, control: str = ""
) -> dict[str, Any]:
    """The config of a turn's second model, on the new task alone.

    Args:
        config: the plain config of all tasks.
        name: the new task's name.
        source: the run directory of the first model.
        control: see `transfer`.
    """
    entries = registry.single_entries(config["tasks"])
    one = _part(config, [e for e in entries if registry.name_of(e) == name])
    parts = len(entries) - 1
    training = fewer_tasks.share_of_steps(one["training"], parts) | {
        "initialize_from": source,
        "initialize_only": list(CONTROLS.get(control, ())),
        "freeze": [*one["training"]["freeze"], "shared"],
    }
    return one | {"training": training}


def _part(config: Mapping[str, Any], entries: Sequence[Any]) -> dict[str, Any]:
    """The config of a run on some of the tasks, without fine-tuning."""
    part = fewer_tasks.part_of(config, entries)
    training = part["training"]
    fine_tune = {**training["fine_tune"], "epochs": 0}
    return part | {"training": training | {"fine_tune": fine_tune}}


class _Turns:
    """The runs of all turns.

    Args:
        config: the plain config.
        run: the directory of all runs.
        names: the tasks' names.
        directories: where data are.
        strategy: the strategy's name.
        clean: the clean parts of the group, read once for all runs.
        control: see `transfer`.
    """

    def __init__(
        self,
        config: dict[str, Any],
        run: RunDirectory,
        names: Sequence[str],
        directories: Directories,
        strategy: str,
        clean: CleanParts,
        control: str = "",
    ):
        self.control = control
        self.config, self.run, self.names = config, run, list(names)
        self.directories, self.clean = directories, clean
        self.strategy = strategy

    def take(self, name: str) -> None:
        """Trains the models of a turn that are missing."""
        sources = [n for n in self.names if n != name]
        logging.info("Training on %s.", ", ".join(sources))
        self._train(source_config(self.config, name), "sources", name)
        logging.info("Training %s with the shared weights frozen.", name)
        source = self.run.file("sources", name)
        target = target_config(self.config, name, source, self.control)
        self._train(target, self._targets, name)

    @property
    def folder(self) -> str:
        """The folder of the new tasks' runs and results, in `run`."""
        return folder_of(self.control)

    @property
    def _targets(self) -> str:
        return os.path.join(self.folder, "targets")

    def results(self) -> dict[str, Any]:
        """The results of all finished turns, in the order of the tasks."""
        finished = {
            name: self._finished(self._targets, name)
            for name in self.names
            if self.run.has(os.path.join(self._targets, name, "results.json"))
        }
        turns = {
            name: {
                "source": self._facts("sources", name),
                "target": self._facts(self._targets, name),
            }
            for name in finished
        }
        pairs = turns.values()
        # What a new task costs, if its source has to be trained for it.
        trained = [part for pair in pairs for part in pair.values()]
        about = {
            **run_results.run_facts(self.config),
            **run_results.parameters_of([t["target"] for t in pairs]),
            "models": len(turns),
            "wall_time": sum(part["wall_time"] for part in trained),
            # Runs of older versions do not record their number of steps.
            "steps": sum(part.get("steps", 0) for part in trained),
            "turns": turns,
        }
        return run_results.joined(
            run_results.parts_by_split(finished.values()), about
        )

    def _train(self, config: dict[str, Any], kind: str, name: str) -> None:
        keras.backend.clear_session()
        folder = self.run.file(kind, name)
        # `transfer.json` is compared: where the config of a turn that has begun
        # differs, an older version derived it.
        turn = RunDirectory(folder)
        config = turn.as_begun(config, fewer_tasks.DERIVED)
        training_run.train(
            config, folder, *self.directories, self.strategy, self.clean
        )

    def _facts(self, kind: str, name: str) -> dict[str, Any]:
        path = os.path.join(self.run.path, kind, name, "results.json")
        return run_results.facts_of(self._finished(kind, name), path)

    def _finished(self, kind: str, name: str) -> dict[str, Any]:
        return self.run.read(os.path.join(kind, name, "results.json"))
