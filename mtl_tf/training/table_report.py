"""A reproduced table as data and as Markdown, beside the paper's figures."""

import dataclasses
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtl_tf.evaluation.tables import duration, grid, metric_title
from mtl_tf.training import published
from mtl_tf.training.published import (
    PublishedRow,
    PublishedTable,
    PublishedTask,
)

# More tasks than this stand below each other, models side by side.
_WIDE = 6
_UNITS = {"examples": "texts", "tokens": "tokens"}
_KINDS = {
    published.SINGLE: "single task",
    published.MULTI: "multi-task",
    published.TRANSFER: "transfer",
    published.BASELINE: "baseline",
    published.QUOTED: "quoted by the paper",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes:
        row: the row's name.
        seed: its seed.
        results: the contents of its `results.json`, or None.
        failure: why it failed, "" if it did not.
    """

    row: str
    seed: int
    results: dict[str, Any] | None = None
    failure: str = ""


def build(
    table: PublishedTable,
    outcomes: Sequence[Outcome],
    command: str = "",
    overrides: Sequence[str] = (),
    vectors: str = "",
    absent: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The table as data.

    Args:
        table: the paper's.
        outcomes: the planned runs, finished or not.
        command: that made them.
        overrides: fields changed in every row's config.
        vectors: the file of pretrained vectors, "" for none.
        absent: tasks that were left out, and why.

    Returns:
        `table`, `paper`, `command`, `split`, `decimals`, `tasks` (with the
        metrics and the numbers of test texts, ours and the paper's), `rows`
        (each with `paper` and `ours`: per task, mean, clean mean, each as
        mean, std and n over seeds; parameters, wall time, the seeds and
        failures), `differences` of the setting, `hardware` and `versions`.
    """
    done = [o.results for o in outcomes if o.results]
    tasks = [_task(task, done) for task in table.tasks]
    return {
        "table": table.name,
        "paper": table.paper,
        "command": command,
        "split": done[0]["split"] if done else "test",
        "decimals": table.decimals,
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
            }
            for row in table.rows
        ],
        "differences": [
            *_setting(table, tasks, overrides, vectors),
            *_coverage(table, tasks, done, absent or {}),
            *table.notes,
        ],
        "hardware": _distinct(done, "hardware"),
        "versions": _distinct(done, "versions"),
    }


def _paper(
    table: PublishedTable, row: PublishedRow, tasks: list[dict]
) -> dict[str, Any]:
    scores = row.scores or (None,) * len(table.tasks)
    # The mean of other tasks than ours compares with nothing.
    ours = [task["test"] is not None for task in tasks]
    same = [s for s, there in zip(scores, ours) if there or not any(ours)]
    whole = None not in same
    return {
        "tasks": {t.name: score for t, score in zip(table.tasks, scores)},
        "mean": statistics.fmean(same) if whole else None,
        "parameters": row.parameters,
        "source": row.source,
    }


def _ours(table: PublishedTable, outcomes: list[Outcome]) -> dict[str, Any]:
    done = [o.results for o in outcomes if o.results]
    failures = {str(o.seed): o.failure for o in outcomes if o.failure}
    ours: dict[str, Any] = {
        "planned": len(outcomes),
        "finished": [o.seed for o in outcomes if o.results],
        "failures": failures,
    }
    if not done:
        return ours
    found = [
        [_scores(task, results) for task in table.tasks] for results in done
    ]
    runs = [results.get("run", {}) for results in done]
    return ours | {
        "tasks": {
            task.name: spread(_primary(scores[place]) for scores in found)
            for place, task in enumerate(table.tasks)
        },
        "mean": spread(results["mean"]["overall"] for results in done),
        "clean": spread(
            results["mean"].get("clean", {}).get("overall") for results in done
        ),
        "parameters": runs[0].get("parameters_without_embedding"),
        "models": runs[0].get("models", 1),
        "wall_time": spread(run.get("wall_time") for run in runs),
    }


