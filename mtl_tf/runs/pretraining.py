"""Training of an encoder on texts without labels, before it is tuned."""

import dataclasses
import hashlib
import math
import os
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks, files
from mtl_tf.core.errors import ConfigError, DataError, Diverged, RunError
from mtl_tf.core.random import fold, generator
from mtl_tf.models.masked_language_model import MaskedLanguageModel
from mtl_tf.pipelines import masked_batches
from mtl_tf.pipelines.masked_batches import Masking
from mtl_tf.text import presets, word_pieces
from mtl_tf.text.base_tokenizer import valid_utf8
from mtl_tf.text.piece_tokenizers import in_graph
from mtl_tf.training.checkpoints import Checkpoints
from mtl_tf.training.learning_rates import WarmupThen
from mtl_tf.training.loop import Loop, LoopOptions
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.optimizers import make_optimizer
from mtl_tf.training.strategies import make_strategy
from mtl_tf.training.trainer import Trainer, choose_shards

SETTINGS_FILE = "pretraining.json"
# Without weights, of an encoder that starts from random ones.
_PRESET = "preset"


@dataclasses.dataclass(frozen=True)
class Pretraining:
    """What an encoder is trained from, and how.

    Attributes:
        preset: whose weights and tokenizer it starts from; "" for a BERT with
            random weights, of the sizes below.
        vocabulary_size: word pieces that are learnt from the texts, at most.
        layers: Transformer layers.
        hidden: size of their states; their feed-forward networks have four
            times as many units.
        heads: of their attention.
        lowercase: whether texts are lower-cased.
        length: pieces of a block, special ones among them.
        batch_size: blocks in a batch.
        accumulate_steps: batches of an update.
        steps: updates.
        learning_rate: the highest.
        warmup: share of the steps in which it comes from 0; then it goes to 0.
        evaluate_every: steps between evaluations.
        held_out: share of the texts that are not trained on, but scored.
        seed: of whatever is drawn.
    """

    preset: str = ""
    vocabulary_size: int = 8000
    layers: int = 4
    hidden: int = 256
    heads: int = 4
    lowercase: bool = True
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
            *("vocabulary_size", "layers", "hidden", "heads", "batch_size"),
            *("accumulate_steps", "steps", "evaluate_every"),
        ):
            checks.positive_integer(f"--{name}", getattr(self, name))
        checks.positive("--learning_rate", self.learning_rate)
        checks.fraction("--warmup", self.warmup)
        checks.fraction("--held_out", self.held_out)
        checks.not_negative_integer("--seed", self.seed)
        if self.length < 8:
            raise ConfigError(f"--length must be at least 8, got {self.length}")
        if self.hidden % self.heads:
            raise ConfigError(
                f"--hidden must be a multiple of --heads ({self.heads}), got "
                f"{self.hidden}"
            )


def pretrain(
    texts: Sequence[str], options: Pretraining, output: str
) -> dict[str, float]:
    """Trains an encoder to tell masked pieces, and writes it as a preset.

    Devlin et al. (2019), section 3.1, task 1, and appendix A.2: AdamW with
    weight decay 0.01, a linear warm-up and decay, gradients clipped at norm 1.
    What it has come to is kept in the folder `OUTPUT.training`: a call that
    was stopped goes on from there. The preset has the weights with the lowest
    held-out perplexity.

    Args:
        texts: what is trained and scored on.
        options: see `Pretraining`.
        output: the folder of the preset, which must not be there yet.

    Returns:
        "before" and "after", held-out perplexities: exp of the mean negative
        log-likelihood of masked pieces, whose masks are always the same; and
        "step", where the second was reached.

    Raises:
        MtlError: a wrong option, too few texts, another training in the
            folder, or a preset that cannot be read.
        Diverged: the loss is not finite.
        Interrupted: a signal came; the state is saved.
    """
    options.check()
    if os.path.lexists(output):
        raise RunError(f"{output} exists already: remove it or name another")
    state = f"{output.rstrip(os.sep)}.training"
    with files.locked(state):
        is_new = _claim(state, texts, options)
        try:
            tokenizer, start = _beginning(state, texts, options)
            run = _Run(state, texts, options, tokenizer, start)
        except (ConfigError, DataError):
            # A corrected command is another training.
            if is_new:
                _forget(state)
            raise
        try:
            results = run.train()
        except Diverged as error:
            raise Diverged(
                "a loss or a weight is not finite: lower --learning_rate, with "
                "another --output"
            ) from error
        with files.new_directory(output) as made:
            run.model.backbone.save_to_preset(made)
            tokenizer.save_to_preset(made)
            about = {**dataclasses.asdict(options), "perplexity": results}
            files.write_json(os.path.join(made, SETTINGS_FILE), about)
    shutil.rmtree(state)
    return results


