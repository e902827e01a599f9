"""Translating splits and texts with a trained model, for scores and answers."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.names import completed
from mtl_tf.models.multi_target import MultiTargetModel
from mtl_tf.pipelines.encoding import EncodedSplit
from mtl_tf.text.decoding import TextDecoder, aligned_words
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.translation import TranslationText

# Sources at once: with ten hypotheses each some 640 rows a step.
_BATCH = 64


@dataclasses.dataclass(frozen=True)
class Decoding:
    """How translations are looked for.

    Attributes:
        beam: hypotheses of a text; 1 is greedy search.
        length_penalty: see `layers.beam_search.BeamSearch`.
        replace_unknown: write, in place of an unknown word, the source word
            that was attended to most.
        n_best: translations of a text.
    """

    beam: int = 10
    length_penalty: float = 0.0
    replace_unknown: bool = False
    n_best: int = 1

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> "Decoding":
        """From `evaluation.decoding` of a run's config.

        Raises:
            ConfigError: an unknown field.
        """
        given = config["evaluation"].get("decoding") or {}
        fields = {f.name: f.default for f in dataclasses.fields(cls)}
        return cls(**completed("evaluation.decoding", given, fields))


def make_translator(
    model: Any,
    encoder: Any,
    config: Mapping[str, Any],
    **changes: Any,
) -> "Translator | None":
    """The translator of a run; None if it does not translate.

    Args:
        model: the run's.
        encoder: the run's.
        config: the run's; see `Decoding.of_config`.
        **changes: fields of `Decoding` in place of the config's.
    """
    if not isinstance(encoder, TranslationText):
        return None
    decoding = Decoding.of_config(config)
    return Translator(model, encoder, dataclasses.replace(decoding, **changes))


class Translator:
    """Translates into the languages of a run.

    Args:
        model: the trained model.
        text: the texts of the run's languages.
        decoding: how.
    """

    def __init__(
        self,
        model: MultiTargetModel,
        text: TranslationText,
        decoding: Decoding = Decoding(),
    ):
        self.model, self.text, self.decoding = model, text, decoding

    def translate(
        self, pair: int, sources: Sequence[np.ndarray], words: Any = None
    ) -> tuple[list[list[str]], np.ndarray]:
        """Translates sources.

        Args:
            pair: the pair's number.
            sources: n arrays int [tokens], the ids of each.
            words: the sources' written tokens, ragged string [n, None];
                needed where unknown words are replaced.

        Returns:
            n lists of `n_best` translations, the best first, and their
            scores, float32 [n, n_best].
        """
        decoder = TextDecoder(self._target(pair))
        best = self.decoding.n_best
        texts: list[list[str]] = [[]] * len(sources)
        scores = np.zeros([len(sources), best], np.float32)
        # Sources of like length together: the search goes on until the last
        # of a batch is done.
        order = np.argsort([len(ids) for ids in sources], kind="stable")
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            ragged = tf.ragged.constant(
                [np.asarray(sources[n]).tolist() for n in rows],
                tf.int32,
                ragged_rank=1,
            )
            found = self._search(pair, ragged)
            chosen = None
            if self.decoding.replace_unknown:
                chosen = aligned_words(
                    tf.gather(words, rows), found["attention"]
                )
            for row, said in zip(
                rows, decoder(found["tokens"], chosen).numpy()
            ):
                texts[row] = [one.decode("utf-8", "replace") for one in said]
            scores[rows] = found["score"].numpy()
        return texts, scores

    def _target(self, pair: int) -> TextEncoder:
        return self.text.target(self.model.pairs[pair])

    def _search(self, pair: int, ragged: tf.RaggedTensor) -> dict:
        return self.model.translate(
            ragged.to_tensor(),
            key=pair,
            beam=self.decoding.beam,
            length_penalty=self.decoding.length_penalty,
            n_best=self.decoding.n_best,
            attention=self.decoding.replace_unknown,
        )

    def translate_split(
        self, pair: int, split: EncodedSplit, texts: Sequence[str] = ()
    ) -> list[str]:
        """The best translation of each source of a split, in its order.

        Args:
            pair: the pair's number.
            split: encoded, n sources.
            texts: the sources as they stand in the files; needed where
                unknown words are replaced.
        """
        column = split.columns["tokens"]
        words = self.text.source.tokenizer(texts) if len(texts) else None
        sources = [column[n] for n in range(len(split))]
        return [best for best, *_ in self.translate(pair, sources, words)[0]]
