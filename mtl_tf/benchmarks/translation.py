"""The benchmark cases about translation."""

import time
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.benchmarks import contestants
from mtl_tf.benchmarks.reference_attention_cell import AttentionGRUCell
from mtl_tf.benchmarks.result_rows import (
    Result,
    check_same,
    make_row,
    make_target,
)
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import Run, compete
from mtl_tf.core import random
from mtl_tf.core.special_ids import BOS, EOS
from mtl_tf.layers.translation.attention_decoder import AttentionDecoder
from mtl_tf.models.translation.multi_target import (
    MultiTargetModel,
    build_translation_model,
)

_BATCHES = 8
# Multi30k's English sentences: their lengths, and sentences per batch.
_MEAN, _SPREAD, _SHORTEST, _LONGEST, _TOGETHER = 13, 4, 4, 35, 64
_BEAM = 10


def translation(sizes: Sizes, rounds: int) -> Result:
    """A teacher-forced decoder step, compared with its cell in Keras's RNN."""
    units, batch = sizes.translation_units, sizes.translation_batch
    decoder = AttentionDecoder(
        sizes.translation_vocabulary, units, units, name="decoder"
    )
    decoder.build(
        None,
        {"annotations": (None, None, None, 2 * units), "first": (None, units)},
    )
    other = KerasDecoder(decoder)
    dataset = _encoded(sizes)
    runs = {
        "mtl_tf": _run(decoder, dataset, _our_losses(decoder)),
        "keras_rnn": _run(other, dataset, other.losses),
    }
    timings = compete(runs, rounds, sizes.round_seconds)
    check_same([timing.first for timing in timings.values()])
    result = {"rows": [], "targets": [], "notes": [_NOTE]}
    for name, timing in timings.items():
        row = make_row(timing, timings["mtl_tf"], contestant=name)
        tokens = batch * sizes.translation_length / timing.median
        result["rows"].append(row | {"tokens_per_s": tokens})
    times = result["rows"][1]["times_ours"]
    description = "time of the cell in keras.layers.RNN over mtl_tf's"
    result["targets"].append(make_target(description, times, "at least", 1.15))
    return result


_NOTE = (
    "given an encoder's output: embedding, attention, output layer, loss and "
    "Adagrad are part of every step; keras_rnn: a plain tf.function, with the "
    "products of the annotations, readout and output layer outside the cell"
)


def _encoded(sizes: Sizes) -> tf.data.Dataset:
    """Encoder outputs and targets without padding, repeated forever."""
    draw = random.generator(0, "translation")
    units, length = sizes.translation_units, sizes.translation_length
    shape = (_BATCHES, 1, sizes.translation_batch)
    words = [EOS + 1, sizes.translation_vocabulary]
    columns = {
        "annotations": draw.normal(0, 0.3, (*shape, length, 2 * units)),
        "first": draw.normal(0, 0.3, (*shape, units)),
        "target": draw.integers(*words, (*shape, length), np.int32),
    }
    columns = {
        name: x.astype(np.int32 if name == "target" else np.float32)
        for name, x in columns.items()
    }
    return tf.data.Dataset.from_tensor_slices(columns).repeat().prefetch(2)


def _our_losses(decoder: AttentionDecoder) -> Callable[[dict], tf.Tensor]:
    def losses(batch):
        mask = tf.ones(batch["annotations"].shape[:3], tf.bool)
        encoded = {**batch, "mask": mask}
        return decoder(batch["target"], encoded, training=True)["losses"]

    return losses


def _run(
    layer: keras.layers.Layer,
    dataset: tf.data.Dataset,
    losses: Callable[[dict], tf.Tensor],
) -> Run:
    """Training steps of a decoder."""
    variables = layer.trainable_variables
    optimizer = contestants.adagrad(variables, [layer.embedding.weights[0]])
    return contestants.plain_run(losses, variables, optimizer, dataset)


