"""Colours, legends and files of all figures."""

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError
from mtl_tf.figures.page import DEFAULT, SCREEN, Page, widest, wrapped

# Okabe and Ito: told apart by colour-blind eyes; the dashes tell them apart
# in black and white.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#000000",
)
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Its lightness grows with the value: grey prints keep the order.
HEAT = "cividis"
FORMATS = ("png", "svg", "pdf")
_GRID = "#dddddd"


def new_figure(width: float, height: float, layout: str | None = None) -> Any:
    """An empty figure of a size in inches.

    Args:
        width: of the page.
        height: of the page.
        layout: "constrained" for axes that make room for their labels.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "figures need matplotlib: pip install 'mtl_tf[figures]'"
        )
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def check_installed() -> None:
    """Raises `ConfigError` if matplotlib is not installed."""
    new_figure(1, 1)


@contextlib.contextmanager
def drawing(page: Page) -> Iterator[None]:
    """Lets matplotlib draw for a page within the block.

    Raises:
        ConfigError: matplotlib, or the page's font, is not there.
    """
    check_installed()
    import matplotlib

    with matplotlib.rc_context(page.settings()):
        yield


def looks(count: int) -> Iterator[dict[str, Any]]:
    """Colour, dashes and marker of each of so many lines."""
    for place in range(count):
        yield {
            "color": COLOURS[place % len(COLOURS)],
            "linestyle": DASHES[place % len(DASHES)],
            "marker": MARKERS[place % len(MARKERS)],
        }


def plain_axes(axes: Any, page: Page, grid: str = "both") -> None:
    """Gives axes small numbers, a pale grid and no frame above and right."""
    axes.tick_params(labelsize=page.small)
    axes.grid(axis=grid, color=_GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def label_size(handles: float, page: Page) -> float:
    """Inches of a legend's entry besides its text."""
    return (handles + 2.8) * page.em


def legend(
    figure: Any, handles: Sequence[Any], labels: Sequence[str], page: Page
) -> Any:
    """A legend below everything, in as many columns as there is room for.

    Args:
        figure: of a constrained layout.
        handles: lines or bars.
        labels: their names; too long ones are wrapped.
        page: what it is drawn for.
    """
    width = figure.get_size_inches()[0] - 2 * page.em
    entry = label_size(2.0, page)
    texts = [
        wrapped(figure, label, page.font_size, width - entry, 3)
        for label in labels
    ]
    return figure.legend(
        handles,
        texts,
        loc="outside lower center",
        ncols=legend_columns(figure, texts, page, width),
        fontsize=page.font_size,
        frameon=False,
    )


def fit_height(figure: Any, legend: Any, axes: float, page: Page) -> None:
    """Makes a figure as high as its axes and its legend, if it is free.

    Args:
        figure: the figure.
        legend: what `legend` returned.
        axes: inches of all axes with their labels.
        page: what it is drawn for.
    """
    if page.height:
        return
    box = legend.get_window_extent(figure.canvas.get_renderer())
    height = axes + box.height / figure.dpi + page.em
    figure.set_size_inches(figure.get_size_inches()[0], height)


def legend_columns(
    figure: Any, labels: Sequence[str], page: Page, width: float
) -> int:
    """In how many columns names fit in so many inches, in rows alike."""
    column_width = widest(figure, labels, page.font_size) + label_size(
        2.0, page
    )
    most = max(1, min(len(labels), int(width / column_width)))
    rows = -(-len(labels) // most)
    return -(-len(labels) // rows)


def check_paths(paths: Sequence[str], more: Sequence[str] = ()) -> None:
    """Refuses files that no figure can be written to.

    Args:
        paths: the files.
        more: endings of what else the figure can be.

    Raises:
        ConfigError: none, or one whose ending is not among `FORMATS` or
            `more`.
    """
    if not paths:
        raise ConfigError("--output is missing: name a file .png or .svg")
    known = (*FORMATS, *more)
    for path in paths:
        if form_of(path) not in known:
            raise ConfigError(
                f"--output={path} must end with one of "
                f"{', '.join('.' + name for name in known)}"
            )


def save(figure: Any, paths: Sequence[str], page: Page = DEFAULT) -> None:
    """Writes a figure to files, each whole or not at all.

    A dollar sign in a text is one, and does not begin a formula.
    """
    for path in paths:
        with files.replacing(path) as temporary:
            _write(figure, temporary, form_of(path), page)


def png(figure: Any) -> bytes:
    """A figure as the content of a PNG file for a screen."""
    content = io.BytesIO()
    _write(figure, content, "png", SCREEN)
    return content.getvalue()


def _write(figure: Any, target: Any, form: str, page: Page) -> None:
    """Writes a figure to a path or a stream."""
    from matplotlib.text import Text

    # Of fonts that become part of a PDF.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    # Without the date: the same figure is the same file.
    metadata = {"png": {}, "svg": {"Date": None}}.get(
        form, {"CreationDate": None}
    )
    with drawing(page), warnings.catch_warnings():
        # Of emoji, for example: a box stands for each, which says it all.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(target, format=form, dpi=page.dpi, metadata=metadata)


def form_of(path: str) -> str:
    """What a file is by its ending, such as "png"."""
    return os.path.splitext(path)[1].removeprefix(".").lower()
