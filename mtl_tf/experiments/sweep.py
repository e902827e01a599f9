"""Grid search, seeds and cross-validation: many runs and their summary."""

import dataclasses
import glob
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
from absl import logging

from mtl_tf.config_fields import idle_fields, validation
from mtl_tf.core import files, renewal
from mtl_tf.core.directories import Directories
from mtl_tf.core.durations import duration
from mtl_tf.core.errors import (
    ConfigError,
    DataError,
    Diverged,
    Interrupted,
    MtlError,
    RunError,
)
from mtl_tf.experiments import sweep_report
from mtl_tf.experiments.grids import Cell, cells, parse
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.runs import training_run
from mtl_tf.runs.data import kept_vocabularies
from mtl_tf.runs.directory import kinds
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import registry
from mtl_tf.tasks.task import Task
from mtl_tf.training.distribution import strategies

_FAILED = "failed.json"
# Fields on which it depends which test examples are clean.
_OF_CLEAN_PARTS = ("tasks", "evaluation.group")


@kept_vocabularies.keeping()
def sweep(
    config: Mapping[str, Any],
    model_dir: str,
    data_dir: str | None = None,
    manual_dir: str | None = None,
    strategy: str = "auto",
    validate: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
    retry: bool = False,
    overridden: Sequence[str] = (),
) -> dict[str, Any]:
    """Trains every cell of a grid and chooses the best setting.

    A setting is chosen by its mean best validation score over seeds and folds.
    Test scores are reported only for the chosen setting, and play no part in
    the choice. A setting with a failed run is not chosen.

    Every cell is a run directory of its own, named by its settings, in
    `model_dir/cells`. Repeating the call resumes the stopped cell and repeats
    no finished one; the grid may have grown. Failures are recorded, and the
    other cells continue.

    Args:
        config: the base config of all cells. Its `sweep` has `grid` (see
            `grids.parse`), `folds` and `seeds`.
        model_dir: the directory of `cells/`, `sweep.json` and `sweep.md`.
        data_dir: the directory of prepared datasets.
        manual_dir: the directory of the corpora's own files.
        strategy: see `mtl_tf.training.distribution.strategies`.
        validate: called with the config of every cell before the first one
            begins; returns the config to train with, or raises an error.
        retry: train cells again that diverged in an earlier call. Without a
            change of the code they diverge again.
        overridden: the config's fields that a user has set by hand. These,
            and those of the grid, have to do something in some cell.

    Returns:
        The contents of `sweep.json`: see `sweep_report.report`.

    Raises:
        MtlError: a mistake in the config or the grid; another config, or
            finished cells of another grid, in `model_dir`; or no cell
            succeeded.
        Interrupted: a signal came; the state is saved.
    """
    strategies.check_one_process(strategy, "A sweep")
    fields = config["sweep"]
    grid = parse(fields["grid"])
    todo = cells(config, grid, fields["folds"], fields["seeds"])
    if "tasks" in grid:
        logging.warning(
            "The grid changes tasks: the mean of each setting is over its own "
            "tasks. That one is above another one may be due to easier tasks."
        )
    if validate:
        todo = [
            dataclasses.replace(cell, config=validate(cell.config))
            for cell in todo
        ]
    directories = Directories(data_dir, manual_dir)
    run = RunDirectory(model_dir)
    _check_used(todo, config, overridden, run)
    _check_options(todo, run, directories)
    kinds.check(model_dir, kinds.SWEEP)
    with files.locked(model_dir):
        base = {name: v for name, v in config.items() if name != "sweep"}
        run.check_or_write("sweep_config.json", base, "the config")
        _check_none_is_lost(run, todo)
        clean = None
        changes_parts = not grid.keys().isdisjoint(_OF_CLEAN_PARTS)
        if not fields["folds"] and not changes_parts:
            clean = CleanParts.of_config(config, *directories)
        worker = _Worker(run, todo, directories, strategy, clean, retry)
        return worker.work(config["name"])


def _check_none_is_lost(run: RunDirectory, todo: Sequence[Cell]) -> None:
    """Refuses a grid without some of the finished cells.

    Raises:
        ConfigError: there are such cells; the message names the first.
    """
    pattern = os.path.join(glob.escape(run.file("cells")), "*", "*")
    finished = sorted(
        os.path.relpath(os.path.dirname(path), run.path)
        for path in glob.glob(os.path.join(pattern, "results.json"))
    )
    lost = [c for c in finished if c not in {cell.folder for cell in todo}]
    if lost:
        raise ConfigError(
            f"{run.path} has {len(finished)} finished cells, of which "
            f"{len(lost)} would be missing from its table, such as {lost[0]}: "
            "a grid, seeds and folds may grow; for others name another "
            "--model_dir"
        )


def _check_used(
    todo: Sequence[Cell],
    config: Mapping[str, Any],
    overridden: Sequence[str],
    run: RunDirectory,
) -> None:
    """Refuses fields set by hand that do nothing in any cell.

    A sweep that was begun goes on with what it has.

    Raises:
        ConfigError: there is such a field.
    """
    by_hand = idle_fields.not_as_begun(
        config, overridden, run.file("sweep_config.json")
    )
    begun = {
        repr(setting)
        for cell in todo
        if os.path.isdir(run.file(cell.folder))
        for setting in cell.settings.items()
    }
    runs = []
    for cell in todo:
        settings = cell.settings.items()
        new = [s[0] for s in settings if repr(s) not in begun]
        types = registry.types_of(cell.config["tasks"])
        runs.append((cell.config, [*by_hand, *new], types))
    validation.check_used_by_some(runs)


