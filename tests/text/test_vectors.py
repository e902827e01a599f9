import bz2
import errno
import gzip
import io
import itertools
import json
import lzma
import os
import tarfile
import tracemalloc

import numpy as np
import pytest
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.vectors.vectors import load_vectors
from mtl_tf.text.vocabulary import OOV_TOKEN, PAD_TOKEN, Vocabulary

PLAIN = "the 1 2 3\nbook -0.5 1e-3 .25\nfilm 7 8 9\n"


def vocabulary_of(*words):
    return Vocabulary([PAD_TOKEN, OOV_TOKEN, *words])


@pytest.fixture
def write(tmp_path):
    def _write(content, name="vectors.txt"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return str(path)

    return _write


def load(path, *words, dimension=3, **options):
    options = {"seed": 1, **options}
    return load_vectors(path, vocabulary_of(*words), dimension, **options)


def tarred(mode):
    """A tar archive with a file of vectors."""
    content, file = PLAIN.encode(), io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        member = tarfile.TarInfo("vectors.txt")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def test_rows_stand_at_the_ids_of_their_words(write):
    matrix, report = load(write(PLAIN), "book", "unknown", "the")
    assert matrix.dtype == np.float32
    expected = np.array([[0] * 3, [-0.5, 1e-3, 0.25], [1, 2, 3]], np.float32)
    np.testing.assert_array_equal(matrix[[0, 2, 4]], expected)
    assert (report.words_found, report.missing, report.rows) == (2, 1, 3)
    assert report.header_rows is None and not report.header_lies
    assert report.warnings() == []


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(PLAIN.encode(), mtime=0),
        PLAIN.replace("\n", " \n"),  # fastText
        PLAIN.replace("\n", "\r\n"),
        PLAIN.rstrip("\n"),
        "3 3\n" + PLAIN,  # word2vec
        "\ufeff" + PLAIN,
        "\ufeff3 3\n" + PLAIN,
        gzip.compress(f"\ufeff3 3\n{PLAIN}".encode(), mtime=0),
    ],
)
def test_other_dresses_of_the_same_file(write, content):
    expected, _ = load(write(PLAIN, "plain"), "book", "the")
    matrix, report = load(write(content), "book", "the")
    np.testing.assert_array_equal(matrix, expected)
    assert report.rows == 3
    assert report.warnings() == []


def test_words_with_spaces_are_split_from_the_right(write):
    path = write(
        ". . 1 2 3\nat name@domain.com 4 5 6\nb 7 8 9\niphone 5 1 2 3\n"
    )
    matrix, report = load(path, ".", "at", "b", ".\\s.", "iphone\\s5")
    assert np.trunc(matrix[2:, 0]).tolist() == [0, 0, 7, 1, 1]
    assert report.rows == 4


INTEGERS = "the 1 2 3 4 5\na 6 7 8 9 10\n"


@pytest.mark.parametrize(
    "pack", [str.encode, lambda s: gzip.compress(s.encode())]
)
@pytest.mark.parametrize("header", ["", "2 3\n"])
@pytest.mark.parametrize("rest", ["", "at name 1 2 3 4 5\n", "x 1 2.5 3 4 5\n"])
def test_integers_of_another_dimension_are_no_words(write, pack, header, rest):
    path = write(pack(header + INTEGERS + rest))
    line = 2 if header else 1
    message = f":{line}: 5 numbers after 'the', but 3 are needed"
    with pytest.raises(DataError, match=message):
        load(path, "the")


@pytest.mark.parametrize("header", ["", "3 3\n"])
def test_some_words_may_end_in_numbers(write, header):
    path = write(header + "1 2 7 8 9\niphone 5 4 5 6\nthe 1 2 3\n")
    matrix, report = load(path, "1\\s2", "iphone\\s5", "the")
    assert matrix[2:, 0].tolist() == [7, 4, 1]
    assert report.rows == 3
    matrix, _ = load(write("1 2 7 8 9\n. . 4 5 6\n"), "1\\s2", ".\\s.")
    assert matrix[2:, 0].tolist() == [7, 4]


def test_a_single_row_may_end_in_a_number(write):
    matrix, _ = load(write("iphone 5 4 5 6\n"), "iphone\\s5")
    assert matrix[2].tolist() == [4, 5, 6]


