"""Presets of small encoders with random weights, made on the spot."""

import io
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
#: Other encoders than BERT.
KINDS = ("distil_bert", "electra", "albert", "deberta", "roberta")
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


def sentence_pieces(**options) -> bytes:
    """A small model of SentencePiece."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a good book the film was not good !"] * 9),
        model_writer=written,
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def byte_pairs() -> tuple[dict[str, int], list[str]]:
    """A vocabulary with all bytes, and merges of some words."""
    from keras_hub.src.tokenizers import byte_pair_tokenizer

    _, letters = byte_pair_tokenizer.bytes_to_unicode()
    names = ["<s>", "<pad>", "</s>", "<mask>", *letters]
    merges = []
    for word in ("\u0120good", "\u0120book", "\u0120not", "film", "\u0120a"):
        made = word[0]
        for letter in word[1:]:
            if f"{made} {letter}" not in merges:
                merges.append(f"{made} {letter}")
                names.append(made + letter)
            made += letter
    return {name: number for number, name in enumerate(names)}, merges


def of_kind(kind, folder) -> str:
    """A preset of one of `KINDS`.

    Args:
        kind: which encoder.
        folder: to make.
    """
    import keras
    import keras_nlp

    keras.utils.set_random_seed(1)
    models = keras_nlp.models
    words = {"vocabulary": VOCABULARY, "lowercase": True}
    size = {"vocabulary_size": len(VOCABULARY)}
    if kind == "distil_bert":
        backbone = models.DistilBertBackbone(**size, **SIZES)
        tokenizer = models.DistilBertTokenizer(**words)
    elif kind == "electra":
        size = {"vocab_size": size["vocabulary_size"], "embedding_dim": 8}
        backbone = models.ElectraBackbone(**size, **SIZES)
        tokenizer = models.ElectraTokenizer(**words)
    elif kind == "albert":
        proto = sentence_pieces(
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            bos_piece="[CLS]",
            eos_piece="[SEP]",
            pad_piece="<pad>",
            unk_piece="<unk>",
            user_defined_symbols="[MASK]",
        )
        backbone = models.AlbertBackbone(
            vocabulary_size=60, embedding_dim=8, **SIZES
        )
        tokenizer = models.AlbertTokenizer(proto=proto)
    elif kind == "deberta":
        proto = sentence_pieces(
            pad_id=0,
            bos_id=1,
            eos_id=2,
            unk_id=3,
            bos_piece="[CLS]",
            eos_piece="[SEP]",
            pad_piece="[PAD]",
            unk_piece="[UNK]",
            user_defined_symbols="[MASK]",
        )
        backbone = models.DebertaV3Backbone(vocabulary_size=60, **SIZES)
        tokenizer = models.DebertaV3Tokenizer(proto=proto)
    else:
        vocabulary, merges = byte_pairs()
        size = {"vocabulary_size": len(vocabulary)}
        backbone = models.RobertaBackbone(**size, **SIZES)
        tokenizer = models.RobertaTokenizer(vocabulary, merges)
    return saved(folder, backbone, tokenizer)
