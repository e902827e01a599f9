"""Averages the weights of the last evaluations, for scoring and saving."""

import contextlib
import os
import re
import zipfile
from collections.abc import Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, files
from mtl_tf.core.errors import RunError
from mtl_tf.training.optimizers.averaging import replaced

_FILE = re.compile(r"weights-(\d+)\.npz")
# A run may return to the state before its newest one, whose evaluation is one
# or two earlier. The files that its mean needs are kept.
_SPARE = 2


class LastWeights:
    """Stores the weights at evaluations and replaces them by their mean.

    This is the mean of the last checkpoints of one training, as in Vaswani et
    al. (2017), section 6.1. Izmailov et al. (2018) explain why it generalises.

    Args:
        directory: holds the stored weights, one file per evaluation.
        variables: the trained variables.
        count: number of evaluations in the mean.

    Raises:
        ConfigError: the count is not positive.
    """

    def __init__(
        self, directory: str, variables: Sequence[keras.Variable], count: int
    ):
        self.directory = directory
        self.variables = list(variables)
        self.count = checks.positive_integer("training.average_last", count)

    @contextlib.contextmanager
    def averaged(self, step: int) -> Iterator[None]:
        """Stores the weights and replaces them by the mean within the block.

        Afterwards the variables are restored bit by bit.

        Args:
            step: the current step. The mean uses the files of this and earlier
                steps only, so a training that continues from an earlier state
                gets the same result.

        Raises:
            RunError: a file is damaged or belongs to another model.
        """
        self._note(step)
        with replaced(list(zip(self.variables, self._means(step)))):
            yield

    def remove_old(self, step: int) -> None:
        """Removes files that no later mean needs once `step` is saved."""
        needed = self._steps(step)[: self.count + _SPARE]
        for name in os.listdir(self.directory):
            known = _FILE.fullmatch(name)
            old = known and int(known[1]) <= step
            # A killed write leaves a hidden file behind.
            if (old and int(known[1]) not in needed) or name.startswith("."):
                os.unlink(os.path.join(self.directory, name))

    def _note(self, step: int) -> None:
        files.make_directory(self.directory)
        values = [np.asarray(tf.convert_to_tensor(v)) for v in self.variables]
        with files.replacing(self._path(step)) as temporary:
            with open(temporary, "wb") as file:
                np.savez(file, *values)

    def _means(self, step: int) -> list[np.ndarray]:
        steps = self._steps(step)[: self.count]
        sums: list[np.ndarray] = []
        for noted in steps:
            values = self._read(noted)
            sums = [a + b for a, b in zip(sums, values)] if sums else values
        return [
            (total / len(steps)).astype(variable.dtype)
            for total, variable in zip(sums, self.variables)
        ]

    def _read(self, step: int) -> list[np.ndarray]:
        path = self._path(step)
        try:
            with np.load(path, allow_pickle=False) as noted:
                values = [noted[name].astype(np.float64) for name in noted]
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            reason = str(error).splitlines()[0]
            raise RunError(f"cannot read the weights {path}: {reason}")
        shapes = [value.shape for value in values]
        if shapes != [tuple(v.shape) for v in self.variables]:
            raise RunError(f"{path} holds the weights of another model")
        return values

    def _steps(self, step: int) -> list[int]:
        """The stored steps up to `step`, the latest first."""
        known = (_FILE.fullmatch(name) for name in os.listdir(self.directory))
        steps = (int(match[1]) for match in known if match)
        return sorted(
            (number for number in steps if number <= step), reverse=True
        )

    def _path(self, step: int) -> str:
        return os.path.join(self.directory, f"weights-{step}.npz")
