"""The runs for a table of a paper, and their progress."""

import dataclasses
import glob
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.durations import duration
from mtl_tf.core.errors import ConfigError, MissingData
from mtl_tf.core.names import look_up
from mtl_tf.experiments import published
from mtl_tf.experiments.published import PublishedRow, PublishedTable
from mtl_tf.experiments.table_report import Outcome
from mtl_tf.runs.directory.run_directory import RunDirectory

FINISHED, FAILED, BEGUN, OPEN = "finished", "failed", "begun", "to do"
#: The file with the reason why a run failed.
FAILURE = "failure.json"


@dataclasses.dataclass(frozen=True)
class PlannedRun:
    """One row with one seed.

    Attributes:
        row: the paper's row.
        seed: the config's seed.
        config: the resolved config, including the seed.
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
        if directory.has(FAILURE):
            return FAILED
        return BEGUN if os.path.isdir(self.path) else OPEN

    @property
    def has_trained(self) -> bool:
        """Whether it has trained, so that another config is refused there."""
        directory = RunDirectory(self.path)
        return directory.has_trained() or directory.has("sources")


def plan(
    table: PublishedTable,
    make_config: Callable[[PublishedRow], Mapping[str, Any]],
    model_dir: str,
    seeds: int,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[PlannedRun]:
    """The runs of a table in order: every row once, then again.

    So the table has no gaps once the first seed is finished.

    Args:
        table: the table to reproduce.
        make_config: makes the config of a row. If it raises `MissingData`, the
            row is left out, unless `rows` names it.
        model_dir: the parent of the runs' directories.
        seeds: the number of seeds, 1 to n; a row without randomness has only
            the first.
        rows: names of rows, all by default.
        columns: kinds of rows (`published.COLUMNS`), all by default.

    Raises:
        ConfigError: an unknown row or column, or no row is left.
    """
    checks.positive_integer("seeds", seeds)
    planned = []
    planned_rows = _selected_rows(table, rows, columns)
    configs = {}
    for row in planned_rows:
        try:
            configs[row.name] = dict(make_config(row))
        except MissingData as error:
            if rows:
                raise MissingData(f"row {row.name}: {error}")
            logging.warning("The row %s is left out: %s", row.name, error)
    for seed in range(1, seeds + 1):
        for row in (row for row in planned_rows if row.name in configs):
            if seed > 1 and not row.seeded:
                continue
            path = os.path.join(model_dir, row.name, f"seed_{seed}")
            config = {**configs[row.name], "seed": seed}
            planned.append(PlannedRun(row, seed, config, path))
    return planned


def _selected_rows(
    table: PublishedTable, names: Sequence[str], columns: Sequence[str]
) -> list[PublishedRow]:
    known = {r.name: r for r in table.rows if r.column != published.QUOTED}
    for column in columns:
        checks.one_of("column", column, published.COLUMNS)
    named = [look_up(name, known, f"row of {table.name}") for name in names]
    rows = [
        row
        for row in known.values()
        if (not names or row in named)
        and (not columns or row.column in columns)
    ]
    if not rows:
        raise ConfigError(
            f"table {table.name} has no row among {', '.join(names) or 'all'} "
            f"in the columns {', '.join(columns)}"
        )
    return rows


def unplanned(
    table: PublishedTable, planned: Sequence[PlannedRun], model_dir: str
) -> list[PlannedRun]:
    """The runs in `model_dir` that have ended and are not planned."""
    runs = []
    known = {run.path for run in planned}
    rows = {row.name: row for row in table.rows}
    for path in sorted(
        glob.glob(os.path.join(glob.escape(model_dir), "*", "seed_*"))
    ):
        folder, name = os.path.split(path)
        row, seed = rows.get(os.path.basename(folder)), name[len("seed_") :]
        if row and seed.isdecimal() and path not in known:
            runs.append(PlannedRun(row, int(seed), {}, path))
    return [run for run in runs if run.state in (FINISHED, FAILED)]


def outcomes(planned: Sequence[PlannedRun]) -> list[Outcome]:
    """The outcomes of runs: results, an error, or neither yet."""
    result = []
    for run in planned:
        directory, results, failure = RunDirectory(run.path), None, ""
        if run.state == FINISHED:
            results = directory.read("results.json")
        elif run.state == FAILED:
            failure = directory.read(FAILURE)["error"]
        result.append(Outcome(run.row.name, run.seed, results, failure))
    return result


class Clock:
    """Estimates the time that the remaining runs will take.

    Args:
        planned: all runs; the finished ones' training times are known.
    """

    def __init__(self, planned: Sequence[PlannedRun]):
        self.seconds: dict[str, list[float]] = {}
        for outcome in outcomes(planned):
            run = (outcome.results or {}).get("run", {})
            if run.get("wall_time"):
                self.add(outcome.row, run["wall_time"])

    def add(self, row: str, seconds: float) -> None:
        """Records the time of a run of a row."""
        self.seconds.setdefault(row, []).append(seconds)

    def left(self, runs: Sequence[PlannedRun]) -> str:
        """The time left for the unfinished ones of `runs`."""
        waiting = [run for run in runs if run.state != FINISHED]
        if not self.seconds:
            return f"{len(waiting)} left, time unknown until one is finished"
        means = {row: statistics.fmean(s) for row, s in self.seconds.items()}
        usual = statistics.fmean(means.values())
        total = sum(means.get(run.row.name, usual) for run in waiting)
        return f"{len(waiting)} left, about {duration(total)}"
