"""A sweep's runs as one table, with the setting chosen by validation."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core.durations import duration
from mtl_tf.evaluation.tables.markdown_grid import grid
from mtl_tf.evaluation.tables.spread import spread
from mtl_tf.experiments.grids import Cell, setting_name

Outcome = Mapping[str, Any] | None


def report(
    name: str, outcomes: Sequence[tuple[Cell, Outcome]]
) -> dict[str, Any]:
    """Summarises the cells of a sweep.

    Args:
        name: the config's name.
        outcomes: each cell with its `status`, "finished" (with
            `validation_mean`, `wall_time` and `results`), "diverged" or
            "failed" (with `error`), or None if it has not run yet.

    Returns:
        A structure for `sweep.json`, scores from 0 to 100:

            {"name": name,
             "settings": [{"name": folder, "settings": {field: value},
                           "validation": STATISTICS, "failed": count,
                           "waiting": count, "wall_time": seconds,
                           "cells": [{"folder", "seed", "fold", "status",
                                      "validation_mean", "error"}]}],
             "selected": {"name": ..., "settings": ...,
                          "validation": STATISTICS,
                          "split": the first of evaluation.splits,
                          "mean": STATISTICS, "clean": STATISTICS,
                          "tasks": {name: STATISTICS}} or None}

        with STATISTICS {"mean", "std", "runs"}. "std" is the sample standard
        deviation over seeds and folds, None for a single run. The settings are
        sorted from the best validation score to the worst.
    """
    groups: dict[str, list] = {}
    for cell, outcome in outcomes:
        key = setting_name(cell.settings)
        groups.setdefault(key, []).append((cell, outcome))
    settings = [_setting(key, group) for key, group in groups.items()]
    # A stable sort keeps equal settings in the order of the grid.
    settings.sort(key=_rank)
    whole = [s for s in settings if not s["failed"] and not s["waiting"]]
    best = whole[0] if whole else None
    selected = best and _selected(best, groups[best["name"]])
    return {"name": name, "settings": settings, "selected": selected}


def _rank(setting: Mapping[str, Any]) -> float:
    mean = setting["validation"]["mean"]
    return math.inf if mean is None else -mean


def _setting(key: str, group: Sequence[tuple[Cell, Outcome]]) -> dict:
    finished = [o for _, o in group if o and o["status"] == "finished"]
    return {
        "name": key,
        "settings": group[0][0].settings,
        "validation": spread([o["validation_mean"] for o in finished]),
        "failed": sum(_lost(o) for _, o in group if o),
        "waiting": sum(o is None for _, o in group),
        "wall_time": sum(o["wall_time"] for o in finished),
        "cells": [_cell(cell, outcome) for cell, outcome in group],
    }


def _lost(outcome: Mapping[str, Any]) -> bool:
    return outcome["status"] in ("diverged", "failed")


def _cell(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    outcome = outcome or {"status": "waiting"}
    keys = ("status", "validation_mean", "error")
    return {
        "folder": cell.folder,
        "seed": cell.seed,
        "fold": cell.fold,
        **{key: outcome[key] for key in keys if key in outcome},
    }


def _selected(best: Mapping, group: Sequence[tuple[Cell, Outcome]]) -> dict:
    results = [outcome["results"] for _, outcome in group if outcome]
    names = dict.fromkeys(task for r in results for task in r["tasks"])
    return {
        **{key: best[key] for key in ("name", "settings", "validation")},
        "split": results[0]["split"],
        "mean": spread([r["mean"]["overall"] for r in results]),
        "clean": spread(
            [r["mean"].get("clean", {}).get("overall") for r in results]
        ),
        "tasks": {
            name: spread([_primary(r["tasks"].get(name)) for r in results])
            for name in names
        },
    }


def _primary(task: Mapping[str, Any] | None) -> float | None:
    return task[task["primary"]] if task else None


def markdown(report: Mapping[str, Any]) -> str:
    """The report as a Markdown page, with a final newline.

    Args:
        report: see `report`.
    """
    parts = [f"# {report['name']}: sweep", _MEANING, _settings(report)]
    selected = report["selected"]
    if selected:
        parts += [
            f"## Selected: {_written(selected['settings'])}",
            f"Split `{selected['split']}`, runs `cells/{selected['name']}`.",
            _scores(selected),
        ]
    failed = [
        f"- `{cell['folder']}`: {' '.join(cell['error'].split())}"
        for setting in report["settings"]
        for cell in setting["cells"]
        if _lost(cell)
    ]
    if failed:
        parts += ["## Failed", "\n".join(failed)]
    return "\n\n".join(parts) + "\n"


def _written(settings: Mapping[str, Any]) -> str:
    """Settings as a heading."""
    written = [f"`{field}={value}`" for field, value in settings.items()]
    return ", ".join(written) or "as configured"


_MEANING = (
    "Scores run from 0 to 100: mean and sample standard deviation over seeds "
    "and folds. The setting is selected by its validation score alone, among "
    "those whose runs all finished."
)


def _settings(report: Mapping[str, Any]) -> str:
    fields = list(report["settings"][0]["settings"]) or ["setting"]
    header = [*fields, "validation", "std", "runs", "failed", "time"]
    rows = []
    for setting in report["settings"]:
        values = setting["settings"] or {"setting": "as configured"}
        row = [str(values[field]) for field in fields]
        runs = setting["validation"]["runs"]
        row += _numbers(setting["validation"])
        row.append(f"{runs} of {len(setting['cells'])}")
        row.append(str(setting["failed"] or ""))
        row.append(duration(setting["wall_time"]))
        selected = report["selected"] or {}
        if setting["name"] == selected.get("name"):
            row = [f"**{cell}**" if cell else "" for cell in row]
        rows.append(row)
    return grid(header, rows)


def _scores(selected: Mapping[str, Any]) -> str:
    rows = [
        [name, *_numbers(score)] for name, score in selected["tasks"].items()
    ]
    rows.append(["**mean**", *_numbers(selected["mean"])])
    if selected["clean"]["runs"]:
        rows.append(["**mean, clean part**", *_numbers(selected["clean"])])
    return grid(["task", "score", "std"], rows)


def _numbers(score: Mapping[str, Any]) -> list[str]:
    return [
        "-" if value is None else f"{value:.2f}"
        for value in (score["mean"], score["std"])
    ]
