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
    every = [one for text in texts for one in text]
    norm = shared_norm([_heat(one) for one in every])
    names = [shorten(token) for one in every for token in one.target]
    longest = max(len(one.source) for one in every)
    sheet.margin(names, 0, sheet.columns_width(longest))
    sheet.write(title, bold=True)
    for text in texts:
        sheet.write(quoted(text[0].text or " ".join(text[0].source)))
        for one in text:
            _draw(sheet, one, norm)
    sheet.bar(norm, "attention of each word of the translation")
    for note in _notes(every):
        sheet.write(note, small=True)
    return sheet.finish()


def _notes(every: Sequence[Alignment]) -> Iterator[str]:
    """What signs on tokens mean, of those that there are."""
    if any(not one.known.all() for one in every):
        yield UNKNOWN
    tokens = [t for one in every for t in (*one.source, *one.target)]
    if any(token.startswith(GLUE) and token != GLUE for token in tokens):
        yield NOTE


def _draw(sheet: Sheet, one: Alignment, norm: Any) -> None:
    heat = _heat(one)
    tokens = shown_tokens(one.source, one.known)
    source, target = one.languages
    height = len(heat.rows) * ROW * sheet.page.em
    for part in sheet.wrap(len(tokens)):
        what = [
            f"{one.label}: text ({source}) in columns, translation ({target}) "
            "in rows",
            heading(part, len(tokens)),
        ]
        sheet.write("; ".join(filter(None, what)), small=True)
        axes = sheet.heat(heat, part, height, norm)
        sheet.down(height + sheet.name_columns(axes, tokens[part]) + _GAP)


def _heat(one: Alignment) -> Heat:
    rows = tuple(map(shorten, one.target))
    limits = (0.0, float(one.weights.max()))
    return Heat("", one.weights, rows, "attention", limits)
