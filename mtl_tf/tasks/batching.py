"""Examples in batches, whatever their shapes."""

import tensorflow as tf


def batched(dataset: tf.data.Dataset, size: int) -> tf.data.Dataset:
    """Batches of examples, ragged where a shape is open.

    As `Dataset.ragged_batch`, which traces a function for every dataset, also
    where all shapes are known.

    Args:
        dataset: examples.
        size: of them in a batch, at most.
    """
    is_open = any(
        isinstance(spec, tf.TensorSpec) and not spec.shape.is_fully_defined()
        for spec in tf.nest.flatten(dataset.element_spec)
    )
    return dataset.ragged_batch(size) if is_open else dataset.batch(size)
