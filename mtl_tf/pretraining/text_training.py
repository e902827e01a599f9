"""Training on unlabelled texts, which can be stopped and resumed."""

import contextlib
import dataclasses
import hashlib
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks, files, machine
from mtl_tf.core.errors import ConfigError, DataError, Diverged, RunError
from mtl_tf.core.random import generator
from mtl_tf.training.checkpoints.checkpoints import Checkpoints
from mtl_tf.training.distribution.strategies import make_strategy
from mtl_tf.training.loop import Loop, LoopOptions
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.optimizers.exact_sparse import VariableOptions
from mtl_tf.training.optimizers.learning_rates import WarmupThen
from mtl_tf.training.optimizers.optimizers import make_optimizer
from mtl_tf.training.trainer import Trainer, choose_shards

SETTINGS_FILE = "pretraining.json"


@dataclasses.dataclass(frozen=True)
class TextTraining:
    """Options of training on texts.

    Attributes:
        length: the length of a block, in pieces or words.
        batch_size: the blocks of a batch.
        accumulate_steps: the batches of an update.
        steps: the number of updates.
        learning_rate: the highest learning rate.
        warmup: the share of steps in which the rate rises from 0; then it falls
            to 0.
        evaluate_every: the steps between evaluations.
        held_out: the share of texts that are scored, not trained on.
        seed: the seed of all random draws.
    """

    length: int = 128
    batch_size: int = 32
    accumulate_steps: int = 1
    steps: int = 10000
    learning_rate: float = 1e-4
    warmup: float = 0.1
    evaluate_every: int = 500
    held_out: float = 0.02
    seed: int = 0

    def check(self) -> None:
        """Raises `ConfigError` if a value is wrong."""
        for name in (
            "batch_size",
            "accumulate_steps",
            "steps",
            "evaluate_every",
        ):
            checks.positive_integer(f"--{name}", getattr(self, name))
        checks.positive("--learning_rate", self.learning_rate)
        checks.fraction("--warmup", self.warmup)
        checks.fraction("--held_out", self.held_out)
        checks.not_negative_integer("--seed", self.seed)
        if self.length < 8:
            raise ConfigError(f"--length must be at least 8, got {self.length}")
        needed, free = 4 * self.batch_size * self.room, machine.free_memory()
        if needed > free:
            raise ConfigError(
                f"--length {self.length} with --batch_size {self.batch_size} "
                f"needs at least {needed / 1e9:,.1f} GB, and "
                f"{free / 1e9:,.1f} GB are free: lower one of them"
            )

    @property
    def room(self) -> int:
        """The least numbers that the model holds at once for a block."""
        return self.length

    @property
    def blocks_of_step(self) -> int:
        """The number of blocks of an update."""
        return self.batch_size * self.accumulate_steps

    def optimizer(
        self,
        variables: Sequence[keras.Variable],
        name: str,
        options: dict[str, Any],
        parts: Sequence[int] = (),
    ) -> keras.optimizers.Optimizer:
        """Clips gradients at norm 1; the rate rises from 0 and falls to 0.

        Args:
            variables: what it trains.
            name, options: as in `training.optimizer`.
            parts: of each variable, see `VariableOptions`; () for none.
        """
        warmup = round(self.warmup * self.steps)
        optimizer = make_optimizer(
            {"name": name, "options": options},
            WarmupThen(self.learning_rate, "linear", warmup, self.steps),
        )
        optimizer.configure(
            variables,
            [VariableOptions(parts=count) for count in parts],
            clip_norm=1.0,
        )
        return optimizer


class Learner(Protocol):
    """Something that learns from texts.

    Attributes:
        model: maps a batch to a loss.
        variables: its trainable variables.
        optimizer: the optimizer, configured for them.
        blocks: the number of training blocks.
    """

    model: keras.Model
    variables: Sequence[keras.Variable]
    optimizer: keras.optimizers.Optimizer
    blocks: int

    def batches(self, first: int, stop: int) -> tf.data.Dataset:
        """The batches of steps; see `text_blocks.batches`."""

    def perplexity(self) -> float:
        """The perplexity of the held-out texts: exp of the mean loss."""

    def save(self, folder: str, results: Mapping[str, float]) -> None:
        """Writes the learnt weights to a new folder; see `train`."""


