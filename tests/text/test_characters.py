import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.encoding import characters as spelling
from mtl_tf.text.encoding.characters import (
    CASINGS,
    CharacterEncoder,
    casing,
    count_characters,
)
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import Vocabulary

WORDS = ["Café", "a b", "ab\n", "", "x" * 9]


def encoder(width, words=WORDS):
    counts = count_characters([tf.constant(words)])
    return CharacterEncoder(Vocabulary.from_counts(counts), width)


def spelt(characters, ids):
    tokens = ["", "?", *characters.vocabulary.tokens[2:]]
    return [[tokens[i] for i in row] for row in ids.tolist()]


def test_characters_of_words():
    characters = encoder(4)
    ids = tf.function(characters)(tf.constant([*WORDS, "Cé~"])).numpy()
    assert ids.shape == (6, 4) and ids.dtype == np.int32
    assert spelt(characters, ids) == [
        ["C", "a", "f", "é"],
        ["a", "\\s", "b", ""],
        ["a", "b", "\\n", ""],
        ["", "", "", ""],
        ["x", "x", "x", "x"],
        ["C", "é", "?", ""],
    ]


@pytest.mark.parametrize("at_once", [1, 100])
def test_characters_count_in_every_occurrence_of_a_word(monkeypatch, at_once):
    monkeypatch.setattr(spelling, "_WORDS_AT_ONCE", at_once)
    batches = [["ab\n", "a", "ab\n"], [], ["", "é", "a"]]
    batches = [tf.constant(words, tf.string) for words in batches]
    expected = {"a": 4, "b": 2, "\\n": 2, "é": 1}
    assert count_characters(batches) == expected


@pytest.mark.parametrize(
    ("width", "kept"), [(1, "a"), (3, "abf"), (4, "abef"), (6, "abcdef")]
)
def test_long_words_keep_both_ends(width, kept):
    characters = encoder(width, ["abcdef"])
    ids = characters(tf.constant(["abcdef"])).numpy()
    assert spelt(characters, ids) == [list(kept)]


def test_casing():
    cases = {
        "numeric": ["1996", "12,000", "3%"],
        "lower": ["rejects", "n't", "ärger"],
        "upper": ["EU", "U.S.", "A", "ÉTÉ"],
        "title": ["German", "Ärger", "McDonald"[:2]],
        "with a digit": ["1990s", "B-52"],
        "with an upper-case letter": ["iPhone", "McDonald"],
        "other": ["...", "", "\n", "中"],
    }
    assert list(cases) == [name for name, _ in CASINGS]
    for number, words in enumerate(cases.values(), 1):
        assert casing(tf.constant(words)).numpy().tolist() == (
            [number] * len(words)
        )


def test_the_encoder_of_a_run_is_saved_and_loaded(tmp_path):
    tokenizer = make_tokenizer({"name": "regex", "lowercase": True})
    vocabulary = Vocabulary(["\\pad", "\\oov", "the", "eu"])
    whole = TextEncoder(tokenizer, vocabulary, 3, encoder(4), casing=True)
    whole.save(str(tmp_path))
    config = {
        "max_length": 3,
        "characters": {"max_word_length": 4},
        "casing": True,
    }
    loaded = TextEncoder.of_run(str(tmp_path), config)
    texts = tf.constant(["The EU: Café b", "", b"\xff"])
    found = tf.function(loaded.of_texts)(texts)
    assert set(found) == {"tokens", "characters", "casing"}
    for key, value in whole.of_texts(texts).items():
        tf.debugging.assert_equal(value.to_tensor(), found[key].to_tensor())
    assert found["tokens"].to_list() == [[2, 3, 1], [], [1]]
    assert found["tokens"].to_list() == whole(texts).to_list()
    assert found["casing"].to_list() == [[4, 3, 7], [], [7]]
    assert found["characters"].to_tensor().shape == (3, 3, 4)
    assert len(loaded.tables) == 2
    config = {"characters": {"max_word_length": 0}, "casing": False}
    plain = TextEncoder.of_run(str(tmp_path), {"max_length": 3} | config)
    assert set(plain.of_texts(texts)) == {"tokens"}


def test_given_words_are_not_split_and_keep_their_number():
    tokenizer = make_tokenizer({"name": "whitespace", "lowercase": True})
    vocabulary = Vocabulary(["\\pad", "\\oov", "new\\syork", "\ufffd"])
    words = tf.ragged.constant([["New York", "", "NEW"], [], [b"\xff"]])
    found = TextEncoder(tokenizer, vocabulary, 2, casing=True).of_words(words)
    assert found["tokens"].to_list() == [[2, 3], [], [3]]
    assert found["casing"].to_list() == [[6, 7], [], [7]]


def test_mistakes(tmp_path):
    with pytest.raises(DataError, match="characters.txt is missing"):
        CharacterEncoder.load(str(tmp_path), 4)
    with pytest.raises(ConfigError, match="max_word_length must be a positive"):
        encoder(0)
    reversible = make_tokenizer({"name": "reversible"})
    with pytest.raises(ConfigError, match="need the whitespace or the regex"):
        TextEncoder(reversible, Vocabulary(["\\pad", "\\oov"]), casing=True)


@pytest.mark.parametrize("name", ["whitespace", "regex"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_words_of_texts_and_where_they_stand(name, lowercase):
    tokenizer = make_tokenizer({"name": name, "lowercase": lowercase})
    texts = ["  It isn't Ünder\u00a0\\ 5▁, ", "", "\n", "İ x\x85y\r\n中文"]
    words, starts, ends = tf.function(tokenizer.locate)(tf.constant(texts))
    for text, row, first, last in zip(
        texts, words.to_list(), starts.to_list(), ends.to_list()
    ):
        assert [text[a:b].encode() for a, b in zip(first, last)] == row
    assert tokenizer.words(tf.constant(texts)).to_list() == words.to_list()
    tokens = tokenizer(tf.constant(texts)).to_list()
    assert tokenizer.write(words).to_list() == tokens
    assert len(tokens[0]) > 3 and tokens[1] == tokens[2] == []


def test_tokens_with_spaces_are_no_words():
    reversible = make_tokenizer({"name": "reversible"})
    for use in (reversible.words, reversible.locate):
        with pytest.raises(ConfigError, match="words with their spaces"):
            use(tf.constant(["a"]))
    with pytest.raises(ConfigError, match="words with their spaces"):
        reversible.write(tf.ragged.constant([["a"]]))