def test_no_break_spaces_and_other_bytes_are_part_of_the_word(write):
    path = write("a\u00a0b 1 2 3\n\x85 4 5 6\n".encode() + b"\xff 7 8 9\n")
    matrix, _ = load(path, "a\u00a0b", "\x85")
    assert matrix[2:, 0].tolist() == [1, 4]


def test_written_tokens_take_the_rows_of_their_words(write):
    path = write("the 1 2 3\n\\ 4 5 6\n▁ 7 8 9\n\\pad 9 9 9\n")
    matrix, report = load(path, "▁the▁", "the▁", "▁\\\\", "\\_", "\\n", "▁▁")
    assert np.trunc(matrix[:, 0]).tolist() == [0, 0, 1, 1, 4, 7, 0, 0]
    assert report.words_found == 4


def test_a_header_that_lies_is_reported(write):
    _, report = load(write("400000 3\n" + PLAIN), "the")
    assert report.header_lies
    assert report.header_rows == 400000
    (warning,) = report.warnings()
    assert "vectors.txt:1: the header promises 400000 rows" in warning
    assert "the file has 3" in warning


def test_warnings_are_logged(write, monkeypatch):
    said = []
    monkeypatch.setattr(logging, "warning", lambda f, *a: said.append(f % a))
    _, report = load(write("9 3\n" + PLAIN), "the")
    assert said == report.warnings()


def test_the_first_of_duplicates_counts(write):
    _, report = load(write(PLAIN + "the 9 9 9\nthe 8 8 8\nx 1 1 1\n"), "the")
    matrix, _ = load(write(PLAIN + "the 9 9 9\n"), "the")
    assert matrix[2].tolist() == [1, 2, 3]
    assert report.duplicates == 2
    assert "2 further rows" in report.warnings()[0]


def test_blank_lines_are_counted(write):
    _, report = load(write("\n" + PLAIN + "  \n\n"), "the")
    assert (report.skipped, report.rows, report.words_found) == (3, 3, 1)