def _claim(state: str, texts: Sequence[str], options: Pretraining) -> bool:
    """Writes down what is trained; refuses to go on with something else.

    Returns:
        Whether nothing was written down before.
    """
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(text.encode() + b"\0")
    now = {**dataclasses.asdict(options), "texts": digest.hexdigest()}
    path = os.path.join(state, SETTINGS_FILE)
    if not os.path.exists(path):
        files.write_json(path, now)
        return True
    before = files.read_json(path)
    wrong = [name for name in now if before.get(name) != now[name]]
    if wrong:
        name = wrong[0]
        raise RunError(
            f"{state} holds a training with another {name}: "
            f"{before.get(name)!r} there, {now[name]!r} asked for; repeat its "
            "command, or remove the folder"
        )
    return False


def _forget(state: str) -> None:
    """Removes what a training that did not begin has made."""
    os.unlink(os.path.join(state, SETTINGS_FILE))
    shutil.rmtree(os.path.join(state, _PRESET), ignore_errors=True)


def _beginning(
    state: str, texts: Sequence[str], options: Pretraining
) -> tuple[Any, Any]:
    """The tokenizer, and the backbone to start from."""
    import keras_nlp

    if options.preset:
        start = presets.load_backbone(options.preset)
        tokenizer = presets.load_tokenizer(options.preset)
        longest = getattr(start, "max_sequence_length", None)
        if longest and options.length > longest:
            raise ConfigError(
                f"--length must be at most {longest}, which the encoder can "
                f"read, got {options.length}"
            )
        if getattr(tokenizer, "mask_token_id", None) is None:
            raise ConfigError(
                f"--preset: the tokenizer of {options.preset!r}, a "
                f"{type(tokenizer).__name__}, has no piece that masks others"
            )
        return tokenizer, start
    folder = os.path.join(state, _PRESET)
    if not os.path.isdir(folder):
        logging.info("Learning word pieces.")
        learnt = word_pieces.learn(
            texts, options.vocabulary_size, options.lowercase
        )
        backbone = keras_nlp.models.BertBackbone(
            vocabulary_size=learnt.vocabulary_size(),
            num_layers=options.layers,
            num_heads=options.heads,
            hidden_dim=options.hidden,
            intermediate_dim=4 * options.hidden,
            # Longer texts are read in windows.
            max_sequence_length=max(options.length, 512),
        )
        with files.new_directory(folder) as made:
            presets.save(made, presets.serialized(backbone), learnt)
    start = presets.load_backbone(folder, weights=False)
    return presets.load_tokenizer(folder), start


