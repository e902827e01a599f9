"""The benchmark case about pretrained encoders."""

import functools

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.benchmarks import contestants
from mtl_tf.benchmarks import made_data as data
from mtl_tf.benchmarks.result_rows import (
    Result,
    check_same,
    make_row,
    make_target,
)
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import compete
from mtl_tf.layers.pretrained.pretrained_encoder import states_of
from mtl_tf.models.multi_task import MultiTaskModel, build_model

_PRECISIONS = ("float32", "mixed_bfloat16")
_LEARNING_RATE = 1e-4
_adamw = contestants.without_l2("adamw", _LEARNING_RATE)
# Ids that do not occur, because each text is one text without padding.
_SPECIALS = {"start": [-1], "separator": [-1], "end": [-1], "pad": 0}


def encoder(sizes: Sizes, rounds: int) -> Result:
    """A training step of a tuned BERT, compared with keras_hub's."""
    sizes = sizes.of_encoders()
    rows, targets = [], []
    for precision in _PRECISIONS:
        dataset = data.batches(sizes, sizes.encoder_batch)
        trainer = contestants.make_trainer(
            sizes,
            sizes.vocabulary,
            make=_adamw,
            model=functools.partial(_make_model, sizes, precision),
        )
        other = KerasEncoder(trainer.model)
        first = next(iter(dataset))
        if precision == "float32":
            answers = [trainer.model(first)["logits"][0], other(first)]
            check_same([float(np.abs(logits).sum()) for logits in answers])
        runs = {
            "mtl_tf": contestants.trainer_run(trainer, dataset),
            "keras_hub": contestants.keras_run(other, dataset, "", _adamw),
        }
        timings = compete(runs, rounds, sizes.round_seconds)
        for name, timing in timings.items():
            facts = {"precision": precision, "contestant": name}
            row = make_row(timing, timings["mtl_tf"], **facts)
            tokens = sizes.encoder_batch * sizes.length / timing.median
            rows.append(row | {"tokens_per_s": tokens})
        description = f"time of keras_hub over mtl_tf's, {precision}"
        times = rows[-1]["times_ours"]
        targets.append(make_target(description, times, "at least", 1.0))
    return {"rows": rows, "targets": targets, "notes": [_NOTE]}


_NOTE = (
    "a keras_hub BertBackbone of MiniLM's size with the same random weights "
    "in both, whose answers without dropout agree in float32; mean of the "
    "states, head, loss and AdamW are part of every step"
)


def _make_model(sizes: Sizes, precision: str) -> MultiTaskModel:
    import keras_nlp

    backbone = keras_nlp.models.BertBackbone(
        vocabulary_size=sizes.vocabulary,
        num_layers=sizes.encoder_layers,
        num_heads=sizes.encoder_heads,
        hidden_dim=sizes.encoder_units,
        intermediate_dim=4 * sizes.encoder_units,
        max_sequence_length=sizes.length,
    )
    config = keras.saving.serialize_keras_object(backbone)
    model = build_model(
        {
            "embedding_dim": sizes.encoder_units,
            "scheme": {"name": "direct", "pooling": "mean"},
        },
        sizes.vocabulary,
        contestants.task_entries(sizes),
        dtype=precision,
        backbone={"config": config, "specials": _SPECIALS},
    )
    model.embedding.set_pretrained(backbone)
    return model


class KerasEncoder(contestants.KerasHeads):
    """A tuned encoder as a Keras user would write it first.

    Args:
        model: our model, whose parameters are copied.

    Input shape: a batch of one group.
    Output shape: logits `[B, labels]`.
    """

    def __init__(self, model: MultiTaskModel):
        super().__init__()
        ours = model.embedding
        saved = ours.get_config()["backbone"]
        config = {**saved, "config": dict(saved["config"])}
        config["config"]["dtype"] = ours.dtype_policy.name
        backbone = keras.saving.deserialize_keras_object(config)
        states = states_of(backbone)
        self.network = keras.Model(backbone.input, states)
        self.network.set_weights(ours.network.get_weights())
        self.embedding = backbone.token_embedding
        self.copy_heads(model)
        self.built = True

    def call(self, batch, training=False):
        """Scores a batch."""
        tokens, task = batch["tokens"][0], batch["task"][0]
        inputs = {
            "token_ids": tokens - 1,
            "segment_ids": tf.zeros_like(tokens),
            "padding_mask": tf.ones_like(tokens),
        }
        states = self.network(inputs, training=training)
        mean = tf.cast(tf.reduce_mean(states, 1), tf.float32)
        return self.scored(mean, task)
