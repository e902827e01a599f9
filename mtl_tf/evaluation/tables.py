"""Results as aligned tables: for the console and for `results.md`."""

from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.core import task_types as type_names
from mtl_tf.core.durations import duration
from mtl_tf.evaluation import folding, task_types

_NONE = "-"
_NARROW = {  # the console's headings, to fit a terminal
    "examples": "n",
    "macro F1": "F1",
    "clean examples": "clean n",
    "clean macro F1": "clean F1",
    "validation in training": "val. in train",
    "token accuracy": "token acc.",
    "clean token accuracy": "clean token acc.",
}
_FACTS = {
    "name": "config",
    "seed": "seed",
    "parameters": "parameters",
    "trainable_parameters": "trainable parameters",
    "parameters_without_embedding": "parameters without embeddings",
    "own_parameters_per_task": "own parameters per task",
    "best_step": "best step",
    "wall_time": "wall time",
    "hardware": "hardware",
    "versions": "versions",
}
# Of all parameters, whose share is told.
_PARTS = ("trainable_parameters", "own_parameters_per_task")
_MEANING = (
    "Scores run from 0 to 100, errors in units of their values. Clean: the "
    "examples whose text occurs in no training or validation text of the "
    "whole group of tasks."
)


def metric_title(name: str) -> str:
    """How tables call the metric of that name."""
    return _told("titles", name, name)


def _told(about: str, metric: str, default: Any) -> Any:
    """What the first task type that has it in a table tells of a metric."""
    tables = (
        getattr(task_types.of(name), about) for name in type_names.known()
    )
    return next((table[metric] for table in tables if metric in table), default)


def console(results: dict[str, Any], columns: int | None = None) -> str:
    """The results as a table with aligned columns, for a terminal.

    Args:
        results: what `evaluator.evaluate` returns. Its optional part `run`
            holds facts on the run: any of `name`, `seed`, `parameters`,
            `trainable_parameters`, `parameters_without_embedding` (those of
            the trainable ones), `best_step`, `wall_time` (in
            seconds), `hardware`, `versions` (a dict).
        columns: the terminal's width; None for lines of any length. A table
            that does not fit becomes one for each type of tasks, and these
            are folded.

    Returns:
        Lines without a newline at the end.
    """
    lines = [f"split: {results['split']}"]
    tables = [_narrow_table(results)]
    below: list[tuple[str, str]] = []
    if columns and len(folding.blocks(sum(tables[0], []), columns)) > 1:
        parts = _by_type(results)
        tables = [_narrow_table(part, title) for title, part in parts.items()]
        below += _mean_of_types(results) if len(parts) > 1 else []
    for header, rows, means in tables:
        for block in folding.blocks([*header, *rows, *means], columns):
            rule = "-" * max(map(len, block))
            first_mean = len(block) - len(means)
            lines += ["", block[0]] if len(lines) > 1 else [block[0]]
            lines += [rule, *block[1:first_mean]]
            # Of the columns of some blocks there are no means.
            with_means = [
                line
                for line, row in zip(block[first_mean:], means)
                if line != row[0]
            ]
            lines += [rule, *with_means] if with_means else []
    below += [*_beside(results), *_signatures(results), *_facts(results)]
    sentences = [f"{about}: {value}" for about, value in below]
    for sentence in sentences + beaten(results):
        lines += folding.wrapped(sentence, columns)
    return "\n".join(lines)


def markdown(results: dict[str, Any], title: str = "Results") -> str:
    """The results as a Markdown page.

    Args:
        results: as for `console`.
        title: the page's heading.

    Returns:
        The page, with a newline at the end.
    """
    header, rows, means = _table(results)
    bold = [[f"**{cell}**" if cell else "" for cell in row] for row in means]
    paragraphs = [
        f"# {title}",
        f"Split `{results['split']}`. {_MEANING}",
        grid(header, rows + bold),
    ]
    paragraphs += [f"{about}: {value}" for about, value in _beside(results)]
    paragraphs += [
        f"{about}: `{value}`" for about, value in _signatures(results)
    ]
    paragraphs += beaten(results)
    facts = [[about, value] for about, value in _facts(results)]
    if facts:
        paragraphs += ["## Run", grid(["", ""], facts, numeric=False)]
    types = list(_types(results))
    if types:
        paragraphs += ["## By type or label", *types]
    confusions = list(_confusions(results))
    if confusions:
        paragraphs += ["## Confusion (rows: labels, columns: predictions)"]
        paragraphs += confusions
    return "\n\n".join(paragraphs) + "\n"


