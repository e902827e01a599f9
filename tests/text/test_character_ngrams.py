"""The n-grams of words, against those of plain Python."""

import gzip
import shutil

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.encoding.character_ngrams import (
    NGRAMS_FILE,
    CharacterNgrams,
    read_ngram_vectors,
)
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.vocabulary import Vocabulary

WORDS = [
    "cat",
    "a",
    "",
    "aaaaaaaa",
    "abab",
    "e\u0301te\u0301",  # combining marks are characters
    "été",
    "\u0301",
    "👩\u200d👩\u200d👧",
    "עִבְרִית",
    "中文",
    "#BEGIN#",
    "#END#a#END#",
    "2gram-ab",
    "a b",
    " ",
    "\n",
    "1\n2\n1",
    "\r",
    "\\",
    "\\pad",
    "\\\\n",
    "▁",
    "▁a▁",
    "a\0b",
    "\ufffd",
    "x" * 40 + "yz",
    "internationalizations",
]


def names_of(word):
    """The names of a word's n-grams, after Hashimoto et al. (2017)."""
    symbols = ["#BEGIN#", *word, "#END#"] if word else []
    found = {}
    for width in (2, 3, 4):
        for first in range(len(symbols) - width + 1):
            ngram = "".join(symbols[first : first + width])
            found[f"{width}gram-{ngram}"] = None
    return list(found)


def hashes(names, buckets):
    if not names:
        return []
    return (1 + tf.strings.to_hash_bucket_fast(names, buckets)).numpy().tolist()


