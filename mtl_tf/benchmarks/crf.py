"""The benchmark case about conditional random fields."""

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.benchmarks import contestants
from mtl_tf.benchmarks.made_data import draw_words
from mtl_tf.benchmarks.result_rows import Result, make_row, make_target
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import compete
from mtl_tf.core import random
from mtl_tf.models.multi_task import build_model
from mtl_tf.training.distribution.strategies import make_strategy
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.optimizers.optimizers import make_optimizer
from mtl_tf.training.trainer import Trainer

# WSJ's labels, and sentences of twice its mean length. The other sizes are
# those of Chen et al. (2018).
_BATCH, _LENGTH, _LABELS, _EMBEDDING = 32, 50, 45, 100
_BATCHES = 32


def crf(sizes: Sizes, rounds: int) -> Result:
    """A training step of a BiLSTM with a CRF, compared with a softmax."""
    length = min(_LENGTH, sizes.length)
    dataset = _tagged(sizes.vocabulary, length)
    runs = {
        decoder: contestants.trainer_run(_trainer(sizes, decoder), dataset)
        for decoder in ("crf", "softmax")
    }
    timings = compete(runs, rounds, sizes.round_seconds)
    result = {"rows": [], "targets": [], "notes": [_NOTE]}
    for decoder, timing in timings.items():
        row = make_row(timing, timings["softmax"], decoder=decoder)
        row["times_softmax"] = row.pop("times_ours")
        row["tokens_per_s"] = _BATCH * length / timing.median
        result["rows"].append(row)
    times = result["rows"][0]["times_softmax"]
    description = "time of a step with a CRF over that with a softmax"
    result["targets"].append(make_target(description, times, "at most", 1.3))
    return result


_NOTE = (
    f"a bidirectional LSTM, batches of {_BATCH} sentences without padding, "
    f"{_LABELS} labels; embedding, loss and optimizer are part of every step"
)


def _trainer(sizes: Sizes, decoder: str) -> Trainer:
    labels = [str(label) for label in range(_LABELS)]
    tasks = [{"name": "words", "type": "tagging", "labels": labels}]
    config = {
        "embedding_dim": min(_EMBEDDING, sizes.embedding),
        "scheme": {
            "name": "lstm",
            "units": sizes.units,
            "bidirectional": True,
        },
        "tagging": {"decoder": decoder},
    }
    strategy = make_strategy("one_device")
    with strategy.scope():
        model = build_model(config, sizes.vocabulary, tasks)
        variables = model.trainable_variables
        optimizer = _optimizer(variables)
    weighting = make_loss_weighting("static", [1.0])
    return Trainer(model, optimizer, weighting, variables, strategy, 1)


def _optimizer(
    variables: list[keras.Variable],
) -> keras.optimizers.Optimizer:
    optimizer = make_optimizer({"name": "adagrad"}, 0.1)
    optimizer.configure(variables)
    return optimizer


def _tagged(vocabulary: int, length: int) -> tf.data.Dataset:
    """The same batches of tagged sentences, repeated forever."""
    draw = random.generator(0, "tagged")
    shape = (_BATCHES, 1, _BATCH, length)
    tokens = draw_words(draw, vocabulary, int(np.prod(shape)))
    columns = {
        "task": np.zeros(shape[:2], np.int32),
        "tokens": tokens.reshape(shape),
        "tags": draw.integers(0, _LABELS, shape, np.int32),
        "weight": np.ones(shape[:3], np.float32),
        "normalizer": np.full(shape[:2], _BATCH, np.float32),
        "step": np.arange(_BATCHES, dtype=np.int64),
    }
    return tf.data.Dataset.from_tensor_slices(columns).repeat().prefetch(2)
