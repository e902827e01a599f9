"""What a prepared dataset holds, split by split."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from mtl_tf.datasets.quiet import quiet

_BATCH = 1024


@dataclass(frozen=True)
class SplitStatistics:
    """Numbers of one split.

    Attributes:
        split: name of the split.
        examples: number of examples.
        tokens: mean number of white-space separated tokens of a text, or None
            if the dataset has not exactly one text feature.
        labels: examples of each class by the class's name, or None if the
            dataset has not exactly one class label. Unlabelled examples are in
            none.
    """

    split: str
    examples: int
    tokens: float | None
    labels: dict[str, int] | None


def statistics(builder: tfds.core.DatasetBuilder) -> list[SplitStatistics]:
    """Reads every split of a prepared dataset and counts.

    Args:
        builder: prepared builder.

    Returns:
        One entry a split, in the order of the dataset.
    """
    return [_count(builder, split) for split in builder.info.splits]


def _count(builder: tfds.core.DatasetBuilder, split: str) -> SplitStatistics:
    examples = builder.info.splits[split].num_examples
    text = _only(builder, tfds.features.Text)
    label = _only(builder, tfds.features.ClassLabel)
    wanted = [name for name in (text, label) if name]
    if not wanted:
        return SplitStatistics(split, examples, None, None)
    tokens = 0
    names = builder.info.features[label].names if label else []
    classes = np.zeros(len(names), np.int64)
    with quiet():
        dataset = builder.as_dataset(
            split=split,
            decoders=tfds.decode.PartialDecoding(dict.fromkeys(wanted, True)),
        )
    for batch in dataset.batch(_BATCH):
        if text:
            tokens += int(tf.size(tf.strings.split(batch[text]).flat_values))
        if label:
            known = batch[label].numpy()
            known = known[known >= 0]
            classes += np.bincount(known, minlength=len(names))
    return SplitStatistics(
        split,
        examples,
        tokens / max(examples, 1) if text else None,
        dict(zip(names, classes.tolist())) if label else None,
    )


def _only(builder: tfds.core.DatasetBuilder, kind: type) -> str:
    """Name of the only top-level feature of a kind, or ""."""
    features = builder.info.features
    if not isinstance(features, tfds.features.FeaturesDict):
        return ""
    names = [
        name for name, feature in features.items() if type(feature) is kind
    ]
    return names[0] if len(names) == 1 else ""
