"""Texts with targets, from any TFDS dataset."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import DataError
from mtl_tf.core.names import hint
from mtl_tf.tasks.prepared import FeatureRequest, PreparedDataset
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.text_targets import TextTarget, UnknownLabel


class TextDatasetSource(Source):
    """A TFDS dataset, prepared on first use.

    Args:
        name: the dataset's name, with its config: "fdu_mtl/books", "glue/sst2".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        columns: the dataset's feature for each of the task's features: the
            texts, and last the target.
        target: parses the targets.
        train: the split that the labels come from, if neither the target nor
            the dataset lists them.
    """

    def __init__(
        self,
        name: str,
        data_dir: str,
        manual_dir: str,
        columns: Mapping[str, str],
        target: TextTarget,
        train: str = "train",
    ):
        super().__init__()
        self.name = name
        *texts, (_, self._column) = columns.items()
        self._texts = dict(texts)
        texts = [
            FeatureRequest(role, column, (tf.string,), 0, "text")
            for role, column in self._texts.items()
        ]
        self._dataset = PreparedDataset(
            name,
            data_dir,
            manual_dir,
            [*texts, target.request(self._column)],
            self.warnings,
        )
        self._target = target
        self._train = train

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        if (
            self._target.given_labels is not None
            or not self._target.needs_labels
        ):
            return self._target.given_labels or ()
        names = self._target.names_of(self._feature)
        if names is not None:
            return names
        rows = self._raw(self._train)
        return self._target.collect([value for _, value in rows])

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    def size(self, split: str) -> int:
        """Returns the number of examples of a split or a slice of one."""
        return self._dataset.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split or of a slice of one, in order."""
        convert = self._target.converter(
            self._feature, self.labels, f"dataset {self.name}"
        )
        if convert is None:
            return self._coded(split)

        @tf.autograph.experimental.do_not_convert
        def converted(example):
            texts = {name: example[c] for name, c in self._texts.items()}
            return texts | {self._target.name: convert(example[self._column])}

        return self._dataset.examples(split).map(converted)

    @property
    def _feature(self) -> Any:
        return self._dataset.feature(self._column)

    def _raw(self, split: str) -> list[tuple[list[bytes], Any]]:
        rows = []
        examples = self._dataset.examples(split).as_numpy_iterator()
        for number, example in enumerate(examples):
            texts = [example[column] for column in self._texts.values()]
            try:
                value = self._target.from_tensor(example[self._column])
            except ValueError as error:
                raise DataError(f"{self._place(split, number)}: {error}")
            rows.append((texts, value))
        return rows

    def _coded(self, split: str) -> tf.data.Dataset:
        """Examples whose targets are encoded here, not by the dataset."""
        rows = self._raw(split)
        ids = {label: i for i, label in enumerate(self.labels)}
        values = []
        for number, (_, value) in enumerate(rows):
            try:
                values.append(self._target.encode(value, ids))
            except UnknownLabel as error:
                (label,) = error.args
                raise DataError(
                    f"{self._place(split, number)}: unknown label {label!r}; "
                    f"{hint(label, ids)}"
                )
        texts = {
            name: np.array([row[n] for row, _ in rows], object)
            for n, name in enumerate(self._texts)
        }
        numbers = np.array(values, self._target.dtype)
        return tf.data.Dataset.from_tensor_slices(
            texts | {self._target.name: numbers}
        )

    def _place(self, split: str, number: int) -> str:
        return f"dataset {self.name}, split {split}, example {number}"
