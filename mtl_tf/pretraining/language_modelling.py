"""Trains a recurrent scheme on unlabelled texts, before its tasks."""

import collections
import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks, special_ids
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.random import fold
from mtl_tf.models.pretraining.language_model import LanguageModel
from mtl_tf.models.registry import make_scheme
from mtl_tf.models.scheme import RecurrentScheme
from mtl_tf.pipelines.unlabelled import text_blocks
from mtl_tf.pretraining import text_training
from mtl_tf.pretraining.text_training import TextTraining
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.vectors import learning
from mtl_tf.text.vectors.learning import TokenStore
from mtl_tf.text.vectors.vectors import load_vectors
from mtl_tf.text.vocabulary import Vocabulary
from mtl_tf.training.checkpoints.saved_weights import BestWeights

VECTORS_FILE, WEIGHTS = "vectors.txt", "best"
_END = special_ids.BOS  # The only special: it ends each text.
#: Perplexity needs the probabilities of all words at each place, so at most so
#: many places are scored, some at a time.
_SCORED, _AT_ONCE = 10_000, 512


@dataclasses.dataclass(frozen=True)
class LanguageModelling(TextTraining):
    """Options of language model pretraining.

    Attributes:
        scheme: the config's `model.scheme`.
        dimension: the size of word vectors.
        vectors: a file of word vectors to start from; "" for random ones.
        init: see `layers.base.check_init`.
        min_count: the fewest occurrences of a known word.
        samples: the negative samples of a step, from which a model tells the
            right word.
        dropout: dropout of vectors and states.
    """

    scheme: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    dimension: int = 200
    vectors: str = ""
    init: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    min_count: int = 2
    samples: int = 1024
    dropout: float = 0.2

    def check(self) -> None:
        """Raises `ConfigError` if a value is wrong."""
        checks.positive_integer("--min_count", self.min_count)
        checks.positive_integer("--samples", self.samples)
        checks.fraction("--dropout", self.dropout)
        super().check()

    @property
    def room(self) -> int:
        """A vector for each word."""
        return self.length * self.dimension


def of_config(
    config: Mapping[str, Any], training: Mapping[str, Any]
) -> LanguageModelling:
    """The options for the model of a run's config.

    Args:
        config: the run's complete config.
        training: the fields of `TextTraining`.

    Raises:
        ConfigError: the model is not a recurrent layer, shared by all tasks, on
            word vectors alone.
    """
    model = config["model"]
    for field, value, right in (
        ("model.encoder.preset", model["encoder"]["preset"], ""),
        ("model.characters.name", model["characters"]["name"], "none"),
        ("model.casing_dim", model["casing_dim"], 0),
        ("model.embedding_private_dim", model["embedding_private_dim"], 0),
    ):
        if value != right:
            raise ConfigError(
                f"--objective=next_words: config.{field} must be {right!r}, "
                f"got {value!r}: the layer to train has to read words alone"
            )
    scheme = dict(model["scheme"])
    is_shared = scheme.get("sharing") == "shared"
    if not is_shared or not isinstance(_scheme(scheme, {}), RecurrentScheme):
        raise ConfigError(
            "--objective=next_words: config.model.scheme must be a recurrent "
            "layer that all tasks share, such as {'name': 'lstm', 'units': "
            f"128, 'sharing': 'shared', 'bidirectional': True}}, got {scheme}"
        )
    return LanguageModelling(
        **training,
        scheme=scheme,
        dimension=model["embedding_dim"],
        vectors=config["text"]["vectors"],
        init=dict(model["init"]),
    )


def pretrain(
    texts: TokenStore, options: LanguageModelling, output: str
) -> dict[str, float]:
    """Trains a recurrent scheme to predict the next and the previous word.

    Peters et al. (2018), section 3.1; Dai and Le (2015) start a classifier from
    such weights. Adam, a linear warm-up and decay, gradients clipped at norm 1.

    Args:
        texts: the words of the training and held-out texts.
        options: see `LanguageModelling`.
        output: the folder to create. It holds the word vectors, for
            `text.vectors`, and the layer's weights, for
            `training.initialize_from`.

    Returns, raises: as for `text_training.train`; also `MtlError` for a wrong
        option, too few texts, or unreadable vectors.
    """
    options.check()
    return text_training.train(
        (" ".join(words) for words in texts),
        options,
        output,
        lambda _: _Recurrent(texts, options),
    )


