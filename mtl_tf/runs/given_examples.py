"""Reads examples that a caller gives for prediction, in any form."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.columns import rows_of_frame
from mtl_tf.tasks.keras_datasets import unbatched


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


def parsed(
    examples: Iterable[Any], parse: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The fields of each example.

    Args:
        examples: the return value of `listed`.
        parse: turns one of them into fields.

    Raises:
        TypeError: one is no example; the message says which, counted from 0.
    """
    fields = []
    for number, example in enumerate(examples):
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
