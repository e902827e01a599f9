"""What a translation's words looked at in their source."""

import dataclasses
from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures.carried_spaces import Pieces
from mtl_tf.models.translation.multi_target import MultiTargetModel
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.text.encoding.decoding import UNKNOWN
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.translation import languages_of
from mtl_tf.text.vocabulary import OOV_TOKEN


@dataclasses.dataclass(frozen=True)
class Alignment:
    """The attention of a run's best translation of a text.

    Attributes:
        label: how figures name the run.
        languages: the source's and the target's.
        source: the S tokens of the text; see `carried_spaces.Pieces`.
        known: bool [S], whether the run's vocabulary has them.
        target: the U tokens of the translation.
        weights: float64 [U, S], equation 5 of Dong et al. (2015): how much
            each token of the translation takes of each of the text. A row
            sums to 1.
        text: what was translated.
    """

    label: str
    languages: tuple[str, str]
    source: tuple[str, ...]
    known: np.ndarray
    target: tuple[str, ...]
    weights: np.ndarray
    text: str = ""


def read(run: Run, pair: str, text: str, label: str = "") -> Alignment:
    """Translates a text and notes what was attended to.

    Args:
        run: of translation.
        pair: the task whose decoder translates, such as "en-de".
        text: the text.
        label: how figures name the run.

    Raises:
        ConfigError: the run does not translate, or not that pair.
        DataError: the text, or its translation, has no tokens.
    """
    key = run.task_index(pair)
    if not isinstance(run.model, MultiTargetModel):
        raise ConfigError(
            f"the run {label} does not translate: an alignment is of a "
            "translation"
        )
    source, target = run.encoder.source, run.encoder.target(pair)
    [words] = source.tokenizer(tf.constant([text])).to_list()
    if not words:
        raise DataError(f"the text {text!r} has no tokens")
    run.weights_for(pair)
    ids = source.vocabulary.lookup(tf.constant([words]))
    ids_written, weights = _best(run, key, ids)
    if not len(ids_written):
        raise DataError(f"the run {label} translates {text!r} by nothing")
    return Alignment(
        label=label,
        languages=languages_of(pair),
        source=_display_tokens(source, [word.decode() for word in words]),
        known=ids.numpy()[0] != source.vocabulary.OOV,
        target=_display_tokens(
            target, [target.vocabulary.tokens[n] for n in ids_written]
        ),
        weights=weights,
        text=text,
    )


def _best(run: Run, key: int, ids: tf.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the best translation, [U], and its attention, [U, S]."""
    decoding = run.predictor.decoder.decoding
    translated = run.model.translate(
        ids,
        key=key,
        beam=decoding.beam,
        length_penalty=decoding.length_penalty,
        max_length=decoding.limit,
        attention=True,
    )
    length = int(translated["length"][0, 0])
    weights = translated["attention"].numpy()[0, 0, :length]
    return translated["tokens"].numpy()[0, 0, :length], weights.astype(
        np.float64
    )


def _display_tokens(
    encoder: TextEncoder, tokens: Iterable[str]
) -> tuple[str, ...]:
    pieces = Pieces(encoder)
    return tuple(UNKNOWN if t == OOV_TOKEN else pieces(t) for t in tokens)
