"""A figure that is filled from the top, in inches, and ends where that ends.

Everything is placed in inches, so that a text of 400 tokens is as readable as
one of ten: the figure grows, the type does not shrink. Columns of tokens share
the whole width among them, so that short texts leave none of it empty.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.figures import style
from mtl_tf.figures.page import (
    FULL_WIDTH,
    Page,
    extent,
    widest,
    wrapped,
)
from mtl_tf.figures.panels import Heat

EDGE = 0.06  # inches around everything
TICK = 0.11  # of a tick with its distance to the number
# In ems of the page's type.
_COLUMN, _WIDE_COLUMN = 1.6, 5.0
ROW = 1.9
# Inches that headings need above a text of two tokens, too.
_LEAST = 3.0


class Sheet:
    """A figure that is filled from the top.

    Args:
        page: what it is drawn for.

    Attributes:
        figure: the `matplotlib.figure.Figure`.
        depth: inches from the top to what is free.
        left: where axes begin, once `margin` has been called.
        inner: inches of the axes' width.
    """

    def __init__(self, page: Page):
        self.page = page
        self.width = page.width or FULL_WIDTH
        self.figure = style.new_figure(self.width, 1.0)
        self.depth = EDGE
        self.left, self.inner = EDGE, self.width - 2 * EDGE
        self._axes: list[tuple[Any, tuple[float, ...]]] = []
        self._texts: list[tuple[Any, float, float]] = []
        self._legends: list[tuple[Any, float]] = []

    def margin(
        self, names: Sequence[str], lines: int = 0, wish: float = 0.0
    ) -> None:
        """Makes room on the left for what stands beside the axes.

        Args:
            names: of the rows and ticks.
            lines: of the label that is turned by a quarter.
            wish: inches that the axes need at most, 0 for all there are; the
                page is as much narrower, if its width is free.
        """
        names_width = widest(self.figure, names, self.page.small)
        label = lines * 1.25 * self.page.em + (0.06 if lines else 0.0)
        self.left = EDGE + label + names_width + TICK
        # A number at the end of an axis stands half beside it.
        self.inner = self.width - self.left - 1.2 * self.page.em - EDGE
        if self.inner < 6 * self.page.em:
            self.inner = 6 * self.page.em
        elif wish and not self.page.width:
            self.inner = min(self.inner, max(wish, _LEAST))
        self.width = self.left + self.inner + 1.2 * self.page.em + EDGE

    def columns_width(self, tokens: int) -> float:
        """Inches that so many tokens are glad of."""
        return tokens * _WIDE_COLUMN * self.page.em

    def wrap(self, tokens: int) -> list[slice]:
        """Cuts a text in lines that fit, of like length."""
        most = max(1, int(self.inner / (_COLUMN * self.page.em)))
        lines = max(1, math.ceil(tokens / most))
        size = math.ceil(tokens / lines)
        return [
            slice(start, min(start + size, tokens))
            for start in range(0, tokens, size)
        ]

    def down(self, inches: float) -> None:
        """Leaves a gap."""
        self.depth += inches

    def write(
        self, text: str, lines: int = 2, bold: bool = False, small: bool = False
    ) -> None:
        """Writes a text from the left edge on and goes below it."""
        size = self.page.small if small else self.page.font_size
        weight = "bold" if bold else "normal"
        text = wrapped(
            self.figure, text, size, self.width - 2 * EDGE, lines, weight
        )
        if text:
            self.place(text, EDGE, size, weight)
            self.down(extent(self.figure, text, size, weight)[1] + 0.05)

    def place(
        self,
        text: str,
        left: float,
        size: float,
        weight: str = "normal",
        ha: str = "left",
    ) -> None:
        """Places a text at what is free, inches from the left edge."""
        artist = self.figure.text(
            0, 0, text, fontsize=size, weight=weight, va="top", ha=ha
        )
        artist.set_parse_math(False)
        self._texts.append((artist, left, self.depth))

    def legend(self, handles: Sequence[Any], labels: Sequence[str]) -> None:
        """Writes a legend and goes below it."""
        page, width = self.page, self.width - 2 * EDGE
        entry = style.label_size(2.0, page)
        texts = [
            wrapped(self.figure, label, page.font_size, width - entry, 3)
            for label in labels
        ]
        legend = self.figure.legend(
            handles,
            texts,
            loc="upper left",
            ncols=style.legend_columns(self.figure, texts, page, width),
            fontsize=page.font_size,
            frameon=False,
            borderaxespad=0.0,
            borderpad=0.0,
        )
        self._legends.append((legend, self.depth))
        box = legend.get_window_extent(self.figure.canvas.get_renderer())
        self.down(box.height / self.figure.dpi + 0.08)

    def axes(
        self, height: float, left: float = 0.0, width: float | None = None
    ) -> Any:
        """Axes at the top of what is free; it stays free.

        Args:
            height: inches.
            left: inches from where axes begin.
            width: inches, None for all.
        """
        width = self.inner - left if width is None else width
        axes = self.figure.add_axes((0, 0, 1, 1))
        box = (self.left + left, self.depth, width, height)
        self._axes.append((axes, box))
        return axes

    def heat(
        self, heat: Heat, part: slice, height: float, norm: Any, **place: float
    ) -> Any:
        """A heat map of some columns at what is free; returns its axes."""
        axes = self.axes(height, **place)
        values = heat.values[:, part]
        # The first token has no change: grey, which is no colour of the scale.
        axes.set_facecolor("#d9d9d9")
        axes.imshow(
            np.ma.masked_invalid(values),
            aspect="auto",
            cmap=style.HEAT,
            norm=norm,
            interpolation="nearest",
        )
        axes.set_xticks(range(values.shape[1]), [])
        if heat.rows:
            names = [*heat.rows]
            axes.set_yticks(range(len(names)), names, fontsize=self.page.small)
        else:
            axes.set_ylabel("neuron", fontsize=self.page.small)
            axes.tick_params(axis="y", labelsize=self.page.small)
        return axes

    def name_columns(self, axes: Any, names: Sequence[str]) -> float:
        """Writes names below the columns of a map; inches that they take."""
        (width,) = (box[2] for drawn, box in self._axes if drawn is axes)
        size, positions = self.page.small, range(len(names))
        longest = widest(self.figure, names, size)
        gap = 0.5 * self.page.em
        if longest + gap <= width / len(names):
            axes.set_xticks(positions, names, fontsize=size)
            return TICK + 1.2 * self.page.em
        axes.set_xticks(positions, names, rotation=90, fontsize=size)
        return TICK + longest

    def bar(self, norm: Any, label: str) -> None:
        """The bar of colours of all maps, with its label on the right."""
        from matplotlib.cm import ScalarMappable

        width = min(2.4, 0.4 * self.inner)
        axes = self.axes(0.8 * self.page.em, 0.0, width)
        colours = ScalarMappable(norm, style.HEAT)
        bar = self.figure.colorbar(colours, cax=axes, orientation="horizontal")
        bar.outline.set_linewidth(0.5)
        axes.tick_params(labelsize=self.page.small)
        axes.xaxis.get_major_locator().set_params(nbins=4)
        left = self.left + width + 1.5 * self.page.em
        text = wrapped(
            self.figure, label, self.page.small, self.width - left - EDGE, 3
        )
        self.place(text, left, self.page.small)
        below = 0.8 * self.page.em + TICK + 1.2 * self.page.em
        self.down(max(below, extent(self.figure, text, self.page.small)[1]))

    def finish(self) -> Any:
        """The figure, as high as what it holds."""
        height = self.depth + EDGE
        self.figure.set_size_inches(self.width, height)
        for axes, (left, top, wide, high) in self._axes:
            bottom = height - top - high
            axes.set_position(
                (
                    left / self.width,
                    bottom / height,
                    wide / self.width,
                    high / height,
                )
            )
        for text, left, top in self._texts:
            text.set_position((left / self.width, 1 - top / height))
        for legend, top in self._legends:
            place = (EDGE / self.width, 1 - top / height)
            legend.set_bbox_to_anchor(place, self.figure.transFigure)
        return self.figure


def shared_norm(heats: Sequence[Heat]) -> Any:
    """One scale of colours for maps, so that they compare."""
    from matplotlib.colors import Normalize

    low = min(heat.limits[0] for heat in heats)
    high = max(heat.limits[1] for heat in heats)
    return Normalize(low, high if high > low else low + 1.0)


def quoted(text: str) -> str:
    """A text as the heading of what is drawn of it."""
    return f"“{' '.join(text.split())}”"


def heading(part: slice, tokens: int) -> str:
    """Names a line of a text of so many tokens, "" if it is all of it."""
    if part.stop - part.start == tokens:
        return ""
    return f"tokens {part.start + 1} to {part.stop} of {tokens}"
