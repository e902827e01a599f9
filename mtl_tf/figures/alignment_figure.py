"""Draws alignments: the source's tokens to the right, the translation's down.

The figure grows with the texts; the type does not shrink.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.figures.alignment import Alignment
from mtl_tf.figures.carried_spaces import GLUE, NOTE
from mtl_tf.figures.panels import Heat, shorten, shown_tokens
from mtl_tf.figures.sheet import (
    LEFT,
    LETTER,
    RIGHT,
    ROW,
    TITLE,
    TOKEN,
    Sheet,
    name_tokens,
)

_GAP, _NAME, _NOTE = 0.2, 0.3, 0.25
_LEAST = 4.5  # inches that titles need, above a text of two tokens, too
_BRACKETS = "[word]: not in the vocabulary"


def alignment_figure(
    texts: Sequence[Sequence[Alignment]], title: str = ""
) -> Any:
    """A `matplotlib.figure.Figure` of heat maps, one below the other.

    Args:
        texts: of each text its alignments by the runs.
        title: above everything.
    """
    every = [one for text in texts for one in text]
    widest = max(len(one.source) for one in every) * TOKEN
    height = sum(map(_height, every)) + TITLE + _NOTE + _GAP
    sheet = Sheet(LEFT + max(widest, _LEAST) + RIGHT, height)
    sheet.text(title)
    sheet.down(TITLE)
    x, y = sheet.size
    notes, top = "; ".join(_notes(every)), sheet.top - _NOTE / 2
    sheet.figure.text(LEFT / x, top / y, notes, fontsize=9)
    sheet.down(_NOTE)
    for number, text in enumerate(texts, 1):
        for one in text:
            below = sheet.top - _height(one)
            _draw(sheet, one, f"Text {number}, {one.label}")
            sheet.top = below
    return sheet.figure


def _notes(every: Sequence[Alignment]) -> Iterator[str]:
    """What signs on tokens mean, of those that there are."""
    if any(not one.known.all() for one in every):
        yield _BRACKETS
    tokens = [t for one in every for t in (*one.source, *one.target)]
    if any(token.startswith(GLUE) and token != GLUE for token in tokens):
        yield NOTE


def _letters(names: Sequence[str]) -> float:
    return max(map(len, names)) * LETTER


def _height(one: Alignment) -> float:
    names = _letters(shown_tokens(one.source, one.known))
    return TITLE + len(one.target) * ROW + names + _NAME + _GAP


def _draw(sheet: Sheet, one: Alignment, title: str) -> None:
    heat = Heat(
        title,
        one.weights,
        tuple(map(shorten, one.target)),
        "attention",
        (0.0, 1.0),
    )
    whole = slice(0, len(one.source))
    axes = sheet.heat(heat, whole, len(one.target) * ROW)
    name_tokens(axes, shown_tokens(one.source, one.known))
    source, target = one.languages
    axes.set_xlabel(f"source ({source})", fontsize=9)
    # Beside the title: left of the tokens it would leave the figure.
    axes.set_ylabel(
        f"translation ({target})", fontsize=9, rotation=0, ha="right"
    )
    width, height = len(one.source) * TOKEN, len(one.target) * ROW
    axes.yaxis.set_label_coords(-0.08 / width, 1 + 0.05 / height)
