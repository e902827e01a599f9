import gzip

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile

LABELS = {"0": 0, "1": 1}
NAMES = ("negative", "positive")


def make(tmp_path, content: bytes) -> LineFile:
    path = tmp_path / "x.task.train"
    path.write_bytes(content)
    return LineFile(str(path))


def test_only_newlines_end_lines(tmp_path):
    text = "a\u0085b\u2028c\x0bd\x1ee\rf"
    file = make(tmp_path, f"1\t{text}\n0\tg\n".encode())
    assert file.labelled(LABELS) == [(text, 1), ("g", 0)]
    assert file.warnings == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_end_of_the_last_line(tmp_path, end):
    file = make(tmp_path, b"1\ta" + (end or b"\n") + b"0\tb" + end)
    assert file.labelled(LABELS) == [("a", 1), ("b", 0)]


def test_further_tabs_belong_to_the_text(tmp_path):
    assert make(tmp_path, b"1\ta\tb\n").labelled(LABELS) == [("a\tb", 1)]


def test_undecodable_lines_are_latin_1_and_counted(tmp_path):
    content = "0\tçà\n".encode() + b"1\tcaf\xe9 \xe0\n" + b"1\t\xe9\n0\td\n"
    file = make(tmp_path, content)
    texts = [text for text, _ in file.labelled(LABELS)]
    assert texts == ["çà", "café à", "é", "d"]
    assert file.warnings == [
        "x.task.train: 2 lines not UTF-8, read as Latin-1 (3 characters; "
        "first: line 2)"
    ]


def test_empty_texts_are_kept_and_counted(tmp_path):
    file = make(tmp_path, b"0\ta\n1\t\n1\t  \n")
    assert file.labelled(LABELS) == [("a", 0), ("", 1), ("  ", 1)]
    assert file.warnings == [
        "x.task.train: 2 empty texts, kept (first: line 2)"
    ]


def test_empty_unlabelled_lines_are_kept_and_counted(tmp_path):
    file = make(tmp_path, b"a\n\nb\n")
    assert file.texts() == ["a", "", "b"]
    assert file.warnings == ["x.task.train: 1 empty text, kept (first: line 2)"]


def test_a_byte_order_mark_is_no_part_of_the_first_label(tmp_path):
    file = make(tmp_path, "\ufeff0\ta\n1\tb\n".encode())
    assert file.labelled(LABELS) == [("a", 0), ("b", 1)]


def test_missing_tab(tmp_path):
    with pytest.raises(DataError) as caught:
        make(tmp_path, b"0\ta\n1 no tab here\n").labelled(LABELS)
    message = str(caught.value)
    assert "x.task.train:2: no tab" in message
    assert "'1 no tab here'" in message
    assert "'0' or '1'" in message


@pytest.mark.parametrize("label", ["2", "", "-1", "pos", " 1", "\ufeff1"])
def test_unknown_label(tmp_path, label):
    content = f"0\ta\n1\tb\n{label}\tc\n".encode()
    with pytest.raises(DataError) as caught:
        make(tmp_path, content).labelled(LABELS)
    assert "x.task.train:3: unknown label" in str(caught.value)
    assert repr(label) in str(caught.value)


def test_long_lines_are_shortened_in_messages(tmp_path):
    with pytest.raises(DataError) as caught:
        make(tmp_path, b"word " * 10_000).labelled(LABELS)
    assert len(str(caught.value)) < 400


def test_one_class(tmp_path):
    file = make(tmp_path, b"1\ta\n1\tb\n")
    file.report_one_class(file.labelled(LABELS), NAMES)
    assert file.warnings == [
        "x.task.train: all 2 texts are of one class, positive"
    ]


def test_two_classes_are_no_warning(tmp_path):
    file = make(tmp_path, b"1\ta\n0\tb\n")
    file.report_one_class(file.labelled(LABELS), NAMES)
    assert file.warnings == []


def test_known_number_of_lines(tmp_path):
    file = make(tmp_path, b"1\ta\n0\tb\n")
    file.report_count(2)
    assert file.warnings == []
    file.report_count(1600)
    assert file.warnings == [
        "x.task.train: 2 lines; the released file has 1,600"
    ]


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_nothing_in_a_file_packed_or_not(tmp_path, content):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match=r"a.txt.gz: the file is empty$"):
        LineFile(str(path))
    with pytest.raises(DataError, match=r"x.task.train: the file is empty$"):
        make(tmp_path, content)


def test_utf_16_is_not_taken_for_latin_1(tmp_path):
    with pytest.raises(DataError, match="x.task.train: the text is in UTF-16,"):
        make(tmp_path, "1\ta\n".encode("utf-16"))
