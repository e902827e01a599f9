"""Colours, sizes and files of all figures."""

import io
import os
from collections.abc import Iterator, Sequence
from typing import Any

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError

# Okabe and Ito: told apart by colour-blind eyes; the dashes tell them apart
# in black and white.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#E69F00", "#000000"),
)
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HEAT = "cividis"
FORMATS = ("png", "svg", "pdf")


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches.

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
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def looks(count: int) -> Iterator[dict[str, Any]]:
    """Colour, dashes and marker of each of so many lines."""
    for place in range(count):
        yield {
            "color": COLOURS[place % len(COLOURS)],
            "linestyle": DASHES[place % len(DASHES)],
            "marker": MARKERS[place % len(MARKERS)],
        }


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


def save(figure: Any, paths: Sequence[str]) -> None:
    """Writes a figure to files, each whole or not at all.

    A dollar sign in a text is one, and does not begin a formula.
    """
    for path in paths:
        with files.replacing(path) as temporary:
            _write(figure, temporary, form_of(path))


def png(figure: Any) -> bytes:
    """A figure as the content of a PNG file, as `save` writes it."""
    content = io.BytesIO()
    _write(figure, content, "png")
    return content.getvalue()


def _write(figure: Any, target: Any, form: str) -> None:
    """Writes a figure to a path or a stream."""
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)
    # The same figure is the same file: no random names, no date.
    settings = {"svg.hashsalt": "mtl_tf", "text.parse_math": False}
    metadata = {"png": {}, "svg": {"Date": None}}.get(
        form, {"CreationDate": None}
    )
    with matplotlib.rc_context(settings):
        figure.savefig(target, format=form, dpi=150, metadata=metadata)


def form_of(path: str) -> str:
    """What a file is by its ending, such as "png"."""
    return os.path.splitext(path)[1].removeprefix(".").lower()
