"""The training loop of one stage: steps, evaluations, checkpoints, stops."""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import Diverged, Interrupted, mistakes_as_raised
from mtl_tf.training.checkpoints.checkpoints import Checkpoints
from mtl_tf.training.checkpoints.last_weights import LastWeights
from mtl_tf.training.optimizers.averaging import averaged
from mtl_tf.training.optimizers.skipped_steps import SkippedSteps
from mtl_tf.training.progress import Progress
from mtl_tf.training.signals import StopRequest, stop_requests
from mtl_tf.training.trainer import Report, Trainer


@dataclasses.dataclass(frozen=True)
class LoopOptions:
    """How long a stage trains and how often it is evaluated.

    Attributes:
        total_steps: steps of the stage.
        evaluate_every: steps between evaluations. An evaluation always follows
            the last step.
        steps_per_epoch: for the progress line.
        patience: evaluations without a better mean score before the stage ends
            early; 0 to train to the end.
        steps_per_call: steps per call of the compiled function; 0 to choose
            about half a second's worth. It never changes the result.
        checkpoint_seconds: seconds between checkpoints that are saved between
            two evaluations.
        average_last: how many of the last evaluations' weights are averaged
            before scoring and saving; 0 for no averaging.
        max_seconds: time limit of the stage, summed over all processes that
            have worked on it. The stage then ends with an evaluation; with
            several workers, with the next regular one. 0 for no limit.
        told: how lines of progress show a mean score.
    """

    total_steps: int
    evaluate_every: int
    steps_per_epoch: int
    patience: int = 0
    steps_per_call: int = 0
    checkpoint_seconds: float = 60.0
    average_last: int = 0
    max_seconds: float = 0.0
    told: Callable[[float], str] = "{:.2f}".format


