"""Batches of examples of any shape."""

import numpy as np
import tensorflow as tf

#: The size of the batches that passes over many examples read.
AT_ONCE = 1024


def batched(dataset: tf.data.Dataset, size: int = AT_ONCE) -> tf.data.Dataset:
    """Batches examples; the batch is ragged where a shape is open.

    Like `Dataset.ragged_batch`, which however traces a function for every
    dataset, even if all shapes are known.

    Args:
        dataset: the examples.
        size: the largest number of examples in a batch.
    """
    is_open = any(
        isinstance(spec, tf.TensorSpec) and not spec.shape.is_fully_defined()
        for spec in tf.nest.flatten(dataset.element_spec)
    )
    return dataset.ragged_batch(size) if is_open else dataset.batch(size)


def values_of(dataset: tf.data.Dataset, feature: str) -> np.ndarray:
    """The values of a feature of fixed shape in all examples, [n, ...]."""
    batches = [batch[feature].numpy() for batch in batched(dataset)]
    return np.concatenate(batches) if batches else np.zeros(0)
