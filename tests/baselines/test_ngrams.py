"""The n-grams of the linear baseline, and their features."""

import numpy as np
import pytest

from mtl_tf.baselines import ngrams
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def split_of(*texts):
    values = np.array([w for text in texts for w in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    return EncodedSplit("t", {"tokens": Column(values, offsets)})


def test_ngrams_by_hand():
    split = split_of([2, 3, 2, 3], [], [4], [2, 1, 3])
    counted = ngrams.ngrams(split, 10)
    pair = {(2, 3): 10 * 3 + 3, (3, 2): 10 * 4 + 2}
    found = sorted(zip(counted.rows, counted.codes))
    assert counted.examples == 4
    assert found == sorted(
        [(0, 2), (0, 3), (0, 2), (0, 3)]
        + [(0, pair[2, 3]), (0, pair[3, 2]), (0, pair[2, 3])]
        + [(2, 4), (3, 2), (3, 3)]  # no pair across texts or the unknown 1
    )
    assert len({2, 3, 4, *pair.values()}) == 5


def test_ngrams_of_pairs_by_hand():
    first, second = split_of([2, 3], [4], []), split_of([5, 2, 3], [3], [2])
    columns = {"text_pair_tokens": second.columns["tokens"], **first.columns}
    counted = ngrams.ngrams(EncodedSplit("t", columns), 10)
    pair, kinds = 10 * 3 + 3, 110
    of_first = [(0, 2), (0, 3), (0, pair), (1, 4)]
    of_second = [(0, 5), (0, 2), (0, 3), (0, 10 * 6 + 2), (0, pair)]
    of_second += [(1, 3), (2, 2)]
    found = sorted(zip(counted.rows, counted.codes))
    assert counted.examples == 3
    assert found == sorted(
        of_first
        + [(row, kinds + code) for row, code in of_second]
        # What both have, under its own code and the one of all.
        + [(0, 2 * kinds + code) for code in (2, 3, pair)]
        + [(0, 3 * kinds)] * 3
    )


def test_features_are_scikit_learns_and_copied_by_task():
    """Against TfidfVectorizer on the words themselves."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [[[2, 3, 2, 4], [5, 3]], [[2, 3], [], [6, 4, 6]]]
    new = [[2, 3, 3, 4], [9, 6]]
    splits = [split_of(*t) for t in texts]
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        token_pattern=r"\S+",
    )
    words = [" ".join(map(str, t)) for part in texts for t in part]
    vectorizer.fit(words)
    expected = vectorizer.transform([" ".join(map(str, t)) for t in new])
    plain = ngrams.Features(splits, 10, copies=False)
    got = plain(split_of(*new), 0)
    assert len(plain) == got.shape[1] == expected.shape[1]
    # The columns have another order; inner products do not depend on it.
    known = vectorizer.transform(words)
    both = ngrams.stack([plain(s, 0) for s in splits])
    np.testing.assert_allclose(
        (got @ both.T).toarray(), (expected @ known.T).toarray(), atol=1e-12
    )
    copied = ngrams.Features(splits, 10, copies=True)
    rows = ngrams.stack([copied(s, k) for k, s in enumerate(splits)])
    kernel, single = (rows @ rows.T).toarray(), (both @ both.T).toarray()
    same = np.repeat([0, 1], [2, 3])
    same = same[:, None] == same[None]
    np.testing.assert_allclose(kernel, single * (1 + same), atol=1e-12)
    assert len(copied) == rows.shape[1] < 3 * len(plain)


def pairs_of(first, second):
    other = split_of(*second).columns["tokens"]
    columns = {"text_pair_tokens": other, **split_of(*first).columns}
    return EncodedSplit("t", columns)


def test_how_alike_two_texts_are_is_a_feature_of_pairs():
    """Cosines against TfidfVectorizer, shared and of the row's own task."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    first = [[2, 3, 2, 4], [5, 3], [], [6, 4]]
    second = [[2, 3], [6, 4, 6], [2], [4, 6]]
    new = pairs_of([[2, 3, 3, 4], [9, 6], []], [[3, 4, 2], [9], [2]])
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+"
    )

    def words(texts):
        return [" ".join(map(str, text)) for text in texts]

    # Of two tasks, one with single texts.
    single = split_of([2, 3], [5, 5])
    train = [pairs_of(first, second), single]
    vectorizer.fit(words([*first, *second, [2, 3], [5, 5]]))
    one, other = (
        vectorizer.transform(words(texts))
        for texts in ([[2, 3, 3, 4], [9, 6], []], [[3, 4, 2], [9], [2]])
    )
    expected = np.asarray(one.multiply(other).sum(1))
    assert 0 < expected[0] < 1 and expected[1] == expected[2] == 0

    plain = ngrams.Features(train, 10, copies=False)
    rows = plain(new, 0).toarray()
    assert rows.shape == (3, len(plain))
    np.testing.assert_allclose(rows[:, -1:], expected, atol=1e-12)
    assert not plain(single, 1).toarray()[:, -1].any()

    copied = ngrams.Features(train, 10, copies=True)
    counted = len(plain) - 1
    for task in (0, 1):
        rows = copied(new, task).toarray()
        assert rows.shape == (3, len(copied))
        found = rows[:, counted : counted + 3]
        own = np.eye(2)[task] * expected
        np.testing.assert_allclose(found, np.hstack([expected, own]))
