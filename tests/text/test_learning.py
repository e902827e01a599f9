import builtins
import os
import random

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.vectors import learning
from mtl_tf.text.vectors.learning import TokenStore
from mtl_tf.text.vectors.vectors import load_vectors
from mtl_tf.text.vocabulary import Vocabulary

SETS = (("good", "great", "fine"), ("bad", "poor", "awful"))


def opinions(count=1000):
    """Words of one set stand in the same places, of the other in others."""
    draw = random.Random(0)
    store = TokenStore()
    for i in range(count):
        which = i % 2
        frame = (["buy", "it", "{}", "now"], ["never", "was", "{}", "thing"])
        word = draw.choice(SETS[which])
        store.add([word if w == "{}" else w for w in frame[which]])
    return store


def test_a_store_gives_the_texts_again_and_again():
    store = TokenStore()
    texts = [["a", "b", "a"], [], ["b", "\x85"]]
    for text in texts:
        store.add(text)
    kept = [text for text in texts if text]
    assert list(store) == kept
    assert list(store) == kept
    assert store.tokens == 5


def test_long_texts_are_kept_whole():
    store = TokenStore()
    store.add(["w"] * 25_000)
    assert [len(text) for text in store] == [10_000, 10_000, 5_000]


@pytest.fixture
def gensim():
    return pytest.importorskip("gensim")


@pytest.mark.parametrize("algorithm", learning.ALGORITHMS)
def test_words_of_the_same_places_are_near(gensim, algorithm):
    words, vectors = learning.learn(
        opinions(), 16, algorithm, epochs=30, min_count=1
    )
    assert vectors.shape == (len(words), 16) and vectors.dtype == np.float32
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    place = {word: i for i, word in enumerate(words)}
    everyone = [word for words in SETS for word in words]
    for one in SETS:
        for word in one:
            others = sorted(
                (other for other in everyone if other != word),
                key=lambda other: -near[place[word], place[other]],
            )
            assert set(others[:2]) == set(one) - {word}


def test_one_thread_repeats_and_the_seed_matters(gensim):
    def run(seed):
        return learning.learn(opinions(50), 8, epochs=2, seed=seed)

    words, vectors = run(3)
    again, same = run(3)
    assert words == again
    np.testing.assert_array_equal(vectors, same)
    assert not np.array_equal(vectors, run(4)[1])


def test_rare_words_have_no_vector(gensim):
    store = opinions(20)
    store.add(["once"])
    words, _ = learning.learn(store, 4, epochs=1, min_count=2)
    assert "once" not in words and "it" in words
    with pytest.raises(DataError, match="no word occurs 99 times in 21 texts"):
        learning.learn(store, 4, epochs=1, min_count=99)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "skipgramm"}, "did you mean 'skipgram'"),
        ({"dimension": 0}, "dimension must be a positive integer, got 0"),
        ({"epochs": -1}, "epochs must be a positive"),
        ({"window": 0}, "window must be a positive"),
        ({"min_count": 0}, "min_count must be a positive"),
        ({"workers": 0}, "workers must be a positive"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigError, match=message):
        learning.learn(opinions(2), **options)


def test_without_gensim_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def no_gensim(name, *arguments, **options):
        if name.partition(".")[0] == "gensim":
            raise ImportError("No module named 'gensim'")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", no_gensim)
    with pytest.raises(ConfigError, match=r"mtl_tf\[vectors\]"):
        learning.learn(opinions(2))


def test_the_file_is_read_back(tmp_path):
    words = ["the", "café", "a\x85b", "12"]
    vectors = np.array([[1, -2.5], [1e-7, 3], [0.1, 0.2], [4, 5]], np.float32)
    path = str(tmp_path / "new" / "vectors.txt")
    learning.write_vectors(path, words, vectors)
    vocabulary = Vocabulary(["\\pad", "\\oov", *words])
    matrix, report = load_vectors(path, vocabulary, 2, seed=0)
    np.testing.assert_allclose(matrix[2:], vectors, rtol=1e-5)
    assert report.found_tokens == frozenset(words)
    assert (report.rows, report.header_rows) == (4, 4)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("old")
    with pytest.raises(TypeError):
        learning.write_vectors(
            str(path), ["a", "b"], np.array([[1.0], [None]], object)
        )
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["vectors.txt"]
