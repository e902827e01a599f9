"""Reading texts from files and pipes."""

import gzip
import io
import json
import os
import threading

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.programs.text_input import TextReader


def read(content, form="text", size=64):
    reader = TextReader(io.BytesIO(content), "in", form)
    items = [item for batch in reader.batches(size) for item in batch]
    return items, reader


def texts(content, form="text"):
    return [item.fields["text"] for item in read(content, form)[0]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"\n", [""]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"\n\n", ["", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        ("one\u0085line\u2028still\n".encode(), ["one\u0085line\u2028still"]),
        (b"\xef\xbb\xbfa\nb", ["a", "b"]),
        (b"a\x00b\n", ["a\x00b"]),
    ],
)
def test_lines(content, expected):
    assert texts(content) == expected


def test_lines_know_where_they_stand():
    items, reader = read(b"a\n\nb\n")
    assert [item.location for item in items] == ["in:1", "in:2", "in:3"]
    assert reader.lines == 3


@pytest.mark.parametrize(
    ("content", "form", "is_told"),
    [
        (b"", "text", True),
        (b"text,id\n", "csv", True),
        (b"# no sentence\n\n", "conllu", True),
        (b"[]", "jsonl", True),
        (b"a\n", "text", False),
        (b"text,id\na,1\n", "csv", False),
        (b"a\n", "conll", False),
    ],
)
def test_an_input_without_texts_is_told(caplog, content, form, is_told):
    with caplog.at_level("WARNING", logger="absl"):
        items, _ = read(content, form)
    assert bool(items) != is_told
    assert ("in has no texts: nothing is predicted" in caplog.text) == is_told


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf_16_is_no_text_to_predict_from(encoding):
    content = "ein Text\n".encode(encoding)
    with pytest.raises(DataError, match="^in: the text is in UTF-16"):
        read(content)


def test_what_is_packed_is_no_text_to_predict_from():
    with pytest.raises(DataError, match="^in: packed by gzip: unpack it"):
        read(gzip.compress(b"a text\n"))


def test_lines_that_are_not_utf_8_are_read_as_latin_1():
    content = b"caf\xe9\ncaf\xc3\xa9 \xef\xbf\xbd\n\x80\xff\n"
    items, reader = read(content)
    texts = [item.fields["text"] for item in items]
    assert texts == ["caf\xe9", "caf\xe9 \ufffd", "\x80\xff"]
    assert (reader.undecodable, reader.replaced) == (2, 0)


def test_a_text_of_100_000_tokens_comes_whole():
    text = " ".join(f"word{number}" for number in range(100_000))
    assert texts(f"a\n{text}\nb\n".encode()) == ["a", text, "b"]


def test_lines_that_straddle_reads_come_whole():
    lines = [str(number) * (number % 7) for number in range(60_000)]
    assert texts("\n".join(lines).encode() + b"\n") == lines


def test_batches_of_a_file_are_full(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"some words in a line\n" * 10_000)
    with open(path, "rb") as stream:
        sizes = [len(b) for b in TextReader(stream, "in").batches(64)]
    assert sizes == [64] * 156 + [16]


def test_a_pipe_is_read_as_texts_arrive():
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as stream, os.fdopen(write_end, "wb") as w:
        give_up = threading.Timer(60, w.close)  # ends the input
        give_up.start()
        batches = TextReader(stream, "in").batches(64)
        for content, expected in ((b"a\n", ["a"]), (b"b\nc\n", ["b", "c"])):
            w.write(content)
            w.flush()
            assert [item.fields["text"] for item in next(batches)] == expected
        assert give_up.is_alive()
        give_up.cancel()


def test_jsonl():
    content = b'{"text": "a", "task": "books", "id": 3}\n\n{"text": "b"}\n \n'
    items, _ = read(content, "jsonl")
    assert [(i.fields["text"], i.task) for i in items] == [
        ("a", "books"),
        ("b", ""),
    ]


def test_half_a_surrogate_pair_is_replaced():
    items, reader = read(b'{"text": "a\\ud800b \\ud83d\\ude00"}', "jsonl")
    assert items[0].fields["text"] == "a\ufffdb \U0001f600"
    assert reader.replaced == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{text: 1}", "in:2: not JSON"),
        ('"a"', 'in:2: must be an object such as {"text"'),
        ('{"task": "books"}', "in:2: must be an object"),
        ('{"text": 3}', "in:2: text must be a string, got 3"),
        ('{"text": null}', "in:2: text must be a string, got None"),
        ('{"text": "a", "task": 3}', "in:2: task must be a string, got 3"),
        ('{"text": "a", "tokens": []}', "in:2: must be an object such as"),
        ('{"tokens": "a"}', "in:2: tokens must be a list of strings that are"),
        ('{"tokens": ["a", 3]}', "in:2: tokens must be a list of strings that"),
        (
            '{"tokens": ["a", ""]}',
            "in:2: tokens must be a list of strings that",
        ),
        ("[" * 100_000, "in:2: not JSON"),
    ],
)
def test_wrong_jsonl(line, message):
    good = json.dumps({"text": "a"})
    with pytest.raises(DataError) as caught:
        read(f"{good}\n{line}\n".encode(), "jsonl")
    assert str(caught.value).startswith(message)
    # An object of several lines is seen by its first one.
    assert str(caught.value).endswith("one object") == ("JSON" in message)


def test_sentences_of_columns():
    content = b"\xef\xbb\xbfa x\r\n\xff\ty\n\n-DOCSTART- O\n\r\n\n c\n"
    items, reader = read(content, "conll")
    assert [item.fields["tokens"] for item in items] == [["a", "\xff"], ["c"]]
    assert [item.location for item in items] == ["in:1", "in:7"]
    assert reader.undecodable == 1
    sizes = [
        len(b)
        for b in TextReader(io.BytesIO(b"a\n\n" * 5), "in", "conll").batches(2)
    ]
    assert sizes == [2, 2, 1]