def train(
    texts: Iterable[str],
    options: TextTraining,
    output: str,
    begin: Callable[[str], Learner],
) -> dict[str, float]:
    """Trains, and writes the weights with the lowest held-out perplexity.

    The state is kept in the folder `OUTPUT.training`, from which a stopped call
    resumes.

    Args:
        texts: the training and held-out texts; they distinguish this training
            from others in the folder.
        options: checked options; another training has others.
        output: the folder to create.
        begin: makes the learner from the folder `OUTPUT.training`, where it may
            cache what is slow to make.

    Returns:
        "before" and "after", held-out perplexities, and "step", the step of the
        latter.

    Raises:
        MtlError: another training is in the folder, or `begin` raises it.
        Diverged: the loss is not finite.
        Interrupted: a signal came; the state is saved.
    """
    check_new(output)
    state = f"{output.rstrip(os.sep)}.training"
    with files.locked(state):
        strategy = make_strategy("one_device")
        with _claimed(state, texts, options), strategy.scope():
            learner = begin(state)
        try:
            results = _train(state, learner, options, strategy)
        except Diverged as error:
            raise Diverged(
                "a loss or a weight is not finite: lower --learning_rate, with "
                "another --output"
            ) from error
        with files.new_directory(output) as directory:
            learner.save(directory, results)
            about = {**dataclasses.asdict(options), "perplexity": results}
            files.write_json(os.path.join(directory, SETTINGS_FILE), about)
    shutil.rmtree(state)
    return results


def check_new(output: str) -> None:
    """Refuses a folder that exists already.

    Raises:
        RunError: it does.
    """
    if os.path.lexists(output):
        raise RunError(f"{output} exists already: remove it or name another")


def has_ended(settings: Mapping[str, Any]) -> bool:
    """Whether the contents of a `SETTINGS_FILE` are of a finished training."""
    return "perplexity" in settings


def held_out(count: int, options: TextTraining) -> list[np.ndarray]:
    """Indices of the training texts, and of the held-out texts.

    Raises:
        DataError: there are too few texts.
    """
    if count < 2:
        raise DataError(
            f"too few texts, {count}: at least 2 are needed, of which one is "
            "held out"
        )
    order = generator(options.seed, "held out").permutation(count)
    held = min(max(1, round(options.held_out * count)), count - 1)
    return [np.sort(order[held:]), np.sort(order[:held])]


@contextlib.contextmanager
def _claimed(
    state: str, texts: Iterable[str], options: TextTraining
) -> Iterator[None]:
    """Records the training; refuses to resume with other options.

    A training that is refused inside the block leaves no files.
    """
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(text.encode() + b"\0")
    now = {**dataclasses.asdict(options), "texts": digest.hexdigest()}
    path = os.path.join(state, SETTINGS_FILE)
    is_new = not os.path.exists(path)
    if is_new:
        files.write_json(path, now)
    before = files.read_json(path)
    wrong = [name for name in now if before.get(name) != now[name]]
    if wrong:
        name = wrong[0]
        raise RunError(
            f"{state} holds a training with another {name}: "
            f"{before.get(name)!r} there, {now[name]!r} asked for; repeat its "
            "command, or remove the folder"
        )
    try:
        yield
    except (ConfigError, DataError):
        # A corrected command is another training.
        if is_new:
            os.unlink(path)
            for name in os.listdir(state):
                shutil.rmtree(os.path.join(state, name), ignore_errors=True)
        raise


def _train(
    state: str,
    learner: Learner,
    options: TextTraining,
    strategy: tf.distribute.Strategy,
) -> dict[str, float]:
    """Trains to the end from the current step; see `train`."""
    model, weighting = learner.model, make_loss_weighting("static", [1.0])
    with strategy.scope():
        checkpoints = Checkpoints(state, model, learner.optimizer, weighting, 1)
    before = learner.perplexity()
    logging.info("Held-out perplexity before: %.2f", before)
    start = checkpoints.restore()
    if start:
        logging.info("Continuing from step %d.", start)
    Loop(
        Trainer(
            model,
            learner.optimizer,
            weighting,
            learner.variables,
            strategy,
            tasks=1,
            seed=options.seed,
            shards=choose_shards(model, strategy),
            accumulate=options.accumulate_steps,
        ),
        checkpoints,
        lambda first, replicas, part: learner.batches(first, options.steps),
        lambda: {"mean": -learner.perplexity()},
        _record,
        LoopOptions(
            total_steps=options.steps,
            evaluate_every=options.evaluate_every,
            steps_per_epoch=math.ceil(learner.blocks / options.blocks_of_step),
            told=lambda score: f"perplexity {-score:.2f}",
        ),
        ["texts"],
    ).run(start)
    best = checkpoints.best.load()
    return {
        "before": before,
        "after": -float(best["score"]),
        "step": int(best["step"]),
    }


def perplexity(loss: float, counted: float) -> float:
    """exp of a mean loss, capped; only diverged trainings reach the cap."""
    return math.exp(min(loss / max(counted, 1.0), 700.0))


def _record(entry: dict[str, Any]) -> None:
    # Without a predicted word in these steps there is no loss.
    loss = entry["train_loss"].get("texts")
    logging.info(
        "Step %d: training loss %s, held-out perplexity %.2f",
        entry["step"],
        "-" if loss is None else f"{loss:.3f}",
        -entry["validation"]["mean"],
    )