def spread(values) -> dict[str, Any]:
    """Mean and standard deviation (n - 1) of the values that are known."""
    known = [float(value) for value in values if value is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "std": statistics.stdev(known) if len(known) > 1 else None,
        "n": len(known),
    }


def _scores(task: PublishedTask, results: dict[str, Any]) -> dict | None:
    """The scores of a table's task in a run's results."""
    by_name = {_own(name): s for name, s in results["tasks"].items()}
    for name in (task.name, *task.also):
        if name in by_name:
            return by_name[name]
    return None


def _own(name: str) -> str:
    """A task's name; one named by its group is called group/task."""
    return name.split("/")[-1]


def _primary(scores: dict | None) -> float | None:
    return scores[scores["primary"]] if scores else None


def _task(task: PublishedTask, done: list[dict]) -> dict[str, Any]:
    found = [s for results in done if (s := _scores(task, results))]
    return {
        "name": task.name,
        "title": task.title,
        "test": max((s[task.unit] for s in found), default=None),
        "paper_test": task.test,
        "unit": task.unit,
        "metric": found[0]["primary"] if found else task.metric,
        "paper_metric": task.metric,
    }


def _setting(
    table: PublishedTable,
    tasks: list[dict],
    overrides: Sequence[str],
    vectors: str,
) -> Iterator[str]:
    """What differs in these runs from the paper's setting, in sentences."""
    if vectors:
        yield f"Word vectors from {vectors}; the paper's: {table.vectors}."
    else:
        yield f"No pretrained word vectors; the paper has {table.vectors}."
    sizes: dict[tuple[int, int, str], list[str]] = {}
    for task in tasks:
        ours, paper = task["test"], task["paper_test"]
        if None not in (ours, paper) and ours != paper:
            key = (ours, paper, _UNITS[task["unit"]])
            sizes.setdefault(key, []).append(task["title"])
    for (ours, paper, unit), titles in sizes.items():
        every = "each task" if len(titles) == len(tasks) else ", ".join(titles)
        yield f"{ours:,} test {unit} of {every}; the paper has {paper:,}."
    if overrides:
        yield f"Changed in every row's config: {', '.join(overrides)}."


def _coverage(
    table: PublishedTable,
    tasks: list[dict],
    done: list[dict],
    absent: Mapping[str, str],
) -> Iterator[str]:
    """Where the tasks and their metrics are not those of the paper."""
    if absent:
        yield (
            f"Left out, since there are no files of them: {', '.join(absent)}. "
            "Means are over the tasks that are there."
        )
    for task in tasks:
        if task["metric"] != task["paper_metric"]:
            ours, paper = map(
                metric_title, (task["metric"], task["paper_metric"])
            )
            yield f"{task['title']}: ours is {ours}, the paper's {paper}."
    known = {name for task in table.tasks for name in (task.name, *task.also)}
    found = {name for results in done for name in results["tasks"]}
    others = sorted(name for name in found if _own(name) not in known)
    if others:
        yield (
            "Our means include tasks that the table does not have: "
            f"{', '.join(others)}."
        )


def _distinct(done: list[dict], fact: str) -> list[Any]:
    found = []
    for results in done:
        value = results.get("run", {}).get(fact)
        if value and value not in found:
            found.append(value)
    return found


def markdown(report: dict[str, Any]) -> str:
    """The table as a Markdown page."""
    title = f"# {report['table']}: {report['paper']}"
    parts = [
        title,
        f"Percentages on the split `{report['split']}`, mean and standard "
        "deviation over the seeds. Clean: only texts that occur in no "
        "training or validation text of the whole group. Parameters are "
        "without word vectors, times are of training one seed.",
        grid(*_summary(report)),
        "## Each task: ours (the paper's)",
        grid(*_details(report)),
        "## What differs from the paper's setting",
        "\n".join(f"* {text}" for text in report["differences"]),
    ]
    if failures := list(_failures(report)):
        parts += ["## Failed runs", "\n".join(failures)]
    parts += ["## Made by", "\n".join(_origin(report))]
    return "\n\n".join(parts) + "\n"


