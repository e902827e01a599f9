"""Classification: one label for a whole text."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import LABELS
from mtl_tf.tasks.labels import class_weights, positive_label
from mtl_tf.tasks.prepared import LABEL_DTYPES, FeatureRequest, class_names
from mtl_tf.tasks.reading.row_files import SKIP
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task_type import Entry, Metric
from mtl_tf.tasks.text_targets import (
    TextTarget,
    UnknownLabel,
    label_name,
    whole_number,
)
from mtl_tf.tasks.text_task_type import TextTaskType

_METRICS = (
    "accuracy",
    "macro_f1",
    "weighted_f1",
    "balanced_accuracy",
    "mcc",
    "quadratic_kappa",
    *positive_label.METRICS,
)
_BALANCED = "balanced"
_MANY = 20  # labels that are plausible, however few the rows


class ClassTarget(TextTarget):
    """A label: a string or an integer; in a TFDS dataset also a ClassLabel.

    Args:
        labels: the class names. The default is a ClassLabel's names, or else
            the labels of the training split, sorted (by value if all are
            integers). For a ClassLabel, `labels` must be its names, in any
            order.
        skipped: labels whose rows are left out.
    """

    dtype = np.int64

    def __init__(
        self,
        labels: Sequence[str] | None = None,
        skipped: Sequence[str] = (),
    ):
        super().__init__(labels)
        self._skipped = frozenset(skipped)

    def parse(self, value: Any, column: str) -> str:
        """The label as a string without outer spaces; 1.0 becomes "1"."""
        value = whole_number(value)
        if not isinstance(value, (str, int)):
            raise ValueError(
                f"{column!r} must be a string or an integer, found "
                f"{json.dumps(value)}"
            )
        if isinstance(value, bool):
            value = json.dumps(value)
        label = label_name(value)
        if not label:
            raise ValueError("the label is empty")
        return SKIP if label in self._skipped else label

    def collect(self, values: Sequence[str]) -> tuple[str, ...]:
        """The labels, sorted."""
        labels = set(values)
        try:
            numbers = {label: int(label) for label in labels}
        except ValueError:
            return tuple(sorted(labels))
        return tuple(sorted(labels, key=lambda label: (numbers[label], label)))

    def encode(self, value: str, ids: Mapping[str, int]) -> int:
        """The label's id."""
        if value not in ids:
            raise UnknownLabel(value)
        return ids[value]

    def doubts(self, values: Sequence[str]) -> list[str]:
        """Warns if there is only one class."""
        if len(set(values)) > 1:
            return []
        return [f"all {len(values)} rows are of one class, {values[0]!r}"]

    def label_doubts(
        self, labels: Sequence[str], values: Sequence[str]
    ) -> list[str]:
        """Warns if nearly every row has a different label, or all numbers."""
        fractions = [label for label in labels if "." in label]
        are_numbers = fractions and all(map(_is_number, labels))
        if len(labels) > _MANY and are_numbers:
            return [
                f"{len(labels)} labels, and all are numbers such as "
                f"{fractions[0]}: each becomes a class. To predict numbers, "
                "set type to 'regression'"
            ]
        if len(labels) <= max(_MANY, len(values) // 2):
            return []
        return [
            f"{len(labels)} labels in {len(values)} rows: are columns.text "
            "and columns.label the other way round?"
        ]

    def request(self, column: str) -> FeatureRequest:
        """Asks a dataset for a label feature."""
        return FeatureRequest(self.name, column, LABEL_DTYPES, 0, "a label")

    def names_of(self, feature: Any) -> tuple[str, ...] | None:
        """The names of a ClassLabel, else None."""
        return class_names(feature)

    def converter(self, feature: Any, labels: Sequence[str], dataset: str):
        """Maps a ClassLabel's ids to the task's ids."""
        names = class_names(feature)
        if names is None:
            return None
        if sorted(labels) != sorted(names):
            raise ConfigError(
                f"labels {list(labels)} are not those of the {dataset}: "
                f"{list(names)}"
            )
        ids = [list(labels).index(name) for name in names]
        order = tf.constant(ids, tf.int64)

        def convert(label: tf.Tensor) -> tf.Tensor:
            # TFDS uses -1 for "not labelled".
            known = tf.gather(order, tf.maximum(label, 0))
            return tf.where(label < 0, label, known)

        return convert

    def from_tensor(self, value: Any) -> str:
        """Turns bytes or an integer into a label."""
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace").strip()
        return str(int(value))


class Classification(TextTaskType):
    """One label for a whole text, among the labels of its task.

    Entry fields besides those of `TextTaskType`:

    - `labels`: the class names; see `ClassTarget`.
    - `class_weights`: a factor of the loss for each class; see
      `class_weights.of_entry`.
    - `sampling`: "balanced" draws training examples of all labels equally
      often.
    - `positive_label`: the label that `f1` and other one-label metrics score;
      by default the second of two.
    - `skip_labels`: for files of your own, labels whose rows are left out, such
      as "-" for pairs without agreement.
    """

    name = "classification"
    fields = ("labels", class_weights.FIELD, "sampling", positive_label.FIELD)
    file_fields = {**TextTaskType.file_fields, "skip_labels": ()}
    metrics = dict.fromkeys(_METRICS, Metric())
    element = LABELS

    def target(self, entry: Entry) -> ClassTarget:
        """The parser of the labels."""
        labels = fields.strings(entry, "labels", 2)
        skipped = fields.strings(entry, "skip_labels", 0) or ()
        repeated = [label for label in labels or () if label in skipped]
        if repeated:
            raise ConfigError(
                f"{', '.join(repeated)} stands in labels and in skip_labels: a "
                "label is learnt or left out"
            )
        return ClassTarget(labels, skipped)

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """The entry's `class_weights`, `sampling` and `positive_label`.

        Class weights are in the order of the labels.
        """
        weights = class_weights.of_entry(entry, source, "label")
        settings = {} if weights is None else {class_weights.FIELD: weights}
        metrics = fields.strings(entry, "metrics", 1) or ()
        is_named = positive_label.FIELD in entry
        is_needed = set(metrics) & set(positive_label.METRICS)
        if is_named or is_needed:
            label = positive_label.positive_label(source.labels, entry)
            if not is_needed:
                raise ConfigError(
                    f"{positive_label.FIELD} does nothing without one of the "
                    f"metrics {', '.join(positive_label.METRICS)}"
                )
            if is_named:
                settings[positive_label.FIELD] = label
        sampling = entry.get("sampling")
        if sampling is None:
            return settings
        checks.one_of("sampling", sampling, (_BALANCED,))
        return {**settings, "sampling": sampling}

    def balanced(self, settings: Mapping[str, Any]) -> str:
        """The label feature, if the task has balanced `sampling`."""
        return "label" if settings.get("sampling") == _BALANCED else ""

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Accuracy, then macro F1."""
        return ("accuracy", "macro_f1")


TYPE = Classification()


def _is_number(label: str) -> bool:
    """Whether a label is a number, as a score is."""
    try:
        return math.isfinite(float(label))
    except ValueError:
        return False
