"""Texts or given tokens -> ids, once, in large batches, kept as NumPy columns.

Tokenising 1024 texts at a time is some forty times as fast as one at a time,
and the columns of a split are small beside TensorFlow itself: 16 tasks of
1,400 reviews are 10 MB.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.pipelines.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.task import text_of
from mtl_tf.text.base_tokenizer import Tokenizer, valid_utf8
from mtl_tf.text.characters import CharacterEncoder, count_characters
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import Vocabulary, first_tokens

__all__ = ["Column", "EncodedSplit", "build_encoder", "encode"]

_TEXTS_AT_ONCE = 1024
# What the encoder reads; other features become columns as they are.
_READ = ("text", "tokens", "source", "target")
# Columns that have chosen their types.
_SMALL = {"characters", "casing"}


def encode(
    dataset: tf.data.Dataset,
    encoder: Callable[[tf.Tensor], tf.RaggedTensor],
    name: str = "",
) -> EncodedSplit:
    """Encodes all examples of a dataset, in its order.

    Args:
        dataset: elements {"text": string scalar, ...}, or {"tokens": string
            [T], ...}, which are not split, or {"source": string scalar,
            "target": string scalar}. Every other numeric feature, such
            as "label", becomes a column of its name: dense if its shape is
            fixed, ragged if its first dimension is not. "tags" are cut as the
            tokens are.
        encoder: a `TextEncoder`, of pairs a `PairEncoder`; for texts also any
            function that maps strings [n] to a RaggedTensor int32 [n, None].
        name: the task's name.

    Returns:
        The encoded split. Integers are int32, but for characters and casing,
        of which there are many: they are as small as they can be.
    """

    def encoded(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        others = {k: v for k, v in batch.items() if k not in _READ}
        if "tokens" in batch and "tags" in others and encoder.max_length:
            others["tags"] = others["tags"][:, : encoder.max_length]
        return {**_features(batch, encoder), **others}

    batches = fixed(
        dataset.ragged_batch(_TEXTS_AT_ONCE)
        .map(encoded, num_parallel_calls=2)
        .prefetch(2)
    )
    parts = {key: [_empty(s)] for key, s in batches.element_spec.items()}
    for batch in batches:
        for key, value in batch.items():
            parts[key].append(_to_column(value))
    for key in parts.keys() - _SMALL:
        parts[key] = list(map(_narrow, parts[key]))
    return EncodedSplit(name, {k: Column.join(p) for k, p in parts.items()})


def _features(
    batch: Mapping[str, tf.Tensor], encoder: Callable
) -> dict[str, tf.Tensor]:
    """What a model reads of a batch of texts, given tokens, or pairs."""
    if "source" in batch:
        return encoder.of_pairs(batch["source"], batch["target"])
    if "tokens" in batch:
        found = encoder.of_words(batch["tokens"])
    elif isinstance(encoder, TextEncoder):
        found = encoder.of_texts(batch["text"])
    else:
        found = {"tokens": encoder(batch["text"])}
    if "characters" in found:
        dtype = encoder.characters.dtype
        found["characters"] = tf.cast(found["characters"], dtype)
    if "casing" in found:
        found["casing"] = tf.cast(found["casing"], tf.uint8)
    return found


def build_encoder(
    tasks: Iterable[Any], text_config: Mapping[str, Any]
) -> TextEncoder:
    """Builds the vocabularies of the tasks' training splits.

    Words are counted up to `max_length`, where the model stops reading: a row
    for a word that it never sees could not be trained.

    Args:
        tasks: `Task` objects.
        text_config: `tokenizer` (its config), `max_length`, `min_count`,
            `max_size` (0: no limit); `characters` (`max_word_length`, 0 for
            none, and `min_count`) and `casing`, if models shall read them.

    Returns:
        The encoder of every split of every task.

    Raises:
        ConfigError: a wrong field of `text_config`.
    """
    max_length = checks.not_negative_integer(
        "text.max_length", text_config["max_length"]
    )
    checks.positive_integer("text.min_count", text_config["min_count"])
    checks.not_negative_integer("text.max_size", text_config["max_size"])
    tokenizer = make_tokenizer(dict(text_config["tokenizer"].items()))
    tasks = list(tasks)
    casing = bool(text_config.get("casing", False))
    characters = _character_encoder(
        tasks, text_config.get("characters") or {}, tokenizer
    )

    tokenizer = learnt_tokenizer(
        tokenizer,
        _training(tasks, tokenizer, text_of),
        text_config["max_size"],
    )

    def tokens(batch: dict[str, tf.Tensor]) -> tf.RaggedTensor:
        if "tokens" in batch or casing or characters:
            found = tokenizer.write(_words(batch, tokenizer))
        else:
            found = tokenizer(batch["text"])
        return found[:, :max_length] if max_length else found

    if tokenizer.pieces:
        vocabulary = Vocabulary([*first_tokens(), *tokenizer.pieces])
    else:
        vocabulary = Vocabulary.from_counts(
            Vocabulary.count(_training(tasks, tokenizer, tokens)),
            min_count=text_config["min_count"],
            max_size=text_config["max_size"],
        )
    return TextEncoder(tokenizer, vocabulary, max_length, characters, casing)


def learnt_tokenizer(
    tokenizer: Tokenizer,
    texts: Iterable[tf.Tensor],
    max_size: int,
    reserved: int = len(first_tokens()),
) -> Tokenizer:
    """The tokenizer, after it has learnt from the texts if it has to.

    Args:
        tokenizer: as the config has it.
        texts: strings [n], read only if there is something to learn.
        max_size: entries of the vocabulary at most; 0 for the default of the
            tokenizer.
        reserved: entries that are no pieces.

    Raises:
        ConfigError: `max_size` is too small.
        DataError: there is no text.
    """
    if not tokenizer.needs_training:
        return tokenizer
    return tokenizer.trained(texts, max_size and max_size - reserved)


def _character_encoder(
    tasks: Iterable[Any], config: Mapping[str, Any], tokenizer: Tokenizer
) -> CharacterEncoder | None:
    """The encoder of the characters of the training words, if it is wanted."""
    width = config.get("max_word_length", 0)
    if not checks.not_negative_integer(
        "text.characters.max_word_length", width
    ):
        return None
    tokenizer.check_words()

    def words(batch: dict[str, tf.Tensor]) -> tf.Tensor:
        return _words(batch, tokenizer).flat_values

    counts = count_characters(_training(tasks, tokenizer, words))
    least = config.get("min_count", 1)
    return CharacterEncoder(Vocabulary.from_counts(counts, least), width)


def _words(
    batch: Mapping[str, tf.Tensor], tokenizer: Tokenizer
) -> tf.RaggedTensor:
    """The words of a batch of texts or of given tokens, valid UTF-8."""
    if "tokens" not in batch:
        return tokenizer.words(batch["text"])
    words = batch["tokens"]
    return words.with_flat_values(valid_utf8(words.flat_values))


def _training(
    tasks: Iterable[Any], tokenizer: Tokenizer, take: Callable
) -> Iterator[tf.Tensor]:
    """Yields what `take` makes of each batch of all training examples."""
    for task in tasks:
        dataset = task.dataset("train")
        if "tokens" in dataset.element_spec:
            tokenizer.check_words()
        yield from fixed(
            dataset.ragged_batch(_TEXTS_AT_ONCE)
            .map(take, num_parallel_calls=2)
            .prefetch(2)
        )


def _to_column(value: tf.Tensor | tf.RaggedTensor) -> Column:
    if isinstance(value, tf.RaggedTensor):
        offsets = value.row_splits.numpy().astype(np.int64)
        return Column(value.values.numpy(), offsets)
    return Column(value.numpy())


def _empty(spec: tf.TensorSpec | tf.RaggedTensorSpec) -> Column:
    """A column without examples, so that an empty split has its columns."""
    dtype = spec.dtype.as_numpy_dtype
    if isinstance(spec, tf.RaggedTensorSpec):
        values = np.zeros([0, *spec.shape[2:]], dtype)
        return Column(values, np.zeros([1], np.int64))
    return Column(np.zeros([0, *spec.shape[1:]], dtype))


def _narrow(column: Column) -> Column:
    if not np.issubdtype(column.values.dtype, np.integer):
        return column
    return Column(column.values.astype(np.int32), column.offsets)
