"""The model of a run, from its config, its texts and its tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

from mtl_tf.models.multi_target import build_translation_model
from mtl_tf.models.multi_task import build_model
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.translation import TranslationText
from mtl_tf.training import precision


def build(
    config: Mapping[str, Any],
    encoder: TextEncoder | TranslationText,
    tasks: Sequence[Mapping[str, Any]],
    vectors: np.ndarray | None = None,
    seed: int = 0,
) -> keras.Model:
    """Builds the model of a run with all its weights.

    Args:
        config: the run's; of translation runs `model.translation` describes
            the model, of all others the rest of `model`.
        encoder: the run's texts, whose vocabularies give the sizes.
        tasks: name, kind, labels of each task, in the order of their numbers.
        vectors: pretrained word vectors, or None; not of translation.
        seed: of the initial weights.

    Raises:
        ConfigError: a field, a name or a value is wrong.
    """
    if isinstance(encoder, TranslationText):
        return build_translation_model(
            config["model"]["translation"],
            len(encoder.source.vocabulary),
            encoder.target_sizes,
            [task["name"] for task in tasks],
            seed=seed,
        )
    return build_model(
        config["model"],
        len(encoder.vocabulary),
        tasks,
        vectors,
        seed=seed,
        dtype=precision.policy(config),
    )
