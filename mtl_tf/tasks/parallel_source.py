"""Pairs of texts in two languages, from files and from TFDS datasets."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.datasets.parallel_lines import AlignedFiles, TextPair
from mtl_tf.tasks.prepared import FeatureRequest, PreparedDataset
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.streamed_source import StreamedSource, encoded

_SIDES = ("source", "target")


class ParallelFileSource(StreamedSource):
    """Two line-aligned files a split.

    What is odd is counted: lines that are not UTF-8 (read as Latin-1), and
    pairs with an empty text, which are skipped.

    Args:
        files: paths of the source and the target file of each split.
    """

    labels = ()

    def check(self, split: str) -> int:
        """Reads the split's files to their ends, and counts their pairs."""
        report = AlignedFiles(*self._files[split]).check()
        for warning in report.warnings:
            self.note(warning)
        return report.pairs

    def examples(self, split: str) -> Iterator[TextPair]:
        """Yields the pairs of the split's files."""
        return AlignedFiles(*self._files[split]).pairs()

    def signature(self, split: str) -> dict[str, tf.TypeSpec]:
        """Texts in both languages."""
        return dict.fromkeys(_SIDES, tf.TensorSpec([None], tf.string))

    def batch(self, split: str, examples: Sequence[TextPair]) -> dict[str, Any]:
        """Texts in UTF-8."""
        return {
            name: np.array(list(map(encoded, texts)), object)
            for name, texts in zip(_SIDES, zip(*examples))
        }


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
        requests = (
            FeatureRequest("source", source, (tf.string,), 0, "a text"),
            FeatureRequest("target", target, (tf.string,), 0, "a text"),
        )
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, requests, self.warnings
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
