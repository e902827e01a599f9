"""Draws accuracy against the number of layers."""

from collections.abc import Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.depth import Depth, lines


def depth_figure(depths: Sequence[Depth]) -> Any:
    """A `matplotlib.figure.Figure` with one line a structure.

    Figure 4.1 of Sun (2019). Where a structure has several runs with as many
    layers, such as several seeds, the point is their mean and the bar one
    standard deviation to each side.

    Args:
        depths: the runs.
    """
    found = lines(depths)
    # Labels may be long and many: the legend has rows of its own below.
    legend = 0.3 * -(-len(found) // 3) + 0.2
    height = 3.8 + legend
    figure = style.new_figure(6.4, height)
    axes = figure.subplots()
    repeated = False
    for (structure, points), look in zip(
        found.items(), style.looks(len(found))
    ):
        layers, means, deviations, counts = zip(*points)
        bars = deviations if max(counts) > 1 else None
        repeated = repeated or max(counts) > 1
        axes.errorbar(
            *(layers, means, bars), label=structure, capsize=3, **look
        )
    axes.set_xticks(sorted({depth.layers for depth in depths}))
    axes.set_xlabel("layers")
    spread = "\n(mean and standard deviation of the runs)" if repeated else ""
    split = depths[0].split
    axes.set_ylabel(f"mean score of the tasks, {split} [%]{spread}")
    axes.grid(color="#dddddd", linewidth=0.5)
    figure.subplots_adjust(
        left=0.15,
        right=0.97,
        top=1 - 0.15 / height,
        bottom=(legend + 0.55) / height,
    )
    figure.legend(loc="lower center", ncol=min(3, len(found)), fontsize=9)
    return figure
