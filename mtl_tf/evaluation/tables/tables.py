"""Results as aligned tables: for the console and for `results.md`."""

from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.core import task_types as type_names
from mtl_tf.evaluation.tables import folding, remarks
from mtl_tf.evaluation.tables.markdown_grid import grid
from mtl_tf.evaluation.tables.score_format import (
    mean_format,
    metric_title,
    shown_count,
    shown_number,
    shown_score,
)

_NARROW = {  # the console's headings, to fit a terminal
    "examples": "n",
    "macro F1": "F1",
    "clean examples": "clean n",
    "clean macro F1": "clean F1",
    "validation in training": "val. in train",
    "token accuracy": "token acc.",
    "clean token accuracy": "clean token acc.",
}
_OVERALL = ("overall", "clean")
_MEANING = (
    "Scores run from 0 to 100, errors in units of their values. Clean: the "
    "examples whose text occurs in no training or validation text of the "
    "whole group of tasks."
)


def console(results: dict[str, Any], columns: int | None = None) -> str:
    """The results as an aligned table for a terminal.

    Args:
        results: the result of `evaluator.evaluate`. Its optional part `run`
            holds facts about the run: any of `name`, `seed`, `parameters`,
            `trainable_parameters`, `parameters_without_embedding` (of the
            trainable ones), `best_step`, `wall_time` (in seconds), `hardware`,
            `versions` (a dict).
        columns: the terminal's width; None for no limit. Task types with
            different metrics have one table each. Other tables are split by
            type if they do not fit, and then folded.

    Returns:
        Lines without a final newline.
    """
    lines = [f"split: {results['split']}"]
    parts = _parts(results)
    tables = [_narrow_table(part, title) for title, part in parts.items()]
    if columns and len(folding.blocks(sum(tables[0], []), columns)) > 1:
        parts = _by_type(results)
        tables = [_narrow_table(part, title) for title, part in parts.items()]
    below = list(_means_below(results, parts))
    for header, rows, means in tables:
        for block in folding.blocks([*header, *rows, *means], columns):
            rule = "-" * max(map(len, block))
            first_mean = len(block) - len(means)
            lines += ["", block[0]] if len(lines) > 1 else [block[0]]
            lines += [rule, *block[1:first_mean]]
            # Some blocks may have only columns without means.
            with_means = [
                line
                for line, row in zip(block[first_mean:], means)
                if line != row[0]
            ]
            lines += [rule, *with_means] if with_means else []
    below += [
        *remarks.beside(results),
        *remarks.signatures(results),
        *remarks.facts(results),
    ]
    sentences = [f"{about}: {value}" for about, value in below]
    for sentence in sentences + remarks.warnings(results):
        lines += folding.wrapped(sentence, columns)
    return "\n".join(lines)


def markdown(results: dict[str, Any], title: str = "Results") -> str:
    """The results as a Markdown page.

    Args:
        results: as for `console`.
        title: the page's heading.

    Returns:
        The page, with a final newline.
    """
    paragraphs = [f"# {title}", f"Split `{results['split']}`. {_MEANING}"]
    parts = _parts(results)
    for name, part in parts.items():
        (_, *header), rows, means = _table(part)
        bold = [[f"**{cell}**" if cell else "" for cell in r] for r in means]
        paragraphs.append(grid([name, *header], rows + bold))
    paragraphs += [
        f"{about}: {value}"
        for about, value in [
            *_means_below(results, parts),
            *remarks.beside(results),
        ]
    ]
    paragraphs += [
        f"{about}: `{value}`" for about, value in remarks.signatures(results)
    ]
    paragraphs += remarks.warnings(results)
    facts = [[about, value] for about, value in remarks.facts(results)]
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
    if _is_mixed(results):
        return header, rows, []
    return header, rows, list(_mean_rows(results, names, header))


def _narrow_table(results: dict, title: str = "task") -> list[list[list[str]]]:
    """The rows of the heading, the tasks and the means."""
    (_, *header), rows, means = _table(results)
    return [[[title, *(_NARROW.get(x, x) for x in header)]], rows, means]


def _parts(results: dict) -> dict[str, dict]:
    """The parts with tables of their own: types, if their metrics differ."""
    parts = _by_type(results)
    metrics = {tuple(_metric_names(part["tasks"])) for part in parts.values()}
    return parts if len(metrics) > 1 else {"task": results}


