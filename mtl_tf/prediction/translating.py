"""Translates splits and texts with a trained model."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.models.translation.multi_target import MultiTargetModel
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction import search_batches
from mtl_tf.prediction.search_options import SearchOptions
from mtl_tf.text.encoding.decoding import TextDecoder, aligned_words, distinct
from mtl_tf.text.encoding.translation import TranslationText


@dataclasses.dataclass(frozen=True)
class Decoding(SearchOptions):
    """Options of the search for translations.

    Attributes:
        replace_unknown: replace an unknown word by the source word with the
            most attention.
        max_length: the most tokens of a translation, including its end; 0 for
            twice the tokens of its source plus ten.
        alignments: return, for each word of the best translation, the source
            word with the most attention.

    Raises:
        ConfigError: a value is wrong.
    """

    group = "decoding"

    beam: int = 10
    replace_unknown: bool = False
    max_length: int = 0
    alignments: bool = False

    def __post_init__(self):
        super().__post_init__()
        checks.not_negative_integer("max_length", self.max_length)
        checks.boolean("alignments", self.alignments)

    @property
    def limit(self) -> int | tuple[int, int]:
        """`max_length` in the form of `MultiTargetModel.translate`."""
        return self.max_length or (2, 10)


class Translations(NamedTuple):
    """The translations of n sources.

    Attributes:
        texts: n lists of `n_best` translations, the best first, all different;
            "" if the search found fewer.
        scores: float32 [n, n_best]; minus infinity if fewer were found.
        words: the ids of the words of each best translation; empty without
            `Decoding.alignments`.
        aligned: for each of these words, the index of the source token with the
            most attention, from 0.
    """

    texts: list[list[str]]
    scores: np.ndarray
    words: list[list[int]]
    aligned: list[list[int]]


class Translator:
    """Translates into the target languages of a run.

    Args:
        model: the trained model.
        text: the run's encoders.
        decoding: the search options.
    """

    def __init__(
        self,
        model: MultiTargetModel,
        text: TranslationText,
        decoding: Decoding = Decoding(),
    ):
        self.model, self.text, self.decoding = model, text, decoding
        self._decoders = [TextDecoder(text.target(p)) for p in model.pairs]
        # Traced: run eagerly, they would take longer than the search.
        self._traced = [
            tf.function(decoder, reduce_retracing=True, autograph=False)
            for decoder in self._decoders
        ]
        self._traced_likelihoods: dict[int, Callable[..., tf.Tensor]] = {}

    @property
    def tables(self) -> list[Any]:
        """The tables, besides the encoders', that an export must track."""
        return [table for decoder in self._decoders for table in decoder.tables]

    def translate(
        self, pair: int, sources: Sequence[np.ndarray], words: Any = None
    ) -> Translations:
        """Translates sources.

        Args:
            pair: the pair's number.
            sources: n arrays int [tokens], the ids of each.
            words: the sources' tokens as text, ragged string [n, None]; needed
                to replace unknown words.
        """
        texts, written, aligned = ([[]] * len(sources) for _ in range(3))
        scores = np.zeros([len(sources), self.decoding.n_best], np.float32)
        lengths = [len(ids) for ids in sources]
        doing = f"{self.model.pairs[pair]}: decoding"
        search_batches.tell_long(lengths, doing)
        for rows in search_batches.by_length(lengths, doing):
            tokens = _padded([sources[n] for n in rows])
            own_words = None
            if self.decoding.replace_unknown:
                own_words = tf.gather(words, rows).to_tensor()
            hypotheses = self._hypotheses(pair, tokens)
            decoded, scores[rows] = self._texts(pair, hypotheses, own_words)
            for row, of_row in zip(rows, decoded.numpy()):
                texts[row] = [
                    text.decode("utf-8", "replace") for text in of_row
                ]
            if self.decoding.alignments:
                names = ("tokens", "aligned", "length")
                best = [hypotheses[name].numpy()[:, 0] for name in names]
                for row, ids, places, length in zip(rows, *best):
                    written[row] = ids[:length].tolist()
                    aligned[row] = places[:length].tolist()
        return Translations(texts, scores, written, aligned)

    def search(
        self, pair: int, tokens: tf.Tensor, words: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """Translates sources, in Python or in a graph.

        Args:
            pair: the pair's number.
            tokens: int32 [B, T], the sources' ids; 0 is padding.
            words: string [B, T], their tokens as text, "" is padding; needed to
                replace unknown words.

        Returns:
            "translations" string [B, n_best] and "scores" float32 [B,
            n_best], as in `Translations`. With `Decoding.alignments` also
            "words" string [B, U] of the best one, "" after the last word,
            and "alignment" int32 [B, U], the index of the source token with
            the most attention; -1 after the last word.
        """
        hypotheses = self._hypotheses(pair, tokens)
        texts, scores = self._texts(pair, hypotheses, words)
        outputs = {"translations": texts, "scores": scores}
        if self.decoding.alignments:
            names = ("tokens", "aligned", "length")
            ids, places, length = (hypotheses[name][:, 0] for name in names)
            is_word = tf.sequence_mask(length, tf.shape(ids)[1])
            written = self._decoders[pair].words(ids)
            outputs["words"] = tf.where(is_word, written, "")
            outputs["alignment"] = tf.where(is_word, places, -1)
        return outputs

    def _hypotheses(self, pair: int, tokens: tf.Tensor) -> dict[str, tf.Tensor]:
        return self.model.translate(
            tokens,
            key=pair,
            beam=self.decoding.beam,
            length_penalty=self.decoding.length_penalty,
            n_best=self.decoding.n_best,
            max_length=self.decoding.limit,
        )

    def _texts(
        self,
        pair: int,
        hypotheses: Mapping[str, tf.Tensor],
        words: tf.Tensor | None,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Texts and scores, both [B, n_best]."""
        chosen = None
        if self.decoding.replace_unknown:
            chosen = aligned_words(words, hypotheses["aligned"])
        decoders = self._traced if tf.executing_eagerly() else self._decoders
        texts = decoders[pair](hypotheses["tokens"], chosen)
        return distinct(texts, hypotheses["score"], -math.inf)

    def log_likelihoods(
        self,
        pair: int,
        sources: Sequence[np.ndarray],
        targets: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """The log-likelihoods of given translations, token by token.

        Args:
            pair: the pair's number.
            sources: n arrays int [tokens], the ids of each.
            targets: n arrays int [tokens], the ids of each, with the end's id.

        Returns:
            n arrays float32 [tokens], the last value that of the end.
        """
        if pair not in self._traced_likelihoods:
            self._traced_likelihoods[pair] = tf.function(
                functools.partial(self.model.log_likelihoods, key=pair),
                input_signature=[tf.TensorSpec([None, None], tf.int32)] * 2,
                autograph=False,
            )
        likelihoods: list[np.ndarray] = [np.zeros(0)] * len(sources)
        lengths = [max(map(len, sides)) for sides in zip(sources, targets)]
        doing = f"{self.model.pairs[pair]}: scoring"
        for rows in search_batches.by_length(lengths, doing):
            values = self._traced_likelihoods[pair](
                *(
                    _padded([side[n] for n in rows])
                    for side in (sources, targets)
                )
            ).numpy()
            for row, of_tokens in zip(rows, values):
                likelihoods[row] = of_tokens[: len(targets[row])]
        return likelihoods

    def translate_split(
        self, pair: int, split: EncodedSplit, texts: Sequence[str] = ()
    ) -> list[str]:
        """The best translation of each source of a split, in its order.

        Args:
            pair: the pair's number.
            split: the encoded split of n sources.
            texts: the sources as in the files; needed to replace unknown words.
        """
        column = split.columns["tokens"]
        words = self.text.source.tokenizer(texts) if len(texts) else None
        sources = [column[n] for n in range(len(split))]
        translations = self.translate(pair, sources, words)
        return [best for best, *_ in translations.texts]


def several(texts: Sequence[str], scores: Sequence[float]) -> dict[str, Any]:
    """The "translations" that the search found, with their "scores".

    Args:
        texts, scores: a row of `Translations`.
    """
    count = sum(map(math.isfinite, scores))
    return {"translations": texts[:count], "scores": scores[:count]}


def _padded(ids: Sequence[np.ndarray]) -> tf.Tensor:
    """Ids of n texts, int32 [n, the most tokens]."""
    rows = [np.asarray(text).tolist() for text in ids]
    return tf.ragged.constant(rows, tf.int32, ragged_rank=1).to_tensor()
