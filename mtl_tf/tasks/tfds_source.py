"""Examples from TFDS datasets, the catalogue's and our own."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.tasks.prepared import (
    LABEL_KINDS,
    PreparedDataset,
    Wanted,
    class_names,
)
from mtl_tf.tasks.task import Source


class TfdsSource(Source):
    """A TFDS dataset, prepared when it is asked for first.

    Args:
        name: of the dataset, with its config: "fdu_mtl/books", "glue/sst2".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        text: the feature that holds the text.
        label: the feature that holds the label: a ClassLabel, integers or
            strings.
        labels: names of the classes. None takes a ClassLabel's names, or the
            labels of the training split, sorted. For a ClassLabel they are
            its own names, in any order.
        train: the split to take the labels from.
    """

    def __init__(
        self,
        name: str,
        data_dir: str = "",
        manual_dir: str = "",
        text: str = "text",
        label: str = "label",
        labels: Sequence[str] | None = None,
        train: str = "train",
    ):
        super().__init__()
        self.name = name
        wanted = (
            Wanted("text", text, (tf.string,), 0, "text"),
            Wanted("label", label, LABEL_KINDS, 0, "a label"),
        )
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, wanted, self.warnings
        )
        self._text = text
        self._label = label
        self._given = tuple(labels) if labels is not None else None
        self._train = train

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        if self._given is not None:
            return self._given
        names = class_names(self._dataset.feature(self._label))
        if names is not None:
            return names
        found = {label for _, label in self._raw(self._train)}
        key = None if all(isinstance(x, str) for x in found) else int
        return tuple(map(str, sorted(found, key=key)))

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    def size(self, split: str) -> int:
        """Returns how many examples a split or a slice of one has."""
        return self._dataset.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split or of a slice of one, in order."""
        names = class_names(self._dataset.feature(self._label))
        if names is None:
            return self._coded(split)
        order = self._order(names)

        def convert(example):
            label = example[self._label]
            # -1 stands for "not labelled".
            known = tf.gather(order, tf.maximum(label, 0))
            label = tf.where(label < 0, label, known)
            return {"text": example[self._text], "label": label}

        return self._dataset.examples(split).map(convert)

    def _order(self, names: tuple[str, ...]) -> tf.Tensor:
        """The task's label id for each of the dataset's class numbers."""
        if sorted(self.labels) != sorted(names):
            raise ConfigError(
                f"labels {list(self.labels)} are not those of the dataset "
                f"{self.name}: {list(names)}"
            )
        ids = [self.labels.index(name) for name in names]
        return tf.constant(ids, tf.int64)

    def _raw(self, split: str) -> list[tuple[bytes, str | int]]:
        return [
            (example[self._text], _plain(example[self._label]))
            for example in self._dataset.examples(split).as_numpy_iterator()
        ]

    def _coded(self, split: str) -> tf.data.Dataset:
        """Examples whose labels are not numbered by the dataset."""
        rows = self._raw(split)
        ids = {label: i for i, label in enumerate(self.labels)}
        for number, (_, label) in enumerate(rows):
            if str(label) not in ids:
                raise DataError(
                    f"dataset {self.name}, split {split}, example {number}: "
                    f"unknown label {str(label)!r}; {hint(str(label), ids)}"
                )
        texts = np.array([text for text, _ in rows], object)
        labels = np.array([ids[str(label)] for _, label in rows], np.int64)
        return tf.data.Dataset.from_tensor_slices(
            {"text": texts, "label": labels}
        )


def _plain(label: Any) -> str | int:
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace").strip()
    return int(label)