class Loop:
    """Trains a stage to its end, from where the last process stopped.

    Args:
        trainer: takes the steps.
        checkpoints: holds the training state.
        make_dataset: maps `(first step, number of replicas, replicas of this
            worker)` to a dataset of batches.
        evaluate: returns a dict whose `mean` is the score to maximise. If it
            has a true `improved`, training has not waited in vain, whatever
            the mean is.
        record: called with a dict after each evaluation.
        options: see `LoopOptions`.
        task_names: for messages.
        next_key: maps `(step, most)` to `(count, key)`. From `step` on, `count`
            steps (at most `most`) have batches with the same key. The key is
            None if no step has one, and a tuple if a step has several batches.
        on_step: called on the chief with the number of steps done and the mean
            loss.
    """

    def __init__(
        self,
        trainer: Trainer,
        checkpoints: Checkpoints,
        make_dataset: Callable[[int, int, range], tf.data.Dataset],
        evaluate: Callable[[], dict[str, Any]],
        record: Callable[[dict[str, Any]], None],
        options: LoopOptions,
        task_names: Sequence[str],
        next_key: Callable[[int, int], tuple[int, Any]] | None = None,
        on_step: Callable[[int, float], None] | None = None,
    ):
        self.trainer = trainer
        self.checkpoints = checkpoints
        self.make_dataset = make_dataset
        self.evaluate = evaluate
        self.record = record
        self.options = options
        self.task_names = list(task_names)
        self.next_key = next_key or (lambda step, most: (most, None))
        self.workers = trainer.workers
        self.on_step = on_step if self.workers.is_chief else None
        self.chunk = options.steps_per_call or 1
        if trainer.most_steps is not None:
            self.chunk = min(self.chunk, trainer.most_steps)
        self.doing = "step"
        self.time_is_up = False
        self.skipped = SkippedSteps(trainer.optimizer)
        self.last: LastWeights | None = None
        # Only one worker stores weights, averages and scores them.
        if options.average_last and self.workers.is_chief:
            self.last = LastWeights(
                os.path.join(checkpoints.directory, "last"),
                trainer.variables,
                options.average_last,
            )

    def run(self, start: int) -> None:
        """Trains from step `start`, which `checkpoints.restore` returned.

        Raises:
            Interrupted: a signal came. The state is saved.
            Diverged: the loss is not finite, or no gradient is. The last good
                state is kept.
        """
        options, step = self.options, start
        self._look_at_time()
        if self._finished(step):
            self.skipped.check_end(step)
            return
        self.skipped.begin(step)
        iterator = self.trainer.iterate(
            lambda *replicas: self.make_dataset(start, *replicas)
        )
        self.progress = Progress(
            options.total_steps,
            step,
            options.steps_per_epoch,
            silent=not self.workers.is_chief,
            evaluate_every=options.evaluate_every,
            most_seconds=options.max_seconds
            and options.max_seconds - float(self.checkpoints.seconds.numpy()),
            patient=bool(options.patience),
        )
        self.saved = time.monotonic()
        logging.info(
            "Compiling the first step, and the first one of each other shape "
            "of batches, takes some seconds."
        )
        with (
            contextlib.closing(self.progress),
            stop_requests(self._answer) as stop,
        ):
            while not self._finished(step):
                step = self._advance(iterator, step, stop)
                if self._evaluation_due(step) or self._over_time():
                    self.skipped.tell(step)
                    self._evaluate(step)
                elif self._checkpoint_due():
                    self._save()
                self._stop_if_asked(stop, step)
        self._tell_early_end(step)
        self.skipped.check_end(step)

    def _tell_early_end(self, step: int) -> None:
        """Logs why the stage ended before its planned length."""
        state = self.checkpoints
        if self.time_is_up and step < self.options.total_steps:
            logging.info(
                "Stopped at step %d of %d, after the time that "
                "training.max_hours gives it; the best validation score is "
                "%.2f at step %d.",
                step,
                self.options.total_steps,
                float(state.best_score.numpy()),
                int(state.best_step.numpy()),
            )
        elif step < self.options.total_steps:
            logging.info(
                "Stopped early after epoch %g (step %d of %d): no better "
                "validation score for %d evaluations; the best is %.2f at "
                "step %d.",
                step / self.options.steps_per_epoch,
                step,
                self.options.total_steps,
                int(state.waited.numpy()),
                float(state.best_score.numpy()),
                int(state.best_step.numpy()),
            )

    def _answer(self) -> None:
        logging.info(
            "Stopping after this %s. Ctrl-C again stops at once, without "
            "saving it.",
            self.doing,
        )

    def _finished(self, step: int) -> bool:
        waited = int(self.checkpoints.waited.numpy())
        if self.options.patience and waited >= self.options.patience:
            return True
        return self.time_is_up or step >= self.options.total_steps

    def _over_time(self) -> bool:
        """Whether the time limit requires an evaluation and a stop now."""
        most, alone = self.options.max_seconds, not self.workers.several
        # Clocks of workers differ, so several stop only where they synchronise.
        passed = time.monotonic() - self.saved
        return (
            0 < most <= float(self.checkpoints.seconds.numpy()) + passed
            and alone
        )

    def _look_at_time(self) -> None:
        """Notes whether the time limit is over, by the chief's clock.

        A state saved between two evaluations is first trained on until it is
        scored.
        """
        most, state = self.options.max_seconds, self.checkpoints
        if most:
            is_scored = not state.loss_count.numpy().any()
            passed = self.workers.share(
                float(state.seconds.numpy()) * is_scored
            )
            self.time_is_up = passed >= most

    def _advance(self, iterator: Any, step: int, stop: StopRequest) -> int:
        every = self.options.evaluate_every
        until = min((step // every + 1) * every, self.options.total_steps)
        steps, key = self.next_key(step, min(self.chunk, until - step))
        before, state = time.monotonic(), self.checkpoints
        with mistakes_as_raised():
            report = self.trainer.run(
                iterator,
                tf.constant(steps),
                state.loss_sum.read_value(),
                state.loss_count.read_value(),
                key,
                tf.constant(float(bool(stop))),
            )
        self._check(report)
        self.skipped.check_scale(step + steps)
        # With several workers, all must stop after the same step.
        self.stopping = bool(report.asked > 0)
        self._choose_chunk((time.monotonic() - before) / steps)
        state.step.assign(step + steps)
        state.loss_sum.assign(report.loss_sum)
        state.loss_count.assign(report.loss_count)
        loss = float(
            tf.reduce_sum(report.loss_sum) / tf.reduce_sum(report.loss_count)
        )
        self.progress.update(step + steps, loss)
        if self.on_step:
            self.on_step(step + steps, loss)
        return step + steps

    def _choose_chunk(self, seconds_per_step: float) -> None:
        # A chunk size that is given, or that the trainer limits, stays.
        if not (self.options.steps_per_call or self.trainer.most_steps):
            steps = int(0.5 / max(seconds_per_step, 1e-4))
            self.chunk = max(1, min(steps, 2 * self.chunk, 500))

    def _check(self, report: Report) -> None:
        step = int(report.bad_step)
        if step < 0:
            return
        raise Diverged(
            f"the loss of the task {self.task_names[int(report.bad_task)]!r} "
            f"is not finite at step {step}: lower "
            "training.optimizer.learning_rate, set or lower training.clip_norm"
            f"{self.skipped.advice}, in another --model_dir; "
            f"{self.checkpoints.told_last_good}"
        )

    def _evaluation_due(self, step: int) -> bool:
        return (
            step % self.options.evaluate_every == 0
            or step == self.options.total_steps
        )

    def _evaluate(self, step: int) -> None:
        self.doing = "evaluation"
        with self.progress.evaluation():
            self._score(step)
        self.doing = "step"

    def _score(self, step: int) -> None:
        # All workers have the same weights, so the chief's scores count.
        state = self.checkpoints
        with self._averaged(step):
            scores = self.workers.by_chief(self.evaluate) or {"mean": 0.0}
            mean = self.workers.share(scores["mean"])
            improved = self.workers.share(float(scores.pop("improved", False)))
            better = mean > float(state.best_score.numpy())
            if better:
                self.workers.by_chief(lambda: self._keep(step, mean))
        if better:
            state.best_score.assign(mean)
            state.best_step.assign(step)
        waited = 0 if better or improved else state.waited + 1
        state.waited.assign(waited)
        self.workers.by_chief(lambda: self.record(self._entry(step, scores)))
        self.trainer.loss_weighting.after_evaluation(*self._mean_losses())
        state.loss_sum.assign(tf.zeros_like(state.loss_sum))
        state.loss_count.assign(tf.zeros_like(state.loss_count))
        self.workers.by_chief(self._save)
        self._look_at_time()
        if self.last is not None:
            self.last.remove_old(step)
        told = self.options.told
        best = told(float(state.best_score.numpy()))
        self.progress.scores = (
            f"| dev {told(mean)}",
            f"best {best} at {int(state.best_step.numpy())}",
        )

    def _keep(self, step: int, score: float) -> None:
        """Saves the weights as the best ones."""
        # A model with NaN weights can score well by chance.
        self.checkpoints.check_finite()
        self.checkpoints.best.save(step, score)

    @contextlib.contextmanager
    def _averaged(self, step: int) -> Iterator[None]:
        """Within the block the weights are the averaged ones, for scoring."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(averaged(self.trainer.optimizer))
            if self.last is not None:
                stack.enter_context(self.last.averaged(step))
            yield

    def _entry(self, step: int, scores: dict[str, Any]) -> dict[str, Any]:
        means, seen = self._mean_losses()
        return {
            "step": step,
            "epoch": round(step / self.options.steps_per_epoch, 4),
            "train_loss": {
                name: float(mean)
                for name, mean, is_seen in zip(self.task_names, means, seen)
                if is_seen
            },
            "loss_weights": {
                name: float(factor)
                for name, factor in zip(
                    self.task_names, self.trainer.loss_weighting.values()
                )
            },
            "validation": scores,
        }

    def _mean_losses(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean losses since the last evaluation, and which tasks have one."""
        state = self.checkpoints
        means = (state.loss_sum / tf.maximum(state.loss_count, 1.0)).numpy()
        return means, state.loss_count.numpy() > 0

    def _checkpoint_due(self) -> bool:
        passed = time.monotonic() - self.saved
        return passed >= self.options.checkpoint_seconds

    def _save(self) -> None:
        now = time.monotonic()
        self.checkpoints.seconds.assign_add(now - self.saved)
        self.saved = now
        if self.workers.is_chief:
            self.checkpoints.save()

    def _stop_if_asked(self, stop: StopRequest, step: int) -> None:
        # Also checked after the last step: more runs or stages may follow.
        stopping = bool(stop)
        if self.workers.several:
            finished = self._finished(step)
            stopping = self.workers.any(stop) if finished else self.stopping
        if not stopping:
            return
        self._save()
        # With several workers, the signal may have reached another one.
        number = stop.signal_number or signal.SIGTERM
        name = signal.Signals(number).name
        raise Interrupted(
            f"stopped by {name} at step {step} of {self.options.total_steps}; "
            "the state is saved, the same command continues",
            number,
        )
