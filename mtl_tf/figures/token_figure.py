"""Draws panels: a text's scores and heat maps above its tokens, wrapped.

Everything is placed in inches, so that a text of 400 tokens is as readable as
one of ten: the figure grows, the type does not shrink.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.panels import Heat, Panel

PER_LINE = 30  # tokens
_TOKEN = 0.36  # inches of a token's column
_LEFT, _RIGHT = 1.25, 1.0
_SCORES, _ROW, _NEURONS = 1.5, 0.24, 1.5
_GAP, _TITLE, _LEGEND, _LEAST = 0.16, 0.32, 0.3, 4.5
_LETTER = 0.07


def token_figure(panels: Sequence[Panel], title: str = "") -> Any:
    """A `matplotlib.figure.Figure` of panels, one below the other.

    Args:
        panels: one a text.
        title: above everything.
    """
    lines = [
        (number, panel, part)
        for number, panel in enumerate(panels, 1)
        for part in wrap(len(panel.tokens))
    ]
    longest = max(part.stop - part.start for *_, part in lines)
    # Titles need some width above a text of two tokens, too.
    width = _LEFT + max(longest * _TOKEN, _LEAST) + _RIGHT
    heights = [_height(panel, part) for _, panel, part in lines]
    sheet = _Sheet(width, sum(heights) + _LEGEND + _TITLE)
    sheet.text(title)
    sheet.down(_TITLE)
    sheet.legend(panels)
    sheet.down(_LEGEND)
    for (number, panel, part), height in zip(lines, heights):
        top = sheet.top
        _draw(sheet, panel, part, _heading(number, panel, part))
        sheet.top = top - height
    return sheet.figure


def wrap(tokens: int) -> list[slice]:
    """Cuts a text in lines of at most `PER_LINE` tokens, of like length."""
    lines = max(1, math.ceil(tokens / PER_LINE))
    size = math.ceil(tokens / lines)
    return [
        slice(start, min(start + size, tokens))
        for start in range(0, tokens, size)
    ]


def _heading(number: int, panel: Panel, part: slice) -> str:
    heading = f"Text {number}"
    if part.stop - part.start < len(panel.tokens):
        heading += f", tokens {part.start + 1} to {part.stop}"
    return heading


def _height(panel: Panel, part: slice) -> float:
    heats = sum(_heat_height(heat) + _TITLE for heat in panel.heats)
    letters = max(len(token) for token in panel.tokens[part])
    return _TITLE + _SCORES + heats + letters * _LETTER + 2 * _GAP


def _heat_height(heat: Heat) -> float:
    return len(heat.rows) * _ROW if heat.rows else _NEURONS


def _draw(sheet: "_Sheet", panel: Panel, part: slice, heading: str) -> None:
    count = part.stop - part.start
    sheet.down(_TITLE)
    axes = sheet.axes(_SCORES, count)
    axes.set_title(heading, fontsize=9, loc="left", pad=3, weight="bold")
    _draw_scores(axes, panel, part)
    for heat in panel.heats:
        sheet.down(_TITLE)
        height = _heat_height(heat)
        top = sheet.top
        axes = sheet.axes(height, count)
        image = _draw_heat(axes, heat, part)
        bar = sheet.place(count * _TOKEN + 0.12, top, 0.12, height)
        sheet.figure.colorbar(image, cax=bar)
        bar.set_ylabel(heat.unit, fontsize=8)
        bar.tick_params(labelsize=7)
    tokens = panel.tokens[part]
    axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=9)


def _draw_scores(axes: Any, panel: Panel, part: slice) -> None:
    count = part.stop - part.start
    for (_, scores), look in zip(
        panel.scores.items(), style.looks(len(panel.scores))
    ):
        axes.plot(range(count), scores[part], markersize=4, **look)
    axes.axhline(0.0, color="#555555", linewidth=0.8)
    axes.set_ylim(-1.08, 1.08)
    low, high = panel.poles
    axes.set_yticks([-1, 0, 1], [f"{low} -1", "0", f"{high} 1"], fontsize=8)
    axes.set_ylabel("score after\nthe prefix", fontsize=8)
    axes.set_xticks(range(count), [])
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)


def _draw_heat(axes: Any, heat: Heat, part: slice) -> Any:
    low, high = heat.limits
    values = np.ma.masked_invalid(heat.values[:, part])
    # The first token has no change: grey, which is no colour of the scale.
    axes.set_facecolor("#d9d9d9")
    image = axes.imshow(
        values,
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


class _Sheet:
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
        box = ((_LEFT + left) / x, (top - height) / y, width / x, height / y)
        return self.figure.add_axes(box)

    def axes(self, height: float, tokens: int):
        """Axes over so many tokens at the top of what is free."""
        axes = self.place(0, self.top, tokens * _TOKEN, height)
        axes.set_xlim(-0.5, tokens - 0.5)
        axes.set_autoscalex_on(False)
        self.down(height)
        return axes

    def text(self, title: str) -> None:
        """A title on the left."""
        x, y = self.size
        self.figure.text(_LEFT / x, (self.top - 0.22) / y, title, fontsize=11)

    def legend(self, panels: Sequence[Panel]) -> None:
        """Names the lines; says what brackets mean if there are any."""
        from matplotlib.lines import Line2D

        labels = list(panels[0].scores)
        handles = [Line2D([], [], **look) for look in style.looks(len(labels))]
        tokens = [token for panel in panels for token in panel.tokens]
        if any(t.startswith("[") and t.endswith("]") for t in tokens):
            handles.append(Line2D([], [], linestyle=""))
            labels.append("[word]: not in the vocabulary")
        x, y = self.size
        self.figure.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=((_LEFT - 0.1) / x, self.top / y),
            ncol=len(labels),
            fontsize=9,
            frameon=False,
        )
