"""Regression: a number for a whole text."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks import fields
from mtl_tf.tasks.batching import values_of
from mtl_tf.tasks.features import NUMBERS
from mtl_tf.tasks.prepared import FeatureRequest
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task_type import Entry, Metric
from mtl_tf.tasks.text_targets import TextTarget
from mtl_tf.tasks.text_task_type import TextTaskType

_NUMBERS = (tf.float32, tf.float64, tf.int64, tf.int32, tf.uint8)
# The loss squares the error in float32, whose largest value is 3.4e38.
_LARGEST = 1e18
# A value so far off dominates the squared error and the standard deviation.
_FAR = 50
# What tables write for a missing number, besides an empty cell.
_MISSING = frozenset(("nan", "na", "n/a", "<na>", "null", "none"))
_COMMAS = re.compile(r"[-+]?[\d.]*,[\d.,]*")


class Number(TextTarget):
    """A finite number, within a range if one is given.

    Args:
        bounds: the least and the greatest value; () for no bounds.
    """

    name = "value"
    needs_labels = False
    dtype = np.float32

    def __init__(self, bounds: Sequence[float] = ()):
        super().__init__()
        self._bounds = tuple(bounds)

    def parse(self, value: Any, column: str) -> float:
        """The number."""
        try:
            if isinstance(value, bool):
                raise ValueError
            number = float(value)
        except (TypeError, ValueError):
            advice = ""
            if isinstance(value, str) and _COMMAS.fullmatch(value.strip()):
                advice = ": write 1234.5 for 1,234.5 or 1.234,5"
            raise ValueError(
                f"{column!r} must be a number, found "
                f"{json.dumps(value, ensure_ascii=False)}{advice}"
            )
        if not math.isfinite(number):
            raise ValueError(f"{column!r} must be finite, found {number}")
        if abs(number) > _LARGEST:
            raise ValueError(
                f"{column!r} must be from {-_LARGEST:g} to {_LARGEST:g}, "
                f"found {number:g}: use another unit"
            )
        if self._bounds:
            low, high = self._bounds
            if not low <= number <= high:
                raise ValueError(
                    f"{column!r} must be from {low:g} to {high:g} (range), "
                    f"found {number:g}"
                )
        return number

    def is_missing(self, value: Any) -> bool:
        """Whether a cell is empty or says NaN, NA, null or none."""
        is_word = isinstance(value, str) and value.strip().lower() in _MISSING
        return is_word or super().is_missing(value)

    def collect(self, values: Sequence[float]) -> tuple[str, ...]:
        """No labels."""
        return ()

    def encode(self, value: float, ids: Mapping[str, int]) -> float:
        """The number itself."""
        return value

    def doubts(self, values: Sequence[float]) -> list[str]:
        """Warns if all numbers are equal, or one is far from the others."""
        if len(set(values)) == 1:
            return [f"all {len(values)} rows have the value {values[0]:g}"]
        low, middle, high = np.percentile(values, [5, 50, 95])
        far = max(values, key=lambda value: abs(value - middle))
        if abs(far - middle) <= _FAR * (high - low) or low == high:
            return []
        return [
            f"the value {far:g} is far from the others, 9 of 10 of which are "
            f"from {low:g} to {high:g}: does it stand for none?"
        ]

    def request(self, column: str) -> FeatureRequest:
        """Asks a dataset for a number."""
        return FeatureRequest(self.name, column, _NUMBERS, 0, "a number")

    def from_tensor(self, value: Any) -> float:
        """Turns a NumPy number into a float."""
        return self.parse(value.item(), self.name)


class Regression(TextTaskType):
    """A number for a whole text.

    The target's column is "value". Entry field besides those of `TextTaskType`:
    `range`, [least, greatest] value. Then values outside it are errors in the
    data, and predictions stay within it.
    """

    name = "regression"
    fields = ("range",)
    metrics = {
        "pearson": Metric(),
        "spearman": Metric(),
        "r2": Metric(),
        "mse": Metric(higher_is_better=False),
        "rmse": Metric(higher_is_better=False),
        "mae": Metric(higher_is_better=False),
    }
    element = NUMBERS

    def target(self, entry: Entry) -> Number:
        """The parser of the numbers."""
        return Number(_bounds(entry))

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """`offset` and `scale` of the values, and their `range` or [].

        The prediction is offset + scale * the head's output, so that the head
        learns numbers near 1 whatever the values are. Offset and scale are the
        middle and half the width of the range or, without one, the mean and
        standard deviation of the training values.
        """
        bounds = _bounds(entry)
        if bounds:
            offset, scale = sum(bounds) / 2, (bounds[1] - bounds[0]) / 2
        else:
            offset, scale = _moments(entry, source)
        return {"offset": offset, "scale": scale, "range": list(bounds)}

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The range, if there is one."""
        return {"range": settings["range"]} if settings["range"] else {}

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Pearson's and Spearman's correlation, and mean squared error."""
        return ("pearson", "spearman", "mse")


def _bounds(entry: Entry) -> tuple[float, ...]:
    bounds = entry.get("range") or ()
    are_numbers = isinstance(bounds, (list, tuple)) and all(
        isinstance(bound, (int, float)) and not isinstance(bound, bool)
        for bound in bounds
    )
    if (
        not are_numbers
        or len(bounds) not in (0, 2)
        or list(bounds) != sorted(set(bounds))
    ):
        raise ConfigError(
            "range must be a list of the least and the greatest value, such "
            f"as [0, 5], got {bounds!r}"
        )
    return tuple(map(float, bounds))


def _moments(entry: Entry, source: Source) -> tuple[float, float]:
    """Mean and standard deviation of the training values."""
    split = (fields.given_splits(entry) or {}).get("train", "train")
    if split not in source.split_names and "[" not in split:
        return 0.0, 1.0
    values = values_of(source.dataset(split), "value").astype(np.float64)
    if not len(values):
        raise DataError(f"task {entry['name']}: no training examples")
    # Rounded to keep the digits in files few.
    scale = float(f"{values.std():.6g}")
    return float(f"{values.mean():.6g}"), scale or 1.0


TYPE = Regression()