def _check_options(
    todo: Sequence[Cell], run: RunDirectory, directories: Directories
) -> None:
    """Refuses options that are wrong in every cell that has them.

    In a product of several fields, some cells may be impossible. These fail
    individually, as do cells with wrong files.

    Raises:
        ConfigError: no cell with some value of the grid could be trained; the
            message is that of the first.
    """
    # Cells with the same tasks read their files only once.
    tasks: dict[str, list[Task] | MtlError] = {}
    values: dict[str, list[str]] = {}

    def check(config: Mapping[str, Any]) -> None:
        folds = config["cross_validation"]["folds"]
        key = json.dumps([config["tasks"], folds])
        if key not in tasks:
            tasks[key] = _tasks_of(config, directories)
        if isinstance(tasks[key], DataError):
            return  # Only these cells fail.
        if isinstance(tasks[key], MtlError):
            raise tasks[key]
        training_run.check_options(config, tasks[key])

    for cell in todo:
        error = ""
        try:
            # A run that was begun no longer needs the files it started from.
            if not os.path.isdir(run.file(cell.folder)):
                check(cell.config)
        except MtlError as wrong:
            error = f"{cell}: {wrong}"
        for setting in cell.settings.items() or ("",):
            values.setdefault(repr(setting), []).append(error)
    for errors in values.values():
        if all(errors):
            raise ConfigError(errors[0])


def _tasks_of(
    config: Mapping[str, Any], directories: Directories
) -> list[Task] | MtlError:
    """The tasks of a cell, or why there are none."""
    folds = config["cross_validation"]
    try:
        tasks = registry.resolve(config["tasks"], *directories, folds)
        for task in tasks if folds["folds"] else ():
            task.size("test")  # It has too few examples for so many folds.
    except MtlError as error:
        return error
    return tasks


@dataclasses.dataclass
class _Worker:
    """Trains cells one after another.

    Attributes:
        run: the sweep's directory.
        cells: all cells.
        directories: where data are.
        strategy: the strategy's name.
        clean: the clean parts, if they are the same for all cells.
        retry: whether to train diverged cells again.
    """

    run: RunDirectory
    cells: Sequence[Cell]
    directories: Directories
    strategy: str
    clean: CleanParts | None
    retry: bool

    def work(self, name: str) -> dict[str, Any]:
        """Trains missing cells and writes the report after each."""
        outcomes = [self._known(cell) for cell in self.cells]
        missing = [n for n, outcome in enumerate(outcomes) if not outcome]
        logging.info(
            "%d of %d cells are to be trained.", len(missing), len(self.cells)
        )
        began = time.monotonic()
        report = self._write(name, outcomes)
        for trained, number in enumerate(missing):
            renewal.point()
            self._announce(number, trained, len(missing), began)
            outcomes[number] = self._train(self.cells[number])
            report = self._write(name, outcomes)
        if not any(o and o["status"] == "finished" for o in outcomes):
            first = outcomes[0]["error"]
            raise RunError(f"every cell failed; the first: {first}")
        return report

    def _known(self, cell: Cell) -> dict[str, Any] | None:
        """The result of a cell from an earlier call, or None."""
        results, failed = (
            os.path.join(cell.folder, name)
            for name in ("results.json", _FAILED)
        )
        if self.run.has(results):
            return _finished(self.run.read(results))
        if self.run.has(failed) and not self.retry:
            return self.run.read(failed)
        return None

    def _announce(
        self, number: int, trained: int, missing: int, began: float
    ) -> None:
        remaining = ""
        if trained:
            seconds = (time.monotonic() - began) / trained
            remaining = f"; {duration(seconds * (missing - trained))} left"
        logging.info(
            "Cell %d of %d (%d of %d to train%s): %s",
            number + 1,
            len(self.cells),
            trained + 1,
            missing,
            remaining,
            self.cells[number],
        )

    def _train(self, cell: Cell) -> dict[str, Any]:
        keras.backend.clear_session()
        folder, began = self.run.file(cell.folder), time.monotonic()
        try:
            results = training_run.train(
                cell.config,
                folder,
                *self.directories,
                self.strategy,
                self.clean,
            )
        except Interrupted:
            raise
        except Exception as error:
            return self._failed(cell, error, time.monotonic() - began)
        return _finished(results)

    def _failed(
        self, cell: Cell, error: Exception, seconds: float
    ) -> dict[str, Any]:
        known = isinstance(error, MtlError)
        diverged = isinstance(error, Diverged)
        logging.error("Cell failed: %s: %s", cell, error, exc_info=not known)
        outcome = {
            "status": "diverged" if diverged else "failed",
            "error": f"{type(error).__name__}: {error}",
            "wall_time": seconds,
        }
        # Divergence would recur; the cause of other failures may be repaired.
        if diverged:
            self.run.write(os.path.join(cell.folder, _FAILED), outcome)
        return outcome

    def _write(
        self, name: str, outcomes: Sequence[dict[str, Any] | None]
    ) -> dict[str, Any]:
        report = sweep_report.report(name, list(zip(self.cells, outcomes)))
        files.write_text(
            self.run.file("sweep.md"), sweep_report.markdown(report)
        )
        self.run.write("sweep.json", report)
        return report


def _finished(results: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "status": "finished",
        "validation_mean": results["run"]["validation_mean"],
        "wall_time": results["run"]["wall_time"],
        "results": results,
    }
