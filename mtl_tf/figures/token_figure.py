"""Draws panels: a text's scores and heat maps above its tokens, wrapped."""

from collections.abc import Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.panels import Heat, Panel
from mtl_tf.figures.sheet import (
    LEFT,
    LETTER,
    RIGHT,
    ROW,
    TITLE,
    TOKEN,
    Sheet,
    heading,
    name_tokens,
    wrap,
)

_SCORES, _NEURONS = 1.5, 1.5  # inches
_GAP, _LEGEND, _LEAST = 0.16, 0.3, 4.5


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
    width = LEFT + max(longest * TOKEN, _LEAST) + RIGHT
    heights = [_height(panel, part) for _, panel, part in lines]
    sheet = Sheet(width, sum(heights) + _LEGEND + TITLE)
    sheet.text(title)
    sheet.down(TITLE)
    _legend(sheet, panels)
    sheet.down(_LEGEND)
    for (number, panel, part), height in zip(lines, heights):
        top = sheet.top
        _draw(sheet, panel, part, heading(number, part, len(panel.tokens)))
        sheet.top = top - height
    return sheet.figure


def _height(panel: Panel, part: slice) -> float:
    heats = sum(_heat_height(heat) + TITLE for heat in panel.heats)
    letters = max(len(token) for token in panel.tokens[part])
    return TITLE + _SCORES + heats + letters * LETTER + 2 * _GAP


def _heat_height(heat: Heat) -> float:
    return len(heat.rows) * ROW if heat.rows else _NEURONS


def _draw(sheet: Sheet, panel: Panel, part: slice, title: str) -> None:
    count = part.stop - part.start
    sheet.down(TITLE)
    axes = sheet.axes(_SCORES, count)
    axes.set_title(title, fontsize=9, loc="left", pad=3, weight="bold")
    _draw_scores(axes, panel, part)
    for heat in panel.heats:
        axes = sheet.heat(heat, part, _heat_height(heat))
    name_tokens(axes, panel.tokens[part])


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


def _legend(sheet: Sheet, panels: Sequence[Panel]) -> None:
    """Names the lines; says what brackets mean if there are any."""
    from matplotlib.lines import Line2D

    labels = list(panels[0].scores)
    handles = [Line2D([], [], **look) for look in style.looks(len(labels))]
    tokens = [token for panel in panels for token in panel.tokens]
    if any(t.startswith("[") and t.endswith("]") for t in tokens):
        handles.append(Line2D([], [], linestyle=""))
        labels.append("[word]: not in the vocabulary")
    x, y = sheet.size
    sheet.figure.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=((LEFT - 0.1) / x, sheet.top / y),
        ncol=len(labels),
        fontsize=9,
        frameon=False,
    )
