"""Draws where the words of answers come from, as stacked bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.page import DEFAULT, Page
from mtl_tf.figures.panels import shorten
from mtl_tf.figures.sheet import ROW, TICK, Sheet, quoted
from mtl_tf.figures.sources import AnswerSources, TaskSources
from mtl_tf.prediction.answering import SOURCES

# For prints in black and white.
_HATCHES = ("", "///", "...")
_GAP = 0.12
_WIDTH = 4.2  # inches of the axes


def sources_figure(tasks: Sequence[TaskSources], page: Page = DEFAULT) -> Any:
    """A `matplotlib.figure.Figure` with a bar for each task.

    Figure 3 of McCann et al. (2018), with a row for each task.

    Args:
        tasks: what `sources.of_tasks` returned.
        page: what it is drawn for.
    """
    sheet = Sheet(page)
    names = [shorten(task.task) for task in tasks]
    sheet.margin(names, 0, _WIDTH)
    _legend(sheet)
    axes = _bars(sheet, names, [task.shares for task in tasks])
    _label(sheet, axes, "mean share of the words of answers")
    return sheet.finish()


def answer_figure(
    answers: Sequence[AnswerSources], page: Page = DEFAULT
) -> Any:
    """A `matplotlib.figure.Figure` with a bar for each word of answers.

    Args:
        answers: what `sources.of_answer` returned of each question.
        page: what it is drawn for.
    """
    sheet = Sheet(page)
    words = [[shorten(word) for word in answer.words] for answer in answers]
    sheet.margin([word for names in words for word in names], 0, _WIDTH)
    _legend(sheet)
    axes = None
    for names, answer in zip(words, answers):
        if axes is not None:
            axes.tick_params(labelbottom=False)
            sheet.down(_GAP)
        sheet.write(quoted(answer.question))
        axes = _bars(sheet, names, answer.shares)
    _label(sheet, axes, "share of each word's probability")
    return sheet.finish()


def _label(sheet: Sheet, axes: Any, text: str) -> None:
    """Names the axis of the last bars."""
    axes.set_xlabel(text, fontsize=sheet.page.small)
    sheet.down(TICK + 2.6 * sheet.page.em)


def _bars(sheet: Sheet, names: Sequence[str], shares: Sequence) -> Any:
    """Draws a row for each name at what is free; returns their axes."""
    page = sheet.page
    height = (len(names) + 0.4) * ROW * page.em
    axes = sheet.axes(height)
    values, places = np.array(shares), np.arange(len(names))
    before = np.zeros(len(names))
    for number, source in enumerate(SOURCES):
        axes.barh(
            places,
            values[:, number],
            left=before,
            label=source,
            color=style.COLOURS[number],
            hatch=_HATCHES[number],
            edgecolor="white",
            height=0.75,
        )
        before = before + values[:, number]
    style.plain_axes(axes, page, "x")
    axes.set_xlim(0, 1)
    axes.set_ylim(len(names) - 0.3, -0.7)
    axes.set_yticks(places, names)
    axes.set_xticks(np.linspace(0, 1, 6), [f"{n}%" for n in range(0, 101, 20)])
    sheet.down(height)
    return axes


def _legend(sheet: Sheet) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white")
        for colour, hatch in zip(style.COLOURS, _HATCHES)
    ]
    sheet.legend(handles, SOURCES)
