"""The benchmark case about Transformers, with its contestants."""

from typing import Any

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
from mtl_tf.layers.attention.transformer_block import TransformerBlock
from mtl_tf.models.multi_task import MultiTaskModel

_DROPOUT, _INPUT_DROPOUT = 0.1, 0.5
_LEARNING_RATE = 5e-4
_adam = contestants.without_l2("adam", _LEARNING_RATE)


def transformer(sizes: Sizes, rounds: int) -> Result:
    """A training step of S-P, compared with keras_nlp's encoders."""
    sizes = sizes.of_transformers()
    batch = sizes.transformer_batch
    dataset = data.batches(sizes, batch)
    trainer = contestants.make_trainer(
        sizes, sizes.vocabulary, _scheme(sizes), _adam
    )
    forms = {"keras_nlp": "", "keras_nlp_jit_part": "gradients"}
    # Copied now, because our first steps change the initial values.
    models = {name: KerasTransformer(trainer.model) for name in forms}
    first = next(iter(dataset))
    answers = [
        trainer.model(first)["logits"][0],
        *(model(first) for model in models.values()),
    ]
    check_same([float(np.abs(logits).sum()) for logits in answers])
    runs = {"mtl_tf": contestants.trainer_run(trainer, dataset)} | {
        name: contestants.keras_run(models[name], dataset, form, _adam)
        for name, form in forms.items()
    }
    timings = compete(runs, rounds, sizes.round_seconds)
    result = {"rows": [], "targets": [], "notes": [_NOTE]}
    for name, timing in timings.items():
        row = make_row(timing, timings["mtl_tf"], contestant=name)
        tokens = batch * sizes.length / timing.median
        result["rows"].append(row | {"tokens_per_s": tokens})
        if name in forms:
            description = f"time of {name} over mtl_tf's"
            result["targets"].append(
                make_target(description, row["times_ours"], "at least", 1.0)
            )
    return result


_NOTE = (
    "S-P and a stack of keras_nlp.layers.TransformerEncoder with the same "
    "weights, whose answers without dropout agree; embedding, dropout, head, "
    "loss and Adam are part of every step, mtl_tf also drops hidden units of "
    "the feed-forward network; keras_nlp: a plain tf.function, "
    "keras_nlp_jit_part: all but the optimizer's update in jit_compile=True"
)


def _scheme(sizes: Sizes) -> dict[str, Any]:
    return {
        "name": "s_p",
        "layers": sizes.transformer_layers,
        "units": sizes.transformer_units,
        "heads": sizes.transformer_heads,
        "feed_forward": sizes.transformer_feed_forward,
        "dropout": _DROPOUT,
        "input_dropout": _INPUT_DROPOUT,
        "max_positions": sizes.transformer_length,
    }


class KerasTransformer(contestants.KerasHeads):
    """S-P as a Keras user would write it first.

    Args:
        model: our model, whose parameters are copied.

    Input shape: a batch of one group.
    Output shape: logits `[B, labels]`.
    """

    def __init__(self, model: MultiTaskModel):
        super().__init__()
        # Imported here, because only this case needs it.
        import keras_nlp

        scheme, embedding = model.scheme, model.embedding
        blocks = scheme.encoder.blocks
        units = scheme.output_units
        layers = keras_nlp.layers
        self.embedding = keras.layers.Embedding(
            embedding.vocabulary_size, embedding.dimension
        )
        self.positions = layers.PositionEmbedding(scheme.positions.length)
        self.drop = keras.layers.Dropout(_INPUT_DROPOUT)
        self.project = keras.layers.Dense(units)
        self.encoders = [
            layers.TransformerEncoder(
                block.feed_forward.hidden_units,
                block.attention.heads,
                dropout=block.dropout,
                layer_norm_epsilon=block.attention_norm.epsilon,
                normalize_first=True,
            )
            for block in blocks
        ]
        self.norm = keras.layers.LayerNormalization(
            epsilon=blocks[0].attention_norm.epsilon
        )
        self.copy_heads(model)
        self._build(embedding.dimension, units)
        self.embedding.embeddings.assign(embedding.vectors)
        self.positions.set_weights(scheme.positions.get_weights())
        self.project.set_weights([scheme.kernel, scheme.bias])
        for encoder, block in zip(self.encoders, blocks):
            encoder.set_weights(_weights_of(block))
        self.norm.set_weights(scheme.encoder.last_norm.get_weights())

    def _build(self, dimension: int, units: int) -> None:
        self.embedding.build()
        self.positions.build([None, self.positions.sequence_length, dimension])
        self.project.build([None, None, dimension])
        for layer in (*self.encoders, self.norm):
            layer.build((None, None, units))
        self.built = True

    def call(self, batch, training=False):
        """Scores a batch."""
        tokens, task = batch["tokens"][0], batch["task"][0]
        mask = tf.not_equal(tokens, 0)
        x = self.embedding(tokens)
        x = self.drop(x + self.positions(x), training=training)
        x = self.project(x)
        for encoder in self.encoders:
            x = encoder(x, padding_mask=mask, training=training)
        weight = tf.cast(mask, x.dtype)[..., None]
        total = tf.reduce_sum(self.norm(x) * weight, 1)
        mean = total / tf.maximum(tf.reduce_sum(weight, 1), 1.0)
        return self.scored(mean, task)


def _weights_of(block: TransformerBlock) -> list[np.ndarray]:
    """A block's weights, in the order of keras_nlp's encoder."""
    attention, network = block.attention, block.feed_forward
    shape = [attention.units, attention.heads, -1]
    kernels = np.split(attention.kernel.numpy(), 3, axis=-1)
    biases = np.split(attention.bias.numpy(), 3)
    projections = [
        part
        for kernel, bias in zip(kernels, biases)
        for part in (kernel.reshape(shape), bias.reshape(shape[1:]))
    ]
    output = attention.output_kernel.numpy()
    return [
        *projections,
        output.reshape([attention.heads, -1, attention.units]),
        attention.output_bias.numpy(),
        *block.attention_norm.get_weights(),
        *block.feed_forward_norm.get_weights(),
        network.kernel.numpy(),
        network.bias.numpy(),
        network.output_kernel.numpy(),
        network.output_bias.numpy(),
    ]
