"""Presets of small encoders with random weights, made on the spot."""

import os

PIECES = [
    *("the", "book", "film", "phone", "game", "is", "was", "not", "very"),
    *("good", "bad", "great", "awful", "it", "this", "and", "but", "to"),
]
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
#: Of BERT's kind: special pieces, words, and letters for all the others.
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(".", ",", "!", "?", "'", "-"),
    *(str(digit) for digit in range(10)),
    *(f"##{digit}" for digit in range(10)),
    *PIECES,
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
]
SIZES = {
    "num_layers": 2,
    "num_heads": 2,
    "hidden_dim": 16,
    "intermediate_dim": 32,
    "max_sequence_length": 48,
}


def bert(directory, **changes) -> str:
    """A BERT preset in the form of Keras.

    Args:
        directory: the folder to make.
        **changes: of `SIZES` and other arguments of the backbone.
    """
    import keras
    import keras_nlp

    keras.utils.set_random_seed(1)
    backbone = keras_nlp.models.BertBackbone(
        vocabulary_size=len(VOCABULARY), **{**SIZES, **changes}
    )
    tokenizer = keras_nlp.models.BertTokenizer(
        vocabulary=VOCABULARY, lowercase=True
    )
    return saved(directory, backbone, tokenizer)


def saved(directory, backbone, tokenizer) -> str:
    """Writes a preset and returns its folder."""
    directory = os.fspath(directory)
    backbone.save_to_preset(directory)
    tokenizer.save_to_preset(directory)
    return directory