def test_nothing_found_is_a_warning(write):
    _, report = load(write(PLAIN), "nowhere")
    assert "no word of the vocabulary" in report.warnings()[0]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("the 1 2\n", 1, "2 numbers after 'the', but 3 are needed"),
        (PLAIN + "tale 1 2\n", 4, "2 numbers after 'tale'"),
        (PLAIN + "tale\n", 4, "0 numbers after 'tale'"),
        ("the 0.1 0.2 0.3 0.4\n", 1, "4 numbers after 'the'"),
        (PLAIN + "tale .1 .2 .3 .4 .5\n", 4, "5 numbers after 'tale'"),
        ("5 300\n" + PLAIN, 1, "the header says 300 numbers a word, but 3"),
        ("the 1 2 x3\n", 1, "'x3' is not a finite number, in the vector of"),
        (PLAIN.replace("8", "nan").replace("film", "it"), 3, "'nan' is not"),
        ("the 1 inf 3\n", 1, "'inf' is not a finite"),
        ("the 1 1e999 3\n", 1, "'1e999' is not a finite"),
        ("the 1 1_0 3\n", 1, "'1_0' is not a finite"),
        ("the 1  3\n", 1, "'' is not a finite"),
        (b"3 3\nthe \x00\x01\x02\x80?\x00\x00\x00\x00\n", 2, "binary word2vec"),
        (
            gzip.compress(b"the 1 2 3\n" * 9999, mtime=0)[:-20],
            None,
            "damaged gzip",
        ),
        (b"\x1f\x8b\x08garbage", 1, "damaged gzip"),
    ],
)
def test_errors_name_the_line(write, content, line, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as error:
        load(path, "the", "it")
    assert str(error.value).startswith(f"{path}:{line or ''}")
    if line:
        assert str(error.value).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no word vectors"),
        ("\n\n", "holds no word vectors"),
        ("3 3\n", "holds no word vectors"),
        (b"PK\x03\x04....", "is a zip archive: unpack it first"),
        (bz2.compress(PLAIN.encode()), "is packed by bzip2: unpack it first"),
        (lzma.compress(PLAIN.encode()), "is packed by xz: unpack it first"),
        (tarred("w"), "is a tar archive: unpack it first"),
        (tarred("w:gz"), "is a tar archive, within gzip: unpack it first"),
        (tarred("w:bz2"), "is packed by bzip2: unpack it first"),
    ],
)
def test_files_without_vectors(write, content, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as error:
        load(path, "the")
    assert path in str(error.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        load(str(tmp_path / "none.txt"), "the")
    with pytest.raises(DataError, match="Is a directory"):
        load(str(tmp_path), "the")


def test_unreadable_file(write, monkeypatch):
    path = write(PLAIN)

    def refuse(*args, **options):
        raise PermissionError(errno.EACCES, "no", path)

    # Root may read a file of mode 0, so the refusal is played.
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match=f"{path}: Permission denied"):
        load(path, "the")


def test_missing_words_start_as_stated(write):
    path = write(PLAIN)
    words = ["the"] + [f"w{i}" for i in range(2000)]
    matrix, report = load(path, *words)
    assert matrix[0].tolist() == [0, 0, 0]
    assert matrix[1].any()
    assert matrix[2].tolist() == [1, 2, 3]
    assert 0.099 < np.abs(matrix[3:]).max() <= np.float32(0.1)
    assert abs(matrix[3:].mean()) < 0.004
    assert "the other 2000 start at random" in report.summary()


def test_the_start_is_a_function_of_seed_and_id(write):
    one = load(write(PLAIN), "the", "x")[0]
    again = load(write("x 1 1 1\n"), "the", "x")[0]
    other = load(write(PLAIN), "the", "x", seed=2)[0]
    np.testing.assert_array_equal(one[1], again[1])
    assert (one[3] != other[3]).all()


@pytest.mark.parametrize("dimension", [0, -3, 2.0])
def test_wrong_dimensions(write, dimension):
    with pytest.raises(ConfigError, match="dimension must be a positive"):
        load(write(PLAIN), "the", dimension=dimension)


def test_coverage_of_a_task(write):
    _, report = load(write(PLAIN), "the", "book", "rare")
    coverage = report.coverage("books", {"the": 5, "rare": 2, "cut": 1})
    assert (coverage.types, coverage.types_found) == (3, 1)
    assert (coverage.tokens, coverage.tokens_found) == (8, 5)
    assert str(coverage) == (
        "books: 1 of 3 (33.3 %) types, 5 of 8 (62.5 %) tokens"
    )
    assert "0 of 0 (0.0 %) types" in str(report.coverage("none", {}))


def test_report_is_json(write):
    _, report = load(write(PLAIN), "the", "x")
    value = json.loads(json.dumps(report.to_json()))
    assert (value["found"], value["missing"], value["rows"]) == (1, 1, 3)


def test_rows_of_other_words_are_not_kept(write):
    numbers = " ".join(["0.125"] * 100)
    path = write("".join(f"word{i} {numbers}\n" for i in range(20_000)))
    tracemalloc.start()
    load(path, "word7", dimension=100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert os.path.getsize(path) > 12e6
    assert peak < 1e6


def glove(name):
    path = os.path.join(os.environ.get("MTL_TF_MANUAL_DIR", ""), "glove", name)
    if not os.environ.get("MTL_TF_MANUAL_DIR") or not os.path.exists(path):
        pytest.skip("MTL_TF_MANUAL_DIR has no glove folder")
    return path


@pytest.mark.parametrize(
    ("name", "dimension", "rows"),
    [
        ("glove.500.50d.txt", 50, 500),
        ("glove.6B.100d.sample.txt.gz", 100, 100),
        ("glove.6B.300d.sample.txt.gz", 300, 100),
        ("glove.840B.300d_top256.txt", 300, 256),
    ],
)
def test_official_files(name, dimension, rows):
    path = glove(name)
    words = ["the", ",", "of", "no-such-word"]
    matrix, report = load(path, *words, dimension=dimension)
    assert (report.rows, report.words_found) == (rows, 3)
    assert np.abs(matrix[2:5]).sum(axis=1).all()
    with pytest.raises(DataError, match=f"{path}:1: {dimension} numbers"):
        load(path, *words, dimension=dimension - 1)
    with pytest.raises(DataError, match=f"{path}:1: {dimension} numbers"):
        load(path, *words, dimension=dimension + 1)


def test_official_file_agrees_with_a_plain_reading():
    path = glove("glove.500.50d.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in itertools.islice(file, 50)]
    matrix, _ = load(path, *(line[0] for line in lines), dimension=50)
    expected = np.array([line[1:] for line in lines], np.float32)
    np.testing.assert_array_equal(matrix[2:], expected)
