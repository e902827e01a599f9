"""Draws validation scores as training goes on, a panel a task."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.evaluation.tables.score_format import metric_title
from mtl_tf.figures import style
from mtl_tf.figures.page import DEFAULT, FULL_WIDTH, Page, wrapped
from mtl_tf.figures.score_curves import (
    HOURS,
    MINIBATCHES,
    ScoreCurve,
    by_task,
)

_PANEL = (17.0, 16.0)  # ems of the least width and of the height
_WISH = 26.0  # ems of a panel's width that is enough
_EMPTY = 0.17  # the share of places that may stay empty
_TITLES = {
    MINIBATCHES: "minibatches of the task",
    HOURS: "hours of training",
}


def score_curve_figure(
    curves: Sequence[ScoreCurve], axis: str = MINIBATCHES, page: Page = DEFAULT
) -> Any:
    """A `matplotlib.figure.Figure` with a panel a task and a line a run.

    Figure 4 of Dong et al. (2015).

    Args:
        curves: of all runs.
        axis: what they stand against, as they were read.
        page: what it is drawn for.
    """
    panels = by_task(curves)
    labels = list(dict.fromkeys(curve.label for curve in curves))
    looks = dict(zip(labels, style.looks(len(labels))))
    widest = page.width or FULL_WIDTH
    columns = _columns(len(panels), int(widest / (_PANEL[0] * page.em)))
    rows = -(-len(panels) // columns)
    width = page.width or min(widest, columns * _WISH * page.em)
    height = rows * _PANEL[1] * page.em
    figure = style.new_figure(width, page.height or height, "constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flatten()
    for number, (axes, (task, group)) in enumerate(zip(grid, panels.items())):
        _draw(axes, group, looks, page)
        room = 0.8 * width / columns
        title = wrapped(figure, task, page.font_size, room)
        axes.set_title(title, fontsize=page.font_size)
        if number + columns >= len(panels):
            axes.set_xlabel(_TITLES[axis], fontsize=page.small)
        metric = group[0].metric
        if not number % columns or metric != curves[0].metric:
            label = f"validation {metric_title(metric)}"
            axes.set_ylabel(label, fontsize=page.small)
    for axes in grid[len(panels) :]:
        axes.remove()
    style.fit_height(figure, _legend(figure, looks, page), height, page)
    return figure


def _columns(panels: int, most: int) -> int:
    """Panels in a row, so that the last row is as full as can be."""
    choices = range(1, max(1, min(panels, most)) + 1)

    def order(columns: int) -> tuple[bool, bool, int]:
        empty = -panels % columns
        return empty > _EMPTY * (panels + empty), columns == 1, -columns

    return min(choices, key=order)


def _draw(
    axes: Any,
    group: Sequence[ScoreCurve],
    looks: Mapping[str, dict],
    page: Page,
) -> None:
    for curve in group:
        axes.plot(
            curve.places,
            curve.scores,
            markersize=4,
            # A point before the first minibatch is whole, too.
            clip_on=False,
            **looks[curve.label],
        )
    axes.set_xlim(left=0)
    style.plain_axes(axes, page)
    axes.xaxis.get_major_locator().set_params(nbins=4)


def _legend(figure: Any, looks: Mapping[str, dict], page: Page) -> Any:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], markersize=4, **look) for look in looks.values()]
    return style.legend(figure, lines, list(looks), page)
