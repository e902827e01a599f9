"""The spread of several runs' scores."""

import statistics
from collections.abc import Iterable
from typing import Any


def spread(values: Iterable[float | None]) -> dict[str, Any]:
    """Mean and sample standard deviation of the known values.

    Returns:
        "mean" (None without values), "std" (None for fewer than two values) and
        "runs", the number of values.
    """
    known = [float(value) for value in values if value is not None]
    return {
        "mean": statistics.fmean(known) if known else None,
        "std": statistics.stdev(known) if len(known) > 1 else None,
        "runs": len(known),
    }
