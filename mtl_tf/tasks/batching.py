"""Batches of examples of any shape."""

import tensorflow as tf


def batched(dataset: tf.data.Dataset, size: int) -> tf.data.Dataset:
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
