"""Texts of like length are searched for together."""

import numpy as np

from mtl_tf.core import passes
from mtl_tf.prediction import search_batches


def test_each_text_once_from_short_to_long_and_few_long_ones():
    lengths = np.random.default_rng(1).integers(0, 3000, 500)
    lengths[7] = 100_000
    batches = list(search_batches.by_length(lengths, "decoding"))
    order = np.concatenate(batches)
    assert sorted(order) == list(range(500))
    assert np.all(np.diff(lengths[order]) >= 0)
    for rows in batches:
        cells = len(rows) * lengths[rows].max()
        assert len(rows) <= search_batches.AT_ONCE
        assert cells <= search_batches.CELLS_AT_ONCE or len(rows) == 1
    assert len(batches) < 60 and batches[-1].tolist() == [7]


def test_there_may_be_no_text_or_no_word():
    assert list(search_batches.by_length(np.zeros(0, int), "decoding")) == []
    (rows,) = search_batches.by_length([0, 0, 0], "decoding")
    assert rows.tolist() == [0, 1, 2]


def test_a_long_search_tells_how_far_it_is(monkeypatch, caplog):
    monkeypatch.setattr(passes, "_SECONDS", 0.0)
    with caplog.at_level("INFO", logger="absl"):
        list(search_batches.by_length([3] * 100, "en-de: decoding"))
    assert caplog.messages == [
        "en-de: decoding, 64 of 100 examples",
        "en-de: decoding, 100 of 100 examples",
    ]


def test_long_texts_are_told_before_their_search(caplog):
    with caplog.at_level("INFO", logger="absl"):
        search_batches.tell_long([3, 999], "en-de: decoding")
        assert not caplog.messages
        search_batches.tell_long([3, 3000, 1000], "en-de: decoding")
    assert caplog.messages == [
        "en-de: decoding: 2 of 3 texts have 1,000 tokens or more, the longest "
        "3,000: it may take minutes"
    ]