class KerasDecoder(keras.Model):
    """The decoder as a Keras user would write it first.

    Args:
        decoder: our decoder, whose parameters are copied.
    """

    def __init__(self, decoder: AttentionDecoder):
        super().__init__()
        self.embedding = keras.layers.Embedding(
            decoder.embedding.vocabulary_size, decoder.embedding.dimension
        )
        self.embedding.build()
        self.embedding.embeddings.assign(decoder.embedding.vectors)
        self.cell = AttentionGRUCell(decoder.units, decoder.attention.units)
        self.cell.set_weights_of(decoder)
        self.recurrent = keras.layers.RNN(self.cell, return_sequences=True)
        self.initial = _dense(decoder.initial, decoder.initial_bias, "tanh")
        self.readout = _dense(decoder.readout, decoder.readout_bias, "tanh")
        output = decoder.output_layer
        self.words = _dense(tf.transpose(output.kernel), output.bias)
        self.built = True

    def losses(self, batch: dict) -> tf.Tensor:
        """The tokens' losses `[B, U]`; all source tokens are real."""
        annotations, target = batch["annotations"][0], batch["target"][0]
        begin = tf.fill([target.shape[0], 1], BOS)
        embedded = self.embedding(tf.concat([begin, target[:, :-1]], 1))
        mask = tf.ones(annotations.shape[:2], tf.bool)
        self.cell.look_at(annotations, mask)
        states = self.recurrent(
            embedded, initial_state=[self.initial(batch["first"][0])]
        )
        hidden = states[..., : self.cell.units]
        context = states[..., self.cell.units :]
        read = self.readout(tf.concat([hidden, embedded, context], -1))
        return tf.nn.sparse_softmax_cross_entropy_with_logits(
            target, self.words(read)
        )


def _dense(kernel, bias, activation=None) -> keras.layers.Dense:
    layer = keras.layers.Dense(kernel.shape[1], activation)
    layer.build((None, kernel.shape[0]))
    layer.set_weights([np.array(kernel), np.array(bias)])
    return layer


def beam_search(sizes: Sizes, rounds: int) -> Result:
    """Translates sentences of Multi30k's lengths with a beam of 10."""
    model = _model_without_end(sizes)
    texts = _sentences(sizes)
    batches = [
        _padded(texts[start : start + _TOGETHER])
        for start in range(0, len(texts), _TOGETHER)
    ]
    translate = {"beam": _BEAM, "max_length": (1, 2)}
    seconds = []
    model.translate(batches[0], **translate)
    for _ in range(min(rounds, 3)):
        start, tokens = time.perf_counter(), 0
        for batch in batches:
            length = model.translate(batch, **translate)["length"]
            tokens += int(tf.reduce_sum(length))
        seconds.append(time.perf_counter() - start)
    row = {
        "sentences": len(texts),
        "beam": _BEAM,
        "seconds": float(np.median(seconds)),
        "sentences_per_s": len(texts) / float(np.median(seconds)),
        "tokens": tokens,
        "samples": seconds,
    }
    description = f"seconds to translate {len(texts)} sentences"
    note = (
        f"{_TOGETHER} sentences of like length at a time; no hypothesis ends "
        "before it is two tokens longer than its source, so that all of the "
        "beam is in use all the time"
    )
    target = make_target(description, row["seconds"], "at most", 40.0)
    return {"rows": [row], "targets": [target], "notes": [note]}


def _model_without_end(sizes: Sizes) -> MultiTargetModel:
    """A model that never ends a text, because a random one ends by chance."""
    words = sizes.translation_vocabulary
    config = {
        "embedding_dim": sizes.translation_units,
        "units": sizes.translation_units,
    }
    model = build_translation_model(config, words, {"de": words}, ["en-de"])
    bias = model.decoder(0).output_layer.bias
    bias.assign(tf.tensor_scatter_nd_update(bias.value, [[EOS]], [-100.0]))
    return model


def _sentences(sizes: Sizes) -> list[np.ndarray]:
    """Synthetic sentences, from short to long."""
    draw = random.generator(0, "sentences")
    lengths = draw.normal(_MEAN, _SPREAD, sizes.translation_sentences)
    lengths = np.sort(np.clip(lengths.round(), _SHORTEST, _LONGEST))
    words = [EOS + 1, sizes.translation_vocabulary]
    return [draw.integers(*words, int(n), np.int32) for n in lengths]


def _padded(texts: list[np.ndarray]) -> np.ndarray:
    longest = max(map(len, texts))
    return np.stack([np.pad(text, (0, longest - len(text))) for text in texts])
