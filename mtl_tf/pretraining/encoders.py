"""Trains an encoder on unlabelled texts, before it is fine-tuned."""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks, files
from mtl_tf.core.errors import ConfigError, DataError, MtlError
from mtl_tf.core.random import fold, generator
from mtl_tf.models.pretraining.masked_language_model import MaskedLanguageModel
from mtl_tf.pipelines.unlabelled import masked_batches
from mtl_tf.pipelines.unlabelled.masked_batches import Masking
from mtl_tf.pretraining import text_training
from mtl_tf.pretraining.text_training import TextTraining
from mtl_tf.text.pretrained import preset_layers, presets
from mtl_tf.text.tokenizers import word_pieces
from mtl_tf.text.tokenizers.base_tokenizer import valid_utf8
from mtl_tf.text.tokenizers.piece_tokenizers import in_graph
from mtl_tf.training import precision

#: float16 would need loss scaling.
PRECISIONS = (precision.FLOAT32, precision.BFLOAT16)

# The folder of a preset without weights, for a random start.
_PRESET = "preset"


@dataclasses.dataclass(frozen=True)
class Pretraining(TextTraining):
    """Options of encoder pretraining.

    Attributes:
        preset: the preset whose weights and tokenizer it starts from; "" for a
            BERT with random weights, of the sizes below.
        vocabulary_size: the most word pieces learnt from the texts.
        layers: the number of Transformer layers.
        hidden: the size of their states; their feed-forward networks have four
            times as many units.
        heads: the number of attention heads.
        lowercase: whether to lower-case texts.
        mixed_precision: the precision of the encoder, one of `PRECISIONS`.
    """

    preset: str = ""
    vocabulary_size: int = 8000
    layers: int = 4
    hidden: int = 256
    heads: int = 4
    lowercase: bool = True
    mixed_precision: str = precision.FLOAT32

    def check(self) -> None:
        """Raises `ConfigError` if a value is wrong."""
        for name in ("vocabulary_size", "layers", "hidden", "heads"):
            checks.positive_integer(f"--{name}", getattr(self, name))
        # Before the texts are read.
        word_pieces.check_size("--vocabulary_size", self.vocabulary_size)
        checks.one_of("--mixed_precision", self.mixed_precision, PRECISIONS)
        super().check()
        if self.hidden % self.heads:
            raise ConfigError(
                f"--hidden must be a multiple of --heads ({self.heads}), got "
                f"{self.hidden}"
            )

    @property
    def room(self) -> int:
        """The attention of each head; of a preset its sizes are not known."""
        if self.preset:
            return self.length
        return self.heads * self.length**2


def pretrain(
    texts: Sequence[str], options: Pretraining, output: str
) -> dict[str, float]:
    """Trains an encoder to predict masked pieces, and writes a preset.

    Devlin et al. (2019), section 3.1, task 1, and appendix A.2: AdamW with
    weight decay 0.01, a linear warm-up and decay, gradients clipped at norm 1.
    The masks of held-out texts are always the same.

    Args:
        texts: the training and held-out texts.
        options: see `Pretraining`.
        output: the folder of the preset to create.

    Returns, raises: as for `text_training.train`; also `MtlError` for a wrong
        option, too few texts, or an unreadable preset.
    """
    options.check()
    return text_training.train(
        texts,
        options,
        output,
        lambda state: _Encoder(
            texts, options, *_beginning(state, texts, options)
        ),
    )


def _beginning(
    state: str, texts: Sequence[str], options: Pretraining
) -> tuple[Any, Any]:
    """The tokenizer and the initial backbone."""
    import keras_nlp

    if options.preset:
        with _flag_named():
            start = presets.load_backbone(options.preset)
            preset_layers.warn_of_unread(options.preset, start, "--preset")
            tokenizer = presets.load_tokenizer(options.preset)
            presets.check_pieces(
                options.preset,
                presets.serialized(start),
                int(tokenizer.vocabulary_size()),
            )
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
        with files.new_directory(folder) as directory:
            presets.save(directory, presets.serialized(backbone), learnt)
    start = presets.load_backbone(folder, weights=False)
    return presets.load_tokenizer(folder), start


