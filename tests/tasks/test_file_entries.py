"""Entries of tasks on one's own files."""

import gzip

import ml_collections
import pytest

from mtl_tf.core.errors import ConfigError, DataError, MtlError
from mtl_tf.tasks.registry import group_of, resolve
from tests.tasks.fakes import own


def test_own_files(files):
    (task,) = resolve([own(files, loss_weight=2, metrics=["accuracy"])])
    assert task.labels == ("ham", "spam")
    assert (task.loss_weight, task.metrics) == (2, ("accuracy",))
    for split in ("train", "validation", "test"):
        assert task.size(split) == 20
    first = next(task.dataset("test").as_numpy_iterator())
    assert first == {"text": b"t0", "label": 0}


def test_entries_as_config_dicts(files):
    config = ml_collections.ConfigDict({"task": own(files)})
    (task,) = resolve([config.task])
    assert task.size("train") == 20
    assert group_of(config.task).tasks[0].name == "mails"


def test_a_missing_validation_file_is_held_out_of_train(files):
    del files["validation"], files["test"]
    (task,) = resolve([own(files)])
    assert (task.size("train"), task.size("validation")) == (18, 2)
    with pytest.raises(ConfigError, match="mails has no test split"):
        task.dataset("test")
    again = resolve([own(files)])[0]
    held_out = [
        x["text"] for x in task.dataset("validation").as_numpy_iterator()
    ]
    assert held_out == [
        x["text"] for x in again.dataset("validation").as_numpy_iterator()
    ]


def test_a_test_file_alone_needs_labels(files):
    files = {"test": files["test"]}
    with pytest.raises(ConfigError, match="mails: it has no train split to"):
        resolve([own(files)])
    (task,) = resolve([own(files, labels=["spam", "ham"])])
    assert next(task.dataset("test").as_numpy_iterator())["label"] == 1
    with pytest.raises(ConfigError, match="no validation split"):
        task.dataset("validation")


def test_a_train_split_by_another_name(files):
    files = {"trian": files["train"], "test": files["test"]}
    told = "no train split .*, but trian, test: .*, or call one of the splits "
    with pytest.raises(ConfigError, match=f"mails: it has {told}train"):
        resolve([own(files)])


def test_formats_by_ending_and_by_field(tmp_path):
    packed = gzip.compress(b'text,label\n"a, b",1\nc,0\n')
    (tmp_path / "train.csv.gz").write_bytes(packed)
    (tmp_path / "test.jsonl").write_text('{"label": 0, "text": "d"}\n')
    (tmp_path / "dev.txt").write_text('{"label": 1, "text": "e"}\n')
    own_files = {
        "train": str(tmp_path / "train.csv.gz"),
        "test": str(tmp_path / "test.jsonl"),
    }
    (task,) = resolve([{"name": "m", "files": own_files, "labels": [0, 1]}])
    assert task.labels == ("0", "1")
    assert next(task.dataset("test").as_numpy_iterator())["text"] == b"d"
    entry = {"name": "m", "files": {"test": str(tmp_path / "dev.txt")}}
    with pytest.raises(
        ConfigError, match="cannot tell the format of .*dev.txt"
    ):
        resolve([{**entry, "labels": [0, 1]}])
    (task,) = resolve([{**entry, "labels": [0, 1], "format": "jsonl"}])
    assert task.size("test") == 1


@pytest.mark.parametrize("form", [None, "csv"])
@pytest.mark.parametrize(
    ("name", "reader"),
    [("a.parquet", "read_parquet"), ("a.XLSX", "read_excel")],
)
def test_a_binary_table_is_to_be_converted(tmp_path, form, name, reader):
    path = tmp_path / name
    path.write_bytes(b"PAR1")
    entry = {"name": "m", "files": {"test": str(path)}, "labels": [0, 1]}
    message = rf"files.test: .*pandas.{reader}\('{path}'\).to_json\('a.jsonl', "
    with pytest.raises(ConfigError, match=message):
        resolve([{**entry, "format": form}])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "a task's name must start with a letter"),
        ({"name": "a/b"}, "got 'a/b'"),
        ({"name": None}, "got None"),
        ({"type": "parsing"}, "mails: unknown task type 'parsing'"),
        ({"lables": ["a"]}, "mails: unknown field 'lables'; did you mean 'lab"),
        ({"splits": {}}, "mails: unknown field 'splits'"),
        ({"dataset": "x"}, "mails: an entry needs either files or dataset"),
        ({"files": {}}, "files must name a file"),
        ({"files": "a.tsv"}, "split, such as {'train': 'a.tsv'}, got 'a.tsv'"),
        (
            {"files": {"train": 3}},
            "files.train must be a path or a list of paths, got 3",
        ),
        ({"format": "tvs"}, "unknown format 'tvs'; did you mean 'tsv'"),
        ({"columns": {"txt": 0}}, "unknown columns.txt; did you mean 'text'"),
        ({"columns": {"text": -1}}, "columns.text must be .* got -1"),
        ({"columns": {"text": True}}, "columns.text must be .* got True"),
        ({"columns": {"text": 1, "label": 1}}, "are both 1"),
        ({"columns": {}, "header": False}, "which takes a header"),
        ({"delimiter": ";"}, "delimiter is for csv, and the files are read as"),
        (
            {"format": "csv", "delimiter": ";;"},
            "delimiter must be one character, such as ';', .* got ';;'",
        ),
        ({"format": "csv", "delimiter": '"'}, "no quote or line end"),
        ({"skip_missing": 1}, "skip_missing must be True or False, got 1"),
        ({"skip_malformed": 1}, "skip_malformed must be True or False, got 1"),
        (
            {
                **{"format": "jsonl", "skip_malformed": True},
                "columns": {"text": "text", "label": "label"},
            },
            "skip_malformed is about the columns of csv and tsv, and the files",
        ),
        ({"header": "yes"}, "header must be True or False, got 'yes'"),
        ({"format": "jsonl"}, "jsonl has keys"),
        ({"labels": ["ham"]}, "labels must be a list of at least 2"),
        ({"labels": "ham"}, "labels must be a list of at least 2, got 'ham'"),
        ({"labels": ["ham", "ham "]}, "labels names one twice"),
        ({"labels": ["ham", 1.5]}, "labels must hold strings, got 1.5"),
        ({"metrics": []}, "metrics must be a list of at least 1"),
        ({"metrics": ["acuracy"]}, "of classification 'acuracy'; did you mean"),
        ({"metrics": ["span_f1"]}, "unknown metric of classification"),
        ({"loss_weight": -1}, "mails: loss_weight must be positive, got -1"),
        ({"loss_weight": float("nan")}, "loss_weight must be positive"),
    ],
)
def test_wrong_fields(files, fields, message):
    with pytest.raises(ConfigError, match=message):
        resolve([own(**{"files": files, **fields})])


