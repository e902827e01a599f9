"""Examples from TFDS datasets, the catalogue's and our own."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.datasets.quiet import quiet
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
        self._directories = (data_dir, manual_dir)
        self._text = text
        self._label = label
        self._given = tuple(labels) if labels is not None else None
        self._train = train

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        if self._given is not None:
            return self._given
        names = self._class_names()
        if names is not None:
            return names
        found = {label for _, label in self._raw(self._train)}
        key = None if all(isinstance(x, str) for x in found) else int
        return tuple(map(str, sorted(found, key=key)))

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return tuple(self._builder.info.splits)

    def size(self, split: str) -> int:
        """Returns how many examples a split or a slice of one has."""
        # The splits of TFDS raise KeyError for an unknown name and, by the
        # kind of mistake, other errors for an unknown slice.
        try:
            return self._builder.info.splits[split].num_examples
        except (KeyError, ValueError, AssertionError) as error:
            base = split.partition("[")[0]
            reason = hint(base, self.split_names)
            if base in self.split_names:
                reason = str(error.args[0] if error.args else error)
            raise ConfigError(
                f"dataset {self.name} has no split {split!r}; {reason}"
            )

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split or of a slice of one, in order."""
        names = self._class_names()
        if names is None:
            return self._coded(split)
        order = self._order(names)

        def convert(example):
            label = example[self._label]
            # -1 stands for "not labelled".
            known = tf.gather(order, tf.maximum(label, 0))
            label = tf.where(label < 0, label, known)
            return {"text": example[self._text], "label": label}

        return self._examples(split).map(convert)

    @functools.cached_property
    def _builder(self) -> Any:
        from mtl_tf.datasets.building import prepare, warnings_of

        builder = prepare(self.name, *self._directories)
        self.warnings.extend(warnings_of(builder))
        features = builder.info.features
        for role, column in (("text", self._text), ("label", self._label)):
            if not hasattr(features, "keys") or column not in features:
                raise ConfigError(
                    f"dataset {self.name} has no feature {column!r} for "
                    f"columns.{role}; {hint(column, features or ())}"
                )
        self._check(self._text, features, (tf.string,), "text")
        kinds = (tf.string, tf.int64, tf.int32, tf.uint8, tf.bool)
        self._check(self._label, features, kinds, "a label")
        return builder

    def _check(self, column: str, features: Any, kinds: Any, what: str) -> None:
        spec = features[column].get_tensor_spec()
        if not isinstance(spec, tf.TensorSpec) or (
            spec.shape.rank != 0 or spec.dtype not in kinds
        ):
            raise ConfigError(
                f"feature {column!r} of dataset {self.name} cannot be {what}: "
                f"it is {features[column]}"
            )

    def _class_names(self) -> tuple[str, ...] | None:
        feature = self._builder.info.features[self._label]
        names = getattr(feature, "names", None)
        if names is None and getattr(feature, "num_classes", None):
            names = map(str, range(feature.num_classes))
        return None if names is None else tuple(names)

    def _order(self, names: tuple[str, ...]) -> tf.Tensor:
        """The task's label id for each of the dataset's class numbers."""
        if sorted(self.labels) != sorted(names):
            raise ConfigError(
                f"labels {list(self.labels)} are not those of the dataset "
                f"{self.name}: {list(names)}"
            )
        ids = [self.labels.index(name) for name in names]
        return tf.constant(ids, tf.int64)

    def _examples(self, split: str) -> tf.data.Dataset:
        self.size(split)  # knows how to complain
        with quiet():
            return self._builder.as_dataset(split=split, shuffle_files=False)

    def _raw(self, split: str) -> list[tuple[bytes, str | int]]:
        return [
            (example[self._text], _plain(example[self._label]))
            for example in self._examples(split).as_numpy_iterator()
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
