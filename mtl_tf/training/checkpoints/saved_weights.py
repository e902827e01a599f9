"""A run's weights in files: the best ones, and those of its last state."""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, RunError

#: What TensorFlow raises for a file that is truncated or does not fit.
DAMAGED = (
    tf.errors.OpError,
    AssertionError,
    IndexError,
    RuntimeError,
    ValueError,
)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps TensorFlow's messages about saving out of the log."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity(min(verbosity, logging.WARNING))
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


# The state of a dropout of Keras's, which a user's own code may have.
_DROPOUT = "seed_generator_state"


def by_path(variables: Iterable[keras.Variable]) -> dict[str, tf.Variable]:
    """Variables by their paths inside the model, for `tf.train.Checkpoint`.

    Given a Keras 3 model, `tf.train.Checkpoint` silently skips every layer that
    the model keeps in a list or a dict.

    Raises:
        ConfigError: two have the same path, as a user's own code may have.
    """
    named: dict[str, tf.Variable] = {}
    drops = -1
    for variable in variables:
        path = variable.path.partition("/")[2]
        if path == _DROPOUT:
            # Keras does not put the names of its dropouts before it.
            drops += 1
            path = f"{path}_{drops}" if drops else path
        if path in named:
            raise ConfigError(
                f"two weights of the model are called {path}: give the layers "
                "and weights of your own code different names"
            )
        named[path] = variable.value
    return named


def remove(directory: str, unwanted: Callable[[str], bool]) -> None:
    """Removes the files and folders whose names are unwanted."""
    for entry in list(os.scandir(directory)):
        if not unwanted(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


class BestWeights:
    """The weights with the best validation score, in a directory.

    `best.json` names the file, the step and the score. It is replaced
    atomically after the weights are complete, so it never names an incomplete
    file.
    """

    def __init__(self, directory: str, model: keras.Model):
        self.directory = directory
        self.checkpoint = tf.train.Checkpoint(model=by_path(model.variables))

    @staticmethod
    def exist(directory: str) -> bool:
        """Whether weights were saved in `directory`."""
        return os.path.exists(os.path.join(directory, "best.json"))

    def save(self, step: int, score: float) -> None:
        """Saves the model's weights and removes older ones."""
        files.make_directory(self.directory)
        name = f"weights-{step}"
        with quiet():
            self.checkpoint.write(os.path.join(self.directory, name))
        files.write_json(
            os.path.join(self.directory, "best.json"),
            {"weights": name, "step": step, "score": score},
        )
        # A killed write leaves a directory behind.
        remove(
            self.directory,
            lambda other: (
                other.startswith("weights-")
                and not other.startswith(f"{name}.")
            ),
        )

    def load(self) -> dict:
        """Loads the weights into the model and returns `best.json`.

        Raises:
            RunError: there are no weights, or they cannot be read.
        """

        def read(path: str) -> None:
            status = self.checkpoint.read(path)
            status.assert_existing_objects_matched()
            status.assert_consumed()

        return _read_best(self.directory, read)[0]

    @staticmethod
    def read(directory: str) -> tuple[dict, dict[str, np.ndarray]]:
        """Reads the weights without a model to load them into.

        Args:
            directory: the directory of the weights.

        Returns:
            The contents of `best.json`, and the weights by their paths inside
            the model.

        Raises:
            RunError: there are no weights, or they cannot be read.
        """

        def read(path: str) -> dict[str, np.ndarray]:
            reader = tf.train.load_checkpoint(path)
            return {
                _path_of_key(key): reader.get_tensor(key)
                for key in reader.get_variable_to_shape_map()
                if _WEIGHT.fullmatch(key)
            }

        return _read_best(directory, read)


class LastState:
    """The model's weights in the newest checkpoint of `Checkpoints`.

    These are the plain weights from which training continues. If averages are
    scored instead, they are not the averages.

    Args:
        directory: the stage's directory, which contains `checkpoints/`.
        model: the model that gets the weights.
    """

    def __init__(self, directory: str, model: keras.Model):
        self.directory = self.folder(directory)
        self.checkpoint = tf.train.Checkpoint(model=by_path(model.variables))

    @staticmethod
    def folder(directory: str) -> str:
        """The folder of the states in a stage's `directory`."""
        return os.path.join(directory, "checkpoints")

    @staticmethod
    def exist(directory: str) -> bool:
        """Whether a stage's `directory` contains a saved state."""
        folder = LastState.folder(directory)
        return os.path.exists(os.path.join(folder, "checkpoint"))

    def load(self) -> int:
        """Loads the weights into the model and returns their step.

        Raises:
            RunError: there are no weights, or they cannot be read.
        """
        path = self._newest()
        while True:
            try:
                status = self.checkpoint.read(path)
                status.assert_existing_objects_matched()
                status.expect_partial()  # Holds the optimizer, too.
                return int(path.rpartition("-")[2])
            except DAMAGED as error:
                # A training may have replaced it in the meantime.
                now = self._newest()
                if now == path:
                    raise _unreadable(path, error)
                path = now

    def _newest(self) -> str:
        with contextlib.suppress(ValueError):  # an empty list
            if path := tf.train.latest_checkpoint(self.directory):
                return path
        raise RunError(
            f"{os.path.join(self.directory, 'checkpoint')} names no state that "
            "is there: the same training again repairs it"
        )


def _named(directory: str) -> dict[str, Any]:
    """The contents of `best.json`, as `BestWeights.save` writes it."""
    path = os.path.join(directory, "best.json")
    best = files.read_json(path)
    if (
        not isinstance(best, dict)
        or not isinstance(best.get("weights"), str)
        or not {"step", "score"} <= best.keys()
    ):
        raise RunError(
            f"{path} must name weights, their step and their score, found "
            f"{best!r:.60}: restore it from a copy"
        )
    return best


def _read_best(directory: str, read: Callable[[str], Any]) -> tuple[dict, Any]:
    """`best.json`, and what `read` returns for the weights that it names.

    A training may replace both in the meantime; then it tries once more.
    """
    best = _named(directory)
    while True:
        path = os.path.join(directory, best["weights"])
        try:
            return best, read(path)
        except DAMAGED as error:
            now = _named(directory)
            if now == best:
                raise _unreadable(path, error)
            best = now


# What `tf.train.Checkpoint(model={path: weight})` makes of a path.
_WEIGHT = re.compile(r"model/(.+)/\.ATTRIBUTES/VARIABLE_VALUE")
_ESCAPED = {"..": ".", ".S": "/"}


def _path_of_key(key: str) -> str:
    name = _WEIGHT.fullmatch(key)[1]
    return re.sub(r"\.[.S]", lambda match: _ESCAPED[match[0]], name)


def _unreadable(path: str, error: Exception) -> RunError:
    reason = str(error).splitlines()[0]
    return RunError(f"cannot read the weights {path}: {reason}")
