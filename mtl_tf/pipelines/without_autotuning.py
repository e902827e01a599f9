"""Datasets without tf.data's automatic tuning."""

import tensorflow as tf


def fixed(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The same elements in order, without automatic tuning.

    The tuning thread can delay the end of an iterator for minutes while the
    processor is busy. The parallelism here is chosen by hand.
    """
    options = tf.data.Options()
    options.deterministic = True
    options.autotune.enabled = False
    return dataset.with_options(options)
