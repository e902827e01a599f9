"""Reads examples that a caller gives for prediction, in any form."""

import contextlib
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.columns import index_advice, rows_of_frame
from mtl_tf.tasks.sources.keras_datasets import unbatched


def listed(examples: Any) -> list[Any]:
    """The examples as a list, with strings in place of bytes.

    TensorFlow and `Run.inputs` give texts as bytes.

    Args:
        examples: a pandas DataFrame, a `tf.data.Dataset` or tensor of single
            examples, or any other iterable.

    Raises:
        TypeError: a single example, or something else; the message says what is
            right.
        DataError: two columns of a DataFrame have one name.
    """
    if tf.is_tensor(examples):
        examples = examples.numpy()
    if isinstance(examples, (str, bytes)):
        raise TypeError("examples must be a list, got a string")
    if isinstance(examples, Mapping):
        raise TypeError("examples must be a list, got a mapping")
    if hasattr(examples, "columns") and hasattr(examples, "to_dict"):
        examples = rows_of_frame(examples)
    elif isinstance(examples, tf.data.Dataset):
        examples = examples.as_numpy_iterator()
    is_one = (
        isinstance(examples, (np.ndarray, np.generic)) and not examples.ndim
    )
    if is_one or not isinstance(examples, Iterable):
        raise TypeError(
            "examples must be a list, a DataFrame or a tf.data.Dataset, got "
            f"{type(examples).__name__}"
        )
    return [_plain(example) for example in examples]


def single_inputs(
    examples: Any, ranks: Sequence[int], names: Sequence[Collection[str]]
) -> Any:
    """What Keras's `predict` takes, as single examples without targets.

    Args:
        examples: a `tf.data.Dataset` whose elements, batched or not, are
            inputs, or pairs (inputs, target) or triples with sample weights.
            Anything else is returned unchanged.
        ranks: the rank of each input of a single example.
        names: the names that each may have, where inputs are a dict.
    """
    if not isinstance(examples, tf.data.Dataset):
        return examples
    spec = examples.element_spec
    has_target = isinstance(spec, tuple) and len(spec) in (2, 3)
    # For several inputs, a tuple of texts is one example.
    if has_target and (len(ranks) == 1 or isinstance(spec[0], (dict, tuple))):
        examples = examples.map(lambda inputs, *_: inputs)
    return unbatched(examples, ranks, names)


def single_texts(examples: Any, names: Sequence[Sequence[str]]) -> Any:
    """Like `single_inputs`, for examples with a text to score, the last one.

    Args:
        examples: a `tf.data.Dataset` of mappings or tuples of all texts, or of
            pairs (inputs, text to score), batched or not. Anything else is
            returned unchanged.
        names: the names that each text may have, first that of its field.
    """
    if not isinstance(examples, tf.data.Dataset):
        return examples
    spec, last = examples.element_spec, names[-1][0]
    if isinstance(spec, tuple) and isinstance(spec[0], dict):
        examples = examples.map(lambda inputs, text, *_: {**inputs, last: text})
    elif isinstance(spec, tuple) and isinstance(spec[0], tuple):
        examples = examples.map(lambda inputs, text, *_: (*inputs, text))
    return unbatched(examples, [0] * len(names), names)


@contextlib.contextmanager
def index_told(
    examples: Any, names: Sequence[Collection[str]]
) -> Iterator[None]:
    """Adds to a `TypeError` raised inside it that an index is not read.

    Args:
        examples: what the caller gave.
        names: see `mtl_tf.core.columns.index_advice`.
    """
    try:
        yield
    except TypeError as error:
        if advice := index_advice(examples, names):
            error.args = (f"{error}; {advice}",)
        raise


def parsed(
    examples: Any, parse: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The fields of each example.

    Args:
        examples: see `listed`.
        parse: turns an example into fields.

    Raises:
        TypeError: as for `listed`, or one is no example; the message says
            which, counted from 0.
        DataError: as for `listed`.
    """
    fields = []
    for number, example in enumerate(listed(examples)):
        try:
            fields.append(parse(example))
        except TypeError as error:
            raise TypeError(f"examples[{number}]: {error}") from error
    return fields


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value  # Its reader refuses it as no text.
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    # Named tuples have attributes that a list would lose.
    if type(value) in (list, tuple):
        return [_plain(item) for item in value]
    return value
