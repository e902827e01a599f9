"""The base class of the builders of this project's text classification."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow_datasets as tfds

from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.lines import LabelledText

POLARITIES = ("negative", "positive")

# TFDS requires the same features in all splits, and allows -1 for an unknown
# ClassLabel.
UNLABELLED = -1


class TextClassBuilder(CorpusBuilder, skip_registration=True):
    """Builds texts and their classes.

    Examples are `text` and `label`, in the order of the files.
    """

    VERSION = tfds.core.Version("1.0.0")

    def labels(self) -> Sequence[str]:
        """The class names of the configuration, in the order of their ids."""
        return POLARITIES

    def _info(self) -> tfds.core.DatasetInfo:
        return self.described(
            {
                "text": tfds.features.Text(),
                "label": tfds.features.ClassLabel(names=self.labels()),
            },
            supervised=("text", "label"),
        )

    def _generate_examples(
        self, rows: Iterable[LabelledText]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for index, (text, label) in enumerate(rows):
            yield index, {"text": text, "label": label}
