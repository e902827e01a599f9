"""Encodes examples into files in one pass, with few of them in memory."""

import hashlib
import json
import os
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.version import __version__
from mtl_tf.pipelines.examples import disk_split
from mtl_tf.pipelines.examples.disk_split import DiskSplit
from mtl_tf.pipelines.examples.encoding import ExampleEncoder, encoded_parts
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.batching import batched


def encode(
    dataset: tf.data.Dataset,
    encoder: ExampleEncoder,
    folder: str,
    described: Any,
    name: str = "",
) -> DiskSplit:
    """Encodes examples into files, with only a few of them in memory.

    Examples that are already encoded are reused. An encoding that was killed is
    continued, after one pass over the examples. The folder's name is 32
    hexadecimal digits, a digest of all examples and of `described`.

    Args:
        dataset: see `encoding.encode`.
        encoder: see `encoding.encode`.
        folder: the parent of the files' folder.
        described: JSON values that determine how examples are encoded.
        name: the task's name.

    Returns:
        The result of `encoding.encode`, in files.

    Raises:
        RunError: the folder is not writable.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps([__version__, described], sort_keys=True).encode())
    _add_examples(digest, dataset)
    return disk_split.cached(
        os.path.join(folder, digest.hexdigest()),
        name,
        encoder.axes,
        lambda start: encoded_parts(dataset.skip(start), encoder, name),
    )


def _add_examples(digest: Any, dataset: tf.data.Dataset) -> None:
    """Updates a digest with every example."""
    for batch in fixed(batched(dataset).prefetch(2)):
        for key, value in sorted(batch.items()):
            digest.update(key.encode())
            while isinstance(value, tf.RaggedTensor):
                digest.update(value.row_splits.numpy().tobytes())
                value = value.values
            array = value.numpy()
            if array.dtype == object:
                texts = array.reshape(-1).tolist()
                lengths = np.array([len(text) for text in texts], np.int64)
                digest.update(lengths.tobytes() + b"".join(texts))
            else:
                digest.update(array.tobytes())
