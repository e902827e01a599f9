"""Tokenizers of other encoders than BERT: their pieces, and their graphs."""

import io

import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.text import pieces
from mtl_tf.text.tokenizers import make_tokenizer
from tests.text import small_presets

SIZES = small_presets.SIZES
TEXTS = ["a good book", "the film was not good!", ""]


def sentence_pieces(**options):
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


def preset_of(kind, folder):
    import keras_nlp

    models = keras_nlp.models
    words = {"vocabulary": small_presets.VOCABULARY, "lowercase": True}
    size = {"vocabulary_size": len(small_presets.VOCABULARY)}
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
        names = ["<s>", "<pad>", "</s>", "<mask>", "a", "b", "Ġa", "Ġb", "Ġ"]
        vocabulary = {name: number for number, name in enumerate(names)}
        backbone = models.RobertaBackbone(vocabulary_size=9, **SIZES)
        tokenizer = models.RobertaTokenizer(vocabulary, ["Ġ a", "Ġ b"])
    return small_presets.saved(folder, backbone, tokenizer)


def encoder_of(kind, folder):
    words = make_tokenizer({"name": "whitespace"})
    return pieces.of_preset(preset_of(kind, folder / kind), words)


@pytest.mark.parametrize(
    "kind", ["distil_bert", "electra", "albert", "deberta"]
)
def test_pieces_of_each_kind_stand_between_special_ones(kind, tmp_path):
    encoder = encoder_of(kind, tmp_path)
    rows = encoder.of_texts(tf.constant(TEXTS))["tokens"].to_list()
    for row in rows:
        assert encoder.pieces[row[0]] == "[CLS]"
        assert encoder.pieces[row[-1]] == "[SEP]"
    assert len(rows[2]) == 2 < len(rows[0])
    (pair,) = encoder.packed([tf.constant(TEXTS[:1])] * 2).to_list()
    assert pair == [*rows[0], *rows[0][1:]]


@pytest.mark.parametrize("kind", ["electra", "albert", "deberta"])
def test_words_have_the_pieces_of_their_text(kind, tmp_path):
    encoder = encoder_of(kind, tmp_path)
    words = tf.ragged.constant([["a", "good", "book"]], dtype=tf.string)
    found = encoder.of_words(words)
    rows = encoder.of_texts(tf.constant(TEXTS[:1]))["tokens"]
    assert found["tokens"].to_list() == rows.to_list()


def test_byte_pairs_are_refused_clearly(tmp_path):
    with pytest.raises(ConfigError, match="RobertaTokenizer.*byte pairs"):
        encoder_of("roberta", tmp_path)
