"""Reproduces a table of a paper; all its runs survive a kill."""

import dataclasses
import gc
import glob
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import keras
from absl import logging

from mtl_tf.core import files, own_functions, renewal
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import (
    ConfigError,
    Interrupted,
    MtlError,
    RunError,
)
from mtl_tf.experiments import (
    compare,
    published,
    table_page,
    table_report,
)
from mtl_tf.experiments.planned_runs import (
    FAILURE,
    FINISHED,
    Clock,
    PlannedRun,
    outcomes,
    unplanned,
)
from mtl_tf.experiments.published import PublishedTable
from mtl_tf.runs import training_run
from mtl_tf.runs.data import kept_vocabularies
from mtl_tf.runs.directory import kinds, own_files
from mtl_tf.runs.directory.run_directory import RunDirectory

# Of the bootstrap that compares rows.
_DRAWS = 1000


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of all runs of a table.

    Attributes:
        data_dir: the directory of prepared datasets.
        manual_dir: the directory of the corpora's own files.
        strategy: see `mtl_tf.training.distribution.strategies`.
        command: the command, for the report.
        overrides: fields changed in every row's config, for the report.
        absent: the tasks left out and the reasons, for the report.
        thinned: the tasks that phases lack, by config, for the report.
    """

    data_dir: str | None = None
    manual_dir: str | None = None
    strategy: str = "auto"
    command: str = ""
    overrides: tuple[str, ...] = ()
    absent: Mapping[str, str] = dataclasses.field(default_factory=dict)
    thinned: Mapping[str, Sequence[str]] = dataclasses.field(
        default_factory=dict
    )


def find_table(name: str) -> PublishedTable:
    """The published table of that name.

    Args:
        name: a table of the package, or the place of your own, such as
            "my_table.py:TABLE"; see `own_functions.load`.

    Raises:
        ConfigError: there is none; the message lists the known ones.
    """
    if own_functions.is_own(name):
        table = own_functions.attribute(name, "table")
        if not isinstance(table, PublishedTable):
            raise ConfigError(
                f"{name} must be a mtl_tf.experiments.published."
                f"PublishedTable, got {table!r:.60}"
            )
        return table
    if name not in published.TABLES:
        known = ", ".join(published.TABLES)
        raise ConfigError(f"unknown table {name!r}; there are {known}")
    return published.TABLES[name]


@kept_vocabularies.keeping()
def reproduce(
    table: PublishedTable,
    planned: Sequence[PlannedRun],
    model_dir: str,
    settings: Settings,
) -> dict[str, Any]:
    """Runs the unfinished planned runs and writes the table.

    `table.md` and `table.json` in `model_dir` are updated after every run. If a
    run fails, the failure is recorded and the others continue; it is retried
    the next time. A finished run is not repeated.

    Returns:
        The contents of `table.json`, see `table_report.build`.

    Raises:
        Interrupted: a signal came; the same call resumes.
        RunError: `model_dir` is in use, or holds runs with other configs or no
            table.
    """
    folder = _TableFolder(table, planned, model_dir, settings)
    kinds.check(model_dir, kinds.TABLE)
    with files.locked(model_dir):
        folder.claim_setting()
        folder.claim_rows()
        folder.write()
        clock = Clock(planned)
        for number, run in enumerate(planned):
            if run.state == FINISHED:
                continue
            logging.info(
                "Run %d of %d: %s, seed %d; %s",
                number + 1,
                len(planned),
                run.row.name,
                run.seed,
                clock.left(planned[number:]),
            )
            renewal.point()
            began = time.monotonic()
            _attempt(run, settings)
            clock.add(run.row.name, time.monotonic() - began)
            folder.write()
        # Last, as corpus scores such as BLEU take minutes for each pair of
        # rows.
        logging.info("Comparing each row with the one above it.")
        return folder.write(_comparisons(table, model_dir))


@dataclasses.dataclass(frozen=True)
class _TableFolder:
    """The folder of a table: its runs and its report.

    Attributes:
        table: the table to reproduce.
        planned: its runs.
        path: the folder's path.
        settings: the settings of all runs.
    """

    table: PublishedTable
    planned: Sequence[PlannedRun]
    path: str
    settings: Settings

    def claim_setting(self) -> None:
        """Refuses overrides that differ from those of the existing rows."""
        directory = RunDirectory(self.path)
        setting = {
            "overrides": sorted(self.settings.overrides),
            "vectors": self._vectors(),
        }
        if not any(run.has_trained for run in self._runs()):
            directory.write("setting.json", setting)
        elif not directory.has("setting.json"):
            return  # The folder is older than this file.
        before = directory.read("setting.json")
        if before != setting:
            raise RunError(
                f"{self.path} holds rows with other overrides or vectors, and "
                f"a table has one setting: {_spelt(before)} there, "
                f"{_spelt(setting)} asked for. Repeat it or name another "
                "--model_dir"
            )

    def claim_rows(self) -> None:
        """Refuses rows that were begun with another config."""
        directory = RunDirectory(self.path)
        for run in self.planned:
            name = os.path.join(run.row.name, "config.json")
            whole = own_files.absolute(run.config)
            config = {k: v for k, v in whole.items() if k != "seed"}
            of_row = [p for p in self.planned if p.row.name == run.row.name]
            if not any(run.has_trained for run in of_row):
                directory.write(name, config)
            noun = f"the config of the row {run.row.name}"
            directory.check_or_write(name, config, noun)

    def write(
        self, comparisons: Mapping[str, Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Writes `table.json` and `table.md` from the runs' directories.

        Ended runs of other rows and seeds in the folder, and the commands of
        earlier calls, stay in the table.
        """
        report = table_report.build(
            self.table,
            outcomes(self._runs()),
            commands=self._commands(),
            overrides=self.settings.overrides,
            vectors=self._vectors(),
            absent=self.settings.absent,
            thinned=self.settings.thinned,
            comparisons=comparisons,
        )
        text = table_page.markdown(report)
        files.write_json(os.path.join(self.path, "table.json"), report)
        files.write_text(os.path.join(self.path, "table.md"), text)
        return report

    def _runs(self) -> list[PlannedRun]:
        return [*self.planned, *unplanned(self.table, self.planned, self.path)]

    def _commands(self) -> list[str]:
        """The commands of earlier calls and of this one, each once."""
        directory, known = RunDirectory(self.path), []
        if directory.has("table.json"):
            before = directory.read("table.json")
            # Older tables have only the last command.
            known = before.get("commands") or [before.get("command")]
        commands = dict.fromkeys([*known, self.settings.command])
        return list(filter(None, commands))

    def _vectors(self) -> str:
        return self.planned[0].config["text"]["vectors"]


