"""Tokenizers of other encoders than BERT: their pieces, and their graphs."""

import pytest
import tensorflow as tf

from mtl_tf.text.encoding import pieces
from mtl_tf.text.pretrained import presets
from mtl_tf.text.tokenizers import piece_tokenizers
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from tests.text import small_presets

TEXTS = ["a good book", "the film was not good!", ""]
BYTE_TEXTS = [
    "a good book",
    " a  good\n book ",
    "film films don't we'll 1234 5",
    "\u00fcber \u6771\u4eac \U0001f600!?",
    "a<mask> good</s> b",
    "<s>",
    "tab\tand\u00a0space",
    "x" * 70 + " good",
    "",
    "",
]


def encoder_of(kind, folder):
    words = make_tokenizer({"name": "whitespace"})
    return pieces.of_preset(small_presets.of_kind(kind, folder / kind), words)


@pytest.mark.by_default("albert", "deberta")
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


@pytest.mark.by_default("albert")
@pytest.mark.parametrize("kind", ["electra", "albert", "deberta"])
def test_words_have_the_pieces_of_their_text(kind, tmp_path):
    encoder = encoder_of(kind, tmp_path)
    words = tf.ragged.constant([["a", "good", "book"]], dtype=tf.string)
    found = encoder.of_words(words)
    rows = encoder.of_texts(tf.constant(TEXTS[:1]))["tokens"]
    assert found["tokens"].to_list() == rows.to_list()


@pytest.mark.extended
def test_byte_pairs_are_those_of_keras_hub(tmp_path):
    """Also of spaces, other scripts, digits, and special pieces in a text."""
    tokenizer = presets.load_tokenizer(
        small_presets.of_kind("roberta", tmp_path / "one")
    )
    graph = piece_tokenizers.in_graph(tokenizer)
    found = graph(tf.constant(BYTE_TEXTS))
    expected = tokenizer(tf.constant(BYTE_TEXTS))
    assert found.to_list() == [list(map(int, row)) for row in expected]
    assert [len(row) for row in found.to_list()[-2:]] == [0, 0]
    # All at once, and each alone.
    for text, row in zip(BYTE_TEXTS, found.to_list()):
        assert graph(tf.constant([text])).to_list() == [row]


@pytest.mark.extended
def test_byte_pairs_stand_between_special_ones(tmp_path):
    encoder = encoder_of("roberta", tmp_path)
    texts = tf.constant(["a good book"])
    (row,) = encoder.of_texts(texts)["tokens"].to_list()
    names = [encoder.pieces[n] for n in row]
    assert names == ["<s>", "a", "\u0120good", "\u0120book", "</s>"]
    (pair,) = encoder.packed([texts, texts]).to_list()
    end = row[-1]
    assert pair == [*row, end, *row[1:]]
    words = tf.ragged.constant([["a", "", "book"]], dtype=tf.string)
    found = encoder.of_words(words)
    names = [encoder.pieces[n] for n in found["tokens"].to_list()[0]]
    # A word without a piece is the unknown one.
    assert names == ["<s>", "\u0120a", "<mask>", "\u0120book", "</s>"]
    assert found["words"].to_list() == [[1, 2, 3]]
