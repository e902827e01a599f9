"""Draws panels: a text's scores and heat maps above its tokens, wrapped."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.page import DEFAULT, Page
from mtl_tf.figures.panels import Heat, Panel
from mtl_tf.figures.sheet import ROW, Sheet, heading, quoted, shared_norm

_SCORES, _NEURONS = 10.0, 9.0  # ems
_GAP = 0.16
_LEAST = 0.1  # of the score's axis
UNKNOWN = "[word]: not in the vocabulary"


def token_figure(
    panels: Sequence[Panel], title: str = "", page: Page = DEFAULT
) -> Any:
    """A `matplotlib.figure.Figure` of panels, one below the other.

    All panels have the same axis of scores and the same scale of colours.

    Args:
        panels: one a text.
        title: above everything.
        page: what it is drawn for.
    """
    sheet = Sheet(page)
    heats = [heat for panel in panels for heat in panel.heats]
    norm, limit = shared_norm(heats), _limit(panels)
    names = [name for panel in panels for name in _ticks(panel, limit)]
    names += [row for heat in heats for row in heat.rows]
    longest = max(len(panel.tokens) for panel in panels)
    sheet.margin(names, 2, sheet.columns_width(longest))
    sheet.write(title, bold=True)
    _legend(sheet, panels)
    for panel in panels:
        sheet.write(quoted(panel.text))
        for part in sheet.wrap(len(panel.tokens)):
            sheet.write(heading(part, len(panel.tokens)), small=True)
            _draw(sheet, panel, part, limit, norm)
    sheet.bar(norm, heats[0].unit)
    if any("[" in token for panel in panels for token in panel.tokens):
        sheet.write(UNKNOWN, small=True)
    return sheet.finish()


def _limit(panels: Sequence[Panel]) -> float:
    """How far from 0 the axis of scores reaches."""
    greatest = max(
        float(np.abs(scores).max())
        for panel in panels
        for scores in panel.scores.values()
    )
    return min(1.0, max(_LEAST, np.ceil(greatest * 10) / 10))


def _ticks(panel: Panel, limit: float) -> tuple[str, ...]:
    low, high = panel.poles
    return f"{low} -{limit:g}", "0", f"{high} {limit:g}"


def _draw(
    sheet: Sheet, panel: Panel, part: slice, limit: float, norm: Any
) -> None:
    page = sheet.page
    height = _SCORES * page.em
    _draw_scores(sheet.axes(height), panel, part, limit, page)
    sheet.down(height + 0.06)
    axes = None
    for heat in panel.heats:
        sheet.down(0.06)
        sheet.write(heat.title, small=True)
        height = _heat_height(heat) * page.em
        axes = sheet.heat(heat, part, height, norm)
        sheet.down(height)
    sheet.down(sheet.name_columns(axes, panel.tokens[part]) + _GAP)


def _heat_height(heat: Heat) -> float:
    """In ems."""
    return len(heat.rows) * ROW if heat.rows else _NEURONS


def _draw_scores(
    axes: Any, panel: Panel, part: slice, limit: float, page: Page
) -> None:
    count = part.stop - part.start
    for (_, scores), look in zip(
        panel.scores.items(), style.looks(len(panel.scores))
    ):
        axes.plot(range(count), scores[part], markersize=4, **look)
    axes.set_xlim(-0.5, count - 0.5)
    axes.axhline(0.0, color="#555555", linewidth=0.8)
    axes.set_ylim(-1.08 * limit, 1.08 * limit)
    axes.set_yticks([-limit, 0, limit], _ticks(panel, limit))
    axes.set_ylabel("score after\nthe prefix", fontsize=page.small)
    axes.set_xticks(range(count), [])
    style.plain_axes(axes, page, "x")


def _legend(sheet: Sheet, panels: Sequence[Panel]) -> None:
    """Names the lines."""
    from matplotlib.lines import Line2D

    labels = list(panels[0].scores)
    looks = style.looks(len(labels))
    sheet.legend([Line2D([], [], markersize=4, **x) for x in looks], labels)
