"""Stores an export's weights in fewer bytes; the graph restores float32.

int8 is symmetric, with a scale for each channel: w = scale * q with q from -127
to 127 (Jacob et al. 2018, "Quantization and Training of Neural Networks for
Efficient Integer-Arithmetic-Only Inference", equation 1, with the zero point
0). A channel is an output of a matrix, or a row of a table. A text needs only a
few rows of a table, and only these are converted to float32. Keras's `quantize`
handles only its own layers; most weights here belong to layers of this project,
and an export's graph is traced from the model as trained.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.directories import Directories
from mtl_tf.prediction.clean_parts import CleanParts

from .saved_model import WEIGHTS

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_run import Run

_LEVELS = 127
# Smaller weights, such as biases, do not repay their scales.
_LEAST = 1024
# A matrix that is so many times as tall as wide counts as a table of rows.
_TALL = 4
# A scale takes as many bytes as four int8 numbers.
_NARROW = 4


def is_table(shape: Sequence[int]) -> bool:
    """Whether a weight of that shape is read by rows."""
    return len(shape) == 2 and shape[0] >= _TALL * shape[1]


def stored_as(value: np.ndarray, form: str) -> str:
    """The format in which a weight is stored if `form` is asked for.

    Rows that are so narrow that a scale takes more bytes than int8 saves become
    bfloat16. Small weights, and those that are not float32, are unchanged.
    """
    is_large = value.ndim >= 2 and value.size >= _LEAST
    if not is_large or value.dtype != np.float32:
        return "float32"
    is_narrow = is_table(value.shape) and value.shape[1] <= _NARROW
    return "bfloat16" if form == "int8" and is_narrow else form


def quantised(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A weight as int8, and its scales, float32, which broadcast to it."""
    axis = -1 if is_table(value.shape) else -2
    largest = np.abs(value).max(axis=axis, keepdims=True)
    scales = np.where(largest > 0, largest / _LEVELS, 1.0).astype(np.float32)
    return np.rint(value / scales).astype(np.int8), scales


def rounded(value: np.ndarray, form: str) -> np.ndarray:
    """A weight, float32, with the rounding error of a format.

    Args:
        value: float32, of any shape.
        form: one of `saved_model.WEIGHTS`.
    """
    form = stored_as(value, form)
    if form == "float32":
        return value
    if form == "bfloat16":
        return value.astype(tf.bfloat16.as_numpy_dtype).astype(np.float32)
    stored, scales = quantised(value)
    return stored.astype(np.float32) * scales


class _Stored(tf.Module):
    """One weight, read as a tensor, or by rows with `tf.gather`.

    Args:
        value: the weight, float32.
        form: "bfloat16" or "int8".
    """

    def __init__(self, value: np.ndarray, form: str):
        super().__init__()
        scales = None
        if form == "int8":
            value, scales = quantised(value)
        dtype = tf.int8 if form == "int8" else tf.bfloat16
        self._weight = tf.Variable(value, trainable=False, dtype=dtype)
        self._scales = scales
        if scales is not None:
            self._scales = tf.Variable(scales, trainable=False)
        self.shape, self.dtype = self._weight.shape, tf.float32
        self.is_table = is_table(value.shape)

    def tensor(self) -> tf.Tensor:
        """The whole weight, float32."""
        weight = tf.cast(self._weight, tf.float32)
        return weight if self._scales is None else weight * self._scales

    def sparse_read(self, indices: tf.Tensor, name: str | None = None):
        """Some rows, float32; `tf.gather` calls this for variables."""
        rows = tf.cast(tf.gather(self._weight, indices), tf.float32)
        if self._scales is not None:
            rows *= tf.gather(self._scales, indices)
        return tf.identity(rows, name)


def _converted(value: _Stored, dtype=None, name=None, as_ref=False):
    del dtype, name, as_ref
    return value.tensor()


tf.register_tensor_conversion_function(_Stored, _converted)


class StoredWeights(tf.Module):
    """A model's weights in a stored format; an export tracks this object.

    Args:
        model: a Keras model, which is unchanged.
        form: one of `saved_model.WEIGHTS`.
    """

    def __init__(self, model: keras.Model, form: str):
        super().__init__()
        checks.one_of("--weights", form, WEIGHTS)
        # Exports name variables by these attributes, so do not rename them.
        self.stored: list[_Stored] = []
        self.others: list[tf.Variable] = []
        replaced = []
        for weight in model.variables:
            value = np.asarray(keras.ops.convert_to_numpy(weight))
            stored = stored_as(value, form)
            if stored != "float32":
                self.stored.append(_Stored(value, stored))
                replaced.append(id(weight))
            else:
                self.others.append(weight.value)
        # A tuple, as modules track dictionaries.
        self._replaced = tuple(replaced)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Makes the model read these weights, not its own, in the block."""
        if not self.stored:
            yield
            return
        scope = keras.StatelessScope()
        # Not by the scope's argument, which would turn tables into tensors.
        scope.state_mapping.update(
            (number, stored if stored.is_table else stored.tensor())
            for number, stored in zip(self._replaced, self.stored)
        )
        with scope:
            yield


def change_of_scores(
    run: "Run",
    form: str,
    split: str,
    directories: Directories,
) -> dict[str, tuple[str, float, float]]:
    """A run's scores with its own weights and with those of an export.

    The run's model keeps the rounded weights.

    Args:
        run: the return value of `mtl_tf.load`.
        form: one of `saved_model.WEIGHTS`.
        split: the scored split of the tasks.
        directories: where data are.

    Returns:
        For each task its primary metric and both scores.

    Raises:
        MtlError: as for `Run.evaluate`.
    """
    scores = {}
    # Read once, as for many tasks it takes longer than scoring.
    clean = CleanParts.of_config(run.config, *directories)

    def score(task: str) -> dict[str, Any]:
        results = run.evaluate(split, [task], *directories, clean=clean)
        return results["tasks"][task]

    for task in run.tasks:
        name = task["name"]
        # Weights rounded for another task must be loaded again.
        run.loaded = None
        before = score(name)
        for weight in run.model.variables:
            value = np.asarray(keras.ops.convert_to_numpy(weight))
            weight.assign(rounded(value, form))
        after = score(name)
        primary = before["primary"]
        scores[name] = primary, before[primary], after[primary]
    return scores