def _by_type(results: dict) -> dict[str, dict]:
    """The tasks of each type, with the type's mean as the overall mean.

    With only one type, all tasks together.
    """
    types = dict.fromkeys(task["type"] for task in results["tasks"].values())
    if len(types) == 1:
        return {"task": results}
    mean, parts = results["mean"], {}
    for name in types:
        tasks = {k: t for k, t in results["tasks"].items() if t["type"] == name}
        called = type_names.title(name)
        # The mean of a single task would repeat its row.
        means = {"overall": mean.get(called)} if len(tasks) > 1 else {}
        if means and any("clean" in task for task in tasks.values()):
            means["clean"] = {"overall": mean.get("clean", {}).get(called)}
        parts[called] = {"tasks": tasks, "mean": means}
    return parts


def _means_below(
    results: dict, parts: dict[str, dict]
) -> Iterator[tuple[str, str]]:
    """The means that are in no column of a table."""
    for title, part in parts.items():
        if _is_mixed(part):
            yield from _means_of(part["mean"], "" if len(parts) == 1 else title)
    if len(parts) > 1:
        mean = results["mean"]
        yield from _means_of({k: mean[k] for k in _OVERALL if k in mean})


def _means_of(mean: dict, title: str = "") -> Iterator[tuple[str, str]]:
    clean = mean.get("clean", {})
    for key in _mean_keys(mean):
        name = title if key == "overall" else key
        about = f"mean, {name}" if name else "mean"
        yield about, shown_number(mean[key])
        if clean:
            yield f"{about}, clean", shown_number(clean.get(key))


def _mean_keys(mean: dict) -> list[str]:
    """The overall mean; those of types before it, where there are several."""
    types = [key for key in mean if key not in (*_OVERALL, "diagnostics")]
    keys = types if len(types) > 1 else []
    return [key for key in (*keys, "overall") if key in mean]


def _is_mixed(results: dict) -> bool:
    """Whether the means are of different metrics, and so in no column."""
    return len({task["primary"] for task in results["tasks"].values()}) > 1


def _yardsticks(tasks: dict[str, dict]) -> list[str]:
    """The names of the baselines that some task has beside its scores."""
    names: dict[str, None] = {}
    for task in tasks.values():
        names |= dict.fromkeys(task.get("yardsticks", {}))
    return list(names)


def _yardstick(task: dict, name: str) -> str:
    score = task.get("yardsticks", {}).get(name)
    return shown_score(task["primary"], score)


def _metric_names(tasks: dict[str, dict]) -> list[str]:
    """The metrics of all tasks, in order of first occurrence."""
    not_metrics = (
        "type",
        "primary",
        "examples",
        "tokens",
        "loss",
        "validation_in_training",
        "lower_is_better",
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
    row = [name, shown_count(task["examples"])]
    row += [shown_score(metric, task.get(metric)) for metric in names]
    row.append(shown_number(task.get("loss"), 4))
    if has_clean:
        clean = task.get("clean", {})
        row.append(shown_count(clean.get("examples")))
        row += [shown_score(metric, clean.get(metric)) for metric in names]
    if repeats:
        row.append(shown_count(task.get("validation_in_training")))
    return row


def _mean_rows(
    results: dict, names: Sequence[str], header: Sequence[str]
) -> Iterator[list[str]]:
    """A row for the overall mean, and one per type if there are several.

    A mean stands in the column of its metric, so it has the metric's sign and
    decimals.
    """
    mean = results["mean"]
    clean = mean.get("clean", {})
    metric, sign = mean_format(results["tasks"])

    def shown(value: float | None) -> str:
        return shown_score(metric, value and sign * value)

    for key in _mean_keys(mean):
        title = "mean" if key == "overall" else f"mean, {key}"
        row = [title, "", shown(mean[key])]
        row += [""] * (len(header) - len(row))
        if clean:
            row[4 + len(names)] = shown(clean.get(key))
        yield row


def _types(results: dict) -> Iterator[str]:
    columns = ("precision", "recall", "f1")
    for title, task in results["tasks"].items():
        rows = [
            [
                name.replace("_", "\\_"),
                *(shown_number(row[column]) for column in columns),
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
