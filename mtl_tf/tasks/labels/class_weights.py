"""Factors of the losses of labels, for rare and frequent labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import fields
from mtl_tf.tasks.batching import values_of
from mtl_tf.tasks.source import Source

FIELD = "class_weights"
BALANCED = "balanced"


def of_entry(
    entry: Mapping[str, Any], source: Source, target: str
) -> list[float] | None:
    """The factor of each label's loss, in the order of the labels.

    Args:
        entry: the config entry of a task with one label for each example.
            `class_weights` is "balanced", or a mapping from labels to positive
            numbers (1 for labels that it leaves out), or missing.
        source: the task's source.
        target: the feature that is the label.

    Returns:
        "balanced" gives n / (K n_c) to a label with n_c of the n training
        examples, where K is the number of labels that have examples. So each
        of them has the same share of the loss, and the mean factor of an
        example is 1 (as in scikit-learn's `compute_class_weight`). A label
        without examples has 1. None if the entry has no `class_weights`.

    Raises:
        ConfigError: a wrong value, or "balanced" without a training split.
    """
    value = entry.get(FIELD)
    if value is None:
        return None
    labels = source.labels
    if value == BALANCED:
        return _balanced(entry, source, target)
    if isinstance(value, str):
        raise ConfigError(
            f"{FIELD} must be {BALANCED!r} or a mapping from labels to "
            f"numbers, got {value!r}"
        )
    weights = fields.mapping(
        entry, FIELD, _is_weight, "a positive number", tuple(labels)
    )
    return [float(weights.get(label, 1.0)) for label in labels]


def _balanced(
    entry: Mapping[str, Any], source: Source, target: str
) -> list[float]:
    split = (fields.given_splits(entry) or {}).get("train", "train")
    if split not in source.split_names and "[" not in split:
        raise ConfigError(
            f"{FIELD} {BALANCED!r} needs a training split to count labels in"
        )
    ids = values_of(source.dataset(split), target).astype(int)
    counts = np.bincount(ids[ids >= 0], minlength=len(source.labels))
    present = max(np.sum(counts > 0), 1)
    weights = counts.sum() / (present * np.maximum(counts, 1))
    # Rounded to keep the digits in files few.
    return [
        float(f"{weight:.6g}") if count else 1.0
        for weight, count in zip(weights, counts)
    ]


def _is_weight(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 < value < float("inf")
