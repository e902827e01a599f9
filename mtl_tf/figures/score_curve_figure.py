"""Draws validation scores as training goes on, a panel a task."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.evaluation.tables import metric_title
from mtl_tf.figures import style
from mtl_tf.figures.score_curves import (
    HOURS,
    MINIBATCHES,
    ScoreCurve,
    by_task,
)

_PER_ROW = 3
_WIDTH, _HEIGHT = 3.6, 2.9  # inches of a panel with its labels
_LEFT, _BELOW, _ABOVE = 0.62, 0.55, 0.35
_LEGEND_ROW, _LETTER = 0.26, 0.085
_TITLES = {
    MINIBATCHES: "minibatches of the task",
    HOURS: "hours of training",
}


def score_curve_figure(
    curves: Sequence[ScoreCurve], axis: str = MINIBATCHES
) -> Any:
    """A `matplotlib.figure.Figure` with a panel a task and a line a run.

    Figure 4 of Dong et al. (2015).

    Args:
        curves: of all runs.
        axis: what they stand against, as they were read.
    """
    panels = by_task(curves)
    labels = list(dict.fromkeys(curve.label for curve in curves))
    looks = dict(zip(labels, style.looks(len(labels))))
    columns = min(_PER_ROW, len(panels))
    rows = -(-len(panels) // columns)
    width = columns * _WIDTH
    per_row = _labels_per_row(labels, width)
    legend = -(-len(labels) // per_row) * _LEGEND_ROW + 0.2
    height = rows * _HEIGHT + legend
    figure = style.new_figure(width, height)
    for number, (task, group) in enumerate(panels.items()):
        row, column = divmod(number, columns)
        bottom = height - (row + 1) * _HEIGHT + _BELOW
        axes = figure.add_axes(
            (
                (column * _WIDTH + _LEFT) / width,
                bottom / height,
                (_WIDTH - _LEFT - 0.15) / width,
                (_HEIGHT - _BELOW - _ABOVE) / height,
            )
        )
        _draw(axes, group, looks)
        axes.set_title(task, fontsize=10)
        axes.set_xlabel(_TITLES[axis], fontsize=9)
        metric = group[0].metric
        if not column or metric != curves[0].metric:
            axes.set_ylabel(f"validation {metric_title(metric)}", fontsize=9)
    _legend(figure, looks, per_row)
    return figure


def _labels_per_row(labels: Sequence[str], width: float) -> int:
    """How many names of the longest one's size fit beside each other."""
    each = max(map(len, labels)) * _LETTER + 0.7
    return max(1, min(len(labels), int(width / each)))


def _draw(
    axes: Any, group: Sequence[ScoreCurve], looks: Mapping[str, dict]
) -> None:
    for curve in group:
        axes.plot(
            *(curve.places, curve.scores), markersize=4, **looks[curve.label]
        )
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.tick_params(labelsize=8)
    axes.xaxis.get_major_locator().set_params(nbins=5)
    axes.grid(color="#dddddd", linewidth=0.5)


def _legend(figure: Any, looks: Mapping[str, dict], columns: int) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], markersize=4, **look) for look in looks.values()]
    figure.legend(
        lines, list(looks), loc="lower center", ncol=columns, fontsize=9
    )