class _Recurrent:
    """A language model, and its blocks; see `text_training.Learner`."""

    def __init__(self, texts: TokenStore, options: LanguageModelling):
        self.options = options
        self.vocabulary = _vocabulary(texts, options.min_count)
        self._blocks, self._held_blocks = _blocks(
            texts, self.vocabulary, options
        )
        self.blocks = len(self._blocks)
        init = {"seed": fold(options.seed, "init") % 2**31, **options.init}
        self.model = LanguageModel(
            _scheme(options.scheme, init),
            len(self.vocabulary),
            options.dimension,
            options.samples,
            options.dropout,
            init,
            name="language_model",
        )
        self.model.build()
        if options.vectors:
            seed = fold(options.seed, "vectors")
            vectors, _ = load_vectors(
                options.vectors, self.vocabulary, options.dimension, seed
            )
            self.model.embedding.set_vectors(vectors)
        self.variables = self.model.trainable_variables
        # Only the vectors of a step's words change.
        words = {id(self.model.embedding.vectors), id(self.model.words.bias)}
        self.optimizer = options.optimizer(
            self.variables,
            "adam",
            {},
            [v.shape[0] if id(v) in words else 0 for v in self.variables],
        )
        self._held_loss = tf.function(self._loss_of, autograph=False)

    def batches(self, first: int, stop: int) -> tf.data.Dataset:
        size = self.options.blocks_of_step
        seed = fold(self.options.seed, "blocks")

        def compute(step: int) -> dict[str, np.ndarray]:
            rows = text_blocks.rows_of_step(self.blocks, step, size, seed)
            return self._batch_of(self._blocks[rows])

        return text_blocks.batches(first, stop, compute)

    def perplexity(self) -> float:
        length, total, count = self.options.length, 0.0, 0.0
        rows = max(1, _AT_ONCE // length)
        held = self._held_blocks[: max(1, _SCORED // length)]
        for first in range(0, len(held), rows):
            batch = self._batch_of(held[first : first + rows])
            tokens = tf.constant(batch["tokens"][None])
            total += float(self._held_loss({"tokens": tokens}))
            count += float(batch["counted"].sum())
        return text_training.perplexity(total, count)

    def save(self, folder: str, results: Mapping[str, float]) -> None:
        first = special_ids.BOS + 1
        learning.write_vectors(
            os.path.join(folder, VECTORS_FILE),
            [
                escaping.surface(token)
                for token in self.vocabulary.tokens[first:]
            ],
            self.model.embedding.vectors.numpy()[first:],
        )
        weights = BestWeights(os.path.join(folder, WEIGHTS), self.model.scheme)
        weights.save(int(results["step"]), -results["after"])

    def _batch_of(self, blocks: np.ndarray) -> dict[str, np.ndarray]:
        """A batch, and the words that each direction must predict."""
        is_real, is_known = blocks > special_ids.PAD, blocks > special_ids.OOV
        masks = [
            is_known[:, 1:],
            # Padding follows all words and has no state to predict from.
            is_known[:, :-1] & is_real[:, 1:],
        ][: len(self.model.scheme.directions)]
        counted = np.concatenate(masks, 1).astype(np.float32)
        return {"tokens": blocks, "counted": counted}

    def _loss_of(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
        return tf.reduce_sum(self.model(batch)["loss"])


def _scheme(config: Mapping[str, Any], init: Mapping[str, Any]) -> Any:
    # The summary that the tasks read is not used here.
    return make_scheme({**config, "pooling": "last"}, 1, init)


def _vocabulary(texts: TokenStore, min_count: int) -> Vocabulary:
    counts: collections.Counter[str] = collections.Counter()
    for words in texts:
        counts.update(words)
    written = {escaping.write(word): count for word, count in counts.items()}
    vocabulary = Vocabulary.from_counts(written, min_count, specials=["<end>"])
    if len(vocabulary) <= _END + 1:
        raise DataError(
            f"no word occurs {min_count} times in the {len(texts):,} texts: "
            "give more text"
        )
    return vocabulary


def _blocks(
    texts: TokenStore, vocabulary: Vocabulary, options: LanguageModelling
) -> list[np.ndarray]:
    """The training blocks and the held-out blocks."""
    ids = {
        escaping.surface(token): place
        for place, token in enumerate(vocabulary.tokens)
        if place > _END
    }
    read = [
        np.array([ids.get(word, special_ids.OOV) for word in words], np.int32)
        for words in texts
        if words
    ]
    places = text_training.held_out(len(read), options)
    parts = [
        text_blocks.cut([read[n] for n in chosen], _END, options.length)
        for chosen in places
    ]
    logging.info(
        "%s words; %s blocks of %d words to train on, %s held out (%s and %s "
        "texts)",
        f"{len(ids):,}",
        f"{len(parts[0]):,}",
        options.length,
        f"{len(parts[1]):,}",
        *(f"{len(chosen):,}" for chosen in places),
    )
    return parts
