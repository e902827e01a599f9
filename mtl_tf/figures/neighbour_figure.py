"""Draws the nearest neighbours of words: bars of cosines with their words."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.neighbours import Neighbours
from mtl_tf.figures.page import DEFAULT, Page, widest, wrapped
from mtl_tf.figures.panels import shorten
from mtl_tf.figures.sheet import TICK, Sheet

_BAR, _GROUP = 1.75, 1.2  # ems of a neighbour, and between words
_GAP = 0.2
_WISH = 2.8  # inches of a panel


def neighbour_figure(
    runs: Mapping[str, Sequence[Neighbours]], page: Page = DEFAULT
) -> Any:
    """A `matplotlib.figure.Figure` with a panel a run and a group a word.

    Table 6 of Dong et al. (2015) as a picture.

    Args:
        runs: of each run the neighbours of the same words.
        page: what it is drawn for.
    """
    sheet = Sheet(page)
    names = [shorten(entry.word) for entry in next(iter(runs.values()))]
    sheet.margin(names, 0, len(runs) * _WISH)
    # As many places as the run has that found the most of a word.
    most = [
        max(len(entry.nearest) for entry in entries)
        for entries in zip(*runs.values())
    ]
    texts = [_text(*x) for run in runs.values() for w in run for x in w.nearest]
    least = widest(sheet.figure, texts, page.small) + _GAP
    fitting = max(1, int((sheet.inner + _GAP) / (least + _GAP)))
    rows = -(-len(runs) // fitting)
    columns = -(-len(runs) // rows)
    block = (sheet.inner + _GAP) / columns
    height = sum(count * _BAR + _GROUP for count in most) * page.em
    lowest = min(
        (x[1] for run in runs.values() for w in run for x in w.nearest),
        default=0.0,
    )
    titles = [
        wrapped(sheet.figure, label, page.font_size, block - _GAP)
        for label in runs
    ]
    lines = 1 + max(title.count("\n") for title in titles)
    for number, (title, words) in enumerate(zip(titles, runs.values())):
        place = number % columns
        if not place:
            sheet.down(_below(page) if number else 0.0)
            sheet.down((1.2 * lines + 0.6) * page.em)
        left = place * block
        axes = sheet.axes(height, left, block - _GAP)
        look = style.COLOURS[number % len(style.COLOURS)]
        _draw(axes, words, most, look, page)
        axes.set_xlim(min(0.0, lowest), 1)
        axes.set_title(title, fontsize=page.font_size)
        _name_words(axes, [] if place else names, most, page)
        if place == columns - 1 or number == len(runs) - 1:
            sheet.down(height)
    sheet.down(_below(page))
    return sheet.finish()


def _below(page: Page) -> float:
    """Inches of an axis's numbers and label."""
    return TICK + 2.8 * page.em


def _text(word: str, cosine: float) -> str:
    return f"{shorten(word)}  {cosine:.2f}"


def _tops(most: Sequence[int]) -> list[float]:
    """Where each word's bars begin, in ems."""
    return [
        sum(count * _BAR + _GROUP for count in most[:place])
        for place in range(len(most))
    ]


def _name_words(
    axes: Any, names: Sequence[str], most: Sequence[int], page: Page
) -> None:
    tops = _tops(most)
    axes.set_ylim(tops[-1] + most[-1] * _BAR + _GROUP / 2, -_GROUP / 2)
    middles = [top + count * _BAR / 2 for top, count in zip(tops, most)]
    axes.set_yticks(middles, names or [""] * len(middles), fontsize=page.small)
    axes.tick_params(axis="y", length=0)


def _draw(
    axes: Any,
    words: Sequence[Neighbours],
    most: Sequence[int],
    colour: str,
    page: Page,
) -> None:
    for entry, top in zip(words, _tops(most)):
        for rank, (word, cosine) in enumerate(entry.nearest):
            y = top + (rank + 0.5) * _BAR
            axes.barh(y, cosine, 0.85 * _BAR, color=colour, alpha=0.35)
            axes.annotate(
                _text(word, cosine),
                (0.0, y),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=page.small,
                va="center",
            )
    axes.set_xlabel("cosine of the vectors", fontsize=page.small)
    style.plain_axes(axes, page, "x")
