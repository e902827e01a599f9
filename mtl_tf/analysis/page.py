"""The HTML page of an `Analysis`."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtl_tf.analysis import html
from mtl_tf.analysis.confusion_picture import confusion_picture
from mtl_tf.analysis.curve_picture import Trained, curve_picture
from mtl_tf.analysis.histories import History
from mtl_tf.analysis.html import Markup, table, tag
from mtl_tf.analysis.reliability_picture import reliability_picture
from mtl_tf.analysis.run_analysis import Analysis, TaskAnalysis
from mtl_tf.core.durations import duration
from mtl_tf.evaluation.metrics import metrics
from mtl_tf.evaluation.mistakes import Mistake
from mtl_tf.evaluation.tables.remarks import warnings
from mtl_tf.evaluation.tables.score_format import (
    mean_format,
    metric_title,
    shown_score,
)
from mtl_tf.evaluation.tables.spread import spread

# Tokens on either side of a wrong one.
_AROUND = 12
_NO_SCORES = ("examples", "tokens", "loss", "validation_in_training")


def page(analysis: Analysis) -> str:
    """The page as HTML, which needs no other file.

    Args:
        analysis: what to show.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    name = analysis.run.get("name") or os.path.basename(analysis.paths[0])
    parts = [*_overview(analysis), *_training(analysis)]
    for number, task in enumerate(analysis.tasks):
        parts += _task(analysis, task, number)
    return html.page(f"Analysis of {name}", parts)


def _overview(analysis: Analysis) -> Iterator[Markup]:
    results = analysis.results[0]
    links = (
        tag("a", name, href=f"#task-{number}")
        for number, name in enumerate(analysis.tasks)
    )
    yield tag("nav", html.joined(links))
    yield table([], _facts(analysis), texts=2)
    yield tag("h2", f"Scores on the split {analysis.split}")
    if len(analysis.paths) > 1:
        yield table(*_seed_scores(analysis), texts=2)
        yield tag(
            "p",
            "Mean and sample standard deviation over the seeds. Sizes and "
            "times above, and classes and mistakes below, are those of the "
            f"first run, {analysis.paths[0]}.",
            class_="note",
        )
    else:
        header = ["task", "metric", "examples", "score"]
        yield table(header, _scores(results), texts=2)
    for warning in warnings(results):
        yield tag("p", warning)
    if analysis.missing:
        yield tag("p", f"No texts are shown: {analysis.missing}")


def _facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    run = analysis.run
    yield (
        "runs" if len(analysis.paths) > 1 else "run",
        ", ".join(analysis.paths),
    )
    noun = "seeds" if len(analysis.seeds) > 1 else "seed"
    yield noun, ", ".join(map(str, analysis.seeds))
    for key in ("parameters", "steps"):
        if run.get(key) is not None:
            yield key, f"{run[key]:,}"
    if run.get("wall_time") is not None:
        yield "training time", duration(run["wall_time"])
    if run.get("hardware"):
        yield "hardware", str(run["hardware"])
    versions = run.get("versions") or {}
    if versions:
        yield "versions", ", ".join(f"{k} {v}" for k, v in versions.items())


