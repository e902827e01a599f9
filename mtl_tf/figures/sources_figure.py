"""Draws where the words of answers come from, as stacked bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.panels import shorten
from mtl_tf.figures.sources import AnswerSources, TaskSources
from mtl_tf.runs.answering import SOURCES

_PER_ROW = 16  # words
_BAR, _PANEL, _LEFT = 0.55, 2.6, 0.9
# For prints in black and white.
_HATCHES = ("", "//", "..")


def sources_figure(tasks: Sequence[TaskSources]) -> Any:
    """A `matplotlib.figure.Figure` with a bar for each task.

    Figure 3 of McCann et al. (2018).

    Args:
        tasks: what `sources.of_tasks` returned.
    """
    width, height = max(5.0, _LEFT + 0.8 * len(tasks)), 3.8
    figure = style.new_figure(width, height)
    axes = figure.subplots()
    _bars(axes, [one.task for one in tasks], [one.shares for one in tasks])
    axes.set_ylabel("mean share of words")
    axes.tick_params("x", rotation=40)
    for text in axes.get_xticklabels():
        text.set_horizontalalignment("right")
    figure.subplots_adjust(
        left=_LEFT / width, right=0.97, top=1 - 0.5 / height, bottom=0.32
    )
    _legend(figure, axes)
    return figure


def answer_figure(answers: Sequence[AnswerSources]) -> Any:
    """A `matplotlib.figure.Figure` with a bar for each word of answers.

    Args:
        answers: what `sources.of_answer` returned of each question.
    """
    panels = [
        (one.question, slice(start, start + _PER_ROW), one)
        for one in answers
        for start in range(0, len(one.words), _PER_ROW)
    ]
    longest = max(len(one.words[part]) for _, part, one in panels)
    width = max(5.0, _LEFT + _BAR * longest)
    height = _PANEL * len(panels) + 0.5
    figure = style.new_figure(width, height)
    rows = figure.subplots(len(panels), squeeze=False)[:, 0]
    for axes, (question, part, one) in zip(rows, panels):
        words = [shorten(word) for word in one.words[part]]
        _bars(axes, words, one.shares[part])
        axes.set_xlim(-0.6, longest - 0.4)
        axes.set_ylabel("share")
        axes.tick_params("x", rotation=40)
        for text in axes.get_xticklabels():
            text.set_horizontalalignment("right")
        title = question if part.start == 0 else "(continued)"
        # The width of a letter is some 0.075 inches.
        axes.set_title(title[: int(width / 0.085)], fontsize=9, loc="left")
    figure.subplots_adjust(
        left=_LEFT / width,
        right=0.97,
        top=1 - 0.75 / height,
        bottom=0.8 / height,
        hspace=0.9,
    )
    _legend(figure, rows[0])
    return figure


def _bars(axes: Any, names: Sequence[str], shares: Sequence) -> None:
    values, places = np.array(shares), np.arange(len(names))
    below = np.zeros(len(names))
    for number, source in enumerate(SOURCES):
        axes.bar(
            places,
            values[:, number],
            bottom=below,
            label=source,
            color=style.COLOURS[number],
            hatch=_HATCHES[number],
            edgecolor="white",
            width=0.7,
        )
        below = below + values[:, number]
    axes.set_ylim(0, 1)
    axes.set_xticks(places, names, fontsize=9)


def _legend(figure: Any, axes: Any) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="upper center", ncol=len(names), fontsize=9
    )
