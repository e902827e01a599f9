"""The pieces of a training step: batches that are computed one by one.

Most steps have one batch. A joint step of tasks that need different graphs,
such as tasks of several types, has one batch per graph.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

Batch = dict[str, tf.Tensor]

# Seed distance of groups, shards and pieces; replicas count from 0.
SEED_STEP = 7919


class Piece(NamedTuple):
    """A batch and the key of its tasks.

    Attributes:
        batch: a batch of G groups; see `mtl_tf.pipelines.batches`.
        key: what the model needs to know about the tasks; None for nothing.
    """

    batch: Batch
    key: Any = None

    def outputs(self, model: keras.Model, seed: tf.Tensor) -> dict[str, Any]:
        """The model's outputs for the batch in training.

        Args:
            model: see `Trainer`.
            seed: int32 [2], for dropout.
        """
        chosen = {} if self.key is None else {"key": self.key}
        return model(self.batch, training=True, seed=seed, **chosen)


def pieces_of(batches: Batch | Sequence[Batch], key: Any) -> list[Piece]:
    """The pieces of a step.

    Args:
        batches: the step's batch, or a tuple of batches.
        key: the key of the batch's tasks, or a tuple with one key per batch.
    """
    if isinstance(batches, Mapping):
        return [Piece(batches, key)]
    return [Piece(*pair) for pair in zip(batches, key, strict=True)]


def joined(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """Concatenates the tensors of all pieces to [G, ...]."""
    return tensors[0] if len(tensors) == 1 else tf.concat(tensors, 0)