def test_files_are_looked_for_at_once(files, tmp_path):
    for path, reason in (("none.tsv", "does not exist"), ("", "is no file")):
        path = str(tmp_path / path)
        with pytest.raises(DataError) as error:
            resolve([own({**files, "test": path})])
        assert str(error.value) == f"task mails: files.test: {path} {reason}"


def test_wrong_rows_name_the_line(files, tmp_path):
    (tmp_path / "train.tsv").write_text("ham\ta\nspam b\n")
    with pytest.raises(MtlError, match=r"train.tsv:2: no tab in the line"):
        resolve([own(files)])


@pytest.mark.parametrize(
    ("task_type", "content", "message"),
    [
        ("classification", "text,label\na,x\nb, \nc,y\n", "label is empty"),
        ("regression", "text,value\na,1\nb,\nc,3\n", "must be a number"),
        (
            "classification",
            '{"text": "a", "label": 1}\n{"text": "b", "label": null}\n'
            '{"text": "c", "label": 2}\n',
            "found null",
        ),
        (
            "regression",
            '{"text": "a", "value": 1}\n{"text": "b", "value": NaN}\n'
            '{"text": "c", "value": 2}\n',
            "must be finite",
        ),
        (
            "multi_label",
            '{"text": "a", "labels": []}\n{"text": "b", "labels": null}\n'
            '{"text": "c", "labels": ["x", "y"]}\n',
            "found null",
        ),
    ],
)
def test_rows_without_a_target(tmp_path, task_type, content, message):
    path = tmp_path / f"train.{'jsonl' if content[0] == '{' else 'csv'}"
    path.write_text(content)
    entry = {"name": "t", "type": task_type, "files": {"train": str(path)}}
    line = 3 if path.suffix == ".csv" else 2
    with pytest.raises(DataError, match=f":{line}: .*{message}.*; `skip_mis"):
        resolve([entry])[0].source.size("train")
    (task,) = resolve([entry | {"skip_missing": True}])
    texts = task.source.dataset("train").map(lambda example: example["text"])
    assert list(texts.as_numpy_iterator()) == [b"a", b"c"]
    assert task.source.warnings[0].endswith(
        f"1 row without a target, left out by skip_missing (first: line {line})"
    )


@pytest.mark.parametrize(
    ("task_type", "names", "unit"),
    [
        ("classification", "text,label", "row"),
        ("multi_label", "text,labels", "row"),
        ("regression", "text,value", "row"),
        ("pair_classification", "text,text_pair,label", "row"),
        ("pair_regression", "text,text_pair,value", "row"),
        ("translation", "source,target", "row"),
        ("question_answering", "context,question,answer", "line"),
    ],
)
def test_rows_of_a_wrong_width(tmp_path, task_type, names, unit):
    path = tmp_path / "train.csv"
    right = [",".join([letter] * names.count(",") + ["1"]) for letter in "abc"]
    wrong = ("d", f"{right[0]},e,f", f"{right[0]},g,h")
    path.write_text("\n".join([f"{names},by", *right, *wrong, ""]))
    name = "en-de" if task_type == "translation" else "t"
    entry = {"name": name, "type": task_type, "files": {"train": str(path)}}
    with pytest.raises(DataError, match=":5: no comma .*; `skip_malformed=T"):
        resolve([entry])[0].source.size("train")
    source = resolve([entry | {"skip_malformed": True}])[0].source
    assert source.size("train") == len(right)
    first = names.split(",")[0]
    texts = source.dataset("train").map(lambda example: example[first])
    assert list(texts.as_numpy_iterator()) == [b"a", b"b", b"c"]
    left_out, short = source.warnings[:2]
    assert left_out == (
        f"{path}: 3 {unit}s with another number of columns than the first row, "
        f"left out by skip_malformed (first: line 5)"
    )
    assert short == (
        f"{path}: 3 {unit}s with fewer columns than the header, but with all "
        "that are read (first: line 2)"
    )


@pytest.mark.parametrize(
    ("task_type", "names"),
    [
        ("classification", "text,label"),
        ("translation", "source,target"),
        ("question_answering", "context,question,answer"),
    ],
)
def test_files_of_malformed_rows_alone(tmp_path, task_type, names):
    path = tmp_path / "train.csv"
    path.write_text(f"{names}\na,b,c,d\n")
    name = "en-de" if task_type == "translation" else "t"
    entry = {"name": name, "type": task_type, "files": {"train": str(path)}}
    with pytest.raises(DataError, match=r"is empty: .* left out by skip_malf"):
        resolve([entry | {"skip_malformed": True}])[0].source.size("train")
