"""Statistics of a prepared dataset, split by split."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from mtl_tf.datasets.quiet import quiet

_BATCH = 1024


@dataclass(frozen=True)
class SplitStatistics:
    """Statistics of one split.

    Attributes:
        split: the name of the split.
        examples: the number of examples.
        tokens: the mean number of white-space tokens of a text, or of given
            tokens, or of the source of a pair, or of the context of a question.
            None if the dataset has none of these: exactly one text feature, a
            sequence `tokens`, `source` and `target`, or `question`, `context`
            and `answer`.
        labels: the number of examples of each class by name, or of tokens if
            the dataset has a sequence `tags`; None if it has neither that nor
            exactly one class label. Unlabelled examples do not count.
    """

    split: str
    examples: int
    tokens: float | None
    labels: dict[str, int] | None


def statistics(builder: tfds.core.DatasetBuilder) -> list[SplitStatistics]:
    """Reads every split of a prepared dataset and counts.

    Args:
        builder: the prepared builder.

    Returns:
        One entry per split, in the order of the dataset.
    """
    return [_count(builder, split) for split in builder.info.splits]


def _count(builder: tfds.core.DatasetBuilder, split: str) -> SplitStatistics:
    examples = builder.info.splits[split].num_examples
    text = _only(builder, tfds.features.Text) or _sequence(builder, "tokens")
    text = text or _source(builder) or _context(builder)
    label = _only(builder, tfds.features.ClassLabel)
    label = label or _sequence(builder, "tags")
    features = [name for name in (text, label) if name]
    if not features:
        return SplitStatistics(split, examples, None, None)
    tokens = 0
    names = _class_names(builder.info.features[label]) if label else []
    classes = np.zeros(len(names), np.int64)
    with quiet():
        dataset = builder.as_dataset(
            split=split,
            decoders=tfds.decode.PartialDecoding(dict.fromkeys(features, True)),
        )
    for batch in dataset.ragged_batch(_BATCH):
        if text:
            tokens += _tokens(batch[text])
        if label:
            ids = getattr(batch[label], "flat_values", batch[label]).numpy()
            ids = ids[ids >= 0]
            classes += np.bincount(ids, minlength=len(names))
    return SplitStatistics(
        split,
        examples,
        tokens / max(examples, 1) if text else None,
        dict(zip(names, classes.tolist())) if label else None,
    )


def _tokens(texts: tf.Tensor | tf.RaggedTensor) -> int:
    if not isinstance(texts, tf.RaggedTensor):
        texts = tf.strings.split(texts)
    return int(tf.size(texts.flat_values))


def _class_names(feature: tfds.features.FeatureConnector) -> list[str]:
    return getattr(feature, "feature", feature).names


def _sequence(builder: tfds.core.DatasetBuilder, name: str) -> str:
    """`name`, if it is a sequence of texts or labels; else ""."""
    features = builder.info.features
    is_there = isinstance(features, tfds.features.FeaturesDict)
    feature = features[name] if is_there and name in features else None
    inner = getattr(feature, "feature", None)
    types = (tfds.features.Text, tfds.features.ClassLabel)
    return name if isinstance(inner, types) else ""


def _source(builder: tfds.core.DatasetBuilder) -> str:
    """`source`, if the dataset also has `target`; else ""."""
    features = builder.info.features
    is_there = isinstance(features, tfds.features.FeaturesDict)
    return (
        "source" if is_there and {"source", "target"} == set(features) else ""
    )


def _context(builder: tfds.core.DatasetBuilder) -> str:
    """`context`, if the dataset has questions and answers; else ""."""
    features = builder.info.features
    is_there = isinstance(features, tfds.features.FeaturesDict)
    needed = {"question", "context", "answer"}
    return "context" if is_there and needed <= set(features) else ""


def _only(builder: tfds.core.DatasetBuilder, kind: type) -> str:
    """The name of the only top-level feature of a type, or ""."""
    features = builder.info.features
    if not isinstance(features, tfds.features.FeaturesDict):
        return ""
    names = [
        name for name, feature in features.items() if type(feature) is kind
    ]
    return names[0] if len(names) == 1 else ""