@contextlib.contextmanager
def _flag_named() -> Iterator[None]:
    """Errors about a preset name the flag, not a config field."""
    try:
        yield
    except MtlError as error:
        message = str(error).replace(presets.FIELD, "--preset")
        raise type(error)(message) from error


class _Encoder:
    """An encoder, and its blocks; see `text_training.Learner`."""

    def __init__(
        self,
        texts: Sequence[str],
        options: Pretraining,
        tokenizer: Any,
        start: Any,
    ):
        self.options, self.tokenizer = options, tokenizer
        specials = presets.specials_of_tokenizer(tokenizer)
        self.masking = _masking(tokenizer, specials, options.seed)
        self.train_blocks, self.held_blocks = _blocks(
            texts, tokenizer, specials, options
        )
        self.blocks = len(self.train_blocks)
        self._start = presets.serialized(start)
        self.model = _model(self._start, specials.pad, options)
        if options.preset:
            self.model.set_pretrained(start)
        self.variables = self.model.trained_variables()
        self.optimizer = options.optimizer(
            self.variables, "adamw", {"weight_decay": 0.01}
        )
        self._held_loss = tf.function(self._loss_of, autograph=False)

    def batches(self, first: int, stop: int) -> tf.data.Dataset:
        return masked_batches.training_batches(
            self.train_blocks,
            first,
            stop,
            self.options.blocks_of_step,
            self.masking,
        )

    def perplexity(self) -> float:
        # The batch size of training, so that few shapes are traced.
        size, total, count = self.options.batch_size, 0.0, 0.0
        for number, first in enumerate(range(0, len(self.held_blocks), size)):
            draw = generator(self.masking.seed, "held out", number)
            rows = self.held_blocks[first : first + size]
            masked = masked_batches.masked(rows, self.masking, draw)
            batch = {k: tf.constant(v[None]) for k, v in masked.items()}
            total += float(self._held_loss(batch))
            count += float(masked["counted"].sum())
        return text_training.perplexity(total, count)

    def save(self, folder: str, results: Mapping[str, float]) -> None:
        del results
        # Saved in float32, whatever the precision of training.
        backbone = keras.saving.deserialize_keras_object(self._start)
        backbone.set_weights(self.model.backbone.get_weights())
        backbone.save_to_preset(folder)
        self.tokenizer.save_to_preset(folder)

    def _loss_of(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
        return tf.reduce_sum(self.model(batch)["loss"])


def _masking(tokenizer: Any, specials: Any, seed: int) -> Masking:
    mask = int(tokenizer.mask_token_id)
    ids = {mask, specials.pad, specials.unknown}
    ids |= {*specials.start, *specials.separator, *specials.end}
    ordinary = np.setdiff1d(np.arange(tokenizer.vocabulary_size()), [*ids])
    return Masking(
        mask,
        # The unknown piece is never predicted.
        frozenset(ids),
        ordinary.astype(np.int32),
        fold(seed, "masking"),
    )


def _check_pieces(blocks: np.ndarray, tokenizer: Any, specials: Any) -> None:
    """Refuses texts with hardly any piece that the tokenizer knows."""
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
    """The training blocks and the held-out blocks."""
    texts = [text for text in texts if text.strip()]
    places = text_training.held_out(len(texts), options)
    graph = in_graph(tokenizer)
    parts = []
    for chosen in places:
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
        f"{len(parts[0]):,}",
        options.length,
        f"{len(parts[1]):,}",
        *(f"{len(chosen):,}" for chosen in places),
    )
    return parts[0], parts[1]


def _model(
    start: Mapping[str, Any], pad: int, options: Pretraining
) -> MaskedLanguageModel:
    model = MaskedLanguageModel(
        start,
        pad,
        fold(options.seed, "init") % 2**31,
        options.mixed_precision,
        name="masked_language_model",
    )
    model.build()
    return model