def random_words(count, seed):
    """Words of any characters of Unicode, few of which are letters."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        ranges = [(97, 100), (0, 0x300), (0x300, 0xD800), (0xE000, 0x110000)]
        low, high = ranges[draw.integers(4)]
        size = draw.integers(0, 24)
        yield "".join(map(chr, draw.integers(low, high, size)))


def written(words):
    """Written tokens, some of which carry spaces."""
    spaces = [("", ""), ("▁", ""), ("", "▁"), ("▁", "▁")]
    return [
        spaces[n % 4][0] + escaping.write(word) + spaces[n % 4][1]
        for n, word in enumerate(words)
    ]


def assert_ids(found, expected, most):
    assert found.dtype == np.int32 and found.shape == (len(expected), most)
    for row, ids in zip(found.tolist(), expected):
        ids = ids[:most]
        assert row == ids + [0] * (most - len(ids))


@pytest.mark.by_default("48-False", "5-True")
@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("most", [48, 5])
def test_hashed_ngrams(in_graph, most):
    words = [*WORDS, *random_words(60, 1)]
    ngrams = CharacterNgrams(buckets=50_000, most=most)
    call = tf.function(
        ngrams, input_signature=[tf.TensorSpec([None], "string")]
    )
    found = (call if in_graph else ngrams)(tf.constant(written(words)))
    expected = [hashes(names_of(word), 50_000) for word in words]
    assert_ids(found.numpy(), expected, most)
    assert len(ngrams) == 50_001 and ngrams.tables == []


@pytest.mark.by_default("48-False", "5-True")
@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("most", [48, 5])
def test_known_ngrams(in_graph, most):
    words = [*WORDS, *random_words(60, 2)]
    every = sorted({name for word in words for name in names_of(word)})
    known = every[::2]
    ids = {name: n for n, name in enumerate(known, 1)}
    ngrams = CharacterNgrams.of_known(known, most=most)
    call = tf.function(
        ngrams, input_signature=[tf.TensorSpec([None], "string")]
    )
    found = (call if in_graph else ngrams)(tf.constant(written(words)))
    # Unknown ones take no place of those that are known.
    expected = [
        [ids[name] for name in names_of(word) if name in ids] for word in words
    ]
    assert max(map(len, expected)) > 5 and min(map(len, expected)) == 0
    assert_ids(found.numpy(), expected, most)
    assert len(ngrams) == len(known) + 1


def test_ngrams_of_a_word_by_hand():
    names = [
        "2gram-#BEGIN#a",
        "2gram-ab",
        "2gram-b#END#",
        "3gram-#BEGIN#ab",
        "3gram-ab#END#",
        "4gram-#BEGIN#ab#END#",
    ]
    assert names_of("ab") == names
    ngrams = CharacterNgrams.of_known(names, most=7)
    found = ngrams(tf.constant(["ab", "abab", "b"])).numpy().tolist()
    assert found == [
        [1, 2, 3, 4, 5, 6, 0],
        [1, 2, 3, 4, 5, 0, 0],
        [3, 0, 0, 0, 0, 0, 0],
    ]


def test_hashes_are_the_same_in_every_process():
    found = CharacterNgrams(buckets=1000, most=8)(tf.constant(["ab", "é"]))
    assert found.numpy().tolist() == [
        [367, 305, 941, 300, 1000, 378, 0, 0],
        [69, 415, 282, 0, 0, 0, 0, 0],
    ]


def test_distinct_ngrams_of_one_bucket_are_both_kept():
    found = CharacterNgrams(buckets=1, most=12)(tf.constant(["ab", "aaaa"]))
    assert tf.math.count_nonzero(found, 1).numpy().tolist() == [6, 9]
    assert len(names_of("aaaa")) == 9 and set(np.ravel(found)) == {0, 1}


@pytest.mark.by_default("words1")
@pytest.mark.parametrize("words", [[], [""], ["", ""]])
def test_nothing(words):
    ngrams = CharacterNgrams(buckets=9)
    for call in (ngrams, tf.function(ngrams)):
        found = call(tf.constant(words, tf.string)).numpy()
        assert_ids(found, [[]] * len(words), 48)


def test_markers_have_no_ngrams():
    vocabulary = Vocabulary(["\\pad", "\\oov", "\\<s>", "\\</s>", "\\\\pad"])
    table = CharacterNgrams(buckets=99).of_tokens(vocabulary.tokens)
    assert_ids(table, [[]] * 4 + [hashes(names_of("\\pad"), 99)], 48)


def test_a_vocabulary_is_read_in_batches(monkeypatch):
    monkeypatch.setattr("mtl_tf.text.encoding.character_ngrams._BATCH", 7)
    words = written(random_words(20, 3))
    ngrams = CharacterNgrams(buckets=99)
    table = ngrams.of_tokens(iter(words))
    np.testing.assert_array_equal(table, ngrams(tf.constant(words)))
    assert ngrams.of_tokens([]).shape == (0, 48)


def test_unknown_words_of_examples_in_tf_data():
    ngrams = CharacterNgrams(buckets=99)
    rows = tf.ragged.constant([["ab", "c"], [], ["ab"]])
    data = tf.data.Dataset.from_tensors(rows).map(
        lambda own: own.with_flat_values(ngrams(own.flat_values)).to_tensor()
    )
    found = next(iter(data)).numpy()
    assert found.shape == (3, 2, 48)
    np.testing.assert_array_equal(found[2, 0], found[0, 0])
    assert np.all(found[0, 1, :3] > 0) and not found[1:, 1].any()


class Export(tf.Module):
    def __init__(self, ngrams):
        super().__init__()
        self.ngrams, self.tables = ngrams, ngrams.tables

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, words):
        return self.ngrams(words)


@pytest.mark.by_default("500")
@pytest.mark.parametrize("buckets", [0, 500])
def test_saved_loaded_exported_and_moved(tmp_path, buckets):
    words = [*WORDS, *random_words(30, 4)]
    if buckets:
        ngrams = CharacterNgrams(buckets)
    else:
        every = {name for word in words for name in names_of(word)}
        ngrams = CharacterNgrams.of_known(sorted(every))
    tokens = tf.constant(written(words))
    expected = ngrams(tokens)
    run = tmp_path / "run"
    run.mkdir()
    ngrams.save(str(run))
    assert (run / NGRAMS_FILE).exists() == (not buckets)
    loaded = CharacterNgrams.load(str(run), buckets)
    assert len(loaded) == len(ngrams)
    np.testing.assert_array_equal(loaded(tokens), expected)
    tf.saved_model.save(Export(loaded), str(tmp_path / "export"))
    shutil.rmtree(run)
    (tmp_path / "export").rename(tmp_path / "moved")
    served = tf.saved_model.load(str(tmp_path / "moved"))
    np.testing.assert_array_equal(served(tokens), expected)


def test_mistakes(tmp_path):
    with pytest.raises(ConfigError, match="either hashed .* or those of a"):
        CharacterNgrams()
    with pytest.raises(ConfigError, match="either hashed .* or those of a"):
        CharacterNgrams(3, Vocabulary(["\\pad", "\\oov", "2gram-ab"]))
    with pytest.raises(ConfigError, match="ngrams.buckets"):
        CharacterNgrams(-1)
    with pytest.raises(ConfigError, match="ngrams.most must be a positive"):
        CharacterNgrams(3, most=0)
    with pytest.raises(DataError, match="stands on line 3 already"):
        CharacterNgrams.of_known(["2gram-ab", "2gram-ab"])
    with pytest.raises(DataError, match="character_ngrams.txt is missing"):
        CharacterNgrams.load(str(tmp_path))


# Files of vectors

FILE = (
    "2gram-ab 1 2 3\n3gram-#BEGIN#ab -0.5 1e-3 .25\n\n1gram-a 9 9 9\n"
    "2gram-ab 9 9 9\nthe 9 9 9\n4gram-abc#END# 4 5 6\n2gram-é\u0301 7 8 9\n"
    "3gram-a b 1 1 1\n2gram-\\▁ 2 2 2\n2gram- 9 9 9\n"
)
NAMES = [
    "2gram-ab",
    "3gram-#BEGIN#ab",
    "4gram-abc#END#",
    "2gram-é\u0301",
    "3gram-a b",
    "2gram-\\▁",
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_vectors_of_a_file(tmp_path, pack):
    path = tmp_path / "charNgram.txt"
    path.write_bytes(pack(FILE.encode() + b"2gram-\xff\xfe 9 9 9\n"))
    names, vectors = read_ngram_vectors(str(path), 3)
    assert names == NAMES
    assert vectors.dtype == np.float32 and vectors.shape == (7, 3)
    assert vectors[:, 0].tolist() == [0, 1, -0.5, 4, 7, 1, 2]
    assert vectors[2].tolist() == [-0.5, np.float32(1e-3), 0.25]
    vectors[0] = 1  # not read-only
    # The ids are rows of the vectors.
    ids = CharacterNgrams.of_known(names)(tf.constant(["abc", "\\\\\\_", "ab"]))
    assert ids[:, :4].numpy().tolist() == [
        [1, 2, 3, 0],
        [6, 0, 0, 0],
        [1, 2, 0, 0],
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("2gram-ab 1 2\n", ":1: 2 numbers after '2gram-ab', but 3 are needed"),
        ("2gram-ab 1 2 3\n2gram-b 1 x 3\n", ":2: 'x' is not a finite number"),
        ("the 1 2 3\n", "holds no vectors of character n-grams"),
        ("", "holds no word vectors"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "charNgram.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_ngram_vectors(str(path), 3)
    with pytest.raises(DataError, match="cannot read"):
        read_ngram_vectors(str(path) + ".missing", 3)
    with pytest.raises(ConfigError, match="dimension must be a positive"):
        read_ngram_vectors(str(path), 0)
