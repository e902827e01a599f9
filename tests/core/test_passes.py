from absl import logging

from mtl_tf.core import passes


def lines(monkeypatch, seconds, *arguments):
    told = []
    monkeypatch.setattr(passes, "_SECONDS", seconds)
    monkeypatch.setattr(logging, "info", lambda text, *a: told.append(text % a))
    assert list(passes.logged("abc", *arguments)) == ["a", "b", "c"]
    return told


def test_a_long_pass_tells_how_far_it_is(monkeypatch):
    told = lines(monkeypatch, 0.0, "books: encoding", 1000, 2500)
    assert told == [
        "books: encoding, 1,000 of 2,500 examples",
        "books: encoding, 2,000 of 2,500 examples",
        "books: encoding, 2,500 of 2,500 examples",
    ]
    told = lines(monkeypatch, 0.0, "books: encoding", 1000, -2)
    assert told[0] == "books: encoding, 1,000 examples"


def test_a_short_pass_tells_nothing(monkeypatch):
    assert lines(monkeypatch, 1e6, "books: encoding", 1000, 2500) == []


def test_batches_may_have_any_size(monkeypatch):
    told = lines(monkeypatch, 0.0, "in.txt: read")
    assert told[-1] == "in.txt: read, 3 examples"
