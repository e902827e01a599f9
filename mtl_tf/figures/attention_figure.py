"""Draws what the tasks' columns attend to: each other, and the words."""

from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.figures.attention import Attention
from mtl_tf.figures.page import DEFAULT, Page, widest
from mtl_tf.figures.panels import Heat, shorten, shown_tokens
from mtl_tf.figures.sheet import ROW, Sheet, heading, quoted, shared_norm
from mtl_tf.figures.token_figure import UNKNOWN

_CELL = 1.6  # ems of the least column of a task
_GAP = 0.16
_SHARE = "words"


def attention_figure(
    texts: Sequence[Attention], title: str = "", page: Page = DEFAULT
) -> Any:
    """A `matplotlib.figure.Figure` of texts, one below the other.

    Figure 4.2 of Sun (2019): for each layer the attention of each task's
    column to all columns, with the share that is left for the words, and to
    every word. Means over the heads. All maps have one scale of colours.

    Args:
        texts: what the columns of one run attend to.
        title: above everything.
        page: what it is drawn for.
    """
    sheet = Sheet(page)
    norm = shared_norm(
        [
            heat
            for text in texts
            for values in (text.columns, text.words)
            for heat in _heats(text, values)
        ]
    )
    longest = max(len(text.tokens) for text in texts)
    names = [name for text in texts for name in _names(text)]
    sheet.margin(names, 0, sheet.columns_width(longest))
    sheet.write(title, bold=True)
    for text in texts:
        sheet.write(quoted(text.text or " ".join(text.tokens)))
        _draw_columns(sheet, text, norm)
        _draw_words(sheet, text, norm)
    sheet.bar(norm, "attention")
    if any(not text.known.all() for text in texts):
        sheet.write(UNKNOWN, small=True)
    return sheet.finish()


def _names(text: Attention) -> tuple[str, ...]:
    return tuple(map(shorten, text.tasks))


def _draw_columns(sheet: Sheet, text: Attention, norm: Any) -> None:
    """One matrix a layer, side by side as far as there is room."""
    page = sheet.page
    sheet.write(
        "attention to the tasks' columns, and its share for the words",
        small=True,
    )
    share = widest(sheet.figure, ["100%", _SHARE], page.small) + 0.08
    title = widest(sheet.figure, ["layer 10"], page.small)
    least = max(len(text.tasks) * _CELL * page.em, title + 0.1)
    heats = list(_heats(text, text.columns))
    fitting = max(1, int((sheet.inner + _GAP) / (least + share + _GAP)))
    rows = -(-len(heats) // fitting)
    columns = -(-len(heats) // rows)
    block = (sheet.inner + _GAP) / columns
    width, height = block - _GAP - share, len(text.tasks) * ROW * page.em
    below = 0.0
    for layer, heat in enumerate(heats):
        place = layer % columns
        if layer and not place:
            sheet.down(height + below + _GAP)
        left = place * block
        if not place:
            sheet.down(1.5 * page.em)
        axes = sheet.heat(
            heat, slice(None), height, norm, left=left, width=width
        )
        axes.set_title(heat.title, fontsize=page.small, loc="left", pad=3)
        below = sheet.name_columns(axes, _names(text))
        if place:
            axes.set_yticks(range(len(text.tasks)), [])
        _write_shares(axes, text.words[layer].sum(axis=-1), page)
    sheet.down(height + below + _GAP)


def _write_shares(axes: Any, shares: Sequence[float], page: Page) -> None:
    """Writes beside each row how much attention goes to the words."""
    place = (len(shares) - 0.5, 0)
    after = {"xytext": (5, 0), "textcoords": "offset points"}
    for row, share in enumerate(shares):
        axes.annotate(
            f"{share:.0%}",
            (place[0], row),
            **after,
            fontsize=page.small,
            va="center",
        )
    axes.annotate(
        _SHARE,
        (place[0], -0.5),
        xytext=(5, 3),
        textcoords="offset points",
        fontsize=page.small,
        va="bottom",
    )


def _draw_words(sheet: Sheet, text: Attention, norm: Any) -> None:
    tokens = shown_tokens(text.tokens, text.known)
    height = len(text.tasks) * ROW * sheet.page.em
    for part in sheet.wrap(len(tokens)):
        titles = ["attention to the words", heading(part, len(tokens))]
        sheet.write(", ".join(filter(None, titles)), small=True)
        axes = None
        for heat in _heats(text, text.words):
            sheet.write(heat.title, small=True)
            axes = sheet.heat(heat, part, height, norm)
            sheet.down(height + 0.06)
        sheet.down(sheet.name_columns(axes, tokens[part]) + _GAP - 0.06)


def _heats(text: Attention, values: Any) -> Iterator[Heat]:
    for layer, part in enumerate(values):
        limits = (0.0, float(part.max()))
        title = f"layer {layer + 1}"
        yield Heat(title, part, _names(text), "attention", limits)