def _table(results: dict) -> tuple[list[str], list[list[str]], list]:
    tasks = results["tasks"]
    has_clean = any("clean" in task for task in tasks.values())
    repeats = any("validation_in_training" in t for t in tasks.values())
    names = _metric_names(tasks)
    header = ["task", "examples", *map(metric_title, names), "loss"]
    if has_clean:
        header += ["clean examples"]
        header += [f"clean {metric_title(n)}" for n in names]
    if repeats:
        header += ["validation in training"]
    yardsticks = _yardsticks(tasks)
    header += yardsticks
    rows = [
        _row(name, task, names, has_clean, repeats)
        + [_yardstick(task, title) for title in yardsticks]
        for name, task in tasks.items()
    ]
    return header, rows, list(_mean_rows(results["mean"], names, header))


def _narrow_table(results: dict, title: str = "task") -> list[list[list[str]]]:
    """The rows of the heading, of the tasks and of the means."""
    (_, *header), rows, means = _table(results)
    return [[[title, *(_NARROW.get(x, x) for x in header)]], rows, means]


def _by_type(results: dict) -> dict[str, dict]:
    """The tasks of each type, and their mean as the overall one.

    All together if there is one type.
    """
    types = dict.fromkeys(task["type"] for task in results["tasks"].values())
    if len(types) == 1:
        return {"task": results}
    mean, parts = results["mean"], {}
    for name in types:
        tasks = {k: t for k, t in results["tasks"].items() if t["type"] == name}
        called = type_names.title(name)
        own = {"overall": mean.get(called)}
        if any("clean" in task for task in tasks.values()):
            own["clean"] = {"overall": mean.get("clean", {}).get(called)}
        parts[called] = {"tasks": tasks, "mean": own}
    return parts


def _mean_of_types(results: dict) -> Iterator[tuple[str, str]]:
    """The overall mean, where each type has a table of its own."""
    mean = results["mean"]
    yield "mean", _score(mean["overall"])
    if "clean" in mean:
        yield "mean, clean", _score(mean["clean"].get("overall"))


def _yardsticks(tasks: dict[str, dict]) -> list[str]:
    """The names of what stands beside the scores of some task."""
    names: dict[str, None] = {}
    for task in tasks.values():
        names |= dict.fromkeys(task.get("yardsticks", {}))
    return list(names)


def _yardstick(task: dict, name: str) -> str:
    score = task.get("yardsticks", {}).get(name)
    return shown_score(task["primary"], score)


def beaten(results: dict[str, Any]) -> list[str]:
    """A warning for each task whose model is not better than a yardstick.

    Args:
        results: as for `console`.
    """
    warnings = []
    for name, task in results["tasks"].items():
        metric, score = task["primary"], task[task["primary"]]
        sign = -1 if task.get("lower_is_better") else 1
        better = [
            f"{yardstick} ({shown_score(metric, value)})"
            for yardstick, value in task.get("yardsticks", {}).items()
            if score is not None and sign * value >= sign * score
        ]
        if better:
            warnings.append(
                f"Warning: on {name} the model ({shown_score(metric, score)} "
                f"{metric_title(metric)}) is not better than "
                f"{' and '.join(better)}."
            )
    return warnings


