"""A reproduced table as a Markdown page, from the data of `table_report`."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from mtl_tf.core.durations import duration
from mtl_tf.evaluation.tables.markdown_grid import grid
from mtl_tf.evaluation.tables.score_format import metric_title
from mtl_tf.experiments import published

# More tasks than this become rows, with models as columns.
_WIDE = 6
_THEIRS = " (the paper's)"
_KINDS = {
    published.SINGLE: "single task",
    published.MULTI: "multi-task",
    published.TRANSFER: "transfer",
    published.BASELINE: "baseline",
    published.QUOTED: "quoted by the paper",
}


def markdown(report: dict[str, Any]) -> str:
    """The table as a Markdown page."""
    title = f"# {report['table']}: {report['paper']}"
    parts = [
        title,
        f"{_scale(report)} on the split `{report['split']}`, mean and standard "
        "deviation over the seeds. Clean: only texts that occur in no "
        "training or validation text of the whole group. Parameters are "
        "without word vectors, times are of training one seed.",
        grid(*_summary(report)),
        *_totals(report),
        *_compared(report),
        f"## Each task: ours{_THEIRS if _has_paper(report) else ''}",
        grid(*_details(report)),
        *_further_metrics(report),
        *_orientation(report),
        "## What differs from the paper's setting",
        "\n".join(f"* {text}" for text in report["differences"]),
    ]
    if failures := list(_failures(report)):
        parts += ["## Failed runs", "\n".join(failures)]
    parts += ["## Made by", "\n".join(_origin(report))]
    return "\n\n".join(parts) + "\n"


def _summary(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    header = [
        "model",
        "kind",
        "paper",
        "ours",
        "ours - paper",
        "clean",
        "parameters, paper",
        "parameters",
        "training time",
        "updates",
        "precision",
        "seeds",
    ]
    show = _Numbers(report["decimals"])
    rows = [_summary_row(row, show) for row in report["rows"]]
    if gain := report["gain"]:
        show = _Differences(report["decimals"])
        means = gain["paper"]["mean"], gain["ours"]["mean"]
        cells = [show.number(means[0]), show.spread(means[1])]
        rest = ["-"] * (len(header) - 5)
        rows.append(
            [gain["title"], "gain", *cells, *rest, str(means[1]["runs"])]
        )
    return header, rows


def _summary_row(row: dict[str, Any], show: "_Numbers") -> list[str]:
    paper, ours = row["paper"], row["ours"]
    mean = ours.get("mean", {}).get("mean")
    comparable = paper["mean"] is not None and mean is not None
    seconds = ours.get("wall_time", {}).get("mean")
    title = row["title"]
    if paper["source"]:
        title += f" (paper's figures: {paper['source']})"
    return [
        title,
        _KINDS[row["column"]],
        show.number(paper["mean"]),
        show.spread(ours.get("mean")),
        show.difference(mean - paper["mean"]) if comparable else "-",
        show.spread(ours.get("clean")),
        _thousands(paper["parameters"]),
        _parameters(ours),
        "-" if seconds is None else duration(seconds),
        _updates(ours),
        ", ".join(ours.get("precision", ())) or "-",
        _seeds(ours),
    ]


def _totals(report: dict[str, Any]) -> Iterator[str]:
    """The sum over tasks, if the paper has one."""
    name, show = report.get("total"), _Numbers(report["decimals"])
    if not name:
        return
    scored = {
        task["name"]: task["title"]
        for task in report["tasks"]
        if any(
            _mean_of(row, task["name"]) is not None for row in report["rows"]
        )
    }
    missing = [t["title"] for t in report["tasks"] if t["name"] not in scored]
    rows = []
    for row in report["rows"]:
        paper = row["paper"]["tasks"]
        ours = [_mean_of(row, name) for name in scored]
        sums = [
            _sum(list(paper.values())),
            _sum([paper[name] for name in scored]),
            _sum(ours),
        ]
        rows.append(
            [row["title"], _KINDS[row["column"]], *map(show.number, sums)]
        )
    yield f"## {name}: the sum over tasks"
    yield (
        f"Over {len(scored)} of {len(report['tasks'])} tasks"
        + (f", without {', '.join(missing)}." if missing else ".")
    )
    yield grid(
        ["model", "kind", "paper, all tasks", "paper, these tasks", "ours"],
        rows,
    )


def _mean_of(row: dict[str, Any], task: str) -> float | None:
    scores = row["ours"].get("tasks", {}).get(task)
    return scores and scores["mean"]


def _sum(scores: list[float | None]) -> float | None:
    return sum(scores) if scores and None not in scores else None


def _compared(report: dict[str, Any]) -> Iterator[str]:
    """Each row compared with the one above it."""
    show = _Numbers(max(report["decimals"], 1))
    rows = [
        [row["title"], *_comparison(row["compared"], show)]
        for row in report["rows"]
        if row.get("compared")
    ]
    if not rows:
        return
    yield "## Each row beside the one above it"
    yield (
        "The mean over tasks: its standard error by the choice of the test "
        "examples, and a paired bootstrap over examples and seeds "
        "(`python -m launch.compare`)."
    )
    yield grid(
        [
            "model",
            "row above",
            "standard error",
            "gain",
            "95 % interval",
            "p",
            "significant",
        ],
        rows,
    )


def _comparison(found: dict[str, Any], show: "_Numbers") -> list[str]:
    """A row's cells; older tables have the error in the comparison alone."""
    if "mean" not in found:
        return ["-", show.number(found["standard_error"]), *["-"] * 4]
    mean = found["mean"]
    error = found.get("standard_error", mean["standard_errors"][1])
    low, high = mean["interval"]
    return [
        found["above"],
        show.number(error),
        show.difference(mean["gain"]),
        f"{show.difference(low)} to {show.difference(high)}",
        f"{mean['p_value']:.3f}",
        "yes" if mean["p_value"] < 0.05 else "no",
    ]


