"""Draws accuracy against the number of layers."""

from collections.abc import Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.depth import Depth, lines
from mtl_tf.figures.page import DEFAULT, Page, wrapped

_WIDTH, _HEIGHT = 4.8, 26.0  # inches, ems


def depth_figure(depths: Sequence[Depth], page: Page = DEFAULT) -> Any:
    """A `matplotlib.figure.Figure` with one line a structure.

    Figure 4.1 of Sun (2019). Where a structure has several runs with as many
    layers, such as several seeds, the point is their mean and the bar one
    standard deviation to each side.

    Args:
        depths: the runs.
        page: what it is drawn for.
    """
    lines_of = lines(depths)
    height = page.height or _HEIGHT * page.em
    figure = style.new_figure(page.width or _WIDTH, height, "constrained")
    axes = figure.subplots()
    repeated = False
    for (structure, points), look in zip(
        lines_of.items(), style.looks(len(lines_of))
    ):
        layers, means, deviations, counts = zip(*points)
        bars = deviations if max(counts) > 1 else None
        repeated = repeated or max(counts) > 1
        axes.errorbar(layers, means, bars, label=structure, capsize=3, **look)
    axes.set_xticks(sorted({depth.layers for depth in depths}))
    spread = " (mean and standard deviation of runs)" if repeated else ""
    room = figure.get_size_inches()[0] - 6 * page.em
    label = wrapped(figure, f"layers{spread}", page.font_size, room)
    axes.set_xlabel(label, fontsize=page.font_size)
    style.plain_axes(axes, page)
    legend = style.legend(figure, *axes.get_legend_handles_labels(), page)
    style.fit_height(figure, legend, height, page)
    box = legend.get_window_extent(figure.canvas.get_renderer())
    room = figure.get_size_inches()[1] - box.height / figure.dpi - 4 * page.em
    label = f"mean of the tasks, {depths[0].split} [%]"
    axes.set_ylabel(
        wrapped(figure, label, page.font_size, room, 3), fontsize=page.font_size
    )
    return figure
