import errno
import gzip
import os

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import sources


@pytest.fixture
def refusal():
    """What Python raises without permission, for root, who has it always."""

    def refuse(path, *args, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    return refuse


def test_refused_directory(tmp_path, monkeypatch, refusal):
    monkeypatch.setattr(os, "listdir", refusal)
    with pytest.raises(DataError, match=f"{tmp_path}: Permission denied"):
        sources.fingerprint({"corpus": str(tmp_path)})


def test_refused_file(tmp_path, monkeypatch, refusal):
    path = tmp_path / "books.task.train"
    path.write_text("x")
    monkeypatch.setattr("builtins.open", refusal)
    with pytest.raises(DataError, match=f"{path}: Permission denied; the"):
        sources.read_source(str(path))
    with pytest.raises(DataError, match=f"{path}: Permission denied"):
        sources.fingerprint({"corpus": str(tmp_path)})


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="books.task.train: No such file"):
        sources.read_source(str(tmp_path / "books.task.train"))


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\n"])
def test_empty_file(tmp_path, content):
    path = tmp_path / "books.task.train"
    path.write_bytes(content)
    with pytest.raises(DataError, match="books.task.train: the file is empty"):
        sources.read_source(str(path))


def test_fingerprint_sees_content_and_not_time(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    before = sources.fingerprint({"a": str(path)})
    os.utime(path, (1, 1))
    assert sources.fingerprint({"a": str(path)}) == before
    path.write_bytes(b"two")
    assert sources.fingerprint({"a": str(path)}) != before
    assert before["a"]["bytes"] == 3


def test_differences_are_named():
    old = {"a": {"bytes": 1}, "b": {"bytes": 1}, "c": {"bytes": 1}}
    new = {"a": {"bytes": 1}, "b": {"bytes": 2}, "d": {"bytes": 1}}
    assert sources.check_fingerprint(old, new) == ["b", "c", "d"]
    assert sources.check_fingerprint(old, old) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb\n".encode("utf-16"), "is in UTF-16, .* -f UTF-16 -t UTF-8"),
        ("\ufeffa".encode("utf-16-be"), "is in UTF-16, and not in UTF-8"),
        ("\ufeffa".encode("utf-32-le"), "is in UTF-32, "),
        ("a\nbüro\n".encode("utf-16-le"), "is in UTF-16LE, "),
        ("a\nbüro\n".encode("utf-16-be"), "is in UTF-16BE, "),
        (b"one\ntwo and\0 three\n", ":2: a NUL byte"),
    ],
)
def test_text_in_another_encoding(content, message):
    with pytest.raises(DataError, match=f"^a.txt.*{message}"):
        sources.unpack("a.txt", content)
    with pytest.raises(DataError, match=f"^a.txt.gz.*{message}"):
        sources.unpack("a.txt.gz", gzip.compress(content))


def test_text_in_single_bytes_is_taken():
    for content in ("\ufeffä\n".encode(), b"caf\xe9 \xfe\xff\n", b""):
        assert sources.unpack("a", content) == content


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_ends_of_lines(tmp_path, end):
    path = tmp_path / "train.csv"
    path.write_bytes(end.join([b"text,label", b"a\rb,1", b""]))
    sources.check_text(str(path))


@pytest.mark.parametrize("name", ["train.csv", "train.csv.gz"])
def test_lines_that_end_in_carriage_returns_alone(tmp_path, name):
    path = tmp_path / name
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "wb") as file:
        file.write(b"text,label\ra,1\rb,2\r")
    expected = (
        rf"{name}: its lines end in carriage returns .* \(tr '.r' '.n'\)$"
    )
    with pytest.raises(DataError, match=expected):
        sources.check_text(str(path))
