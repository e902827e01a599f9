import pytest
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.labels import odd_labels
from mtl_tf.tasks.reading.layouts import Layout
from mtl_tf.tasks.sources import streamed_source
from mtl_tf.tasks.sources.file_source import TextFileSource
from mtl_tf.tasks.task_types.classification import ClassTarget

LAYOUT = Layout("tsv", {"text": 1, "label": 0}, header=False)


@pytest.fixture
def source_of(tmp_path):
    def _source_of(labels=None, **contents):
        files = {}
        for split, content in contents.items():
            if isinstance(content, str):
                content = content.encode()
            path = tmp_path / f"{split}.tsv"
            path.write_bytes(content)
            files[split] = [str(path)]
        layouts = dict.fromkeys(files, LAYOUT)
        return TextFileSource(files, layouts, ClassTarget(labels))

    return _source_of


def examples(source, split):
    return [
        (example["text"].decode(), int(example["label"]))
        for example in source.dataset(split).as_numpy_iterator()
    ]


def test_examples_stand_in_the_order_of_the_file(source_of):
    source = source_of(train="pos\tc\nneg\ta\npos\tb\n", test="neg\td\npos\te")
    assert source.labels == ("neg", "pos")
    assert examples(source, "train") == [("c", 1), ("a", 0), ("b", 1)]
    assert examples(source, "test") == [("d", 0), ("e", 1)]
    assert (source.size("train"), source.size("test")) == (3, 2)
    assert source.split_names == ("train", "test")
    spec = source.dataset("train").element_spec
    assert spec["text"].dtype == "string" and spec["text"].shape == []
    assert spec["label"].dtype == "int64" and spec["label"].shape == []
    assert source.warnings == []


def test_integer_labels_are_sorted_by_value(source_of):
    source = source_of(train="10\ta\n9\tb\n-1\tc\n")
    assert source.labels == ("-1", "9", "10")


def test_given_labels_keep_their_order(source_of):
    source = source_of(labels=["pos", "neg"], test="neg\ta\npos\tb\n")
    assert examples(source, "test") == [("a", 1), ("b", 0)]


def test_unknown_label_names_line_and_nearest(source_of, tmp_path):
    source = source_of(
        train="positive\ta\nnegative\tb\n", test="negative\tc\npositve\td\n"
    )
    with pytest.raises(DataError) as error:
        source.dataset("test")
    assert str(error.value) == (
        f"{tmp_path}/test.tsv:2: unknown label 'positve'; "
        "did you mean 'positive'? Labels are those of the training rows, "
        "unless `labels` in the task's entry lists all of them"
    )


def test_labels_without_a_training_file(source_of):
    with pytest.raises(ConfigError, match="no train split to take its labels"):
        source_of(test="a\tb\n")


def test_unknown_split(source_of):
    with pytest.raises(ConfigError, match="did you mean 'train'"):
        source_of(train="a\tb\n").dataset("tran")


def test_odd_rows_are_kept_counted_and_logged_once(source_of, tmp_path, caplog):
    source = source_of(
        train=b"1\tcaf\xe9\n0\t \n1\t\n1\tb\n1\t\xa0\n",
        test="1\ta\n1\tb\n",
    )
    assert len(examples(source, "train")) == 5
    assert len(examples(source, "test")) == 2
    examples(source, "train")
    assert source.warnings == [
        f"{tmp_path}/train.tsv: 2 rows not UTF-8, read as Latin-1 "
        "(first: line 1)",
        f"{tmp_path}/train.tsv: 3 rows with an empty text (first: line 2)",
        f"{tmp_path}/test.tsv: all 2 rows are of one class, '1'",
    ]
    assert caplog.messages == source.warnings
    assert examples(source, "train")[0] == ("café", 1)


