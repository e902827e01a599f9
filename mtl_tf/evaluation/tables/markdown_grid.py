"""A table in Markdown."""

from collections.abc import Sequence


def grid(
    header: Sequence[str], rows: Sequence[Sequence[str]], numeric: bool = True
) -> str:
    """A Markdown table with aligned source text.

    Args:
        header: the headings.
        rows: the cells of each row, one per heading.
        numeric: whether all columns but the first are aligned to the right.
    """
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    head = [cell.replace("|", "\\|") for cell in header]
    widths = [max(3, *map(len, column)) for column in zip(head, *cells)]
    rule = ["-" * widths[0]]
    rule += ["-" * (w - 1) + (":" if numeric else "-") for w in widths[1:]]
    lines = []
    for row in (head, rule, *cells):
        padded = [row[0].ljust(widths[0])]
        padded += [
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width in zip(row[1:], widths[1:])
        ]
        lines.append(f"| {' | '.join(padded)} |")
    return "\n".join(lines)
