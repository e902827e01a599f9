"""Draws the nearest neighbours of words: bars of cosines with their words."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.neighbours import Neighbours
from mtl_tf.figures.panels import shorten

_BAR, _GAP = 0.22, 0.16  # inches of a neighbour, and between words
_LEFT, _WIDTH, _BETWEEN = 1.3, 2.8, 0.35
_ABOVE, _BELOW = 0.45, 0.6


def neighbour_figure(found: Mapping[str, Sequence[Neighbours]]) -> Any:
    """A `matplotlib.figure.Figure` with a panel a run and a group a word.

    Table 6 of Dong et al. (2015) as a picture.

    Args:
        found: of each run the neighbours of the same words.
    """
    first = next(iter(found.values()))
    # As many places as the run has that found the most of a word.
    most = [
        max(len(one.nearest) for one in same) for same in zip(*found.values())
    ]
    tops, inches = [], 0.0
    for count in most:
        tops.append(inches)
        inches += count * _BAR + _GAP
    width = _LEFT + len(found) * (_WIDTH + _BETWEEN)
    height = _ABOVE + inches + _BELOW
    figure = style.new_figure(width, height)
    for number, (label, words) in enumerate(found.items()):
        left = _LEFT + number * (_WIDTH + _BETWEEN)
        axes = figure.add_axes(
            (left / width, _BELOW / height, _WIDTH / width, inches / height)
        )
        look = style.COLOURS[number % len(style.COLOURS)]
        _draw(axes, words, tops, look)
        axes.set_ylim(inches - _GAP / 2, -_GAP / 2)
        axes.set_title(label, fontsize=10)
        middles = [top + count * _BAR / 2 for top, count in zip(tops, most)]
        names = [shorten(one.word) for one in first] if not number else []
        axes.set_yticks(middles, names or [""] * len(middles), fontsize=9)
    return figure


def _draw(
    axes: Any, words: Sequence[Neighbours], tops: Sequence[float], colour: str
) -> None:
    for one, top in zip(words, tops):
        for place, (word, cosine) in enumerate(one.nearest):
            y = top + (place + 0.5) * _BAR
            axes.barh(y, cosine, 0.85 * _BAR, color=colour, alpha=0.35)
            text = f"{shorten(word)}  {cosine:.2f}"
            axes.text(0.02, y, text, fontsize=8, va="center", ha="left")
    axes.set_xlim(0, 1)
    axes.set_xlabel("cosine of the vectors", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
