"""Translation by beam search, for models with an encoder and decoders."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.beam_search import (
    BeamSearch,
    Candidates,
    candidates_needed,
)
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.translation.attention_decoder import AttentionDecoder
from mtl_tf.layers.translation.gru_encoder import GRUEncoder


@dataclasses.dataclass(frozen=True)
class TranslationSearch:
    """Searches the best translations of sources.

    Attributes:
        beam, n_best, length_penalty, attention: see
            `MultiTargetModel.translate`.
        limit: `(a, b)`: at most `a * source tokens + b` target tokens.
    """

    beam: int
    limit: tuple[float, int]
    length_penalty: float
    n_best: int
    attention: bool

    def __call__(
        self, encoder: GRUEncoder, decoder: AttentionDecoder, tokens: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the results of `MultiTargetModel.translate`.

        Args:
            encoder, decoder: those of the two languages.
            tokens: int32 `[B, S]`, 0 is padding.

        Raises:
            ConfigError: an attribute is wrong.
        """
        with recurrence.options(jit=False, shards=1):
            encoded = encoder(at_least_one_step(tokens, 1)[None])
        memory = decoder.memory(encoded)
        words = tf.reduce_sum(tf.cast(encoded["mask"][0], tf.int32), -1)
        has_words = words > 0
        most = most_tokens(self.limit, words)

        needed = candidates_needed(self.beam)

        def step(last, state, places):
            hidden, read, weights = decoder.advance(
                last, state["hidden"], memory
            )
            # The output layer is most of the work, so only open hypotheses use
            # it.
            read = tf.gather_nd(read, places)
            best = decoder.output_layer.best(read, needed)
            return {"hidden": hidden}, Candidates(*best), weights

        search = BeamSearch(
            step,
            beam=self.beam,
            n_best=self.n_best,
            length_penalty=self.length_penalty,
            attention=self.attention,
        )
        start = {"hidden": decoder.start(encoded)["hidden"][0]}
        translations = search(start, tf.where(has_words, most, 1))
        # A decoder without a source would generate some frequent sentence. The
        # only translation of an empty source is the empty one.
        has_words = has_words[:, None]
        of_nothing = tf.where(tf.range(self.n_best) > 0, float("-inf"), 0.0)
        return translations | {
            "tokens": tf.where(has_words[..., None], translations["tokens"], 0),
            "length": tf.where(has_words, translations["length"], 0),
            "score": tf.where(has_words, translations["score"], of_nothing),
        }


class SearchGraphs:
    """Graphs for each combination of search and decoder, made on demand.

    As a separate object it is not tracked by Keras.
    """

    def __init__(self):
        self._graphs: dict[tuple[TranslationSearch, str], Callable] = {}

    def __call__(
        self,
        search: TranslationSearch,
        encoder: GRUEncoder,
        decoder: AttentionDecoder,
        tokens: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Runs the search; arguments and result as in `TranslationSearch`."""
        key = search, decoder.name
        if key not in self._graphs:
            self._graphs[key] = tf.function(
                lambda tokens: search(encoder, decoder, tokens),
                input_signature=[tf.TensorSpec([None, None], tf.int32)],
                autograph=False,
            )
        return self._graphs[key](tf.cast(tokens, tf.int32))


def most_tokens(limit: int | tuple[float, int], words: tf.Tensor) -> tf.Tensor:
    """Maximum number of target tokens for the given source lengths, int32.

    Args:
        limit: see `checked_limit`.
        words: source lengths, int32, any shape.
    """
    a, b = checked_limit(limit)
    return tf.cast(a * tf.cast(words, tf.float32) + b, tf.int32)


def checked_limit(limit: int | tuple[float, int]) -> tuple[float, int]:
    """Limit as `(a, b)`: a source of n tokens gets at most a n + b tokens.

    Args:
        limit: such a pair, or one number for sources of any length.

    Raises:
        ConfigError: a value is wrong.
    """
    if isinstance(limit, int):
        return 0.0, checks.positive_integer("max_length", limit)
    a, b = limit
    checks.not_negative("max_length[0]", a)
    return float(a), checks.positive_integer("max_length[1]", b)
