"""Pairs of texts in two languages, from files and from TFDS datasets."""

from collections.abc import Mapping

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.names import look_up
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.parallel_lines import TextPair, read_aligned
from mtl_tf.tasks.prepared import PreparedDataset, Wanted
from mtl_tf.tasks.source import Source


class ParallelFileSource(Source):
    """Two line-aligned files a split, read when it is asked for first.

    What is odd is counted, logged once and kept in `warnings`: lines that are
    not UTF-8 (read as Latin-1), and pairs with an empty text, which are
    skipped.

    Args:
        files: paths of the source and the target file of each split.
    """

    labels = ()

    def __init__(self, files: Mapping[str, tuple[str, str]]):
        super().__init__()
        self._files = dict(files)
        self._splits: dict[str, list[TextPair]] = {}

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have files."""
        return tuple(self._files)

    def size(self, split: str) -> int:
        """Returns how many pairs the split's files have."""
        return len(self._pairs(split))

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the pairs of the split's files, in order."""
        sources, targets = (
            np.array([text.encode() for text in side], object)
            for side in zip(*self._pairs(split))
        )
        return tf.data.Dataset.from_tensor_slices(
            {"source": sources, "target": targets}
        )

    def _pairs(self, split: str) -> list[TextPair]:
        if split not in self._splits:
            paths = look_up(split, self._files, "split")
            pairs, warnings = read_aligned(*map(LineFile, paths))
            for warning in warnings:
                logging.warning("%s", warning)
            self.warnings.extend(warnings)
            self._splits[split] = pairs
        return self._splits[split]


class ParallelDatasetSource(Source):
    """A TFDS dataset with two texts, prepared when it is asked for first.

    Args:
        name: of the dataset, with its config: "multi30k/en-de",
            "wmt14_translate/de-en".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        source, target: the features that hold the texts.
    """

    labels = ()

    def __init__(
        self,
        name: str,
        data_dir: str = "",
        manual_dir: str = "",
        source: str = "source",
        target: str = "target",
    ):
        super().__init__()
        wanted = (
            Wanted("source", source, (tf.string,), 0, "a text"),
            Wanted("target", target, (tf.string,), 0, "a text"),
        )
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, wanted, self.warnings
        )
        self._columns = {"source": source, "target": target}

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    def size(self, split: str) -> int:
        """Returns how many pairs a split or a slice of one has."""
        return self._dataset.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the pairs of a split or of a slice of one, in order."""
        columns = self._columns
        return self._dataset.examples(split).map(
            lambda example: {key: example[columns[key]] for key in columns}
        )