def _summary(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    header = [
        *("model", "kind", "paper", "ours", "ours - paper", "clean"),
        *("parameters, paper", "parameters", "training time", "seeds"),
    ]
    show = _Numbers(report["decimals"])
    return header, [_summary_row(row, show) for row in report["rows"]]


def _summary_row(row: dict[str, Any], show: "_Numbers") -> list[str]:
    paper, ours = row["paper"], row["ours"]
    mean = ours.get("mean", {}).get("mean")
    both = paper["mean"] is not None and mean is not None
    seconds = ours.get("wall_time", {}).get("mean")
    title = row["title"]
    if paper["source"]:
        title += f" (paper's figures: {paper['source']})"
    return [
        title,
        _KINDS[row["column"]],
        show.number(paper["mean"]),
        show.spread(ours.get("mean")),
        show.difference(mean - paper["mean"]) if both else "-",
        show.spread(ours.get("clean")),
        _thousands(paper["parameters"]),
        _parameters(ours),
        "-" if seconds is None else duration(seconds),
        _seeds(ours),
    ]


def _details(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Scores by model and task; the longer of the two goes downwards."""
    columns = [["model", *(row["title"] for row in report["rows"])]]
    show = _Numbers(report["decimals"])
    for task in report["tasks"]:
        cells = [
            show.cell(row["ours"].get("tasks", {}).get(task["name"]), score)
            for row in report["rows"]
            for score in [row["paper"]["tasks"][task["name"]]]
        ]
        columns.append([_titled(task, report["tasks"]), *cells])
    if len(report["tasks"]) > _WIDE:
        columns[0][0] = "task"
        return columns[0], columns[1:]
    header, *rows = (list(line) for line in zip(*columns))
    return header, rows


def _titled(task: dict, tasks: list[dict]) -> str:
    """A task's title, with its metric where not all have the same."""
    if len({other["metric"] for other in tasks}) == 1:
        return task["title"]
    return f"{task['title']}, {metric_title(task['metric'])}"


@dataclasses.dataclass(frozen=True)
class _Numbers:
    """Writes percentages with as many decimals as the paper does."""

    decimals: int

    def number(self, value: float | None) -> str:
        return "-" if value is None else f"{value:.{self.decimals}f}"

    def difference(self, value: float) -> str:
        return f"{value:+.{self.decimals}f}"

    def spread(self, value: dict | None) -> str:
        if not value or value["mean"] is None:
            return "-"
        mean = self.number(value["mean"])
        if value["std"] is None:
            return mean
        return f"{mean} ± {self.number(value['std'])}"

    def cell(self, ours: dict | None, paper: float | None) -> str:
        text = self.spread(ours)
        return text if paper is None else f"{text} ({self.number(paper)})"


def _thousands(value: int | None) -> str:
    return "-" if value is None else f"{value // 1000}K"


def _parameters(ours: dict) -> str:
    total, models = ours.get("parameters"), ours.get("models", 1)
    if total is None:
        return "-"
    if models == 1:
        return f"{total:,}"
    # Tasks with more classes have larger models.
    equal = total % models == 0
    return f"{models} x {total // models:,}" if equal else f"{total:,} in all"


def _seeds(ours: dict) -> str:
    finished, planned = len(ours["finished"]), ours["planned"]
    if not planned:
        return "-"
    return str(planned) if finished == planned else f"{finished} of {planned}"


def _failures(report: dict[str, Any]) -> Iterator[str]:
    for row in report["rows"]:
        for seed, error in row["ours"]["failures"].items():
            first = error.strip().split("\n")[0]
            yield f"* {row['title']}, seed {seed}: {first}"


def _origin(report: dict[str, Any]) -> Iterator[str]:
    if report["command"]:
        yield f"* command: `{report['command']}`"
    for machine in report["hardware"]:
        yield f"* hardware: {machine}"
    for versions in report["versions"]:
        listed = ", ".join(f"{name} {v}" for name, v in versions.items())
        yield f"* versions: {listed}"
