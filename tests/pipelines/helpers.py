"""Splits made by hand for the tests of this room."""

import numpy as np

from mtl_tf.pipelines.examples import disk_split
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.schedule.buckets import bucket_of


def make_split(name: str, lengths) -> EncodedSplit:
    """Tokens 1000 * row + place + 1, so that every cell tells its origin."""
    lengths = np.asarray(lengths, np.int64)
    rows = [1000 * row + 1 + np.arange(n) for row, n in enumerate(lengths)]
    values = np.concatenate([np.zeros(0), *rows]).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = (np.arange(len(lengths)) % 3).astype(np.int32)
    columns = {"tokens": Column(values, offsets), "label": Column(labels)}
    return EncodedSplit(name, columns)


def random_split(name: str, examples: int, longest: int, seed: int = 0):
    draw = np.random.default_rng([seed, *name.encode()])
    return make_split(name, draw.integers(0, longest + 1, examples))


def wide_split(name, lengths, width):
    """Tokens and label, characters of some width, and a vector as wide."""
    split = make_split(name, lengths)
    tokens = split.columns["tokens"]
    characters = np.arange(len(tokens.values) * width) % 250 + 1
    shape = [len(tokens.values), width]
    columns = {
        **split.columns,
        "characters": Column(
            characters.reshape(shape).astype(np.uint8), tokens.offsets
        ),
        "vector": Column(np.ones([len(split), width], np.float32)),
    }
    return EncodedSplit(name, columns)


def on_disk(split, folder, parts=3):
    """The split in files, written in several parts."""
    axes = {key: column.axis for key, column in split.columns.items()}

    def write(done):
        assert done == 0
        yield {k: c.select(np.arange(0)) for k, c in split.columns.items()}
        for rows in np.array_split(np.arange(len(split)), parts):
            yield {k: c.select(rows) for k, c in split.columns.items()}

    return disk_split.cached(str(folder / split.name), split.name, axes, write)


def bucket_padding(lengths, boundaries) -> float:
    """The share of padded cells when each length goes into its bucket."""
    buckets = bucket_of(lengths, boundaries)
    cells = np.asarray(boundaries, np.int64)[buckets]
    return 1.0 - np.sum(lengths) / np.sum(cells)


def padding_share(plan) -> float:
    """The share of cells of an epoch that hold no token."""
    tokens, cells = plan.cells(plan.steps_per_epoch)
    return 1.0 - tokens / cells


def as_numpy(batches) -> list[dict[str, np.ndarray]]:
    return [{key: v.numpy() for key, v in batch.items()} for batch in batches]


def assert_same_batches(first, second) -> None:
    assert len(first) == len(second)
    for a, b in zip(first, second):
        assert a.keys() == b.keys()
        for key in a:
            np.testing.assert_array_equal(a[key], b[key], err_msg=key)
