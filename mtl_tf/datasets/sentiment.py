"""Shared parts of this project's text classification builders."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow_datasets as tfds

from mtl_tf.datasets.sources import Fingerprint

LABELS = ("negative", "positive")

# TFDS requires the same features in all splits, and allows -1 for an unknown
# ClassLabel.
UNLABELLED = -1


def dataset_info(
    builder: tfds.core.DatasetBuilder, labels: Sequence[str] = LABELS
) -> tfds.core.DatasetInfo:
    """Features `text` and `label`, in source order, with metadata.

    The metadata are part of the build. TFDS writes them before it renames the
    finished folder into place, so that a build and its record always agree.

    Args:
        builder: the dataset's builder.
        labels: the class names.
    """
    return builder.dataset_info_from_configs(
        features=tfds.features.FeaturesDict(
            {
                "text": tfds.features.Text(),
                "label": tfds.features.ClassLabel(names=labels),
            }
        ),
        supervised_keys=("text", "label"),
        disable_shuffling=True,
        metadata=tfds.core.MetadataDict(),
    )


def record(
    builder: tfds.core.DatasetBuilder,
    sources: Fingerprint,
    warnings: Sequence[str] = (),
) -> None:
    """Records a build's sources and warnings in the build."""
    builder.info.metadata["sources"] = sources
    builder.info.metadata["warnings"] = list(warnings)


def examples(
    rows: Iterable[tuple[str, int]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbers `rows` of text and label as TFDS requires."""
    for index, (text, label) in enumerate(rows):
        yield index, {"text": text, "label": label}
