"""Runs a trained model over texts and whole splits."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import passes
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.protocol import TaskModel
from mtl_tf.pipelines.batches import evaluation_batches
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.schedule.epoch_order import EVALUATED_CELLS
from mtl_tf.prediction import task_types

# Compiling takes as long as running 2,000 (ARC-I) to 70,000 (BiLSTM-CRF) texts
# saves. A process that scores a split once rarely has as many; training scores
# its validation splits again and again.
_MANY = 8192
_MANY_IN_TRAINING = 256

# The most cells of a batch if every token costs time, also padding. In batches
# of 64 texts, most cells were padding (docs/results/speed.md, "Pretrained
# encoder").
_FEW_CELLS = 1 << 12

#: The model outputs for each of its choices; see `TaskModel`.
CHOICES = ("choice_loss", "choice_scores")

# The prefix of a model's diagnostics in the result of `Predictor.predict`.
DIAGNOSTICS = "diagnostics/"


def compile_in_training(config: Mapping[str, Any]) -> float:
    """The `compile_from` of a `Predictor` in training.

    Validation is compiled only where training is, too, in few shapes.

    Args:
        config: the run's config.
    """
    compiles = config["training"]["jit"] and config["pipeline"]["static_shapes"]
    return _MANY_IN_TRAINING if compiles else math.inf


class Predictor:
    """Runs a model forward, bucket by bucket.

    Args:
        model: see `mtl_tf.models.protocol`.
        types: the type of each task.
        boundaries: the padded lengths of each task.
        axes: the time axes of the boundaries.
        decoder: see `System.make_decoder`.
        compile_from: the number of examples of a split from which recurrences
            are compiled. (It is not the number of all examples so far, since
            the results, which compiling rounds otherwise, must not depend on
            what was scored before.)
    """

    def __init__(
        self,
        model: TaskModel,
        types: Sequence[str],
        boundaries: Sequence[Any],
        axes: Sequence[str],
        decoder: Any = None,
        compile_from: float = _MANY,
    ):
        self.model = model
        self.compile_from = compile_from
        self.types = list(types)
        self.decoder = decoder
        self.boundaries, self.axes = list(boundaries), tuple(axes)
        options = {"reduce_retracing": True, "autograph": False}
        self._compiled = tf.function(self._forward, **options)
        self._plain = tf.function(self._forward, **options)

    def _forward(
        self,
        batch: dict[str, tf.Tensor],
        names: tuple[str, ...],
        key: str | int | None,
    ) -> dict[str, tf.Tensor]:
        outputs = self.model(batch, training=False, key=key)
        results = {name: outputs[name] for name in names if name in outputs}
        for name, value in outputs.get("diagnostics", {}).items():
            results[f"{DIAGNOSTICS}{name}"] = value
        return results

    def predict(
        self,
        split: EncodedSplit,
        task_index: int,
        batch_size: int,
        texts: Sequence[str] = (),
        choices: bool = False,
    ) -> dict[str, np.ndarray | list[np.ndarray]]:
        """The model's outputs for every example of a split, in its order.

        Args:
            split: the encoded examples, n of them.
            task_index: the number of the task whose output is returned.
            batch_size: examples at a time; it does not change the result.
            texts: the examples' texts, if decoding needs them; see
                `PredictionType.decode`.
            choices: also return the outputs for each of a model's choices.

        Returns:
            The outputs that the task's type names, arrays [n, ...], or, for
            outputs with a value for each place of a text, lists of n arrays
            [tokens]; `loss` float32 [n] if there are targets; the model's
            diagnostics, float32 [n], as `diagnostics/name`; and the outputs
            of decoding.
        """
        predictions = task_types.of(self.types[task_index])
        names = (*predictions.outputs, *(CHOICES if choices else ()))
        count = len(split)
        # The lengths on the first time axis.
        lengths = split.lengths.reshape(count, -1)[:, 0]
        jit = count >= self.compile_from
        forward = self._compiled if jit else self._plain
        batch_size = max(1, min(batch_size, count))
        tight = not self.model.static_shapes
        batches = evaluation_batches(
            split,
            task_index,
            batch_size,
            self.boundaries[task_index],
            self.axes,
            # Only what is compiled has to have few shapes.
            trim=tight or not jit,
            cells=_FEW_CELLS if tight else EVALUATED_CELLS,
        )
        results: dict[str, np.ndarray] = {}
        doing = f"{split.name}: predicting"
        for batch in passes.logged(batches, doing, _examples, count):
            rows = batch.pop("row").numpy()[0]
            real = rows >= 0
            with recurrence.options(jit=jit):
                key = self.model.key_of(task_index)
                outputs = forward(batch, names, key)
            for name, value in outputs.items():
                value = value.numpy()[0]
                if name not in results:
                    is_timed = predictions.outputs.get(name, False)
                    results[name] = _room(is_timed, count, value)
                _fill(results[name], rows[real], value[real], lengths)
        return results | predictions.decode(
            self.decoder, task_index, split, texts
        )


def _examples(batch: Mapping[str, tf.Tensor]) -> int:
    """How many rows of a batch are no padding."""
    return int(np.sum(batch["row"].numpy() >= 0))


def _room(is_timed: bool, count: int, value: np.ndarray):
    """The container for one output of all examples."""
    if is_timed:
        return [value[0, :0]] * count
    return np.zeros((count, *value.shape[1:]), value.dtype)


def _fill(room, rows: np.ndarray, values: np.ndarray, lengths) -> None:
    for row, value in zip(rows, values):
        room[row] = value[: lengths[row]] if isinstance(room, list) else value
