"""Pieces of an HTML page that stands alone: no scripts, nothing to fetch."""

import base64
import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from mtl_tf.figures import style

# A longer text is folded away behind its beginning.
_SHOWN = 300

# Of escaped text. A longer word, such as a link, may be broken. Shorter ones
# must not: a narrow column would break every label. Scripts without spaces
# break by themselves.
_WHOLE = re.compile(r"((?:&[#\w]+;|[!-%'-~]){30})(?=[!-~])")

_STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; max-width: 70em;
  margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #ccc; padding: 0.25em 0.6em; text-align: left;
  vertical-align: top; }
th { background: #f3f3f3; }
td.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
img { max-width: 100%; height: auto; display: block; margin: 1em 0; }
mark { background: #ffe08a; padding: 0 0.15em; }
.note { color: #555; }
"""


def escaped(value: Any) -> str:
    """A text as HTML shows it, whatever characters it has."""
    return html.escape(str(value))


class Markup(str):
    """HTML that is escaped already."""


def _content(value: Any) -> Markup:
    """What an element shows: markup as it is, other things escaped."""
    if isinstance(value, Markup):
        return value
    return Markup(_WHOLE.sub(r"\1<wbr>", escaped(value)))


def tag(name: str, content: Any, **attributes: str) -> Markup:
    """An element; content that is no `Markup` is escaped."""
    written = "".join(
        f' {key.rstrip("_")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value
    )
    return Markup(f"<{name}{written}>{_content(content)}</{name}>")


def joined(parts: Iterable[Any], between: str = "\n") -> Markup:
    """Elements one after the other."""
    return Markup(between.join(map(_content, parts)))


def table(
    header: Sequence[Any], rows: Iterable[Sequence[Any]], texts: int = 1
) -> Markup:
    """A table whose first cell of a row is a heading.

    Args:
        header: the headings; may be none.
        rows: the cells, as many as headings; a cell that is `Markup` stays.
        texts: how many cells at the front hold texts; the others are numbers.
    """
    heads = joined((tag("th", cell) for cell in header), "")
    lines = [tag("tr", heads)] if header else []
    for row in rows:
        cells = [
            tag("td", cell, class_="" if column < texts else "number")
            for column, cell in enumerate(row)
        ]
        lines.append(tag("tr", joined(cells, "")))
    return tag("table", joined(lines))


def picture(figure: Any, describes: str) -> Markup:
    """A matplotlib figure within the page.

    Args:
        figure: the figure.
        describes: what it shows, for those who do not see it.
    """
    content = base64.b64encode(style.png(figure)).decode("ascii")
    source = f"data:image/png;base64,{content}"
    return Markup(f'<img alt="{escaped(describes)}" src="{source}">')


def long_text(text: str) -> Markup:
    """A text, of which only the beginning is open if it is long."""
    if len(text) <= _SHOWN:
        return _content(text)
    start = tag("summary", f"{text[:_SHOWN]} \u2026")
    return tag("details", joined([start, text]))


def page(title: str, parts: Iterable[Any]) -> str:
    """A whole page.

    Args:
        title: of the page.
        parts: its elements.
    """
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{tag('h1', title)}\n{joined(parts)}\n</body>\n</html>\n"
    )
