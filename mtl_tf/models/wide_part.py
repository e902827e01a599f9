"""The wide part of a multi-task model: made from its config, and counted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import completed
from mtl_tf.layers.inputs.wide_features import WideFeatures
from mtl_tf.models.headed import HeadedModel

_WIDE = {
    "buckets": 0,
    "dimension": 16,
    "word_ngrams": 2,
    "character_ngrams": 0,
    "join_characters": False,
    "dropout": 0.0,
    "alone": 0.0,
    "encoder_alone": 0.0,
    "choose_shares": True,
    "idf": False,
}

# The least and the greatest that follow from the number of labels.
_WIDE_DIMENSIONS = 16, 64

# No bucket of an n-gram.
_NONE = -1


def make(
    config: Mapping,
    tasks: Sequence[Mapping],
    heads: Mapping[str, keras.layers.Layer],
    options: Mapping,
) -> WideFeatures | None:
    """Makes the wide part from the field `wide`, if it has buckets.

    Args:
        config: the model's config.
        tasks: "type" and "labels" of each task.
        heads: the heads, by task type.
        options: "init" and "dtype".
    """
    wide = completed("model.wide", config.get("wide"), _WIDE)
    checks.not_negative_integer("model.wide.buckets", wide["buckets"])
    if not wide["buckets"]:
        return None
    if wide["character_ngrams"] in (1, 2):
        raise ConfigError(
            "model.wide.character_ngrams must be 0 or at least 3, got "
            f"{wide['character_ngrams']}"
        )
    checks.not_negative_integer("model.wide.dimension", wide["dimension"])
    if not wide["dimension"]:
        # Vectors of fewer numbers cannot tell all labels apart.
        labels = [
            len(task["labels"])
            for task in tasks
            if heads[task["type"]].reads == "summary"
        ]
        least, most = _WIDE_DIMENSIONS
        wide["dimension"] = min(max([least, *labels]), most)
    rate = wide.pop("dropout")
    return WideFeatures(
        **wide, tasks=len(tasks), rate=rate, name="wide", **options
    )


def count(
    model: HeadedModel, batches: Iterable[Mapping[str, np.ndarray]]
) -> None:
    """Weights n-grams by their inverse document frequency in some texts.

    Args:
        model: its `wide` reads the n-grams of the texts of which a head reads a
            summary.
        batches: see `TaskModel.adapt`.
    """
    wide = model.wide
    counts, total = np.zeros([wide.buckets], np.int64), 0
    ngrams = tf.function(wide.ngrams, reduce_retracing=True, autograph=False)
    for tokens, characters in _summarised(model, batches):
        found = ngrams(tokens, characters)
        numbers, real = (value.numpy()[0] for value in found)
        # An n-gram counts once in each text.
        numbers = np.sort(np.where(real, numbers, _NONE))
        is_first = np.diff(numbers, prepend=_NONE) != 0
        counts += np.bincount(numbers[is_first], minlength=wide.buckets)
        total += int((tokens > 0).any(-1).sum())
    wide.set_document_counts(counts, total)


def _summarised(
    model: HeadedModel, batches: Iterable[Mapping[str, np.ndarray]]
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """The words and characters of the texts that are read as a whole."""
    for batch in batches:
        name = model.type_of(model.key_of(int(batch["task"][0])))
        if model.heads[name].reads == "summary":
            for prefix in model.head_type(name).texts:
                characters = batch.get(f"{prefix}characters")
                yield batch[f"{prefix}tokens"], characters
