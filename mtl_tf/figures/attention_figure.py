"""Draws what the tasks' columns attend to: each other, and the words."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mtl_tf.figures.attention import Attention
from mtl_tf.figures.panels import Heat, shorten, shown_tokens
from mtl_tf.figures.sheet import (
    BAR_GAP,
    LEFT,
    LETTER,
    PER_LINE,
    RIGHT,
    TITLE,
    TOKEN,
    Sheet,
    heading,
    name_tokens,
    wrap,
)

_CELL = 0.2  # inches of a task's row
_GAP = 0.25
_BAR = 0.85  # a colour bar with its numbers and label
_LEAST = 4.5  # inches that headings need, above a text of two tokens, too
_NOTE = "; [word]: not in the vocabulary"


def attention_figure(texts: Sequence[Attention], title: str = "") -> Any:
    """A `matplotlib.figure.Figure` of texts, one below the other.

    Figure 4.2 of Sun (2019): for each layer the attention of each task's
    column to all columns, with the share that is left for the words, and to
    every word. Means over the heads.

    Args:
        texts: what the columns of one run attend to.
        title: above everything.
    """
    widths = [max(_words_width(t), _block_width(t)) for t in texts]
    width = max(_LEAST, *widths)
    height = sum(_height(text, width) for text in texts)
    sheet = Sheet(LEFT + width + RIGHT, height + TITLE + _GAP)
    brackets = any(not text.known.all() for text in texts)
    sheet.text(title + (_NOTE if brackets else ""))
    sheet.down(TITLE)
    for number, text in enumerate(texts, 1):
        _draw_columns(sheet, text, number, width)
        _draw_words(sheet, text, number)
    return sheet.figure


def _words_width(text: Attention) -> float:
    return min(len(text.tokens), PER_LINE) * TOKEN


def _block_width(text: Attention) -> float:
    """Inches of a layer's matrix with all that stands on its right."""
    return len(text.tasks) * _CELL + BAR_GAP + _BAR + _GAP


def _names(text: Attention) -> tuple[str, ...]:
    return tuple(map(shorten, text.tasks))


def _names_height(names: Sequence[str]) -> float:
    return max(map(len, names)) * LETTER + _GAP


def _per_row(text: Attention, width: float) -> int:
    fitting = int(width // _block_width(text))
    return max(1, min(fitting, len(text.columns)))


def _height(text: Attention, width: float) -> float:
    rows = -(-len(text.columns) // _per_row(text, width))
    return rows * _matrix_height(text) + sum(
        _line_height(text, part) for part in wrap(len(text.tokens))
    )


def _matrix_height(text: Attention) -> float:
    size = len(text.tasks) * _CELL
    return 2 * TITLE + size + _names_height(_names(text))


def _line_height(text: Attention, part: slice) -> float:
    heats = len(text.words) * (TITLE + len(text.tasks) * _CELL)
    tokens = shown_tokens(text.tokens, text.known)[part]
    return TITLE + heats + _names_height(tokens)


def _draw_columns(
    sheet: Sheet, text: Attention, number: int, width: float
) -> None:
    """One matrix a layer, side by side as far as there is room."""
    per_row = _per_row(text, width)
    for layer, heat in enumerate(_heats(text, text.columns)):
        place = layer % per_row
        if layer and not place:
            sheet.down(_matrix_height(text))
        top = sheet.top - 2 * TITLE
        axes = sheet.matrix(heat, place * _block_width(text), top, _CELL)
        # Above the heading of the shares.
        axes.set_title(heat.title, fontsize=9, loc="left", pad=14)
        if not layer:
            what = "attention to the tasks' columns, and to all words"
            _head(sheet, f"Text {number}: {what}")
        name_tokens(axes, _names(text))
        axes.tick_params(labelsize=8)
        if place:
            axes.set_yticks(range(len(text.tasks)), [])
        _write_shares(axes, text.words[layer].sum(axis=-1))
    sheet.down(_matrix_height(text))


def _write_shares(axes: Any, shares: np.ndarray) -> None:
    """Writes beside each row how much attention goes to the words."""
    right = len(shares) - 0.35
    for row, share in enumerate(shares):
        axes.text(right, row, f"{share:.0%}", fontsize=7, va="center")
    axes.text(right, -0.6, "words", fontsize=7, va="bottom")


def _draw_words(sheet: Sheet, text: Attention, number: int) -> None:
    tokens = shown_tokens(text.tokens, text.known)
    for part in wrap(len(tokens)):
        below = sheet.top - _line_height(text, part)
        line = heading(number, part, len(tokens))
        _head(sheet, f"{line}: attention to the words")
        sheet.down(TITLE - _GAP / 2)
        for heat in _heats(text, text.words):
            axes = sheet.heat(heat, part, len(text.tasks) * _CELL)
        name_tokens(axes, tokens[part])
        sheet.top = below


def _head(sheet: Sheet, words: str) -> None:
    x, y = sheet.size
    sheet.figure.text(
        *(LEFT / x, (sheet.top - 0.2) / y, words), fontsize=9, weight="bold"
    )


def _heats(text: Attention, values: np.ndarray) -> Iterator[Heat]:
    for layer, part in enumerate(values):
        # Each layer on its own scale: the lower ones spread more evenly.
        limits = (0.0, float(part.max()))
        title = f"layer {layer + 1}"
        yield Heat(title, part, _names(text), "attention", limits)
