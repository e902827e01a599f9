"""Two runs, or two folders of seeds, example by example."""

import os
import time
from collections.abc import Sequence
from typing import Any

from absl import logging

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import folding, scored_examples, significance
from mtl_tf.evaluation.significance import Difference, System
from mtl_tf.runs.run_folders import runs_of

# Where a directory holds runs of single tasks: trained separately, or the new
# tasks of a transfer.
_PARTS = ("tasks", "targets")


def compare(
    first: str,
    second: str,
    split: str = "test",
    tasks: Sequence[str] = (),
    draws: int = 2000,
) -> dict[str, Any]:
    """Tells whether the second of two systems is better than the first.

    Args:
        first, second: each a run directory, or a folder of them (`seed_1`,
            `seed_2`, ..., as `experiments.reproduce` makes it).
        split: of which both have kept what they said.
        tasks: names of tasks; those that both have by default.
        draws: of the bootstrap.

    Returns:
        "runs" (two lists of paths), "split", "draws", "tasks" {name: what
        `significance.Difference` has} and "mean", the same of the means.

    Raises:
        RunError: a folder holds no run, or one without kept predictions; or
            the runs were scored on other examples.
        ConfigError: the runs have no task in common, or lack a named one.
    """
    paths = [runs_of(first), runs_of(second)]
    sides = [[kept(path, split) for path in runs] for runs in paths]
    names = _common([run for side in sides for run in side], tasks, paths)
    chosen = [
        [{name: run[name] for name in names} for run in side] for side in sides
    ]
    _check_same(chosen, paths)
    found, mean = significance.compare(
        *chosen, draws=draws, progress=_progress(draws)
    )
    return {
        "runs": paths,
        "split": split,
        "draws": draws,
        "tasks": {name: vars(one) for name, one in found.items()},
        "mean": vars(mean),
    }


def kept(path: str, split: str) -> System:
    """What a run, or its runs of single tasks, said of each example.

    Raises:
        RunError: nothing was kept.
    """
    folders = [path]
    for part in _PARTS:
        below = os.path.join(path, part)
        if os.path.isdir(below):
            folders += [os.path.join(below, n) for n in os.listdir(below)]
    found: dict[str, Any] = {}
    for folder in sorted(folders):
        found |= scored_examples.read(folder, split)
    if not found:
        raise RunError(
            f"{path} has kept no predictions for the split {split!r}: python "
            f"-m launch.evaluate --keep --split={split} --model_dir=RUN "
            "writes them, of single models for each of tasks/*"
        )
    return found


def _common(
    runs: Sequence[System], wanted: Sequence[str], paths: Sequence[list[str]]
) -> list[str]:
    names = [n for n in runs[0] if all(n in run for run in runs)]
    for name in wanted:
        if name not in names:
            raise ConfigError(
                f"the task {name!r} is not among those that all runs have "
                f"kept predictions of: {', '.join(names) or 'none'}"
            )
    if not names:
        raise ConfigError(
            f"{paths[0][0]} and {paths[1][0]} have no task in common"
        )
    left_out = sorted({n for run in runs for n in run} - set(names))
    if left_out and not wanted:
        logging.warning(
            "Left out, since not all runs have them: %s", ", ".join(left_out)
        )
    return list(wanted or names)


def _check_same(
    sides: Sequence[Sequence[System]], paths: Sequence[list[str]]
) -> None:
    """Refuses runs that were scored on other examples or by other metrics."""
    first = sides[0][0]
    for side, folders in zip(sides, paths):
        for run, path in zip(side, folders):
            for name, task in run.items():
                mine, other = first[name], task
                if not len(mine.labels):
                    raise RunError(f"{name} has no examples in {paths[0][0]}")
                if _named(mine) != _named(other):
                    raise RunError(
                        f"{paths[0][0]} and {path} were scored on other "
                        f"examples of the task {name}, or on other labels: "
                        "they cannot be compared one by one"
                    )
                if mine.metrics[0] != other.metrics[0]:
                    raise RunError(
                        f"the primary metric of the task {name} is "
                        f"{mine.metrics[0]} in {paths[0][0]} and "
                        f"{other.metrics[0]} in {path}"
                    )


def _named(task: Any) -> list[Any]:
    """The labels, of classes by name: runs may number them as they like."""
    names = task.class_names

    def name(value: Any) -> Any:
        if isinstance(value, list):
            return [name(one) for one in value]
        known = isinstance(value, int) and not isinstance(value, bool)
        return names[value] if known and value < len(names) else value

    return [name(value) for value in task.labels]


def _progress(draws: int):
    """Logs how far it is, every ten seconds."""
    shown = time.monotonic()

    def progress(done: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            logging.info("draw %d of %d", done, draws)

    return progress


def table(
    found: dict[str, Any],
    titles: Sequence[str],
    columns: int | None = None,
) -> str:
    """The comparison as lines for a terminal, a task each.

    Args:
        found: what `compare` returns.
        titles: how the runs are called.
        columns: the terminal's width; None for lines of any length.
    """
    rows = [("task", "examples", *titles, "gain", "95 % interval", "p")]
    for name, one in [*found["tasks"].items(), ("mean", found["mean"])]:
        rows.append(_row(name, Difference(**one)))
    parts = folding.blocks(rows, columns)
    return "\n\n".join("\n".join(lines) for lines in parts)


def _row(name: str, one: Difference) -> tuple[str, ...]:
    scores = (
        f"{score:.2f} ± {error:.2f}"
        for score, error in zip(one.scores, one.standard_errors)
    )
    low, high = one.interval
    return (
        *(name, f"{one.examples:,}", *scores, f"{one.gain:+.2f}"),
        f"{low:+.2f} to {high:+.2f}",
        f"{one.p_value:.3f}" + ("*" if one.p_value < 0.05 else " "),
    )
