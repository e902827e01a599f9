"""Reproducing a table of a paper: all its runs, resumable at any kill."""

import dataclasses
import gc
import glob
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
from absl import logging

from mtl_tf.core import checks, files
from mtl_tf.core.durations import duration
from mtl_tf.core.errors import (
    ConfigError,
    Interrupted,
    MissingData,
    MtlError,
    RunError,
)
from mtl_tf.core.names import look_up
from mtl_tf.experiments import (
    compare,
    published,
    table_page,
    table_report,
)
from mtl_tf.experiments.published import PublishedRow, PublishedTable
from mtl_tf.runs import training_run
from mtl_tf.runs.run_directory import RunDirectory

FINISHED, FAILED, BEGUN, OPEN = "finished", "failed", "begun", "to do"


@dataclasses.dataclass(frozen=True)
class PlannedRun:
    """One row with one seed.

    Attributes:
        row: what the paper says of it.
        seed: the config's seed.
        config: the resolved config, seed included.
        path: its run directory.
    """

    row: PublishedRow
    seed: int
    config: dict[str, Any]
    path: str

    @property
    def state(self) -> str:
        """`finished`, `failed`, `begun` or `to do`."""
        directory = RunDirectory(self.path)
        if directory.has("results.json"):
            return FINISHED
        if directory.has("failure.json"):
            return FAILED
        return BEGUN if os.path.isdir(self.path) else OPEN


@dataclasses.dataclass(frozen=True)
class Settings:
    """What holds for all runs of a table.

    Attributes:
        data_dir: where prepared datasets are kept.
        manual_dir: where the corpora's own files are.
        strategy: see `mtl_tf.training.strategies`.
        command: for the report.
        overrides: what was changed in every row's config, for the report.
        absent: the tasks that were left out, and why, for the report.
    """

    data_dir: str | None = None
    manual_dir: str | None = None
    strategy: str = "auto"
    command: str = ""
    overrides: tuple[str, ...] = ()
    absent: Mapping[str, str] = dataclasses.field(default_factory=dict)


def find_table(name: str) -> PublishedTable:
    """The published table of that name.

    Raises:
        ConfigError: there is none; the message lists the known ones.
    """
    if name not in published.TABLES:
        known = ", ".join(published.TABLES)
        raise ConfigError(f"unknown table {name!r}; there are {known}")
    return published.TABLES[name]


