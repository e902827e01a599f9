"""The results of benchmark cases.

A case is a function `(sizes, rounds) -> {"rows": [...], "targets": [...],
"notes": [...]}`. Rows are flat dictionaries, one per line of its table.
"""

from typing import Any

import numpy as np

from mtl_tf.benchmarks.timing import Timing, ratio
from mtl_tf.core.errors import RunError

Result = dict[str, list]


def make_target(
    description: str, value: float, rule: str, limit: float
) -> dict[str, Any]:
    """A target and whether it is met; `rule` is "at least" or "at most"."""
    met = value >= limit if rule == "at least" else value <= limit
    return {
        "what": description,
        "value": value,
        "rule": rule,
        "limit": limit,
        "met": bool(met),
    }


def make_row(timing: Timing, ours: Timing, **facts: Any) -> dict[str, Any]:
    """A line of a table: facts first, then times and the ratio to ours."""
    milliseconds = [1e3 * s for s in timing.samples]
    return {
        **facts,
        "step_ms": 1e3 * timing.median,
        "fastest_ms": min(milliseconds),
        "slowest_ms": max(milliseconds),
        "times_ours": ratio(timing, ours),
        "warm_up_s": timing.warm_up,
        "samples_ms": milliseconds,
    }


def check_same(outcomes: list[float]) -> None:
    """Raises `RunError` unless all first steps gave the same results."""
    if not np.allclose(outcomes, outcomes[0], rtol=1e-4, atol=1e-5):
        raise RunError(
            "the contestants did not do the same work: their first steps "
            f"gave {outcomes}"
        )