class _Run:
    """Model, data and state of a training."""

    def __init__(
        self,
        state: str,
        texts: Sequence[str],
        options: Pretraining,
        tokenizer: Any,
        start: Any,
    ):
        self.options = options
        specials = presets.specials_of_tokenizer(tokenizer)
        self.masking = _masking(tokenizer, specials, options.seed)
        self.train_blocks, self.held_blocks = _blocks(
            texts, tokenizer, specials, options
        )
        self.strategy = make_strategy("one_device")
        with self.strategy.scope():
            self.model = _model(start, specials.pad, options)
            if options.preset:
                self.model.set_pretrained(start)
            variables = self.model.trained_variables()
            optimizer = _optimizer(options, variables)
            weighting = make_loss_weighting("static", [1.0])
            self.checkpoints = Checkpoints(
                state, self.model, optimizer, weighting, 1
            )
        self.trainer = Trainer(
            self.model,
            optimizer,
            weighting,
            variables,
            self.strategy,
            tasks=1,
            seed=options.seed,
            shards=choose_shards(self.model, self.strategy),
            accumulate=options.accumulate_steps,
        )
        self._held_loss = tf.function(self._loss_of, autograph=False)

    def train(self) -> dict[str, float]:
        """Trains to the end from wherever it was; see `pretrain`."""
        options = self.options
        before = self.perplexity()
        logging.info("Held-out perplexity before: %.2f", before)
        start = self.checkpoints.restore()
        if start:
            logging.info("Continuing from step %d.", start)
        size = options.batch_size * options.accumulate_steps
        Loop(
            self.trainer,
            self.checkpoints,
            lambda first, replicas, part: masked_batches.training_batches(
                self.train_blocks, first, options.steps, size, self.masking
            ),
            lambda: {"mean": -self.perplexity()},
            _record,
            LoopOptions(
                total_steps=options.steps,
                evaluate_every=options.evaluate_every,
                steps_per_epoch=math.ceil(len(self.train_blocks) / size),
            ),
            ["texts"],
        ).run(start)
        best = self.checkpoints.best.load()
        return {
            "before": before,
            "after": -float(best["score"]),
            "step": int(best["step"]),
        }

    def perplexity(self) -> float:
        """That of the held-out blocks, with masks that never change."""
        # As many rows as a batch of the training: few shapes are traced.
        size, total, count = self.options.batch_size, 0.0, 0.0
        for number, first in enumerate(range(0, len(self.held_blocks), size)):
            draw = generator(self.masking.seed, "held out", number)
            rows = self.held_blocks[first : first + size]
            found = masked_batches.masked(rows, self.masking, draw)
            batch = {k: tf.constant(v[None]) for k, v in found.items()}
            total += float(self._held_loss(batch))
            count += float(found["counted"].sum())
        # A perplexity beyond all numbers is one that diverged.
        return math.exp(min(total / max(count, 1.0), 700.0))

    def _loss_of(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
        return tf.reduce_sum(self.model(batch)["loss"])


def _masking(tokenizer: Any, specials: Any, seed: int) -> Masking:
    mask = int(tokenizer.mask_token_id)
    ids = {mask, specials.pad, specials.unknown}
    ids |= {*specials.start, *specials.separator, *specials.end}
    ordinary = np.setdiff1d(np.arange(tokenizer.vocabulary_size()), [*ids])
    return Masking(
        mask,
        # An unknown word may be told apart from none: it never is.
        frozenset(ids),
        ordinary.astype(np.int32),
        fold(seed, "masking"),
    )


def _check_pieces(blocks: np.ndarray, tokenizer: Any, specials: Any) -> None:
    """Refuses texts of which the tokenizer hardly knows a piece."""
    pieces = blocks[blocks > 0] - 1  # 0 is no piece.
    marks = [*specials.start, *specials.separator, *specials.end]
    pieces = pieces[~np.isin(pieces, marks)]
    unknown = int(np.sum(pieces == specials.unknown))
    known = len(pieces) - unknown
    if unknown >= known:
        raise ConfigError(
            f"of the texts' {unknown + known:,} pieces {unknown:,} are unknown "
            f"to the tokenizer, which has {tokenizer.vocabulary_size():,}: "
            "raise --vocabulary_size, or name a --preset for such texts"
        )


def _blocks(
    texts: Sequence[str], tokenizer: Any, specials: Any, options: Pretraining
) -> tuple[np.ndarray, np.ndarray]:
    """The blocks that are trained on, and those that are held out."""
    texts = [text for text in texts if text.strip()]
    if len(texts) < 2:
        raise DataError(
            f"there are {len(texts)} texts: at least 2 are needed, of which "
            "one is held out"
        )
    order = generator(options.seed, "held out").permutation(len(texts))
    count = min(max(1, round(options.held_out * len(texts))), len(texts) - 1)
    graph = in_graph(tokenizer)
    parts = []
    for chosen in (np.sort(order[count:]), np.sort(order[:count])):
        blocks = masked_batches.cut_into_blocks(
            [texts[n] for n in chosen],
            lambda batch: graph(valid_utf8(batch)),
            specials,
            options.length,
            options.seed,
        )
        parts.append(blocks)
        if not len(blocks):
            raise DataError("the texts have no pieces to learn from")
        _check_pieces(blocks, tokenizer, specials)
    logging.info(
        "%s blocks of %d pieces to train on, %s held out (%s and %s texts)",
        *(f"{len(parts[0]):,}", options.length, f"{len(parts[1]):,}"),
        *(f"{len(texts) - count:,}", f"{count:,}"),
    )
    return parts[0], parts[1]


def _model(start: Any, pad: int, options: Pretraining) -> MaskedLanguageModel:
    model = MaskedLanguageModel(
        presets.serialized(start),
        pad,
        fold(options.seed, "init") % 2**31,
        name="masked_language_model",
    )
    model.build()
    return model


def _optimizer(options: Pretraining, variables: list) -> Any:
    optimizer = make_optimizer(
        {"name": "adamw", "options": {"weight_decay": 0.01}},
        WarmupThen(
            options.learning_rate,
            "linear",
            round(options.warmup * options.steps),
            options.steps,
        ),
    )
    count = len(variables)
    optimizer.configure(variables, [0.0] * count, [1.0] * count, clip_norm=1.0)
    return optimizer


def _record(entry: dict[str, Any]) -> None:
    # There is no loss where no piece of these steps was masked.
    loss = entry["train_loss"].get("texts")
    logging.info(
        "Step %d: training perplexity %s, held-out perplexity %.2f",
        entry["step"],
        "-" if loss is None else f"{math.exp(min(loss, 700.0)):.2f}",
        -entry["validation"]["mean"],
    )