def _updates(ours: dict) -> str:
    mean = ours.get("updates", {}).get("mean")
    return "-" if mean is None else f"{round(mean):,}"


def _scale(report: dict[str, Any]) -> str:
    """The meaning of the numbers."""
    if not report["metric"]:
        return "Percentages"
    return f"{metric_title(report['metric'])} from 0 to 100"


def _has_paper(report: dict[str, Any]) -> bool:
    return any(
        score is not None
        for row in report["rows"]
        for score in row["paper"]["tasks"].values()
    )


def _details(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Scores by model and task; the longer of the two are the rows."""
    columns = [["model", *(row["title"] for row in report["rows"])]]
    show = _Numbers(report["decimals"])
    for task in report["tasks"]:
        cells = [
            show.cell(row["ours"].get("tasks", {}).get(task["name"]), score)
            for row in report["rows"]
            for score in [row["paper"]["tasks"][task["name"]]]
        ]
        columns.append([_titled(task, report["tasks"]), *cells])
    if gain := report["gain"]:
        show = _Differences(report["decimals"])
        columns[0].append(gain["title"])
        for column, task in zip(columns[1:], report["tasks"]):
            gains = (gain[whose]["tasks"] for whose in ("ours", "paper"))
            column.append(show.cell(*(means[task["name"]] for means in gains)))
    if len(report["tasks"]) > _WIDE:
        columns[0][0] = "task"
        return columns[0], columns[1:]
    header, *rows = (list(line) for line in zip(*columns))
    return header, rows


def _further_metrics(report: dict[str, Any]) -> Iterator[str]:
    """Sections for further metrics of the runs."""
    show = _Numbers(report["decimals"])
    metrics = {
        metric: None
        for row in report["rows"]
        for metric, scores in row["ours"].get("others", {}).items()
        if scores["mean"]["runs"]
    }
    for metric in metrics:
        # Figures of the paper next to another metric would seem comparable.
        has_paper = metric.startswith(published.PAPER) and _has_paper(report)
        header = ["model", *(t["title"] for t in report["tasks"]), "mean"]
        rows = []
        for row in report["rows"]:
            ours = row["ours"].get("others", {}).get(metric, {})
            cells = [
                show.cell(
                    ours.get("tasks", {}).get(task["name"]),
                    row["paper"]["tasks"][task["name"]] if has_paper else None,
                )
                for task in report["tasks"]
            ]
            mean = row["paper"]["mean"] if has_paper else None
            cells.append(show.cell(ours.get("mean"), mean))
            rows.append([row["title"], *cells])
        yield f"## {metric_title(metric)}: ours{_THEIRS if has_paper else ''}"
        yield grid(header, rows)


def _orientation(report: dict[str, Any]) -> Iterator[str]:
    """The paper's figures on another corpus."""
    theirs = report["orientation"]
    if not theirs:
        return
    show = _Numbers(theirs["decimals"])
    yield f"## For orientation: the paper's figures, on {theirs['corpus']}"
    yield (
        f"{theirs['paper']}. Other texts, languages and sizes: only the gain "
        "of a row over the other compares, and that roughly."
    )
    rows = [
        [
            row["title"],
            *(show.number(row["tasks"][t["name"]]) for t in theirs["tasks"]),
            show.number(row["mean"]),
        ]
        for row in theirs["rows"]
    ]
    if gain := theirs["gain"]:
        show = _Differences(theirs["decimals"])
        scores = [gain["tasks"][task["name"]] for task in theirs["tasks"]]
        cells = [show.number(score) for score in (*scores, gain["mean"])]
        rows.append([gain["title"], *cells])
    yield grid(["model", *(t["title"] for t in theirs["tasks"]), "mean"], rows)


def _titled(task: dict, tasks: list[dict]) -> str:
    """A task's title, with its metric if metrics differ."""
    if len({t["metric"] for t in tasks}) == 1:
        return task["title"]
    return f"{task['title']}, {metric_title(task['metric'])}"


@dataclasses.dataclass(frozen=True)
class _Numbers:
    """Formats scores with the paper's number of decimals."""

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


class _Differences(_Numbers):
    """Formats differences of scores, with signs."""

    def number(self, value: float | None) -> str:
        return "-" if value is None else self.difference(value)

    def spread(self, value: dict | None) -> str:
        text = super().spread(value)
        return text.replace("± +", "± ")


def _thousands(value: int | None) -> str:
    return "-" if value is None else f"{value // 1000}K"


def _parameters(ours: dict) -> str:
    total, models = ours.get("parameters"), ours.get("models", 1)
    if total is None:
        return "-"
    if models == 1:
        return f"{total:,}"
    # Models for tasks with more classes are larger.
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
    for command in report["commands"]:
        yield f"* command: `{command}`"
    for machine in report["hardware"]:
        yield f"* hardware: {machine}"
    for versions in report["versions"]:
        listed = ", ".join(f"{name} {v}" for name, v in versions.items())
        yield f"* versions: {listed}"