def plan(
    table: PublishedTable,
    make_config: Callable[[PublishedRow], Mapping[str, Any]],
    model_dir: str,
    seeds: int,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[PlannedRun]:
    """The runs of a table in their order: every row once, then once more.

    So the table has no gaps as soon as the first seed is through.

    Args:
        table: what to reproduce.
        make_config: the config of a row; `MissingData` leaves it out, unless
            `rows` names it.
        model_dir: where the runs' directories are made.
        seeds: how many, 1 to n; a row without randomness has the first only.
        rows: names of rows, all by default.
        columns: kinds of rows (`published.COLUMNS`), all by default.

    Raises:
        ConfigError: an unknown row or column, or none is left.
    """
    checks.positive_integer("seeds", seeds)
    planned = []
    chosen = _chosen(table, rows, columns)
    configs = {}
    for row in chosen:
        try:
            configs[row.name] = dict(make_config(row))
        except MissingData as error:
            if rows:
                raise MissingData(f"row {row.name}: {error}")
            logging.warning("The row %s is left out: %s", row.name, error)
    for seed in range(1, seeds + 1):
        for row in (row for row in chosen if row.name in configs):
            if seed > 1 and not row.seeded:
                continue
            path = os.path.join(model_dir, row.name, f"seed_{seed}")
            config = {**configs[row.name], "seed": seed}
            planned.append(PlannedRun(row, seed, config, path))
    return planned


def _chosen(
    table: PublishedTable, names: Sequence[str], columns: Sequence[str]
) -> list[PublishedRow]:
    known = {r.name: r for r in table.rows if r.column != published.QUOTED}
    for column in columns:
        checks.one_of("column", column, published.COLUMNS)
    wanted = [look_up(name, known, f"row of {table.name}") for name in names]
    rows = [
        row
        for row in known.values()
        if (not names or row in wanted)
        and (not columns or row.column in columns)
    ]
    if not rows:
        raise ConfigError(
            f"table {table.name} has no row among {', '.join(names) or 'all'} "
            f"in the columns {', '.join(columns)}"
        )
    return rows


def reproduce(
    table: PublishedTable,
    planned: Sequence[PlannedRun],
    model_dir: str,
    settings: Settings,
) -> dict[str, Any]:
    """Does what is left of the planned runs and writes the table.

    `table.md` and `table.json` in `model_dir` are written anew after every
    run. A run that fails is recorded and the others go on; it is tried again
    the next time. A finished run is not repeated.

    Returns:
        The contents of `table.json`, see `table_report.build`.

    Raises:
        Interrupted: a signal came; the same call continues.
        RunError: `model_dir` is in use or holds runs with other configs.
    """
    with files.locked(model_dir):
        _claim_setting(table, planned, model_dir, settings)
        _claim(planned, model_dir)
        write(table, planned, model_dir, settings)
        clock = Clock(planned)
        for number, run in enumerate(planned):
            if run.state == FINISHED:
                continue
            logging.info(
                "Run %d of %d: %s, seed %d; %s",
                *(number + 1, len(planned), run.row.name, run.seed),
                clock.left(planned[number:]),
            )
            began = time.monotonic()
            _attempt(run, settings)
            clock.add(run.row.name, time.monotonic() - began)
            write(table, planned, model_dir, settings)
        # At the end: corpus scores such as BLEU take minutes a pair of rows.
        logging.info("Comparing each row with the one above it.")
        compared = _comparisons(table, model_dir)
        return write(table, planned, model_dir, settings, compared)


def _claim_setting(
    table: PublishedTable,
    planned: Sequence[PlannedRun],
    model_dir: str,
    settings: Settings,
) -> None:
    """Refuses other overrides than those of the rows that are there."""
    directory = RunDirectory(model_dir)
    setting = {
        "overrides": sorted(settings.overrides),
        "vectors": _vectors(planned),
    }
    there = [*planned, *_others(table, planned, model_dir)]
    if all(run.state in (OPEN, FAILED) for run in there):
        directory.write("setting.json", setting)
    elif not directory.has("setting.json"):
        return  # Made before there was such a file.
    before = directory.read("setting.json")
    if before != setting:
        raise RunError(
            f"{model_dir} holds rows with other overrides or vectors, and a "
            f"table has one setting: {_spelt(before)} there, {_spelt(setting)} "
            "asked for. Repeat it or name another --model_dir"
        )


def _vectors(planned: Sequence[PlannedRun]) -> str:
    return planned[0].config["text"]["vectors"]


def _spelt(setting: Mapping[str, Any]) -> str:
    flags = [f"--override={change}" for change in setting["overrides"]]
    if setting["vectors"]:
        flags.append(f"--vectors={setting['vectors']}")
    return " ".join(flags) or "none"


def _claim(planned: Sequence[PlannedRun], model_dir: str) -> None:
    """Refuses rows that were begun with another config."""
    directory = RunDirectory(model_dir)
    for run in planned:
        name = os.path.join(run.row.name, "config.json")
        config = {k: v for k, v in run.config.items() if k != "seed"}
        others = [p for p in planned if p.row.name == run.row.name]
        if all(p.state in (OPEN, FAILED) for p in others):
            directory.write(name, config)
        what = f"the config of the row {run.row.name}"
        directory.check_or_write(name, config, what)


def write(
    table: PublishedTable,
    planned: Sequence[PlannedRun],
    model_dir: str,
    settings: Settings,
    comparisons: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Writes `table.json` and `table.md` from the runs' directories.

    Finished runs of other rows and seeds in `model_dir` stay in the table.
    """
    report = table_report.build(
        table,
        _outcomes([*planned, *_others(table, planned, model_dir)]),
        command=settings.command,
        overrides=settings.overrides,
        vectors=_vectors(planned),
        absent=settings.absent,
        comparisons=comparisons,
    )
    text = table_page.markdown(report)
    files.write_json(os.path.join(model_dir, "table.json"), report)
    files.write_text(os.path.join(model_dir, "table.md"), text)
    return report


def _comparisons(
    table: PublishedTable, model_dir: str
) -> dict[str, dict[str, Any]]:
    """Each row that can be compared with the one above it, by its name."""
    found: dict[str, dict[str, Any]] = {}
    above = None
    for row in table.rows:
        folder = os.path.join(model_dir, row.name)
        if not glob.glob(
            os.path.join(glob.escape(folder), "seed_*", "results.json")
        ):
            continue
        if above is not None:
            try:
                result = compare.compare(above[1], folder, draws=1000)
            except MtlError as error:
                logging.debug("%s is not compared: %s", row.name, error)
            else:
                found[row.name] = {"above": above[0].title, **result}
        above = row, folder
    return found


def _others(
    table: PublishedTable, planned: Sequence[PlannedRun], model_dir: str
) -> list[PlannedRun]:
    """The finished runs of `model_dir` that are not planned."""
    found = []
    known = {run.path for run in planned}
    rows = {row.name: row for row in table.rows}
    for path in sorted(
        glob.glob(os.path.join(glob.escape(model_dir), "*", "seed_*"))
    ):
        folder, name = os.path.split(path)
        row, seed = rows.get(os.path.basename(folder)), name[len("seed_") :]
        if row and seed.isdecimal() and path not in known:
            found.append(PlannedRun(row, int(seed), {}, path))
    return [run for run in found if run.state == FINISHED]


def _outcomes(planned: Sequence[PlannedRun]) -> list[table_report.Outcome]:
    outcomes = []
    for run in planned:
        directory, results, failure = RunDirectory(run.path), None, ""
        if run.state == FINISHED:
            results = directory.read("results.json")
        elif run.state == FAILED:
            failure = directory.read("failure.json")["error"]
        outcomes.append(
            table_report.Outcome(run.row.name, run.seed, results, failure)
        )
    return outcomes


def _attempt(run: PlannedRun, settings: Settings) -> None:
    """Does a run; writes down why it failed if it does."""
    failure = os.path.join(run.path, "failure.json")
    # A table holds a hundred models and more: each begins in a clean process
    # state, and the one before is given back.
    keras.backend.clear_session()
    gc.collect()
    try:
        results = _train(run, settings)
        if not os.path.exists(os.path.join(run.path, "results.json")):
            RunDirectory(run.path).write("results.json", results)
    except Interrupted:
        raise
    except Exception as error:
        # A defect of one row must not cost the night's other rows.
        logging.error(
            "The row %s failed: %s",
            *(run.row.name, error),
            exc_info=not isinstance(error, MtlError),
        )
        text = f"{type(error).__name__}: {error}"
        files.write_json(failure, {"error": text})
        return
    if os.path.exists(failure):
        os.unlink(failure)


def _train(run: PlannedRun, settings: Settings) -> dict[str, Any]:
    where = (settings.data_dir, settings.manual_dir)
    if run.row.column == published.BASELINE:
        # Each imports what only its own rows need.
        from mtl_tf.baselines import linear

        return linear.train(run.config, run.path, *where)
    if run.row.column == published.TRANSFER:
        from mtl_tf.experiments import transfer

        table_dir = os.path.dirname(os.path.dirname(run.path))
        row = run.row.control_of or run.row.name
        path = os.path.join(table_dir, row, os.path.basename(run.path))
        return transfer.transfer(
            *(run.config, path, *where, settings.strategy),
            control=run.row.control,
        )
    return training_run.train(run.config, run.path, *where, settings.strategy)


class Clock:
    """Says how long the rest of the runs will take.

    Args:
        planned: all runs; the finished ones' training times are known.
    """

    def __init__(self, planned: Sequence[PlannedRun]):
        self.seconds: dict[str, list[float]] = {}
        for outcome in _outcomes(planned):
            run = (outcome.results or {}).get("run", {})
            if run.get("wall_time"):
                self.add(outcome.row, run["wall_time"])

    def add(self, row: str, seconds: float) -> None:
        """Notes how long a run of a row took."""
        self.seconds.setdefault(row, []).append(seconds)

    def left(self, runs: Sequence[PlannedRun]) -> str:
        """The time left for those of `runs` that are not finished."""
        waiting = [run for run in runs if run.state != FINISHED]
        if not self.seconds:
            return f"{len(waiting)} left, time unknown until one is finished"
        means = {row: statistics.fmean(s) for row, s in self.seconds.items()}
        usual = statistics.fmean(means.values())
        total = sum(means.get(run.row.name, usual) for run in waiting)
        return f"{len(waiting)} left, about {duration(total)}"
