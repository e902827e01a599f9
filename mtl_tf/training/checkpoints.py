"""What a run saves: its latest states and its best weights."""

import contextlib
import glob
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
from mtl_tf.core.errors import Diverged, RunError

# What TensorFlow raises for a file that is cut off or does not fit.
_DAMAGED = (
    tf.errors.OpError,
    AssertionError,
    IndexError,
    RuntimeError,
    ValueError,
)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps TensorFlow's notes on how it writes off the log."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity(min(verbosity, logging.WARNING))
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def _by_path(variables: Iterable[keras.Variable]) -> dict[str, tf.Variable]:
    """Variables by their paths below the model, for `tf.train.Checkpoint`.

    Given a Keras 3 model, `tf.train.Checkpoint` silently leaves out every
    layer that the model keeps in a list or a dict.
    """
    named = [(v.path.partition("/")[2], v.value) for v in variables]
    if len(dict(named)) < len(named):
        raise ValueError("two weights of the model have the same path")
    return dict(named)


class Checkpoints:
    """The state of a training stage, saved and restored exactly.

    The state is the model, the optimizer, the loss weights, the step, the
    best validation score with its step, the evaluations since then, the time
    spent, and the sums of the training loss since the last evaluation.

    Args:
        directory: holds `checkpoints/` (the last two states) and `best/`.
        model: the model.
        optimizer: a built optimizer.
        loss_weighting: a layer with the weights of the tasks' losses.
        tasks: number of tasks.
    """

    def __init__(
        self,
        directory: str,
        model: keras.Model,
        optimizer: keras.optimizers.Optimizer,
        loss_weighting: keras.layers.Layer,
        tasks: int,
    ):
        self.directory = os.path.join(directory, "checkpoints")
        self.best = BestWeights(os.path.join(directory, "best"), model)
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        # Scores that are better when lower count with a minus: any may be.
        self.best_score = tf.Variable(
            -np.inf, dtype=tf.float64, trainable=False
        )
        self.best_step = tf.Variable(-1, dtype=tf.int64, trainable=False)
        self.waited = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.loss_sum = tf.Variable(tf.zeros([tasks]), trainable=False)
        self.loss_count = tf.Variable(tf.zeros([tasks]), trainable=False)
        self.weights = (*model.variables, *loss_weighting.variables)
        self.checkpoint = tf.train.Checkpoint(
            model=_by_path(model.variables),
            # By position: Keras numbers optimizers by process, not by run.
            optimizer=[v.value for v in optimizer.variables],
            loss_weighting=_by_path(loss_weighting.variables),
            step=self.step,
            best_score=self.best_score,
            best_step=self.best_step,
            waited=self.waited,
            seconds=self.seconds,
            loss_sum=self.loss_sum,
            loss_count=self.loss_count,
        )
        # Made now, so that a restored state has no part without a taker.
        assert self.checkpoint.save_counter is not None

    def restore(self, only_read: bool = False) -> int:
        """Restores the newest readable state and returns its step, or 0.

        A damaged state is reported and the one before it is taken.

        Args:
            only_read: leave the directory as it is, because another process
                looks after it.

        Raises:
            RunError: there are states, but none is readable.
        """
        if not only_read:
            _repair_list(self.directory)
        self.manager = tf.train.CheckpointManager(
            self.checkpoint, self.directory, max_to_keep=2
        )
        paths = list(reversed(self.manager.checkpoints))
        for path in paths:
            try:
                status = self.checkpoint.read(path)
                status.assert_existing_objects_matched()
                status.assert_consumed()
                if not only_read:
                    self._remove_leftovers()
                return int(self.step.numpy())
            except _DAMAGED as error:
                reason = str(error).splitlines()[0]
                logging.warning("Checkpoint %s is damaged: %s", path, reason)
                logging.warning("Going back to the checkpoint before it.")
        if paths:
            raise RunError(
                f"no checkpoint in {self.directory} is readable: remove the "
                "run directory to train again from the start"
            )
        if not only_read:
            self._remove_leftovers()
        return 0

    def _remove_leftovers(self) -> None:
        """Removes what a save left that was killed: parts, unlisted states."""
        listed = tuple(
            f"{os.path.basename(path)}." for path in self.manager.checkpoints
        )
        if os.path.isdir(self.directory):
            _remove(
                self.directory,
                lambda name: (
                    name.startswith(("ckpt-", "checkpoint."))
                    and not name.startswith(listed)
                ),
            )

    def save(self) -> None:
        """Saves the state, unless a weight is not finite.

        Raises:
            Diverged: a weight is NaN or infinite; the last states stay.
        """
        self.check_finite()
        with _quiet():
            self.manager.save(checkpoint_number=int(self.step.numpy()))

    def check_finite(self) -> None:
        """Raises `Diverged` if a weight is NaN or infinite."""
        for variable in self.weights:
            value = tf.convert_to_tensor(variable)
            if value.dtype.is_floating and not _is_finite(value):
                raise Diverged(
                    f"the weight {variable.path} is not finite after step "
                    f"{int(self.step.numpy())}; the last good checkpoint is "
                    f"{self.manager.latest_checkpoint}"
                )