def _beside(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is told below the table of scores."""
    yield from _totals(results)
    yield from _diagnostics(results)
    yield from _calibrations(results)


def _totals(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What types say of all their tasks together."""
    by_type: dict[str, dict] = {}
    for name, task in results["tasks"].items():
        by_type.setdefault(task["type"], {})[name] = task
    for task_type, tasks in by_type.items():
        if sentence := task_types.of(task_type).total(tasks):
            yield sentence


def _calibrations(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """How good the probabilities of tasks with a temperature are."""
    for name, task in results["tasks"].items():
        if quality := task.get("calibration"):
            before = quality["before"]
            yield (
                f"probabilities of {name}",
                f"calibration error {quality['calibration_error']:.1f} % "
                f"({before['calibration_error']:.1f} % without the "
                f"temperature {quality['temperature']:.2f}), Brier score "
                f"{quality['brier']:.3f} ({before['brier']:.3f})",
            )


def _metric_names(tasks: dict[str, dict]) -> list[str]:
    """The metrics of all tasks, in the order in which they first occur."""
    not_metrics = (
        *("type", "primary", "examples", "tokens"),
        *("loss", "validation_in_training", "lower_is_better"),
    )
    names: dict[str, None] = {}
    for task in tasks.values():
        names[task["primary"]] = None
        for key, value in task.items():
            if key not in not_metrics and isinstance(value, (int, float)):
                names[key] = None
    return list(names)


def _row(
    name: str, task: dict, names: Sequence[str], has_clean: bool, repeats: bool
) -> list[str]:
    row = [name, _count(task["examples"])]
    row += [shown_score(metric, task.get(metric)) for metric in names]
    row.append(_score(task.get("loss"), 4))
    if has_clean:
        clean = task.get("clean", {})
        row.append(_count(clean.get("examples")))
        row += [shown_score(metric, clean.get(metric)) for metric in names]
    if repeats:
        row.append(_count(task.get("validation_in_training")))
    return row


def _mean_rows(
    mean: dict, names: Sequence[str], header: Sequence[str]
) -> Iterator[list[str]]:
    """A row for the overall mean; one per type where there are several."""
    clean = mean.get("clean", {})
    not_types = ("overall", "clean", "diagnostics")
    types = [key for key in mean if key not in not_types]
    shown = types if len(types) > 1 else []
    for key in [*shown, "overall"]:
        title = "mean" if key == "overall" else f"mean, {key}"
        row = [title, "", _score(mean[key])]
        row += [""] * (len(header) - len(row))
        if clean:
            row[4 + len(names)] = _score(clean.get(key))
        yield row


def _signatures(results: dict) -> Iterator[tuple[str, str]]:
    """How scores were computed, said once where it is the same for all."""
    by_signature: dict[tuple[str, str], list[str]] = {}
    for name, task in results["tasks"].items():
        for metric, signature in task.get("signatures", {}).items():
            by_signature.setdefault((metric, signature), []).append(name)
    metrics = [metric for metric, _ in by_signature]
    for (metric, signature), names in by_signature.items():
        title = metric_title(metric)
        if metrics.count(metric) > 1:
            title += f" of {', '.join(names)}"
        yield title, signature


def _diagnostics(results: dict) -> Iterator[tuple[str, str]]:
    for name, value in results["mean"].get("diagnostics", {}).items():
        yield f"mean {name.replace('_', ' ')}", diagnostic(value)


def diagnostic(value: float | None) -> str:
    """A number that a scheme reports, of any size: three digits at least."""
    if value is None or abs(value) >= 10:
        return _score(value)
    return f"{value:.3g}"


def _facts(results: dict) -> Iterator[tuple[str, str]]:
    run, titles = dict(results.get("run", {})), dict(_FACTS)
    if run.get("trainable_parameters") in (None, run.get("parameters")):
        run.pop("trainable_parameters", None)
    else:  # Where some are frozen, those without embeddings are the others.
        key = "parameters_without_embedding"
        titles[key] = f"trainable {titles[key]}"
    for key, title in titles.items():
        if run.get(key) not in (None, ""):
            fact = _fact(key, run[key])
            if key in _PARTS:
                fact += f" ({100 * run[key] / run['parameters']:.1f} %)"
            yield title, fact


def _fact(key: str, value: Any) -> str:
    if key == "wall_time":
        return duration(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, int) and key != "seed":
        return f"{value:,}"
    return str(value)


def _types(results: dict) -> Iterator[str]:
    columns = ("precision", "recall", "f1")
    for title, task in results["tasks"].items():
        rows = [
            [
                name.replace("_", "\\_"),
                *(_score(row[column]) for column in columns),
                str(row["support"]),
            ]
            for name, row in task.get("types", {}).items()
        ]
        if rows:
            yield grid([title, "precision", "recall", "F1", "support"], rows)


def _confusions(results: dict) -> Iterator[str]:
    for name, task in results["tasks"].items():
        if "confusion" not in task:
            continue
        classes = task["confusion"]["classes"]
        rows = [
            [label, *map(str, counts)]
            for label, counts in zip(classes, task["confusion"]["matrix"])
        ]
        yield grid([name, *classes], rows)


def shown_score(metric: str, value: float | None) -> str:
    """A score of the metric of that name, as all tables show it."""
    return _score(value, _told("digits", metric, 1))


def _score(value: float | None, digits: int = 1) -> str:
    return _NONE if value is None else f"{value:.{digits}f}"


def _count(value: int | None) -> str:
    return _NONE if value is None else str(value)


def grid(
    header: Sequence[str], rows: Sequence[Sequence[str]], numeric: bool = True
) -> str:
    """A Markdown table whose source is aligned as well.

    Args:
        header: the headings.
        rows: the cells of each row, as many as headings.
        numeric: align all columns but the first to the right.
    """
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    head = [cell.replace("|", "\\|") for cell in header]
    widths = [max(3, *map(len, column)) for column in zip(head, *cells)]
    rule = ["-" * widths[0]]
    rule += ["-" * (w - 1) + (":" if numeric else "-") for w in widths[1:]]
    lines = []
    for row in (head, rule, *cells):
        padded = [row[0].ljust(widths[0])]
        padded += [
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width in zip(row[1:], widths[1:])
        ]
        lines.append(f"| {' | '.join(padded)} |")
    return "\n".join(lines)
