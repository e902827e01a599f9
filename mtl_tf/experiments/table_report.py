"""A reproduced table as data, with the paper's figures."""

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mtl_tf.evaluation import evaluator
from mtl_tf.evaluation.tables.spread import spread
from mtl_tf.experiments import table_differences
from mtl_tf.experiments.published import (
    PublishedRow,
    PublishedTable,
    PublishedTask,
)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        row: the row's name.
        seed: the run's seed.
        results: the contents of its `results.json`, or None.
        failure: why it failed, or "".
    """

    row: str
    seed: int
    results: dict[str, Any] | None = None
    failure: str = ""


def build(
    table: PublishedTable,
    outcomes: Sequence[Outcome],
    commands: Sequence[str] = (),
    overrides: Sequence[str] = (),
    vectors: str = "",
    absent: Mapping[str, str] | None = None,
    thinned: Mapping[str, Sequence[str]] | None = None,
    comparisons: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The table as data.

    Args:
        table: the paper's table.
        outcomes: the planned runs, finished or not.
        commands: the commands that ran them.
        overrides: fields changed in every row's config.
        vectors: the file of pretrained vectors, or "".
        absent: the tasks left out, with the reasons.
        thinned: for rows with phases, by the name of the row's config, the
            missing tasks.
        comparisons: by row, the result of `compare.compare` for the row above
            and the row.

    Returns:
        `table`, `paper`, `commands`, `split`, `decimals`, `tasks` (with the
        metrics and the numbers of test texts, ours and the paper's), `rows`
        (each with `paper` and `ours`: per task, mean and clean mean, each
        as mean, std and n over seeds; parameters, wall time, updates,
        precision, the seeds and failures; `others` for further metrics; and
        `compared`, the mean's part of `comparisons`), `gain` of a row over
        another with the same seeds, or None, `orientation`: the paper's
        figures if they are for another corpus, or None, `differences` of
        the setting, `hardware` and `versions`.
    """
    finished = [o.results for o in outcomes if o.results]
    tasks = [_task(table, task, finished) for task in table.tasks]
    return {
        "table": table.name,
        "paper": table.paper,
        "commands": list(commands),
        "split": finished[0]["split"] if finished else "test",
        "decimals": table.decimals,
        "metric": headline(table),
        "total": table.total,
        "tasks": tasks,
        "rows": [
            {
                "name": row.name,
                "title": row.title,
                "column": row.column,
                "paper": _paper(table, row, tasks),
                "ours": _ours(
                    table, [o for o in outcomes if o.row == row.name]
                ),
                "compared": (comparisons or {}).get(row.name),
            }
            for row in table.rows
        ],
        "gain": _gain(table, outcomes, tasks) if table.gain else None,
        "orientation": _orientation(table.orientation),
        "differences": [
            *table_differences.setting(table, tasks, overrides, vectors),
            *table_differences.coverage(table, tasks, finished, absent or {}),
            *table_differences.thinned_rows(
                table, thinned or {}, {o.row for o in outcomes}
            ),
            *table.notes,
        ],
        "hardware": _distinct(finished, "hardware"),
        "versions": _distinct(finished, "versions"),
    }


def _paper(
    table: PublishedTable, row: PublishedRow, tasks: list[dict]
) -> dict[str, Any]:
    scores = row.scores or (None,) * len(table.tasks)
    # The paper's mean over other tasks than ours is not comparable.
    ours = [task["test"] is not None for task in tasks]
    same = [s for s, is_ours in zip(scores, ours) if is_ours or not any(ours)]
    is_complete = None not in same
    return {
        "tasks": {t.name: score for t, score in zip(table.tasks, scores)},
        "mean": statistics.fmean(same) if is_complete else None,
        "parameters": row.parameters,
        "source": row.source,
    }


def _ours(table: PublishedTable, outcomes: list[Outcome]) -> dict[str, Any]:
    finished = [o.results for o in outcomes if o.results]
    failures = {str(o.seed): o.failure for o in outcomes if o.failure}
    ours: dict[str, Any] = {
        "planned": len(outcomes),
        "finished": [o.seed for o in outcomes if o.results],
        "failures": failures,
    }
    if not finished:
        return ours
    runs = [results.get("run", {}) for results in finished]
    return (
        ours
        | _spreads(table, finished, headline(table))
        | {
            "others": {
                metric: _spreads(table, finished, metric)
                for metric in table.metrics[1:]
            },
            "parameters": runs[0].get("parameters_without_embedding"),
            "models": runs[0].get("models", 1),
            "wall_time": spread(run.get("wall_time") for run in runs),
            "updates": spread(run.get("steps") or None for run in runs),
            "precision": sorted(
                {run["precision"] for run in runs if "precision" in run}
            ),
        }
    )


def headline(table: PublishedTable) -> str:
    """The metric to compare with the paper; "" for each task's own."""
    return table.metrics[0] if table.metrics else ""


