"""Encodes texts or given tokens as ids, in large batches, only once.

The ids are kept as NumPy columns. Tokenizing 1024 texts at a time is some forty
times as fast as one at a time. The columns are small compared with TensorFlow
itself: 16 tasks of 1,400 reviews are 10 MB.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, passes
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.examples.text_examples import time_axes
from mtl_tf.pipelines.examples.vocabulary_building import (
    Pretrained,
    check_sizes,
    learnt_tokenizer,
    vocabulary_of_pieces,
    vocabulary_of_words,
)
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import TEXT, WORDS, Feature, inputs
from mtl_tf.text.encoding.characters import CharacterEncoder, count_characters
from mtl_tf.text.encoding.encoder import SEPARATOR, TextEncoder
from mtl_tf.text.encoding.token_columns import TokenColumn
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer, valid_utf8
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import Vocabulary, first_tokens

__all__ = [
    "TensorEncoder",
    "build_encoder",
    "encode",
    "encoded_parts",
]

_TEXTS_AT_ONCE = 1024
_Batch = Mapping[str, tf.Tensor | tf.RaggedTensor]


class ExampleEncoder(Protocol):
    """Turns examples of one task into numbers.

    Attributes:
        axes: the time axis of each column, "" for none; the columns of the
            first time axis come first.
    """

    axes: Mapping[str, str]

    def __call__(self, batch: _Batch) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        """Encodes a batch of examples as columns; some may be absent."""

    def token_columns(self) -> Mapping[str, TokenColumn]:
        """What the ids of texts stand for, by column."""


def encode(
    dataset: tf.data.Dataset, encoder: ExampleEncoder, name: str = ""
) -> EncodedSplit:
    """Encodes all examples of a dataset, in its order.

    Args:
        dataset: elements with the features that the encoder reads.
        encoder: the encoder of the dataset's task.
        name: the task's name.

    Returns:
        The encoded split. Columns whose first dimension is not fixed are
        ragged. Integers are int32, or a smaller type if the encoder says
        so.
    """

    parts: dict[str, list[Column]] = {}
    for part in encoded_parts(dataset, encoder, name):
        for key, column in part.items():
            parts.setdefault(key, []).append(column)
    return _joined(parts, encoder, name)


def encoded_parts(
    dataset: tf.data.Dataset, encoder: ExampleEncoder, name: str = ""
) -> Iterator[dict[str, Column]]:
    """Yields columns of no example, and then those of the examples in parts.

    Args:
        dataset: see `encode`.
        encoder: see `encode`.
        name: see `encode`.
    """

    def encoded(batch: _Batch) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        return encoder(batch)

    batches = _mapped(dataset, encoded)
    if isinstance(batches, tf.data.Dataset):
        specs = batches.element_spec
    else:
        specs = {k: tf.type_spec_from_value(v) for k, v in batches[0].items()}
    yield {key: _narrow(_empty(spec)) for key, spec in specs.items()}
    size = int(dataset.cardinality())
    doing = f"{name}: encoding"
    for batch in passes.logged(batches, doing, _TEXTS_AT_ONCE, size):
        yield {key: _narrow(_to_column(v)) for key, v in batch.items()}


def _mapped(
    dataset: tf.data.Dataset, function: Callable[[_Batch], Any]
) -> tf.data.Dataset | list[Any]:
    """Applies a function to the batches of a dataset, two at a time.

    For a single batch the results are a list, which is ready before a graph
    could be traced.
    """
    batches = batched(dataset, _TEXTS_AT_ONCE)
    if 0 < dataset.cardinality() <= _TEXTS_AT_ONCE:
        return list(map(function, fixed(batches)))
    traced = tf.autograph.experimental.do_not_convert(function)
    return fixed(batches.map(traced, num_parallel_calls=2).prefetch(2))


class TensorEncoder:
    """Encodes examples in memory, without a dataset for them.

    A new dataset traces its functions anew, which takes far longer than
    encoding a few texts. This class traces once, at its first call.

    Args:
        encoder: the encoder of the examples.

    Example:

    >>> read = TensorEncoder(TextExamples(encoder, features))
    >>> read({"text": tf.constant(["a good book"])}).columns["tokens"][0]
    array([5, 12, 9], dtype=int32)
    """

    def __init__(self, encoder: ExampleEncoder):
        self.encoder = encoder
        self._call = tf.function(encoder.__call__, autograph=False)
        self._traced: dict[tuple[str, ...], Callable] = {}

    def __call__(self, examples: _Batch, name: str = "") -> EncodedSplit:
        """Encodes examples; see `encode`.

        Args:
            examples: the features that the encoder reads, string [n], or
                ragged [n, None].
            name: the task's name.
        """
        traced = self._trace(examples)
        count = next(iter(examples.values())).shape[0]
        parts: dict[str, list[Column]] = {}
        # Without examples there is one empty batch, which has all columns.
        for first in range(0, max(count, 1), _TEXTS_AT_ONCE):
            batch = examples
            if count > _TEXTS_AT_ONCE:
                some = slice(first, first + _TEXTS_AT_ONCE)
                batch = {key: value[some] for key, value in examples.items()}
            for key, value in traced(batch).items():
                parts.setdefault(key, []).append(_to_column(value))
        return _joined(parts, self.encoder, name)

    def _trace(self, examples: _Batch) -> Callable:
        """The graph that reads such features for any number of examples."""
        key = tuple(sorted(examples))
        if key not in self._traced:
            specs = {key: _spec(value) for key, value in examples.items()}
            self._traced[key] = self._call.get_concrete_function(specs)
        return self._traced[key]


def _spec(value: tf.Tensor | tf.RaggedTensor) -> tf.TypeSpec:
    """The type of one feature for any number of examples."""
    if isinstance(value, tf.RaggedTensor):
        return tf.RaggedTensorSpec([None, None], value.dtype)
    return tf.TensorSpec([None], value.dtype)


def _joined(
    parts: Mapping[str, list[Column]], encoder: ExampleEncoder, name: str
) -> EncodedSplit:
    """The concatenated columns of batches, as a split."""
    columns = {}
    for key, axis in encoder.axes.items():
        if key in parts:
            column = Column.join(list(map(_narrow, parts[key])))
            columns[key] = Column(column.values, column.offsets, axis)
    return EncodedSplit(name, columns)


def build_encoder(
    tasks: Iterable[Any],
    text_config: Mapping[str, Any],
    pretrained: Pretrained | None = None,
) -> TextEncoder:
    """Builds the encoder from the tasks' training splits.

    Words are counted only up to `max_length`, where the model stops reading.
    The embedding of a word that the model never sees could not be trained.

    Args:
        tasks: `Task` objects.
        text_config: `tokenizer` (its config), `max_length`, `min_count`,
            `max_size` (0: no limit); `characters` (`max_word_length`, 0 for
            none, and `min_count`) and `casing`, for models that read them.
        pretrained: tells which words of any split have pretrained vectors.

    Returns:
        The encoder of every split of every task.

    Raises:
        ConfigError: a wrong field of `text_config`.
    """
    max_length = checks.not_negative_integer(
        "text.max_length", text_config["max_length"]
    )
    check_sizes(text_config)
    tokenizer = make_tokenizer(dict(text_config["tokenizer"].items()))
    tasks = list(tasks)
    casing = text_config["casing"]
    characters = _character_encoder(tasks, text_config["characters"], tokenizer)

    specials = _specials(tasks)
    tokenizer = learnt_tokenizer(
        tokenizer,
        _inputs(tasks, tokenizer, _as_texts, doing="reading texts"),
        text_config["max_size"],
        specials,
    )
    read_words = casing or characters

    def tokens(feature: Feature, texts: tf.Tensor) -> tf.RaggedTensor:
        if feature.element == WORDS or read_words:
            ragged = tokenizer.write(_words(feature, texts, tokenizer))
        else:
            ragged = tokenizer(texts)
        return ragged[:, :max_length] if max_length else ragged

    if tokenizer.pieces:
        vocabulary = vocabulary_of_pieces(tokenizer, specials)
        return TextEncoder(
            tokenizer, vocabulary, max_length, characters, casing
        )
    counts = Vocabulary.count(_inputs(tasks, tokenizer, tokens))
    others = (
        Vocabulary.count(_inputs([task], tokenizer, tokens, split))
        for task in tasks
        for split in task.splits
        if split != "train"
    )
    vocabulary = vocabulary_of_words(
        counts, text_config, specials, pretrained, others
    )
    return TextEncoder(
        tokenizer,
        vocabulary,
        max_length,
        characters,
        casing,
        rare_from=_rare_from(vocabulary, counts, len(first_tokens(specials))),
    )


def _rare_from(
    vocabulary: Vocabulary, counts: Mapping[str, int], first: int
) -> int | None:
    """The id from which words occur at most once; see `TextEncoder`."""
    for index, token in enumerate(vocabulary.tokens[first:], start=first):
        if counts.get(token, 0) < 2:
            return index
    return None


def _specials(tasks: Iterable[Any]) -> tuple[str, ...]:
    """The separator, if a task has several texts on one time axis."""
    axes = (time_axes(task.features).values() for task in tasks)
    several = any(len(features) > 1 for by_axis in axes for features in by_axis)
    return (SEPARATOR,) if several else ()


def _as_texts(feature: Feature, texts: tf.Tensor) -> tf.Tensor:
    if feature.element == WORDS:
        return tf.strings.reduce_join(texts, axis=-1, separator=" ")
    return texts


def _character_encoder(
    tasks: Iterable[Any], config: Mapping[str, Any], tokenizer: Tokenizer
) -> CharacterEncoder | None:
    """The character encoder from the training words, if configured."""
    width = config["max_word_length"]
    if not checks.not_negative_integer(
        "text.characters.max_word_length", width
    ):
        return None
    tokenizer.check_words()

    def words(feature: Feature, texts: tf.Tensor) -> tf.Tensor:
        return _words(feature, texts, tokenizer).flat_values

    texts = _inputs(tasks, tokenizer, words, doing="counting characters")
    counts = count_characters(texts)
    least = config["min_count"]
    return CharacterEncoder(Vocabulary.from_counts(counts, least), width)


def _words(
    feature: Feature, texts: tf.Tensor, tokenizer: Tokenizer
) -> tf.RaggedTensor:
    """The words of texts, or the given words, as valid UTF-8."""
    if feature.element == TEXT:
        return tokenizer.words(texts)
    return texts.with_flat_values(valid_utf8(texts.flat_values))


def _inputs(
    tasks: Iterable[Any],
    tokenizer: Tokenizer,
    take: Callable[[Feature, tf.Tensor], Any],
    split: str = "train",
    doing: str = "counting words",
) -> Iterator[tf.Tensor]:
    """Yields the result of `take` for each batch of a split's inputs.

    Args:
        tasks: the tasks whose inputs are read.
        tokenizer: must split into words if words are given.
        take: called with an input feature and its values, [n] or ragged.
        split: the split to read.
        doing: what is done with them, for messages.
    """
    for task in tasks:
        for feature in inputs(task.features):
            if feature.element == WORDS:
                tokenizer.check_words()

            def taken(batch: _Batch, feature: Feature = feature) -> tf.Tensor:
                return take(feature, batch[feature.name])

            dataset = task.dataset(split)
            yield from passes.logged(
                _mapped(dataset, taken),
                f"{task.name}: {doing} of {split}",
                _TEXTS_AT_ONCE,
                int(dataset.cardinality()),
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
    if column.values.dtype != np.int64:
        return column
    return Column(column.values.astype(np.int32), column.offsets)
