"""Running a trained model over texts and whole splits."""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.layers import recurrence
from mtl_tf.pipelines.batches import evaluation_dataset
from mtl_tf.pipelines.encoding import EncodedSplit
from mtl_tf.runs.translating import Translator
from mtl_tf.tasks.task import TAGGING, TRANSLATION

# Compiling a bucket's shape takes half a second: worth it for many texts.
_MANY = 256

# What is wanted of the heads; of tagging, what has a value for each token
# comes first.
_WANTED = {
    "classification": ("prediction", "scores", "loss"),
    TAGGING: ("prediction", "confidence", "loss"),
    TRANSLATION: ("loss",),
}

# Before the names of a model's diagnostics in `Predictor.predict`'s results.
DIAGNOSTICS = "diagnostics/"


class Predictor:
    """Runs a model forward, bucket by bucket.

    Args:
        model: see `mtl_tf.models.multi_task.MultiTaskModel`.
        boundaries: the padded lengths of the run.
        translator: of a run that translates.
    """

    def __init__(
        self,
        model: keras.Model,
        boundaries: Sequence[int],
        translator: Translator | None = None,
    ):
        self.model = model
        self.translator = translator
        self.boundaries = list(boundaries)
        self._compiled = tf.function(self._forward, reduce_retracing=True)
        self._plain = tf.function(self._forward, reduce_retracing=True)

    def _forward(
        self, batch: dict[str, tf.Tensor], kind: str, key: str | int | None
    ) -> dict[str, tf.Tensor]:
        outputs = self.model(batch, training=False, key=key)
        wanted = _WANTED[kind]
        found = {name: outputs[name] for name in wanted if name in outputs}
        for name, value in outputs.get("diagnostics", {}).items():
            found[f"{DIAGNOSTICS}{name}"] = value
        return found

    def predict(
        self,
        split: EncodedSplit,
        task_index: int,
        batch_size: int,
        texts: Sequence[str] = (),
    ) -> dict[str, np.ndarray | list[np.ndarray]]:
        """The model's outputs for every example of a split, in its order.

        Args:
            split: the encoded examples, n of them.
            task_index: the task whose output is asked for.
            batch_size: examples at a time; it does not change the result.
            texts: of a translation task the sources as they stand in the
                files; see `Translator.translate_split`.

        Returns:
            `prediction` int32 [n], `scores` float32 [n, labels] and, if the
            split has labels, `loss` float32 [n]; and the model's diagnostics,
            float32 [n], as `diagnostics/name`. Of a tagging task,
            `prediction` and `confidence` (float32) are lists of n arrays
            [tokens], and there are no `scores`. Of a translation task,
            `prediction` is a list of n texts.
        """
        kind = self.model.kind_of(task_index)
        count = len(split)
        jit = count >= _MANY
        forward = self._compiled if jit else self._plain
        batch_size = max(1, min(batch_size, count))
        dataset = evaluation_dataset(
            split, task_index, batch_size, self.boundaries
        )
        results: dict[str, np.ndarray] = {}
        for batch in dataset:
            rows = batch.pop("row").numpy()[0]
            real = rows >= 0
            with recurrence.options(jit=jit):
                outputs = forward(batch, kind, self.model.key_of(task_index))
            for name, value in outputs.items():
                value = value.numpy()[0]
                if name not in results:
                    results[name] = _room(name, count, value, kind)
                _fill(results[name], rows[real], value[real], split.lengths)
        if kind == TRANSLATION:
            translate = self.translator.translate_split
            results["prediction"] = translate(task_index, split, texts)
        return results


def _room(name: str, count: int, value: np.ndarray, kind: str):
    """Where one output of all examples goes."""
    if kind == TAGGING and name in _WANTED[kind][:2]:
        return [value[0, :0]] * count
    return np.zeros((count, *value.shape[1:]), value.dtype)


def _fill(room, rows: np.ndarray, values: np.ndarray, lengths) -> None:
    for row, value in zip(rows, values):
        room[row] = value[: lengths[row]] if isinstance(room, list) else value