def _spelt(setting: Mapping[str, Any]) -> str:
    flags = [f"--override={change}" for change in setting["overrides"]]
    if setting["vectors"]:
        flags.append(f"--vectors={setting['vectors']}")
    return " ".join(flags) or "none"


def _comparisons(
    table: PublishedTable, model_dir: str
) -> dict[str, dict[str, Any]]:
    """Compares rows with the row above them, by name, where possible.

    Returns:
        By the name of each finished row, `standard_error` of its mean and,
        where there is a row above, its title `above` and what `compare` found.
    """
    compared: dict[str, dict[str, Any]] = {}
    metric = table_report.headline(table)
    above = None
    for row in table.rows:
        folder = os.path.join(model_dir, row.name)
        finished = glob.glob(
            os.path.join(glob.escape(folder), "seed_*", "results.json")
        )
        if not finished:
            continue
        split = files.read_json(finished[0]).get("split", "test")
        try:
            spread = compare.standard_error(folder, split, _DRAWS, metric)
            compared[row.name] = {"standard_error": spread}
            if above is not None:
                found = compare.compare(
                    above[1], folder, split, draws=_DRAWS, metric=metric
                )
                compared[row.name] |= {"above": above[0].title, **found}
        except MtlError as error:
            logging.info("%s is not compared: %s", row.name, error)
        above = row, folder
    return compared


def _attempt(run: PlannedRun, settings: Settings) -> None:
    """Runs a planned run; records the reason if it fails."""
    failure = os.path.join(run.path, FAILURE)
    if os.path.exists(failure):
        os.unlink(failure)  # The run may be killed this time.
    # A table has a hundred models or more. Each starts in a clean Keras state,
    # and the memory of the previous one is freed.
    keras.backend.clear_session()
    gc.collect()
    try:
        results = _train(run, settings)
        if not os.path.exists(os.path.join(run.path, "results.json")):
            RunDirectory(run.path).write("results.json", results)
    except Interrupted:
        raise
    except Exception as error:
        # A defect in one row must not stop the other rows overnight.
        logging.error(
            "The row %s failed: %s",
            run.row.name,
            error,
            exc_info=not isinstance(error, MtlError),
        )
        text = f"{type(error).__name__}: {error}"
        files.write_json(failure, {"error": text})


def _link(path: str, targets: str) -> None:
    """Links new tasks' predictions for `compare` into a control's row."""
    link = os.path.join(files.make_directory(path), os.path.basename(targets))
    if not os.path.lexists(link):
        os.symlink(os.path.relpath(targets, path), link)


def _train(run: PlannedRun, settings: Settings) -> dict[str, Any]:
    directories = Directories(settings.data_dir, settings.manual_dir)
    if run.row.column == published.BASELINE:
        # Each branch imports only what its own rows need.
        from mtl_tf.baselines import linear

        return linear.train(run.config, run.path, *directories)
    if run.row.column == published.TRANSFER:
        from mtl_tf.experiments import transfer

        table_dir = os.path.dirname(os.path.dirname(run.path))
        row = run.row.control_of or run.row.name
        path = os.path.join(table_dir, row, os.path.basename(run.path))
        results = transfer.transfer(
            run.config,
            path,
            *directories,
            settings.strategy,
            control=run.row.control,
        )
        if run.row.control:
            below = os.path.join(path, transfer.folder_of(run.row.control))
            _link(run.path, os.path.join(below, "targets"))
        return results
    return training_run.train(
        run.config, run.path, *directories, settings.strategy
    )
