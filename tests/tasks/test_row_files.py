import errno
import os
from typing import NamedTuple

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.sources import check_text
from mtl_tf.tasks.reading import row_files
from mtl_tf.tasks.reading.layouts import Layout
from mtl_tf.tasks.sources.file_source import TextFileSource
from mtl_tf.tasks.task_types.classification import ClassTarget

BY_NUMBER = {"text": 1, "label": 0}
BY_NAME = {"text": "text", "label": "label"}
TSV = Layout("tsv", BY_NUMBER, header=False)
CSV = Layout("csv", BY_NAME, header=True)
JSONL = Layout("jsonl", BY_NAME, header=False)


@pytest.fixture
def write(tmp_path):
    def _write(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return _write


class Table(NamedTuple):
    rows: list[row_files.Row]
    undecodable: list[int]


def read_table(path, layout):
    check_text(path)
    parse, undecodable = ClassTarget().parse, []
    odd = row_files.OddLines(undecodable.append)
    rows = row_files.rows_of(path, layout, parse, odd)
    return Table(list(rows), undecodable)


def rows_of(path, layout):
    return [
        (*row.texts, row.target, row.place.number)
        for row in read_table(path, layout).rows
    ]


def test_tsv_splits_at_line_feeds_and_tabs_only(write):
    path = write("1\ta\x85b\u2028c\rd \n0\t\r\n 1 \te".encode())
    assert rows_of(path, TSV) == [
        ("a\x85b\u2028c\rd ", "1", 1),
        ("", "0", 2),
        ("e", "1", 3),
    ]


def test_tsv_keeps_quotes(write):
    assert rows_of(write(b'1\t"a" b\n'), TSV) == [('"a" b', "1", 1)]


def test_undecodable_lines_are_latin_1_alone(write):
    path = write("1\té\n".encode() + b"0\tcaf\xe9\n1\t\x93x\x94\n")
    table = read_table(path, TSV)
    assert [row.texts for row in table.rows] == [
        ("é",),
        ("café",),
        ("\x93x\x94",),
    ]
    assert table.undecodable == [2, 3]


def test_byte_order_mark_and_blank_end_are_dropped(write):
    path = write(b"\xef\xbb\xbf1\ta\n\n\r\n\n")
    assert rows_of(path, TSV) == [("a", "1", 1)]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", "^"])
def test_csv_with_another_delimiter(write, delimiter):
    records = ["text;label", '"a;""b""";x', "c, d;y"]
    content = "\n".join(records).replace(";", delimiter).encode()
    layout = CSV._replace(delimiter=delimiter)
    expected = [(f'a{delimiter}"b"', "x", 2), ("c, d", "y", 3)]
    assert rows_of(write(content), layout) == expected


def test_header_by_name_and_by_number(write):
    path = write(b"id\ttext \tlabel\n7\ta b\tpos\n")
    by_name = Layout("tsv", BY_NAME, header=True)
    by_number = Layout("tsv", {"text": 1, "label": 2}, header=True)
    assert rows_of(path, by_name) == [("a b", "pos", 2)]
    assert rows_of(path, by_number) == [("a b", "pos", 2)]


def test_of_columns_with_one_name_a_number_tells_which(write):
    path = write(b"text,label,text,x,x\na,1,b,,\n")
    layout = CSV._replace(columns={"text": 2, "label": "label"})
    assert rows_of(path, layout) == [("b", "1", 2)]


def test_csv_quoting_of_rfc_4180(write):
    path = write(
        b'label,text,"other, one"\r\n'
        b'pos,"say ""hi"", she said",x\r\n'
        b'neg,"two\r\nlines\n\nand more",\r\n'
        b'"neg",,""\r\n'
        b"pos, a b ,1"
    )
    assert rows_of(path, CSV) == [
        ('say "hi", she said', "pos", 2),
        ("two\r\nlines\n\nand more", "neg", 3),
        ("", "neg", 7),
        (" a b ", "pos", 8),
    ]


def test_csv_fields_may_be_long_and_hold_bare_carriage_returns(write):
    long = "word " * 100_000
    path = write(f'text,label\n"{long}",1\na\rb,0\n'.encode())
    assert rows_of(path, CSV) == [(long, "1", 2), ("a\rb", "0", 3)]


def test_jsonl(write):
    path = write(
        b'{"text": "a\\n\\u00e9", "label": 1, "more": []}\r\n'
        b'{"label": " pos ", "text": ""}\n{"label": true, "text": "\\u0085"}'
    )
    assert rows_of(path, JSONL) == [
        ("a\né", "1", 1),
        ("", "pos", 2),
        ("\x85", "true", 3),
    ]


@pytest.mark.parametrize(
    ("layout", "content", "line", "message"),
    [
        (TSV, b"1\ta\n0 b\n", 2, "no tab in the line"),
        (
            TSV,
            b'1\ta\n0\t"b\n\nc"\n',
            4,
            "no tab .*: if quotes enclose the cells.* delimiter to '.t' in the",
        ),
        (
            TSV,
            b'1\ta\n0\t"b\tc"\n',
            2,
            "3 columns.*: if quotes enclose the cells.* delimiter to '.t' in",
        ),
        (TSV, b'1\t"a"\n0\n', 2, "no tab in the line.*; `skip_malformed"),
        (
            TSV._replace(columns={"text": 1, "label": 2}),
            b"1\ta\n",
            1,
            "2 columns, but the text is wanted in column 1 and the label is "
            "wanted in column 2 ",
        ),
        (CSV, b"text,label\na,1\nb\n", 3, "no comma in the line"),
        (CSV, b"txt,label\na,1\n", 1, "no column 'text' in the header"),
        (
            CSV,
            b"txt,label\na,1\n",
            1,
            r"did you mean 'txt'\? \(columns.text in the task's entry gives it "
            r"another name\) Without a header, give the columns by number$",
        ),
        (
            CSV._replace(columns={"text": "txt", "label": "label"}),
            b"text,label\na,1\n",
            1,
            "did you mean 'text'[?] Without a header",
        ),
        (
            TSV,
            b" \ta\n",
            1,
            "the label is empty; or if this row names the columns, set header "
            "to True in the task's entry$",
        ),
        (TSV, b"1\ta\n \ta\n", 2, "the label is empty$"),
        (
            CSV,
            b"text;label\na;1\n",
            1,
            r"header \('text;label'\): if ';' separates the columns, set "
            "delimiter to ';' in the task's entry$",
        ),
        (
            TSV._replace(header=True),
            b"text,label\na,1\n",
            2,
            "no tab in the line.* set format to 'csv' and delimiter to ','",
        ),
        (
            CSV._replace(columns=BY_NUMBER),
            b"label|text\n1,a|b\n",
            2,
            r"2 columns, but line 1 has 1: if '\|' separates the columns",
        ),
        (
            CSV._replace(delimiter=";"),
            b"text;label\na;b;1\n",
            2,
            "3 columns, but line 1 has 2: a ';' within a text",
        ),
        (CSV, b'text,label\n"a\nb",1\n"c,0\n\nd,1\n', 4, "never closed"),
        (CSV, b'text,label\na 5" disk and 7" disk,1\n', 2, "unquoted field"),
        (CSV, b'text,label\n"a" b,1\n', 2, "unquoted field"),
        (
            CSV,
            b'"text";"label"\n"a, b";"1"\n',
            1,
            "quotes in it; or if ';' separates the cells, give it as delimiter",
        ),
        (
            CSV._replace(delimiter=";"),
            b'id,"text",label\n1,"a",1\n',
            1,
            "quotes in it; or if ',' separates the cells, give it as delimiter",
        ),
        (
            CSV,
            b"text,label\na, b,1\n",
            2,
            r"3 columns, but line 1 has 2: a comma within a text has to stand "
            r'in quotes \("..."\), and cells that only some rows have must be '
            "removed; `skip_malformed=True` in the task's entry leaves such ",
        ),
        (
            TSV,
            b"1\ta\n0\tb\tc\n",
            2,
            "3 columns, but line 1 has 2: a tab within a text has to become a "
            "space, and cells .*; `skip_malformed=True`",
        ),
        (
            TSV,
            b"1\ta\tb\n0\tc\n",
            2,
            "2 columns, but line 1 has 3: if line 1 is right, cells are "
            "missing here, which may be so only under a header; if not, a tab "
            "within .*; `skip_malformed=True`",
        ),
        (
            CSV,
            b"text,label\nb\n",
            2,
            r"no comma in the line, but .*: 'b'; `skip_malformed=True` in",
        ),
        (CSV, b"text,label\na, \n", 2, "the label is empty"),
        (JSONL, b'{"text": "a", "label": ""}\n', 1, "the label is empty"),
        (JSONL, b'{"text": "a", "label": 1}\n{"text": \n', 2, "not valid JSON"),
        (JSONL, b'{"text": "a", "label": 1}\n\n[]', 3, "must be a JSON ob"),
        (JSONL, b'"a"\n', 1, "must be a JSON object"),
        (
            JSONL,
            b'{"txt": "a", "label": 1}\n',
            1,
            r"no key 'text'; did you mean 'txt'\? \(columns.text in the task's "
            r"entry gives it another name\)$",
        ),
        (JSONL, b'{"text": "a"}\n', 1, "no key 'label'"),
        (
            JSONL,
            b'{"text": 3, "label": 1}\n',
            1,
            "'text' must be a string, found 3$",
        ),
        (
            CSV,
            b"text,label,text\na,1,b\n",
            1,
            "2 columns are called 'text': .* by its number in columns, 0 or 2",
        ),
        (JSONL, b'{"text": "a", "label": null}\n', 1, "'label' must be a"),
        (JSONL, b'{"text": "a", "label": 1.5}\n', 1, "'label' must be a"),
    ],
)
def test_wrong_rows(write, layout, content, line, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as error:
        read_table(path, layout)
    assert str(error.value).startswith(f"{path}:{line}: ")


def counted(path, layout):
    """The rows of a file, and the numbers of malformed and of short ones."""
    malformed, short = [], []
    odd = row_files.OddLines(malformed=malformed.append, short=short.append)
    rows = row_files.rows_of(path, layout, ClassTarget().parse, odd)
    return [(*row.texts, row.target) for row in rows], malformed, short


@pytest.mark.parametrize("columns", [BY_NAME, {"text": 0, "label": 1}])
def test_under_a_header_rows_may_lack_cells_that_are_not_read(write, columns):
    path = write(b"text,label,by,at\na,1,x,y\nb,2\nc,3,x\n")
    layout = CSV._replace(columns=columns)
    expected = [("a", "1"), ("b", "2"), ("c", "3")]
    assert counted(path, layout) == (expected, [], [3, 4])


def test_malformed_rows_may_be_left_out(write):
    path = write(b"id\ttext\tlabel\tby\n1\ta\tx\tb\n2\tc\n3\td\ty\n4\t\t\t\t\n")
    layout = Layout("tsv", BY_NAME, header=True, skip_malformed=True)
    assert counted(path, layout) == ([("a", "x"), ("d", "y")], [3, 5], [4])


def test_without_a_header_the_first_row_is_the_measure(write):
    layout = TSV._replace(skip_malformed=True)
    path = write(b"1\ta\n0\tb\tc\n0\n1\td\n")
    assert counted(path, layout) == ([("a", "1"), ("d", "1")], [2, 3], [])
    path = write(b"1\ta\tb\n0\tc\n")
    assert counted(path, layout) == ([("a", "1")], [2], [])


@pytest.mark.parametrize(
    ("layout", "content", "message"),
    [
        (TSV, b"0\n1\ta\n", "no tab in the line, .*: '0'$"),
        (TSV, b"0;a\n1;b\n", "if ';' separates the columns, set format to"),
        (
            TSV._replace(header=True, columns={"text": 4, "label": 0}),
            b"label\ttext\n1\ta\n",
            "2 columns, but the text is wanted in column 4",
        ),
    ],
)
def test_a_first_row_without_a_column_is_not_left_out(
    write, layout, content, message
):
    with pytest.raises(DataError, match=message):
        counted(write(content), layout._replace(skip_malformed=True))


@pytest.mark.parametrize(
    ("layout", "content"),
    [(TSV, b""), (TSV, b"\n\n"), (CSV, b""), (CSV, b"text,label\n")]
    + [(JSONL, b"")],
)
def test_empty_files(write, layout, content):
    path = write(content)
    source = TextFileSource({"train": [path]}, {"train": layout}, ClassTarget())
    with pytest.raises(DataError, match=f"{path} is empty"):
        source.size("train")


@pytest.mark.parametrize("layout", [TSV, CSV, JSONL])
def test_utf_16_is_an_error(write, layout):
    path = write("1\ta\n".encode("utf-16"))
    with pytest.raises(DataError, match=f"{path}: the text is in UTF-16, "):
        read_table(path, layout)


def test_missing_files_and_folders(tmp_path):
    for path, reason in (
        (tmp_path / "none.tsv", "No such file"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(DataError, match=f"cannot read {path}: {reason}"):
            read_table(str(path), TSV)


def test_unreadable_file(write, monkeypatch):
    path = write(b"1\ta\n")

    def refuse(*args, **options):
        raise PermissionError(errno.EACCES, "no", path)

    # Root may read a file of mode 0, so the refusal is played.
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match=f"{path}: Permission denied"):
        read_table(path, TSV)


def corpus(*parts):
    root = os.environ.get("MTL_TF_MANUAL_DIR")
    path = os.path.join(root or "", *parts)
    if not root or not os.path.exists(path):
        pytest.skip("MTL_TF_MANUAL_DIR has no " + parts[0])
    return path


def test_official_fdu_mtl_file():
    table = read_table(corpus("fdu_mtl", "dvd.task.train"), TSV)
    assert len(table.rows) == 1600
    assert table.undecodable == [905]
    assert {row.target for row in table.rows} == {"0", "1"}


def test_official_sst_file_agrees_with_the_csv_module():
    import csv

    path = corpus("sst", "train_fine_sent.csv")
    with open(path, encoding="utf-8", newline="") as file:
        header, *expected = csv.reader(file)
    rows = read_table(path, Layout("csv", BY_NUMBER, header=True)).rows
    assert [[row.target, *row.texts] for row in rows] == expected
    assert len(rows) == 8544
