"""Draws alignments: the source's tokens to the right, the translation's down.

The figure grows with the texts; the type does not shrink.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.figures.alignment import Alignment
from mtl_tf.figures.carried_spaces import GLUE, NOTE
from mtl_tf.figures.page import DEFAULT, Page
from mtl_tf.figures.panels import Heat, shorten, shown_tokens
from mtl_tf.figures.sheet import ROW, Sheet, heading, quoted, shared_norm
from mtl_tf.figures.token_figure import UNKNOWN

_GAP = 0.16


def alignment_figure(
    texts: Sequence[Sequence[Alignment]], title: str = "", page: Page = DEFAULT
) -> Any:
    """A `matplotlib.figure.Figure` of heat maps, one below the other.

    Args:
        texts: of each text its alignments by the runs.
        title: above everything.
        page: what it is drawn for.
    """
    sheet = Sheet(page)
    alignments = [alignment for text in texts for alignment in text]
    norm = shared_norm([_heat(alignment) for alignment in alignments])
    names = [
        shorten(token) for alignment in alignments for token in alignment.target
    ]
    longest = max(len(alignment.source) for alignment in alignments)
    sheet.margin(names, 0, sheet.columns_width(longest))
    sheet.write(title, bold=True)
    for text in texts:
        sheet.write(quoted(text[0].text or " ".join(text[0].source)))
        for alignment in text:
            _draw(sheet, alignment, norm)
    sheet.bar(norm, "attention of each word of the translation")
    for note in _notes(alignments):
        sheet.write(note, small=True)
    return sheet.finish()


def _notes(alignments: Sequence[Alignment]) -> Iterator[str]:
    """What signs on tokens mean, of those that there are."""
    if any(not alignment.known.all() for alignment in alignments):
        yield UNKNOWN
    tokens = [
        t
        for alignment in alignments
        for t in (*alignment.source, *alignment.target)
    ]
    if any(token.startswith(GLUE) and token != GLUE for token in tokens):
        yield NOTE


def _draw(sheet: Sheet, alignment: Alignment, norm: Any) -> None:
    heat = _heat(alignment)
    tokens = shown_tokens(alignment.source, alignment.known)
    source, target = alignment.languages
    height = len(heat.rows) * ROW * sheet.page.em
    for part in sheet.wrap(len(tokens)):
        titles = [
            f"{alignment.label}: text ({source}) in columns, translation "
            f"({target}) in rows",
            heading(part, len(tokens)),
        ]
        sheet.write("; ".join(filter(None, titles)), small=True)
        axes = sheet.heat(heat, part, height, norm)
        sheet.down(height + sheet.name_columns(axes, tokens[part]) + _GAP)


def _heat(alignment: Alignment) -> Heat:
    rows = tuple(map(shorten, alignment.target))
    limits = (0.0, float(alignment.weights.max()))
    return Heat("", alignment.weights, rows, "attention", limits)
