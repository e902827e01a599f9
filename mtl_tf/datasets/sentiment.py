"""What the builders of our own text classification corpora have in common."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow_datasets as tfds

from mtl_tf.datasets.sources import Fingerprint

LABELS = ("negative", "positive")

# TFDS wants the same features in all splits and lets a ClassLabel be -1 for
# "not known".
UNLABELLED = -1


def dataset_info(
    builder: tfds.core.DatasetBuilder, labels: Sequence[str] = LABELS
) -> tfds.core.DatasetInfo:
    """Features `text` and `label`, in source order, with our metadata.

    The metadata travel inside the build: TFDS writes them before it renames the
    finished folder into place, so that a build and its record never disagree.

    Args:
        builder: whose information it is.
        labels: names of the classes.
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
    """Stores in the build what it was made from and what was odd about it."""
    builder.info.metadata["sources"] = sources
    builder.info.metadata["warnings"] = list(warnings)


def examples(
    rows: Iterable[tuple[str, int]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbers `rows` of text and label as TFDS wants them."""
    for index, (text, label) in enumerate(rows):
        yield index, {"text": text, "label": label}
