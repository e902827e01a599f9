"""Draws a confusion matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.panels import shorten

# Classes whose cells are large enough for a number.
_NUMBERED = 20
_CELL = 0.5


def confusion_picture(
    classes: Sequence[str], matrix: Sequence[Sequence[int]]
) -> Any:
    """A `matplotlib.figure.Figure` of a confusion matrix.

    The colour of a cell is its share of its row: what became of the examples
    of a label, however many there are. The numbers are counts.

    Args:
        classes: their names.
        matrix: rows are labels, columns predictions.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    counts = np.asarray(matrix, dtype=np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cell = _CELL if len(classes) <= _NUMBERED else _CELL / 2
    names = [shorten(name) for name in classes]
    longest = 0.08 * max(map(len, names))
    side = cell * len(classes)
    figure = style.new_figure(
        1.1 * side + longest + 1.5, side + longest + 0.6, "constrained"
    )
    axes = figure.subplots()
    image = axes.imshow(shares, cmap=style.HEAT, vmin=0, vmax=1)
    places = range(len(classes))
    axes.set_xticks(places, names, rotation=90, fontsize=8)
    axes.set_yticks(places, names, fontsize=8)
    axes.set_xlabel("predicted", fontsize=9)
    axes.set_ylabel("label", fontsize=9)
    if len(classes) <= _NUMBERED:
        _write_counts(axes, counts, shares)
    bar = figure.colorbar(image, ax=axes, fraction=0.05)
    bar.set_label("share of the row", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return figure


def _write_counts(axes: Any, counts: np.ndarray, shares: np.ndarray) -> None:
    for row, column in np.ndindex(*counts.shape):
        dark = shares[row, column] < 0.5
        axes.text(
            column,
            row,
            f"{counts[row, column]:.0f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
        )
