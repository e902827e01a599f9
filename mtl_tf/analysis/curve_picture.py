"""Draws learning curves of one run, or of seeds with a band."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from mtl_tf.analysis.histories import Curves
from mtl_tf.evaluation.tables.score_format import metric_title
from mtl_tf.figures import style
from mtl_tf.figures.page import Page

_WIDTH, _HEIGHT = 9.0, 3.2


@dataclasses.dataclass(frozen=True)
class Band:
    """A series of several runs at each step that one of them came to.

    Attributes:
        steps: in order.
        mean, lowest, highest: of the runs that have a value there.
    """

    steps: tuple[int, ...]
    mean: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Trained:
    """The curves of one run in a picture.

    Attributes:
        steps: when it was evaluated.
        curves: its losses and scores there.
        best_step: whose weights are the run's.
    """

    steps: Sequence[int]
    curves: Curves
    best_step: int


def band(runs: Sequence[Trained], series: str) -> Band:
    """What lies between the runs.

    Args:
        runs: at least one.
        series: a field of `Curves`.
    """
    values: dict[int, list[float]] = {}
    for run in runs:
        for step, value in zip(run.steps, getattr(run.curves, series)):
            if value is not None:
                values.setdefault(step, []).append(value)
    steps = tuple(sorted(values))
    rows = [values[step] for step in steps]
    return Band(
        steps,
        tuple(sum(row) / len(row) for row in rows),
        tuple(map(min, rows)),
        tuple(map(max, rows)),
    )


def curve_picture(runs: Sequence[Trained]) -> Any:
    """A `matplotlib.figure.Figure`: losses left, validation score right.

    Args:
        runs: the same task or mean of each run.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = style.new_figure(_WIDTH, _HEIGHT, "constrained")
    page = Page()
    losses, scores = figure.subplots(1, 2)
    names = (("train", "training"), ("validation", "validation"))
    for (series, label), look in zip(names, style.looks(2)):
        _draw(losses, band(runs, series), label, look)
    look = list(style.looks(3))[2]
    metric = runs[0].curves.metric
    title = metric_title(metric) if metric else "mean of the tasks"
    _draw(scores, band(runs, "score"), title, look)
    losses.set_title("loss", fontsize=10)
    scores.set_title(f"validation score ({title})", fontsize=10)
    for axes in (losses, scores):
        for place, step in enumerate(sorted({run.best_step for run in runs})):
            label = None if place else "weights that were kept"
            axes.axvline(
                step, color="#777777", linestyle=":", linewidth=1, label=label
            )
        axes.set_xlabel("step")
        style.plain_axes(axes, page)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(fontsize=8)
    return figure


def _draw(axes: Any, part: Band, label: str, look: dict[str, Any]) -> None:
    if not part.steps:
        return
    axes.plot(part.steps, part.mean, label=label, markersize=4, **look)
    if part.lowest != part.highest:
        axes.fill_between(
            part.steps,
            part.lowest,
            part.highest,
            color=look["color"],
            alpha=0.2,
            linewidth=0,
        )
