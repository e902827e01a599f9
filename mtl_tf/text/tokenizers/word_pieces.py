"""Learns a tokenizer of BERT's kind from texts."""

from collections.abc import Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def check_size(name: str, size: int) -> None:
    """Refuses a size that leaves no piece for any text.

    Args:
        name: what it is called, for the message.
        size: as for `learn`.

    Raises:
        ConfigError: it is too small.
    """
    checks.positive_integer(name, size)
    if size <= len(SPECIALS):
        raise ConfigError(
            f"{name} must be above {len(SPECIALS)}, the pieces that stand for "
            f"no text ({' '.join(SPECIALS)}), got {size}"
        )


def learn(texts: Sequence[str], size: int, lowercase: bool = True) -> Any:
    """Learns WordPiece (Schuster and Nakajima 2012) from texts.

    Args:
        texts: the training texts.
        size: maximum number of pieces, including special ones; few texts give
            fewer.
        lowercase: whether texts are lower-cased first.

    Returns:
        A `keras_nlp.models.BertTokenizer`; equal texts give equal ones.

    Raises:
        DataError: there is no text.
        ConfigError: `size` is too small for the characters of the texts.
    """
    import keras_nlp
    import tensorflow as tf

    check_size("vocabulary_size", size)
    if not any(text.strip() for text in texts):
        raise DataError("there is no text to learn word pieces from")
    try:
        pieces = keras_nlp.tokenizers.compute_word_piece_vocabulary(
            tf.data.Dataset.from_tensor_slices(list(texts)).batch(1024),
            size,
            lowercase=lowercase,
            reserved_tokens=list(SPECIALS),
        )
    except (ValueError, IndexError) as error:
        raise ConfigError(
            f"vocabulary_size: no {size} word pieces can be learnt from these "
            f"texts: {str(error) or type(error).__name__}"
        )
    tokenizer = keras_nlp.models.BertTokenizer(
        vocabulary=pieces, lowercase=lowercase
    )
    tokenizer._allow_python_workflow = False
    return tokenizer
