"""A CRF of several tasks, and random sentences for it."""

import functools

import numpy as np
import tensorflow as tf

from mtl_tf.layers.crf.constraints import allowed_transitions
from mtl_tf.layers.crf.crf import CRF
from tests.layers.crf_reference import Reference

LABELS = 4
COUNTS = [4, 3, 2, 4]
BIO = allowed_transitions(["O", "B-X", "I-X"], "bio")
IOBES = allowed_transitions(["O", "B-X", "E-X", "S-X"], "iobes")
CONSTRAINTS = [None, BIO, None, IOBES]
SHAPE = (len(COUNTS), 8, 5)


@functools.cache
def make_layer(dtype=None):
    layer = CRF(
        LABELS, len(COUNTS), COUNTS, CONSTRAINTS, name="crf", dtype=dtype
    )
    layer.build()
    draw = np.random.default_rng(3)
    for weight in layer.weights:
        weight.assign(draw.normal(size=weight.shape))
    return layer


def parts_of(layer):
    return [np.array(w, dtype=np.float64) for w in layer.weights]


def references(parts):
    return [
        Reference(*(part[task] for part in parts), COUNTS[task], one)
        for task, one in enumerate(CONSTRAINTS)
    ]


class Case:
    """Random sentences of every task, with random lengths and holes."""

    def __init__(self, seed, scale, holes):
        draw = np.random.default_rng(seed)
        self.task = draw.permutation(len(COUNTS)).astype(np.int32)
        self.logits = scale * draw.normal(size=(*SHAPE, LABELS))
        self.logits = self.logits.astype(np.float32).astype(np.float64)
        lengths = draw.integers(0, SHAPE[2] + 1, SHAPE[:2])
        lengths[:, 0], lengths[:, 1] = SHAPE[2], 1
        self.mask = np.arange(SHAPE[2]) < lengths[..., None]
        if holes:
            self.mask &= draw.uniform(size=SHAPE) < 0.7
        self.tags = draw.integers(0, 2, SHAPE)
        known = references(parts_of(make_layer()))
        for reference, logits, tags, mask in self.rows(known):
            tags[mask] = reference.likely_tags(logits[mask], draw)

    def rows(self, known):
        """(reference, logits, tags, mask) of every row."""
        for group, task in enumerate(self.task):
            for row in range(SHAPE[1]):
                where = group, row
                arrays = (self.logits, self.tags, self.mask)
                yield known[task], *(array[where] for array in arrays)

    def tensors(self):
        return (
            tf.constant(self.logits, tf.float32),
            tf.constant(self.tags, tf.int32),
            tf.constant(self.mask),
            tf.constant(self.task),
        )


@functools.cache
def compiled(method):
    layer = make_layer()
    return tf.function(
        getattr(layer, method), reduce_retracing=True, autograph=False
    )
