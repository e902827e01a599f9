"""Classification: one label of a whole text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import class_weights, fields, positive_label
from mtl_tf.tasks.features import LABELS
from mtl_tf.tasks.prepared import LABEL_DTYPES, FeatureRequest, class_names
from mtl_tf.tasks.row_files import SKIP
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task_type import Entry, Metric
from mtl_tf.tasks.text_targets import (
    TextTarget,
    UnknownLabel,
    whole_number,
)
from mtl_tf.tasks.text_task_type import TextTaskType

_METRICS = (
    *("accuracy", "macro_f1", "weighted_f1", "balanced_accuracy", "mcc"),
    *("quadratic_kappa", *positive_label.METRICS),
)
_BALANCED = "balanced"
_MANY = 20  # labels that are never too many


class ClassTarget(TextTarget):
    """A label: a string or a whole number; of TFDS also a ClassLabel.

    Args:
        labels: names of the classes; None takes a ClassLabel's names, or those
            of the training split, sorted (by value if all are integers). For
            a ClassLabel they are its own names, in any order.
        skipped: labels whose rows are no examples.
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
        """The label, without spaces around it; of 1.0 it is "1"."""
        value = whole_number(value)
        if not isinstance(value, (str, int)):
            raise ValueError(
                f"{column!r} must be a string or an integer, found "
                f"{json.dumps(value)}"
            )
        if isinstance(value, bool):
            value = json.dumps(value)
        label = str(value).strip()
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
        """The label's number."""
        if value not in ids:
            raise UnknownLabel(value)
        return ids[value]

    def doubts(self, values: Sequence[str]) -> list[str]:
        """Whether there is one class only."""
        if len(set(values)) > 1:
            return []
        return [f"all {len(values)} rows are of one class, {values[0]!r}"]

    def label_doubts(
        self, labels: Sequence[str], values: Sequence[str]
    ) -> list[str]:
        """Whether nearly every row has a label of its own."""
        if len(labels) <= max(_MANY, len(values) // 2):
            return []
        return [
            f"{len(labels)} labels in {len(values)} rows: are columns.text "
            "and columns.label the other way round?"
        ]

    def request(self, column: str) -> FeatureRequest:
        """A label."""
        return FeatureRequest(self.name, column, LABEL_DTYPES, 0, "a label")

    def names_of(self, feature: Any) -> tuple[str, ...] | None:
        """The names of a ClassLabel."""
        return class_names(feature)

    def converter(self, feature: Any, labels: Sequence[str], dataset: str):
        """From a ClassLabel's numbers to the task's."""
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
            # -1 stands for "not labelled".
            known = tf.gather(order, tf.maximum(label, 0))
            return tf.where(label < 0, label, known)

        return convert

    def from_tensor(self, value: Any) -> str:
        """Bytes or an integer as a label."""
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace").strip()
        return str(int(value))


class Classification(TextTaskType):
    """One label of a whole text, among the labels of its task.

    Fields of an entry beside those of `TextTaskType`: `labels`, the names of
    the classes; `class_weights`, factors of their losses, see
    `class_weights.of_entry`; `sampling`, "balanced" to draw examples of all
    labels equally often in training; `positive_label`, which label `f1` and
    other metrics of one label are of, by default the second of two; and of
    one's own files `skip_labels`, labels whose rows are left out, such as "-"
    of pairs without agreement.
    See `ClassTarget`.
    """

    name = "classification"
    fields = ("labels", class_weights.FIELD, "sampling", positive_label.FIELD)
    file_fields = {**TextTaskType.file_fields, "skip_labels": ()}
    metrics = dict.fromkeys(_METRICS, Metric())
    element = LABELS

    def target(self, entry: Entry) -> ClassTarget:
        """What reads the labels."""
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
        """What the entry has of `class_weights`, `sampling`, `positive_label`.

        The weights are in the order of the labels.
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
        """The label, if the task's `sampling` says so."""
        return "label" if settings.get("sampling") == _BALANCED else ""

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Accuracy, then macro F1."""
        return ("accuracy", "macro_f1")


TYPE = Classification()
