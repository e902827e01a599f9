"""What a figure is made for: its size, its type and its resolution."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from mtl_tf.core.errors import ConfigError

# As wide as the text of an A4 or letter page.
FULL_WIDTH = 6.5


@dataclasses.dataclass(frozen=True)
class Page:
    """The page that a figure is drawn for.

    Attributes:
        width: inches; 0 for what the figure needs, `FULL_WIDTH` at most.
        height: inches, of figures whose height is free; 0 for their own.
        font_size: points of ordinary type.
        font: name of a font family, "" for matplotlib's own.
        dpi: dots an inch in a PNG file.
    """

    width: float = 0.0
    height: float = 0.0
    font_size: float = 9.0
    font: str = ""
    dpi: int = 300

    @property
    def small(self) -> float:
        """Points of the type of ticks and notes."""
        return 0.88 * self.font_size

    @property
    def em(self) -> float:
        """Inches that the ordinary type's size is."""
        return self.font_size / 72

    def settings(self) -> dict[str, Any]:
        """What matplotlib has to know while it draws and writes the figure.

        Raises:
            ConfigError: there is no such font.
        """
        settings = {
            # The same figure is the same file: no random names.
            "svg.hashsalt": "mtl_tf",
            # A dollar sign in a text is one, and begins no formula.
            "text.parse_math": False,
            # Publishers refuse PDF files with fonts of type 3.
            "pdf.fonttype": 42,
            "font.size": self.font_size,
        }
        if self.font:
            settings["font.family"] = [_known_font(self.font), "DejaVu Sans"]
        return settings


DEFAULT = Page()
SCREEN = Page(dpi=150)


@functools.lru_cache
def _known_font(name: str) -> str:
    from matplotlib import font_manager

    try:
        font_manager.findfont(name, fallback_to_default=False)
    except ValueError:
        names = sorted({font.name for font in font_manager.fontManager.ttflist})
        raise ConfigError(
            f"--font={name} is no font of this machine: give one of "
            f"{', '.join(names)}"
        )
    return name


def extent(
    figure: Any, text: str, size: float, weight: str = "normal"
) -> tuple[float, float]:
    """Inches that a text takes to the right and upwards.

    Args:
        figure: what it is drawn on.
        text: of one or several lines.
        size: in points.
        weight: "normal" or "bold".
    """
    from matplotlib.text import Text

    if not text.strip():
        return 0.0, 0.0
    label = Text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    label.set_figure(figure)
    box = label.get_window_extent(figure.canvas.get_renderer())
    return box.width / figure.dpi, box.height / figure.dpi


def widest(figure: Any, texts: Sequence[str], size: float) -> float:
    """Inches of the widest text, 0 for none."""
    return max((extent(figure, text, size)[0] for text in texts), default=0.0)


def wrapped(
    figure: Any,
    text: str,
    size: float,
    width: float,
    lines: int = 2,
    weight: str = "normal",
) -> str:
    """A text cut in lines that fit; what no line holds becomes `…`.

    Args:
        figure: what it is drawn on.
        text: of any length; its white space counts as one space each.
        size: in points.
        width: inches of a line.
        lines: how many there may be.
        weight: "normal" or "bold".
    """

    def fits(line: str) -> bool:
        return extent(figure, line, size, weight)[0] <= width

    rows, rest = [], " ".join(text.split())
    while rest and len(rows) < lines:
        last = len(rows) == lines - 1
        if fits(rest):
            rows.append(rest)
            break
        line, rest = _cut(rest, fits, "…" if last else "")
        rows.append(line)
    return "\n".join(rows)


def _cut(text: str, fits: Any, end: str) -> tuple[str, str]:
    """The longest beginning that fits with its end, and what is left.

    It ends between words; within one where not even that fits.
    """
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[:middle] + end):
            low = middle
        else:
            high = middle - 1
    space = text.rfind(" ", 0, low + 1)
    stop = space if space > 0 else low
    return text[:stop].rstrip() + end, text[stop:].lstrip()