def _repair_list(directory: str) -> None:
    """Lists the states of a directory anew if their list is not readable.

    TensorFlow takes half a list for none at all, and a run would begin again
    beside states that are whole.
    """
    path = os.path.join(directory, "checkpoint")
    try:
        if tf.train.get_checkpoint_state(directory) is not None:
            return
    except ValueError:  # an empty file
        pass
    states = [
        name.removesuffix(".index")
        for name in glob.glob(os.path.join(glob.escape(directory), "*.index"))
        if _has_index(name.removesuffix(".index"))
    ]
    if not (states or os.path.exists(path)):
        return
    if not states:
        raise RunError(
            f"{path} is damaged, and there is no state beside it: remove the "
            "run directory to train again from the start"
        )
    found = "damaged" if os.path.exists(path) else "missing"
    logging.warning("%s is %s: taking the states beside it.", path, found)
    states.sort(key=lambda name: int(name.rpartition("-")[2]))
    times = [os.path.getmtime(f"{name}.index") for name in states]
    state = tf.compat.v1.train.generate_checkpoint_state_proto(
        directory,
        model_checkpoint_path=states[-1],
        all_model_checkpoint_paths=states,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=min(times) - 1,  # none is kept for good
    )
    files.write_text(path, str(state))


def _has_index(state: str) -> bool:
    """Whether a state's list of tensors, which is written last, is whole."""
    try:
        tf.train.load_checkpoint(state)
    except _DAMAGED:
        return False
    return True


def _remove(directory: str, unwanted: Callable[[str], bool]) -> None:
    for entry in list(os.scandir(directory)):
        if not unwanted(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


@tf.function(reduce_retracing=True, autograph=False)
def _is_finite(value: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(tf.math.is_finite(value))


class BestWeights:
    """The weights with the best validation score, in a directory.

    `best.json` names the file, the step and the score. It is replaced in one
    move after the weights are complete, so that it never names half a file.
    """

    def __init__(self, directory: str, model: keras.Model):
        self.directory = directory
        self.checkpoint = tf.train.Checkpoint(model=_by_path(model.variables))

    @staticmethod
    def exist(directory: str) -> bool:
        """Whether weights were saved in `directory`."""
        return os.path.exists(os.path.join(directory, "best.json"))

    def save(self, step: int, score: float) -> None:
        """Saves the model's weights and removes older ones."""
        files.make_directory(self.directory)
        name = f"weights-{step}"
        with _quiet():
            self.checkpoint.write(os.path.join(self.directory, name))
        files.write_json(
            os.path.join(self.directory, "best.json"),
            {"weights": name, "step": step, "score": score},
        )
        # A write that was killed leaves a directory.
        _remove(
            self.directory,
            lambda other: (
                other.startswith("weights-")
                and not other.startswith(f"{name}.")
            ),
        )

    def load(self) -> dict:
        """Loads the weights into the model and returns `best.json`.

        Raises:
            RunError: there are none, or they cannot be read.
        """

        def read(path: str) -> None:
            status = self.checkpoint.read(path)
            status.assert_existing_objects_matched()
            status.assert_consumed()

        return _read_best(self.directory, read)[0]

    @staticmethod
    def read(directory: str) -> tuple[dict, dict[str, np.ndarray]]:
        """Reads weights without a model to fill.

        Args:
            directory: of the weights.

        Returns:
            The contents of `best.json`, and the weights by their paths below
            the model.

        Raises:
            RunError: there are none, or they cannot be read.
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
    """The model's weights in the newest state that `Checkpoints` saved.

    They are those after its step, as the training goes on from them, also
    where it takes averages of the weights of several steps to be scored.

    Args:
        directory: of the stage, which holds `checkpoints/`.
        model: gets the weights.
    """

    def __init__(self, directory: str, model: keras.Model):
        self.directory = self.folder(directory)
        self.checkpoint = tf.train.Checkpoint(model=_by_path(model.variables))

    @staticmethod
    def folder(directory: str) -> str:
        """Where the states of a stage's `directory` are."""
        return os.path.join(directory, "checkpoints")

    @staticmethod
    def exist(directory: str) -> bool:
        """Whether a state was saved below a stage's `directory`."""
        folder = LastState.folder(directory)
        return os.path.exists(os.path.join(folder, "checkpoint"))

    def load(self) -> int:
        """Loads the weights into the model and returns their step.

        Raises:
            RunError: there are none, or they cannot be read.
        """
        path = self._newest()
        while True:
            try:
                status = self.checkpoint.read(path)
                status.assert_existing_objects_matched()
                status.expect_partial()  # There is the optimizer, too.
                return int(path.rpartition("-")[2])
            except _DAMAGED as error:
                # A training may have replaced it in between.
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
    """`best.json`, as `BestWeights.save` writes it."""
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
    """`best.json`, and what `read` makes of the weights that it names.

    A training may replace both in between: then once more.
    """
    best = _named(directory)
    while True:
        path = os.path.join(directory, best["weights"])
        try:
            return best, read(path)
        except _DAMAGED as error:
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
