"""Checkpoints of a training stage, from which it can continue."""

import glob
import os

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import Diverged, RunError
from mtl_tf.training.checkpoints.saved_weights import (
    DAMAGED,
    BestWeights,
    by_path,
    quiet,
    remove,
)


class Checkpoints:
    """The state of a training stage, saved and restored exactly.

    The state is the model, the optimizer, the loss weights, the step, the best
    validation score with its step, the number of evaluations since then, the
    time spent, and the sums of the training loss since the last evaluation.

    Args:
        directory: holds `checkpoints/` (the last two states) and `best/`.
        model: the model.
        optimizer: a built optimizer.
        loss_weighting: a layer with the weights of the tasks' losses.
        tasks: number of tasks.
        per_task: whether the state has the best score of each task, too.
    """

    def __init__(
        self,
        directory: str,
        model: keras.Model,
        optimizer: keras.optimizers.Optimizer,
        loss_weighting: keras.layers.Layer,
        tasks: int,
        per_task: bool = False,
    ):
        self.directory = os.path.join(directory, "checkpoints")
        self.best = BestWeights(os.path.join(directory, "best"), model)
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        # Scores for which lower is better are negated, so any value may occur.
        self.best_score = tf.Variable(
            -np.inf, dtype=tf.float64, trainable=False
        )
        self.best_step = tf.Variable(-1, dtype=tf.int64, trainable=False)
        self.waited = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.best_of_tasks = tf.Variable(
            np.full([tasks], -np.inf), dtype=tf.float64, trainable=False
        )
        self.loss_sum = tf.Variable(tf.zeros([tasks]), trainable=False)
        self.loss_count = tf.Variable(tf.zeros([tasks]), trainable=False)
        self.weights = (*model.variables, *loss_weighting.variables)
        self.checkpoint = tf.train.Checkpoint(
            model=by_path(model.variables),
            # By position: Keras numbers optimizers per process, not per run.
            optimizer=[v.value for v in optimizer.variables],
            loss_weighting=by_path(loss_weighting.variables),
            step=self.step,
            best_score=self.best_score,
            best_step=self.best_step,
            waited=self.waited,
            seconds=self.seconds,
            loss_sum=self.loss_sum,
            loss_count=self.loss_count,
            # States of older versions do not have it.
            **({"best_of_tasks": self.best_of_tasks} if per_task else {}),
        )
        # Created now, so that a restored state has no unmatched part.
        assert self.checkpoint.save_counter is not None

    def restore(self, only_read: bool = False) -> int:
        """Restores the newest readable state and returns its step, or 0.

        A damaged state is reported, and the one before it is restored.

        Args:
            only_read: leave the directory unchanged, because another process
                manages it.

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
            except DAMAGED as error:
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
        """Removes leftovers of a killed save: parts and unlisted states."""
        listed = tuple(
            f"{os.path.basename(path)}." for path in self.manager.checkpoints
        )
        if os.path.isdir(self.directory):
            remove(
                self.directory,
                lambda name: (
                    name.startswith(("ckpt-", "checkpoint."))
                    and not name.startswith(listed)
                ),
            )

    @property
    def told_last_good(self) -> str:
        """Where the last state on disk is, for messages of diverged runs."""
        if path := self.manager.latest_checkpoint:
            return f"the last good checkpoint is {path}"
        return "it has no checkpoint yet"

    def save(self) -> None:
        """Saves the state, unless a weight is not finite.

        Raises:
            Diverged: a weight is NaN or infinite. The last states are kept.
        """
        self.check_finite()
        with quiet():
            self.manager.save(checkpoint_number=int(self.step.numpy()))

    def check_finite(self) -> None:
        """Raises `Diverged` if a weight is NaN or infinite."""
        for variable in self.weights:
            value = tf.convert_to_tensor(variable)
            if value.dtype.is_floating and not _is_finite(value):
                raise Diverged(
                    f"the weight {variable.path} is not finite after step "
                    f"{int(self.step.numpy())}; {self.told_last_good}"
                )


def _repair_list(directory: str) -> None:
    """Rebuilds a directory's list of states if it is not readable.

    TensorFlow treats an incomplete list like no list, and a run would start
    again although complete states exist.
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
    problem = "damaged" if os.path.exists(path) else "missing"
    logging.warning("%s is %s: taking the states beside it.", path, problem)
    states.sort(key=lambda name: int(name.rpartition("-")[2]))
    times = [os.path.getmtime(f"{name}.index") for name in states]
    state = tf.compat.v1.train.generate_checkpoint_state_proto(
        directory,
        model_checkpoint_path=states[-1],
        all_model_checkpoint_paths=states,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=min(times) - 1,  # none is kept forever
    )
    files.write_text(path, str(state))


def _has_index(state: str) -> bool:
    """Whether a state's index, which is written last, is complete."""
    try:
        tf.train.load_checkpoint(state)
    except DAMAGED:
        return False
    return True


@tf.function(reduce_retracing=True, autograph=False)
def _is_finite(value: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(tf.math.is_finite(value))
