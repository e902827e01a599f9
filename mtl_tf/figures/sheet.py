"""A figure that is filled from the top, in inches.

Everything is placed in inches, so that a text of 400 tokens is as readable as
one of ten: the figure grows, the type does not shrink.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.panels import Heat

PER_LINE = 30  # tokens
TOKEN = 0.36  # inches of a token's column
LEFT, RIGHT = 1.25, 1.0
LETTER = 0.07
TITLE, ROW = 0.32, 0.24
BAR_GAP = 0.55  # between a matrix and its colour bar


def wrap(tokens: int) -> list[slice]:
    """Cuts a text in lines of at most `PER_LINE` tokens, of like length."""
    lines = max(1, math.ceil(tokens / PER_LINE))
    size = math.ceil(tokens / lines)
    return [
        slice(start, min(start + size, tokens))
        for start in range(0, tokens, size)
    ]


def _draw_heat(axes: Any, heat: Heat, values: np.ndarray) -> Any:
    low, high = heat.limits
    # The first token has no change: grey, which is no colour of the scale.
    axes.set_facecolor("#d9d9d9")
    image = axes.imshow(
        np.ma.masked_invalid(values),
        aspect="auto",
        cmap=style.HEAT,
        vmin=low,
        vmax=high,
        interpolation="nearest",
    )
    axes.set_title(heat.title, fontsize=9, loc="left", pad=3)
    axes.set_xticks(range(values.shape[1]), [])
    if heat.rows:
        axes.set_yticks(range(len(heat.rows)), heat.rows, fontsize=8)
    else:
        axes.set_ylabel("neuron", fontsize=8)
        axes.tick_params(axis="y", labelsize=7)
    return image


class Sheet:
    """A figure that is filled from the top, in inches.

    Args:
        width: of the figure.
        height: of the figure.
    """

    def __init__(self, width: float, height: float):
        self.figure = style.new_figure(width, height)
        self.size = (width, height)
        self.top = height

    def down(self, inches: float) -> None:
        """Leaves a gap."""
        self.top -= inches

    def place(self, left: float, top: float, width: float, height: float):
        """Axes at a distance from the left margin."""
        x, y = self.size
        box = ((LEFT + left) / x, (top - height) / y, width / x, height / y)
        return self.figure.add_axes(box)

    def axes(self, height: float, tokens: int):
        """Axes over so many tokens at the top of what is free."""
        axes = self.place(0, self.top, tokens * TOKEN, height)
        axes.set_xlim(-0.5, tokens - 0.5)
        axes.set_autoscalex_on(False)
        self.down(height)
        return axes

    def text(self, title: str) -> None:
        """A title on the left."""
        x, y = self.size
        self.figure.text(LEFT / x, (self.top - 0.22) / y, title, fontsize=11)

    def heat(self, heat: Heat, part: slice, height: float):
        """A heat map above tokens with its colour bar; returns its axes."""
        self.down(TITLE)
        top, count = self.top, part.stop - part.start
        axes = self.axes(height, count)
        image = _draw_heat(axes, heat, heat.values[:, part])
        self._bar(image, count * TOKEN + 0.12, top, height, heat.unit)
        return axes

    def matrix(self, heat: Heat, left: float, top: float, cell: float):
        """A square heat map of its own with its colour bar, off the flow."""
        rows, columns = heat.values.shape
        width, height = columns * cell, rows * cell
        axes = self.place(left, top, width, height)
        image = _draw_heat(axes, heat, heat.values)
        self._bar(image, left + width + BAR_GAP, top, height, heat.unit)
        return axes

    def _bar(self, image, left, top, height, unit) -> None:
        bar = self.place(left, top, 0.12, height)
        self.figure.colorbar(image, cax=bar)
        bar.set_ylabel(unit, fontsize=8)
        bar.tick_params(labelsize=7)


def name_tokens(axes: Any, tokens: Sequence[str]) -> None:
    """Writes tokens below the columns of a heat map."""
    axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=9)


def heading(number: int, part: slice, tokens: int) -> str:
    """Names a line of a text of so many tokens."""
    text = f"Text {number}"
    if part.stop - part.start < tokens:
        text += f", tokens {part.start + 1} to {part.stop}"
    return text