def _scores(results: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A row for each metric of each task, the mean last."""
    for name, task in results["tasks"].items():
        for metric in (task["primary"], *_other_metrics(task)):
            score = shown_score(metric, task[metric])
            yield name, metric_title(metric), str(task["examples"]), score
    metric, sign = mean_format(results["tasks"])
    mean = results["mean"]["overall"]
    shown = shown_score(metric, mean and sign * mean)
    yield "mean of the primary metrics", "", "", shown


def _other_metrics(task: Mapping[str, Any]) -> list[str]:
    return [
        key
        for key, value in task.items()
        if key not in (*_NO_SCORES, task["primary"], "lower_is_better")
        and isinstance(value, (int, float))
    ]


def _seed_scores(analysis: Analysis) -> tuple[list[str], list[list[str]]]:
    """The primary score of each task in each run."""
    header = ["task", "metric", *(f"seed {seed}" for seed in analysis.seeds)]
    header += ["mean", "standard deviation"]
    rows = []
    for name, task in analysis.results[0]["tasks"].items():
        metric = task["primary"]
        scores = [
            results["tasks"][name][metric] for results in analysis.results
        ]
        rows.append([name, metric_title(metric), *_spread(metric, scores)])
    metric, sign = mean_format(analysis.results[0]["tasks"])
    means = [results["mean"]["overall"] for results in analysis.results]
    means = [mean and sign * mean for mean in means]
    rows.append(["mean", "", *_spread(metric, means)])
    return header, rows


def _spread(metric: str, scores: Sequence[float | None]) -> list[str]:
    of_all = spread(scores)
    numbers = [*scores, of_all["mean"], of_all["std"]]
    return [shown_score(metric, number) for number in numbers]


def _training(analysis: Analysis) -> Iterator[Markup]:
    """Learning curves of the means, and how each stage ended."""
    yield tag("h2", "Training")
    if not any(analysis.histories):
        yield tag("p", "metrics.jsonl notes no evaluation.")
        return
    for path, stages in zip(analysis.paths, analysis.histories):
        for history in stages:
            whose = f"{path}, {_stage_title(history)}: "
            strong = tag("strong", history.ending)
            sentence = strong if history.stopped_early else history.ending
            yield tag("p", html.joined([whose, sentence], ""))
    several = [
        [history for history in stages if len(history.tasks) > 1]
        for stages in analysis.histories
    ]
    yield from _curves(several, "")
    if len(analysis.paths) > 1:
        yield tag(
            "p",
            "Lines are means over the runs that got so far, bands reach from "
            "the lowest to the highest.",
            class_="note",
        )


def _stage_title(history: History) -> str:
    if len(history.tasks) == 1:
        return f"{history.stage} of {next(iter(history.tasks))}"
    return history.stage


def _curves(runs: Sequence[Sequence[History]], task: str) -> Iterator[Markup]:
    """A picture for each stage, of a task or of the means if it is ""."""
    stages: dict[str, list[Trained]] = {}
    for histories in runs:
        for history in histories:
            curves = history.tasks.get(task) if task else history.mean
            if curves:
                line = Trained(history.steps, curves, history.best_step)
                stages.setdefault(history.stage, []).append(line)
    for stage, lines in stages.items():
        caption = f"Learning curves of {task or 'the means over the tasks'}"
        yield tag("h4", f"{caption}, stage {stage}")
        yield html.picture(curve_picture(lines), f"{caption}, stage {stage}")


def _task(analysis: Analysis, name: str, number: int) -> Iterator[Markup]:
    scores = analysis.results[0]["tasks"][name]
    yield tag("h2", name, id=f"task-{number}")
    yield tag("p", f"{scores['type']}, {scores['examples']} examples")
    yield table(["metric", "score"], _task_scores(scores))
    if "confusion" in scores:
        yield from _confusion(**scores["confusion"])
    if scores.get("types"):
        yield tag("h3", "By type or label")
        yield _by_class(scores["types"].items())
    yield from _probabilities(analysis.tasks[name], name)
    yield from _mistakes(analysis.tasks[name])
    yield tag("h3", "Training")
    yield from _curves(analysis.histories, name)


def _probabilities(task: TaskAnalysis, name: str) -> Iterator[Markup]:
    """A reliability diagram, and numbers of which less is better."""
    if not task.reliability:
        return
    quality = task.quality
    yield tag("h3", "Probabilities")
    yield table(
        ["measure", "value"],
        [
            (
                "expected calibration error",
                f"{quality['calibration_error']:.1f} %",
            ),
            ("Brier score", f"{quality['brier']:.3f}"),
            ("log loss", f"{quality['log_loss']:.3f}"),
        ],
    )
    picture = reliability_picture(task.reliability)
    yield html.picture(picture, f"Reliability of the probabilities of {name}")


def _task_scores(scores: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for metric in (scores["primary"], *_other_metrics(scores)):
        yield metric_title(metric), shown_score(metric, scores[metric])
    if scores.get("loss") is not None:
        yield "loss", f"{scores['loss']:.4f}"
    primary = scores["primary"]
    clean = scores.get("clean")
    if clean:
        title = f"clean {metric_title(primary)} ({clean['examples']} examples)"
        yield title, shown_score(primary, clean[primary])
    for name, value in scores.get("yardsticks", {}).items():
        title = f"{metric_title(primary)} of the yardstick {name}"
        yield title, shown_score(primary, value)


def _confusion(
    classes: Sequence[str], matrix: Sequence[Sequence[int]]
) -> Iterator[Markup]:
    yield tag("h3", "By class")
    yield _by_class(zip(classes, metrics.of_classes(matrix)))
    yield tag("h3", "Confusion (rows: labels, columns: predictions)")
    rows = []
    for place, (label, counts) in enumerate(zip(classes, matrix)):
        cells = [str(count) for count in counts]
        cells[place] = tag("strong", cells[place])
        rows.append([tag("strong", label), *cells])
    yield table(["", *classes], rows)
    yield html.picture(confusion_picture(classes, matrix), "Confusion matrix")


def _by_class(rows: Any) -> Markup:
    columns = ("precision", "recall", "f1")
    return table(
        ["", "precision", "recall", "F1", "support"],
        [
            [name, *(shown_score("", row[c]) for c in columns), row["support"]]
            for name, row in rows
        ],
    )


def _mistakes(task: TaskAnalysis) -> Iterator[Markup]:
    measure = metric_title(task.measure)
    yield tag("h3", f"Mistakes, by {measure}")
    if not task.mistakes:
        yield tag("p", "None." if not task.wrong else "None are shown.")
        return
    yield tag("p", f"{len(task.mistakes)} of {task.wrong}, the worst first.")
    has_measure = any(mistake.measure is not None for mistake in task.mistakes)
    rows = []
    for mistake in task.mistakes:
        text = _text(task.inputs.get(mistake.number), mistake)
        row = [text, _plain(mistake.label), _plain(mistake.prediction)]
        rows.append([*row, _number(mistake.measure)] if has_measure else row)
    header = ["text", "label", "predicted"] + [measure] * has_measure
    yield table(header, rows, texts=3)


def _text(read: Any, mistake: Mistake) -> Markup:
    """What an example is read from, its wrong token marked."""
    if read is None:
        return Markup(f"example {mistake.number}")
    if isinstance(read, Mapping):
        parts = (
            html.joined([tag("em", f"{name}: "), html.long_text(_plain(text))])
            for name, text in read.items()
        )
        return html.joined(parts, "<br>")
    if mistake.place is None:
        return html.long_text(_plain(read))
    start = max(0, mistake.place - _AROUND)
    stop = mistake.place + 1 + _AROUND
    words = [
        tag("mark", word) if place == mistake.place else word
        for place, word in enumerate(read[start:stop], start)
    ]
    before, after = start > 0, stop < len(read)
    return html.joined(["\u2026"] * before + words + ["\u2026"] * after, " ")


def _plain(value: Any) -> str:
    """A value of an example as a text."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value if value.strip() else "(empty)"
    if isinstance(value, Sequence):
        return ", ".join(map(_plain, value)) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
