"""How the scores of several runs lie."""

import statistics
from collections.abc import Iterable
from typing import Any


def spread(values: Iterable[float | None]) -> dict[str, Any]:
    """Mean and sample standard deviation of the values that are known.

    Returns:
        "mean" (None without a value), "std" (None below two values) and
        "runs", the number of values.
    """
    known = [float(value) for value in values if value is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "std": statistics.stdev(known) if len(known) > 1 else None,
        "runs": len(known),
    }