def _spreads(
    table: PublishedTable, finished: list[dict], metric: str
) -> dict[str, Any]:
    """The scores of a row by a metric, over seeds."""
    fallback = metric == headline(table)
    means = [_means(results, metric, fallback) for results in finished]
    return {
        "tasks": {
            task.name: spread(
                _value(_scores(task, results), metric, fallback)
                for results in finished
            )
            for task in table.tasks
        },
        "mean": spread(mean["overall"] for mean in means),
        "clean": spread(mean.get("clean", {}).get("overall") for mean in means),
    }


def _metric_of(scores: Mapping, metric: str, fallback: bool) -> str:
    """The metric, or, with `fallback`, else the task's own metric."""
    return scores["primary"] if fallback and metric not in scores else metric


def _value(scores: dict | None, metric: str, fallback: bool) -> float | None:
    if not scores:
        return None
    return scores.get(_metric_of(scores, metric, fallback))


def _means(results: dict, metric: str, fallback: bool) -> dict[str, Any]:
    """The means over a run's tasks; see `evaluator.mean`."""
    if not metric:
        return results["mean"]
    scored = {
        name: evaluator.by_metric(scores, _metric_of(scores, metric, fallback))
        for name, scores in results["tasks"].items()
    }
    with_metric = {n: s for n, s in scored.items() if s["primary"] in s}
    return evaluator.mean(with_metric)


def _gain(
    table: PublishedTable, outcomes: Sequence[Outcome], tasks: list[dict]
) -> dict[str, Any]:
    """How much a row gains over another: ours by seed, and the paper's."""
    rows = [table.row(name) for name in table.gain]
    papers = [_paper(table, row, tasks) for row in rows]
    of_tasks = [
        [paper["tasks"][t.name] for paper in papers] for t in table.tasks
    ]
    return {
        "rows": list(table.gain),
        "title": " - ".join(row.title for row in rows),
        "ours": _our_gain(table, outcomes),
        "paper": {
            "tasks": {
                task.name: _difference(*scores)
                for task, scores in zip(table.tasks, of_tasks)
            },
            "mean": _difference(*(paper["mean"] for paper in papers)),
        },
    }


def _our_gain(
    table: PublishedTable, outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """The differences between rows with equal seeds, over the seeds."""
    metric = headline(table)
    minuend, subtrahend = (
        {o.seed: o.results for o in outcomes if o.row == name and o.results}
        for name in table.gain
    )
    pairs = [
        (minuend[seed], subtrahend[seed])
        for seed in sorted(set(minuend) & set(subtrahend))
    ]

    def gained(score: Callable[[dict], float | None]) -> dict[str, Any]:
        return spread(_difference(*map(score, pair)) for pair in pairs)

    def of_task(task: PublishedTask) -> dict[str, Any]:
        return gained(lambda r: _value(_scores(task, r), metric, True))

    return {
        "tasks": {task.name: of_task(task) for task in table.tasks},
        "mean": gained(lambda r: _means(r, metric, True)["overall"]),
    }


def _difference(
    minuend: float | None, subtrahend: float | None
) -> float | None:
    if minuend is None or subtrahend is None:
        return None
    return minuend - subtrahend


def _orientation(table: PublishedTable | None) -> dict[str, Any] | None:
    """The figures of a paper's table that is not run here."""
    if table is None:
        return None
    tasks = [_task(table, task, []) for task in table.tasks]
    gain = _gain(table, [], tasks) if table.gain else None
    return {
        "paper": table.paper,
        "corpus": table.corpus,
        "decimals": table.decimals,
        "tasks": tasks,
        "rows": [
            {"title": row.title, **_paper(table, row, tasks)}
            for row in table.rows
            if row.scores
        ],
        "gain": gain and {"title": gain["title"], **gain["paper"]},
    }


def _scores(task: PublishedTask, results: dict[str, Any]) -> dict | None:
    """The scores of a table's task in a run's results."""
    by_name = {
        table_differences.short_name(name): s
        for name, s in results["tasks"].items()
    }
    for name in (task.name, *task.also):
        if name in by_name:
            return by_name[name]
    return None


def _task(
    table: PublishedTable, task: PublishedTask, finished: list[dict]
) -> dict[str, Any]:
    metric = headline(table)
    scores = [s for results in finished if (s := _scores(task, results))]
    return {
        "name": task.name,
        "title": task.title,
        "test": max((s[task.unit] for s in scores), default=None),
        "paper_test": task.test,
        "unit": task.unit,
        "metric": (
            _metric_of(scores[0], metric, True) if scores else task.metric
        ),
        "paper_metric": task.metric,
    }


def _distinct(finished: list[dict], fact: str) -> list[Any]:
    values = []
    for results in finished:
        value = results.get("run", {}).get(fact)
        if value and value not in values:
            values.append(value)
    return values
