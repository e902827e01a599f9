"""Synthetic batches and a synthetic corpus, in the shape of FDU-MTL.

Words are drawn by Zipf's law, so that texts and batches repeat words as real
ones do. The embedding's gradient and its optimizer depend on this.
"""

import numpy as np
import tensorflow as tf

from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.core import random
from mtl_tf.pipelines.batches import BatchPlan
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.schedule.buckets import choose_boundaries

_BATCHES = 32
_SPREAD = 0.8  # standard deviation of log lengths


def draw_words(
    draw: np.random.Generator, vocabulary: int, count: int
) -> np.ndarray:
    """Draws `count` ids in 2 ... vocabulary - 1 by Zipf's law, int32."""
    weights = 1.0 / (np.arange(vocabulary - 2) + 2.7)
    places = np.cumsum(weights) / np.sum(weights)
    words = np.searchsorted(places, draw.random(count))
    return (np.minimum(words, vocabulary - 3) + 2).astype(np.int32)


def batches(
    sizes: Sizes, batch: int, labels: int = 2, replicas: int = 1
) -> tf.data.Dataset:
    """The same batches, repeated forever, each of one random task.

    Args:
        sizes: sizes of the data.
        batch: B, number of examples per step.
        labels: number of classes per task.
        replicas: number of pieces, of B / replicas rows, that a step is split
            into. They come one after another.
    """
    draw = random.generator(0, "batches", batch)
    shape = (_BATCHES, 1, batch)
    tokens = draw_words(draw, sizes.vocabulary, _BATCHES * batch * sizes.length)
    columns = {
        "task": draw.integers(0, sizes.tasks, (_BATCHES, 1), np.int32),
        "tokens": tokens.reshape(*shape, sizes.length),
        "label": draw.integers(0, labels, shape, np.int32),
        "weight": np.ones(shape, np.float32),
        "normalizer": np.full((_BATCHES, 1), batch, np.float32),
        "step": np.arange(_BATCHES, dtype=np.int64),
    }
    if replicas > 1:
        columns = {k: _pieces(v, replicas) for k, v in columns.items()}
    return tf.data.Dataset.from_tensor_slices(columns).repeat().prefetch(2)


def _pieces(column: np.ndarray, replicas: int) -> np.ndarray:
    """Splits batches into pieces; arrays without rows are repeated."""
    if column.ndim < 3:
        return np.repeat(column, replicas, axis=0)
    parts = np.split(column, replicas, axis=2)
    return np.stack(parts, axis=1).reshape(-1, *parts[0].shape[1:])


def corpus(sizes: Sizes) -> list[EncodedSplit]:
    """Encoded training splits, one per task."""
    counts = np.full(sizes.tasks, sizes.corpus_examples // sizes.tasks)
    counts[: sizes.corpus_examples % sizes.tasks] += 1
    return [
        _split(sizes, task, int(count)) for task, count in enumerate(counts)
    ]


def _split(sizes: Sizes, task: int, count: int) -> EncodedSplit:
    draw = random.generator(0, "corpus", task)
    # Cutting long texts reduces the mean by a tenth.
    centre = np.log(1.1 * sizes.corpus_length) - _SPREAD**2 / 2
    lengths = draw.lognormal(centre, _SPREAD, count).astype(np.int64)
    lengths = np.clip(lengths, 1, sizes.corpus_longest)
    words = draw_words(draw, sizes.corpus_vocabulary, int(lengths.sum()))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return EncodedSplit(
        f"task_{task}",
        {
            "tokens": Column(words, offsets),
            "label": Column(draw.integers(0, 2, count, np.int32)),
        },
    )


def plan(sizes: Sizes) -> BatchPlan:
    """The steps of training on the corpus, each with a random task."""
    splits = corpus(sizes)
    lengths = np.concatenate([split.lengths for split in splits])
    boundaries = choose_boundaries(lengths, sizes.buckets, sizes.corpus_longest)
    mixing = {"name": "uniform"}
    return BatchPlan(splits, sizes.corpus_batch, boundaries, mixing, seed=0)
