"""Builds a run's model from its config, texts and tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import random
from mtl_tf.models.protocol import TaskModel
from mtl_tf.runs import systems
from mtl_tf.training import precision


def build(
    config: Mapping[str, Any],
    encoder: Any,
    tasks: Sequence[Mapping[str, Any]],
    vectors: np.ndarray | None = None,
    seed: int = 0,
) -> TaskModel:
    """Builds the model of a run and all its weights.

    Args:
        config: the run's config.
        encoder: the run's encoder, whose vocabularies give the sizes.
        tasks: name, type and labels of each task, in order of the task numbers.
        vectors: pretrained word vectors, or None.
        seed: the seed of the initial weights.

    Raises:
        ConfigError: a field, a name or a value is wrong.
    """
    system = systems.of_type(tasks[0]["type"])
    with precision.of_runs_alone(), random.default_seeds(seed):
        return system.build_model(config, encoder, tasks, vectors, seed)
