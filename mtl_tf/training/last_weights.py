"""The mean of the weights at the last evaluations, in their place."""

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
from mtl_tf.training.averaging import replaced

_FILE = re.compile(r"weights-(\d+)\.npz")
# A run may have to go back to the state before its newest one, whose
# evaluation is one or two earlier: what its mean needs stays.
_SPARE = 2


class LastWeights:
    """Notes weights at evaluations, and puts their mean in their place.

    The mean of the last checkpoints of one training, as Vaswani et al. (2017),
    section 6.1, take it; Izmailov et al. (2018) say why it generalises.

    Args:
        directory: holds the noted weights, a file an evaluation.
        variables: what is trained.
        count: of how many evaluations the mean is.

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
        """Notes the weights, and has their mean in their place in the block.

        When the block ends, the variables are bit by bit what they were.

        Args:
            step: after which this is; the mean is of the files of this and of
                earlier steps, so that a training which continues from an
                earlier state comes to the same.

        Raises:
            RunError: a file is damaged or of another model.
        """
        self._note(step)
        with replaced(list(zip(self.variables, self._means(step)))):
            yield

    def remove_old(self, step: int) -> None:
        """Removes what no later mean can need once step `step` is saved."""
        needed = self._steps(step)[: self.count + _SPARE]
        for name in os.listdir(self.directory):
            known = _FILE.fullmatch(name)
            old = known and int(known[1]) <= step
            # A write that was killed leaves a hidden file.
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
        """The noted steps up to one, the latest first."""
        known = (_FILE.fullmatch(name) for name in os.listdir(self.directory))
        steps = (int(match[1]) for match in known if match)
        return sorted(
            (number for number in steps if number <= step), reverse=True
        )

    def _path(self, step: int) -> str:
        return os.path.join(self.directory, f"weights-{step}.npz")