def test_half_a_surrogate_pair_does_not_stop_us(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_bytes(
        b'{"text": "a \\ud83d b", "label": 0}\n{"text": "\\ud83d\\ude00", '
        b'"label": 1}'
    )
    layout = Layout("jsonl", {"text": "text", "label": "label"}, header=False)
    source = TextFileSource(
        {"train": [str(path)]}, {"train": layout}, ClassTarget()
    )
    assert examples(source, "train") == [("a ? b", 0), ("😀", 1)]
    (warning,) = source.warnings
    assert "1 row with half a surrogate pair" in warning


def test_half_a_surrogate_pair_in_a_label_is_an_error(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_bytes(
        b'{"text": "a", "label": 0}\n{"text": "b", "label": "x\\ude00"}\n'
    )
    layout = Layout("jsonl", {"text": "text", "label": "label"}, header=False)
    source = TextFileSource(
        {"train": [str(path)]}, {"train": layout}, ClassTarget()
    )
    with pytest.raises(DataError, match=r"jsonl:2: in the label 'x\\ude00', h"):
        source.size("train")


def test_a_file_is_read_when_its_split_is_asked_for(source_of, tmp_path):
    source = source_of(labels=["0", "1"], train="0\ta\n1\tb\n", test="oops")
    assert source.size("train") == 2
    with pytest.raises(DataError, match=f"{tmp_path}/test.tsv:1: no tab"):
        source.size("test")


def test_as_many_labels_as_texts_are_told(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("".join(f"text {n}\t{n % 2}\n" for n in range(40)))
    source = TextFileSource(
        {"train": [str(path)]}, {"train": LAYOUT}, ClassTarget()
    )
    assert len(source.labels) == 40
    assert "40 labels in 40 rows: are columns.text" in source.warnings[-1]


def rows(**counts):
    return "".join(f"{k}\ttext\n" * n for k, n in counts.items())


def test_labels_of_hardly_any_row_are_told_with_their_lines(
    source_of, tmp_path
):
    content = rows(good=60, bad=60, godo=1, Bad=2, BAd=1, fine=2, other=3)
    source = source_of(train=content, test=rows(good=1, fine=1))
    assert len(source.labels) == 7
    source.size("train"), source.size("test")
    assert source.warnings[1:] == [
        f"{tmp_path}/train.tsv: at most 2 of 129 rows have the label 'godo' "
        "(line 121; did you mean 'good'?), 'Bad' (line 122; did you mean "
        "'bad'?), 'BAd' (line 124; did you mean 'bad'?) and 1 more: each "
        "becomes a class. If some are wrong, list the right labels as "
        "`labels` in the task's entry"
    ]


@pytest.mark.parametrize(
    ("labels", "warning"),
    [
        ({"Good": 9, "good": 9, "bad": 9}, "'Good', 'good'. If they are the"),
        ({"1": 9, "0": 9, "1.0": 9}, "different classes: '1', '1.0'. If"),
        ({"so so": 9, "so_so": 9, "bad": 9}, "'so so', 'so_so'"),
        ({"a": 9, "nan": 9}, "'nan': learnt as a label, but"),
    ],
)
def test_labels_in_two_spellings_and_missing_ones_are_told(
    source_of, labels, warning
):
    source = source_of(train=rows(**labels))
    assert len(source.labels) == len(labels)
    (told,) = source.warnings
    assert warning in told


def test_labels_with_a_line_break_are_told():
    (told,) = odd_labels.doubts(["good", "bad\n1 2", "ok"])
    assert "line break: 'bad\\n1 2'. If they are no labels" in told
    many = [f"{n}\n" * 2 for n in range(9)]
    assert "'2\\n2\\n' and more. If" in odd_labels.doubts(many)[0]


def test_rare_labels_without_a_near_one(source_of):
    source = source_of(train="1\ta\n2\tb\n" * 60 + "11\tc\n")
    assert source.labels == ("1", "2", "11")
    assert "have the label '11' (line 121): each" in source.warnings[0]


@pytest.mark.parametrize(
    ("labels", "content"),
    [
        (None, rows(good=49, bad=49, godo=1)),  # few rows
        (None, rows(good=50, bad=50, other=3)),  # not that rare
        (["good", "bad", "godo"], rows(good=60, bad=60, godo=1)),  # meant
    ],
)
def test_other_labels_are_no_doubt(source_of, labels, content):
    source = source_of(labels=labels, train=content)
    assert source.labels and source.size("train")
    assert source.warnings == []


def test_what_is_odd_is_logged_once_though_several_sources_read_it(
    source_of, monkeypatch
):
    logged = []
    monkeypatch.setattr(
        logging, "log", lambda level, form, *a: logged.append(form % a)
    )
    for _ in range(2):
        source = source_of(train="1\t \n0\tb\n")
        source.size("train")
        assert len(source.warnings) == 1
    assert logged == source.warnings


@pytest.mark.extended
def test_texts_of_a_large_split_are_read_anew_by_every_dataset(
    source_of, tmp_path, monkeypatch
):
    monkeypatch.setattr(streamed_source, "_MOST_KEPT", 2999)
    source = source_of(train="pos\ta\nneg\tb\n" * 1500)
    assert source.size("train") == 3000
    texts = [text for text, _ in examples(source, "train")]
    assert texts == ["a", "b"] * 1500
    dataset = source.dataset("train")
    assert int(dataset.cardinality()) == 3000
    (tmp_path / "train.tsv").write_text("pos\tother\nneg\tb\n" * 1500)
    # No copy of them is in memory.
    assert next(dataset.as_numpy_iterator())["text"] == b"other"


@pytest.fixture
def source_of_files(tmp_path):
    """A source of a list of files for "train", called 0, 1, ..."""

    def _source_of_files(layout, *contents):
        for number, content in enumerate(contents):
            (tmp_path / str(number)).write_bytes(content)
        files = {
            "train": [str(tmp_path / str(n)) for n in range(len(contents))]
        }
        return TextFileSource(files, {"train": layout}, ClassTarget())

    return _source_of_files


CSV = Layout("csv", {"text": "text", "label": "label"}, header=True)


def test_what_is_odd_in_one_of_several_files_names_it(
    source_of_files, tmp_path
):
    source = source_of_files(LAYOUT, b"a\tx\na\t\n", b"a\tcaf\xe9\n")
    source.size("train")
    assert source.warnings == [
        f"{tmp_path}/0: 1 row with an empty text (first: line 2)",
        f"{tmp_path}/1: 1 row not UTF-8, read as Latin-1 (first: line 1)",
        f"{tmp_path}/0 and 1 more file: all 3 rows are of one class, 'a'",
    ]
    good = rows(good=60, bad=60).encode()
    source = source_of_files(LAYOUT, good, good, b"bad\tx\ngodo\tx\n")
    assert source.labels == ("bad", "godo", "good")
    (warning,) = source.warnings
    assert warning.startswith(f"{tmp_path}/0 and 2 more files: at most 2 of")
    assert f"'godo' ({tmp_path}/2:2; did you mean 'good'?)" in warning


@pytest.mark.parametrize(
    ("layout", "contents", "message"),
    [
        (LAYOUT, (b"a\tx\n", b"b\ty\nc\n"), "1:2: no tab in the line"),
        (LAYOUT, (b"a\tx\n", b""), "1 is empty: it has no rows of text and"),
        (LAYOUT, (b"", b"a\tx\n"), "0 is empty: it has no rows of text and"),
        (
            LAYOUT,
            (b"a\tx\n", b"b\ty\tz\n"),
            "1: 3 columns, but {folder}/0 has 2: the files of a split have the "
            "same columns",
        ),
        (
            CSV,
            (b"text,label\na,x\n", b"\xef\xbb\xbflabel,text\nx,a\n"),
            "1:1: the header ('label', 'text') is not that of {folder}/0 "
            "('text', 'label'): each file of a split has the same one",
        ),
        (
            CSV,
            (b"text,label\na,x\n", b"text;label\na;x\n"),
            "1:1: the header ('text;label') is not that of {folder}/0 "
            "('text', 'label'): each file of a split has the same one: if ';'",
        ),
        (CSV, (b"text,label\na,x\n", b"text,label\n"), "1 is empty: it has"),
        (CSV, (b"text,label\na,x\n", b"b,y\n"), "1:1: the header ('b', 'y')"),
        (CSV, (b"label,text\na,x\n", b'text,label\nc,"d\n'), "1:1: the head"),
        (LAYOUT, (b"a\tx\n", b"b\ty\nb\t\0\n"), "1:2: a NUL byte"),
    ],
)
def test_what_is_wrong_in_one_of_several_files_names_it(
    source_of_files, tmp_path, layout, contents, message
):
    with pytest.raises(DataError) as error:
        source_of_files(layout, *contents).size("train")
    message = message.format(folder=tmp_path)
    assert str(error.value).startswith(f"{tmp_path}/{message}")


def test_headers_of_numbered_columns_are_not_compared(source_of_files):
    layout = Layout("csv", {"text": 0, "label": 1}, header=True)
    files = b"text,label\na,x\nb,y\n", b"Text,Label\nc,x\n"
    assert source_of_files(layout, *files).size("train") == 3


def test_an_unknown_label_in_one_of_several_files(tmp_path):
    paths = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    for path, label in zip(paths, ("ham", "spma")):
        path.write_text(f"ham\tx\n{label}\ty\n")
    source = TextFileSource(
        {"train": list(map(str, paths))},
        {"train": LAYOUT},
        ClassTarget(["ham", "spam"]),
    )
    with pytest.raises(DataError) as error:
        source.size("train")
    assert str(error.value).startswith(f"{paths[1]}:2: unknown label 'spma'")


@pytest.mark.parametrize("blank", ["\n" * 5, "\r\n\n", ""])
def test_blank_lines_at_the_end_are_no_rows(source_of, blank):
    source = source_of(train="pos\ta\nneg\tb" + blank)
    assert source.size("train") == 2


def test_all_unknown_labels_of_a_split_are_told_at_once(source_of, tmp_path):
    source = source_of(
        train="a\tone\nb\ttwo\n",
        test="a\tone\nq\ttwo\nr\tthree\nq\tfour\ns\tfive\n",
    )
    with pytest.raises(DataError) as error:
        source.dataset("test")
    assert str(error.value) == (
        f"{tmp_path}/test.tsv:2: unknown label 'q'; known: a, b. Unknown are "
        "also 'r', 's'. Labels are those of the training rows, unless "
        "`labels` in the task's entry lists all of them"
    )
    source = source_of(labels=["a", "b"], test="a\tone\nq\ttwo\n")
    with pytest.raises(DataError, match=r"'q'; known: a, b$"):
        source.dataset("test")


def test_many_unknown_labels_are_counted(source_of):
    source = source_of(
        train="a\tone\nb\ttwo\n",
        test="".join(f"{n}\tone\n" for n in range(30)),
    )
    with pytest.raises(DataError, match=r"'17', '18' and 19 more\. Labels"):
        source.dataset("test")


@pytest.mark.parametrize("is_skipped", [True, False])
def test_a_line_without_the_targets_key_has_no_target(tmp_path, is_skipped):
    path = tmp_path / "train.jsonl"
    path.write_text(
        '{"text": "a", "label": 1}\n{"text": "b"}\n{"text": "c", "label": 0}\n'
    )
    layout = Layout("jsonl", {"text": "text", "label": "label"}, header=False)
    source = TextFileSource(
        {"train": [str(path)]}, {"train": layout}, ClassTarget(), is_skipped
    )
    if is_skipped:
        assert source.size("train") == 2
        return
    with pytest.raises(DataError, match="train.jsonl:2: no key 'label'"):
        source.size("train")
