"""Formats the benchmark's results as text."""

from typing import Any


def case_text(name: str, result: dict[str, Any]) -> str:
    """The table of a case, with its targets and notes.

    Args:
        name: the case's name.
        result: the result of `worker.measure`, or {"error": ...}.

    Returns:
        Lines without a newline at the end.
    """
    if "error" in result:
        return f"{name}: {result['error']}"
    threads = result["threads"]
    head = (
        f"{name}: {result['seconds']:.0f} s, peak memory "
        f"{result['peak_memory_mb']:.0f} MB; intra-op threads "
        f"{threads['intra_op']}, inter-op {threads['inter_op']}, "
        f"{threads['cores']} cores"
    )
    lines = [head, *table(result["rows"])]
    lines += [_target(target) for target in result["targets"]]
    lines += [f"note: {note}" for note in result["notes"]]
    if result["load_average"] > 0.5 * threads["cores"]:
        lines.append(
            f"note: the load was {result['load_average']:.1f} before this "
            "case: other processes disturb times a lot, and ratios as well"
        )
    return "\n".join(lines)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as aligned lines, without entries that are lists."""
    names = [k for k, v in rows[0].items() if not isinstance(v, list)]
    cells = [[name.replace("_", " ") for name in names]]
    cells += [[_cell(row[name]) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    text = [isinstance(rows[0][name], str) for name in names]
    return [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(line, widths, text)
        ).rstrip()
        for line in cells
    ]


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def _target(target: dict[str, Any]) -> str:
    met = "met" if target["met"] else "MISSED"
    return (
        f"target {met}: {target['what']}: {_cell(float(target['value']))} "
        f"({target['rule']} {_cell(float(target['limit']))})"
    )
