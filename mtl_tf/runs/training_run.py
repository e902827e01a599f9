"""Trains a run from its config to its results, in one call."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from mtl_tf.core import files, renewal
from mtl_tf.core.directories import Directories
from mtl_tf.evaluation.tables import tables
from mtl_tf.models.protocol import (
    count_all_parameters,
    count_own_parameters,
    count_parameters,
)
from mtl_tf.pipelines import mixing
from mtl_tf.pipelines.served.served_batches import DataService
from mtl_tf.prediction import task_types
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.runs import starting_choices, systems, teachers
from mtl_tf.runs.data import kept_vocabularies, run_data
from mtl_tf.runs.directory import own_files, run_results, run_weights, seals
from mtl_tf.runs.directory.run_directory import LENGTHS, SERVED, RunDirectory
from mtl_tf.runs.loaded import fewer_tasks
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.runs.stages import (
    model_to_train,
    stage_gradients,
    stage_plan,
    stage_runner,
)
from mtl_tf.tasks import checking, registry
from mtl_tf.tasks.task import Task
from mtl_tf.training.callbacks import Callback
from mtl_tf.training.distribution.strategies import make_strategy
from mtl_tf.training.distribution.workers import Workers
from mtl_tf.training.summaries import TensorBoard

Beside = Callable[[run_data.RunData, list[dict[str, Any]], int], None]


@dataclasses.dataclass(frozen=True)
class _Session:
    """The arguments of a training besides config and directory; see `train`.

    Attributes:
        directories: where data are.
        strategy: the distribution strategy.
        clean: the clean parts of the config's group.
        beside: adds to the scores of splits.
        callbacks: called during training.
    """

    directories: Directories
    strategy: tf.distribute.Strategy
    clean: CleanParts
    beside: Beside | None
    callbacks: Sequence[Callback]


def train(
    config: Mapping[str, Any],
    model_dir: str,
    data_dir: str | None = None,
    manual_dir: str | None = None,
    strategy: str = "auto",
    clean: CleanParts | None = None,
    beside: Beside | None = None,
    callbacks: Sequence[Callback] = (),
) -> dict[str, Any]:
    """Trains, evaluates and writes the results of a run.

    A stopped run resumes from its last checkpoint; a finished one returns its
    results.

    Args:
        config: the fields of `mtl_tf.configs.base.default_config`.
        model_dir: the run directory.
        data_dir: the directory of prepared datasets.
        manual_dir: the directory of the corpora's own files.
        strategy: see `mtl_tf.training.distribution.strategies`.
        clean: the clean parts of the config's group, for callers with many
            runs: reading the group takes longer than scoring a run.
        beside: adds baseline scores to the scores of splits, such as
            `mtl_tf.baselines.yardsticks.add`. It is called with the run's data,
            the scores of each split and the seed.
        callbacks: called during training, in addition to TensorBoard; not
            called for a run that was already finished.

    Returns:
        The contents of `results.json`: the structure of
        `mtl_tf.evaluation.evaluator.evaluate` for the first of
        `evaluation.splits`, with `other_splits` and facts about the `run`.

    Raises:
        MtlError: a mistake in the config, the data or the run directory.
        Interrupted: a signal came; the state is saved.
    """
    config = own_files.absolute(json.loads(json.dumps(config)))
    directories = Directories(data_dir, manual_dir)
    clean = clean or CleanParts.of_config(config, *directories)
    # First, as workers must connect before TensorFlow runs anything.
    chosen = make_strategy(strategy)
    callbacks = [TensorBoard(), *callbacks]
    session = _Session(directories, chosen, clean, beside, callbacks)
    with Workers(chosen).losses_reported():
        return _train(config, model_dir, session)


def check_scored(tasks: Sequence[Task], splits: Sequence[str]) -> None:
    """Refuses tasks without a training split, or that could not be scored.

    Args:
        tasks: the tasks of a config.
        splits: its `evaluation.splits`.

    Raises:
        MtlError: a task has not all these splits, or one without labels.
    """
    for task in tasks:
        task.size("train")
    checking.check_scored(tasks, splits)
    for task in tasks:
        for split in dict.fromkeys(("validation", *splits)):
            task_types.of(task.type).check_scored(task, split)


def check_options(config: Mapping[str, Any], tasks: Sequence[Task]) -> None:
    """Refuses wrong options of the config's choices, such as its scheme.

    Also what a new run would start from: word vectors, a preset, another run.
    It reads no data.

    Args:
        config: the plain config.
        tasks: the tasks of its `tasks`.

    Raises:
        ConfigError: an option is wrong, or the tasks do not go together.
        MtlError: what the run would start from cannot be used.
    """
    if config["train_separately"]:
        used = {systems.of_type(task.type) for task in tasks}
    else:
        used = {run_data.system_of(tasks)}
        names = [task.name for task in tasks]
        mixing.for_tasks(config["pipeline"]["mixing"], names)
        stage_gradients.check(config, tasks)
    starting_choices.check(config, {task.type for task in tasks})
    for system in used:
        names = [t.name for t in tasks if systems.of_type(t.type) is system]
        system.check_group(names, names)
    stage_gradients.weighting_of(config, tasks)
    starting_choices.check_weights(config, tasks)


def _train(
    config: dict[str, Any],
    model_dir: str,
    session: _Session,
) -> dict[str, Any]:
    run, workers = RunDirectory(model_dir), Workers(session.strategy)
    tasks: list[Task] = []
    with contextlib.ExitStack() as held:

        def claim() -> bool:
            held.enter_context(files.locked(model_dir))
            if not run.has("config.json"):
                tasks.extend(run_data.tasks_of(config, session.directories))
                check_scored(tasks, config["evaluation"]["splits"])
                check_options(config, tasks)
                replicas = session.strategy.num_replicas_in_sync
                stage_gradients.check_replicas(config, tasks, replicas)
            elif run.has_trained():
                seals.check_config(run)
            with seals.config_renewed(run):
                run.claim(config)
            if config["train_separately"]:  # otherwise its data are loaded
                seals.note_code(run, config)
            return run.has("results.json")

        def check() -> None:
            if not workers.is_chief:
                workers.wait_for(run.file("config.json"))
                run.check_claimed(config)

        finished = workers.by_chief(claim)
        workers.together(check)
        if workers.share(float(bool(finished))):
            logging.info(
                "This run is finished. For more, ask for more epochs or name "
                "another --model_dir."
            )
            return run.read("results.json")
        if config["train_separately"]:
            results = _train_separately(config, run, session)
        else:
            results = _train_jointly(config, run, session, tasks)

        def write() -> None:
            files.write_text(
                run.file("results.md"),
                tables.markdown(results, config["name"]),
            )
            run.write("results.json", results)
            for callback in session.callbacks:
                callback.on_end(run.path, results)

        workers.by_chief(write)
    if workers.is_chief:
        return results
    workers.wait_for(run.file("results.json"))
    return run.read("results.json")


@kept_vocabularies.keeping()
def _train_separately(
    config: dict[str, Any],
    run: RunDirectory,
    session: _Session,
) -> dict[str, Any]:
    """Trains a model for every task, each in its own run directory."""
    collected = []
    tasks = registry.resolve(config["tasks"], *session.directories)
    entries = registry.single_entries(config["tasks"])
    for number, (task, entry) in enumerate(zip(tasks, entries)):
        logging.info("Task %d of %d: %s", number + 1, len(tasks), task.name)
        renewal.point()
        keras.backend.clear_session()
        folder = run.file("tasks", task.name)
        single = _single(config, entry, RunDirectory(folder))
        collected.append(_train(single, folder, session))
    about = [results["run"] for results in collected]
    main = config["training"]["main_tasks"]
    scores = [
        results["run"]["validation_mean"]
        for task, results in zip(tasks, collected)
        if not main or task.name in main
    ]
    return run_results.joined(
        run_results.parts_by_split(collected),
        {
            **run_results.run_facts(config),
            **run_results.parameters_of(about),
            "models": len(tasks),
            "validation_mean": sum(scores) / len(scores),
            # Runs of older versions do not record their number of steps.
            "steps": sum(run.get("steps", 0) for run in about),
            "wall_time": sum(run["wall_time"] for run in about),
        },
    )


def _single(
    config: Mapping[str, Any], entry: registry.Entry, run: RunDirectory
) -> dict[str, Any]:
    """The config of the model of one task, in its own run directory."""
    single = fewer_tasks.part_of(config, [entry])
    if config["training"]["share_steps"]:
        parts = len(registry.single_entries(config["tasks"]))
        training = fewer_tasks.share_of_steps(single["training"], parts)
        single = single | {"training": training}
    # A training that has begun may be made longer.
    kept = [name for name in fewer_tasks.DERIVED if name not in LENGTHS]
    return run.as_begun(single | {"train_separately": False}, kept)


def _train_jointly(
    config: dict[str, Any],
    run: RunDirectory,
    session: _Session,
    tasks: list[Task],
) -> dict[str, Any] | None:
    """Trains one model on all tasks; only the chief returns results.

    `tasks` are the config's if they were looked up already, else [].
    """
    workers = Workers(session.strategy)
    service = _service(config, run)

    def load() -> run_data.RunData:
        if workers.is_chief:
            teachers.prepare(config, run, session.directories)
        return run_data.load(config, run, *session.directories, tasks=tasks)

    loaded = workers.chief_first(load)
    with session.strategy.scope():
        model = model_to_train.make(config, run, loaded, workers)
    runner = stage_runner.StageRunner(
        config,
        run,
        loaded,
        model,
        session.strategy,
        session.callbacks,
        service,
    )
    spent = {}
    for stage in stage_plan.plan(config, [t.name for t in loaded.tasks]):
        state = runner.execute(stage)
        spent[stage] = int(state.step.numpy()), float(state.seconds.numpy())
    return workers.by_chief(lambda: _joint_results(runner, session, spent))


def _joint_results(
    runner: stage_runner.StageRunner,
    session: _Session,
    spent: Mapping[stage_plan.Stage, tuple[int, float]],
) -> dict[str, Any]:
    """Scores the trained model; what `train` returns.

    Args:
        runner: it has executed all stages.
        session: see `_Session`.
        spent: the steps and the seconds of each stage.
    """
    config, run, model = runner.config, runner.run, runner.model
    names = [task.name for task in runner.data.tasks]
    trained = runner.trained()
    parts = [
        trained.evaluate(
            split, None, *session.directories, clean=session.clean, keep=True
        )
        for split in config["evaluation"]["splits"]
    ]
    if session.beside is not None:
        session.beside(runner.data, parts, config["seed"])
    joint, *tuned = spent
    seconds = {stage.name: time for stage, (_, time) in spent.items()}
    about = {
        **run_results.run_facts(config),
        **_chosen(trained, names),
        "parameters": count_all_parameters(model),
        "trainable_parameters": count_parameters(model, True),
        "parameters_without_embedding": count_parameters(model),
        "own_parameters_per_task": count_own_parameters(model, len(names)),
        "vocabulary": runner.data.encoder.size,
        "steps": sum(steps for steps, _ in spent.values()),
        "best_step": run.read("best/best.json")["step"],
        **_validated(run, joint, names),
        "wall_time": sum(seconds.values()),
        **({"stage_seconds": seconds} if tuned else {}),
    }
    return run_results.joined(parts, about)


def _chosen(run: Run, names: Sequence[str]) -> dict[str, Any]:
    """What was chosen for tasks on validation examples, if anything."""
    shares = {}
    for number, name in enumerate(names):
        # Tasks may have weights of their own.
        run.weights_for(name)
        if (share := run.model.chosen(number)) is not None:
            shares[name] = share
    return {"encoder_shares": shares} if shares else {}


def _validated(
    run: RunDirectory, stage: stage_plan.Stage, names: Sequence[str]
) -> dict[str, Any]:
    """The validation score of the final weights, and the steps of tasks.

    Args:
        run: the directory of a run that has trained.
        stage: its joint stage.
        names: the names of all tasks.
    """
    best = {}
    for name in names:
        folder = run_weights.folder_for(run, run_weights.BEST, name)
        # Relative, as the run's own files are named.
        file = os.path.relpath(os.path.join(folder, "best.json"), run.path)
        best[name] = file, run.read(file)
    # Tasks may share weights, and so a score.
    scores = dict(best[names[number]] for number in stage.main)
    mean = sum(b["score"] for b in scores.values()) / len(scores)
    facts = {"validation_mean": mean}
    if stage.per_task:
        facts["best_steps"] = {name: b["step"] for name, (_, b) in best.items()}
    return facts


def _service(
    config: Mapping[str, Any], run: RunDirectory
) -> DataService | None:
    """The tf.data service of `pipeline.service`, if its dispatcher answers."""
    address = config["pipeline"]["service"]
    if not address:
        return None
    service = DataService(address, run.file(SERVED))
    service.check()
    return service
