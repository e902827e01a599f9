"""Reads TensorBoard's charts back."""

import os

import tensorflow as tf


def scalars(folder, name):
    """Values of a TensorBoard chart by step."""
    found = {}
    for file in sorted(os.listdir(folder)):
        path = os.path.join(folder, file)
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag == name:
                    found[event.step] = float(tf.make_ndarray(value.tensor))
    return found
