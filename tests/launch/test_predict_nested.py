"""Columns inside objects of JSON, of what is predicted and scored."""

import json

import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.prediction import labelled_data, task_types
from tests.launch.stand_in import TAGGING, TASKS, TRANSLATION, Run

PAIR = {"translation": {"en": "a dog", "de": "ein Hund"}, "id": 7}
SIDES = {"source": "translation.en", "target": "translation.de"}
BOOKS, FILMS = TASKS


def entry(task, columns):
    return {
        "name": task["name"],
        "type": task["type"],
        "files": {"train": "a.jsonl"},
        "columns": columns,
    }


@pytest.fixture
def run(monkeypatch):
    entries = [
        entry(BOOKS, {"text": "text.body", "label": "meta.label"}),
        entry(TAGGING, {"tokens": "sentence.forms", "tags": "sentence.ner"}),
        entry(TRANSLATION, SIDES),
    ]
    run = Run([BOOKS, FILMS, TAGGING, TRANSLATION], entries)
    monkeypatch.setattr(mtl_tf, "load", lambda *_: run)
    return run


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_the_columns_of_the_training_are_found(run, files):
    rows = [
        {"text": {"body": "a good one"}, "task": "books", "meta": {"n": 1}},
        {"sentence": {"forms": ["Ann", "sees"]}, "task": "names"},
        {**PAIR, "task": "en-de"},
    ]
    found = files.call(lines(*rows), "--format=jsonl")
    assert [call[:2] for call in run.calls] == [
        ("books", ["a good one"]),
        ("names", [["Ann", "sees"]]),
        ("en-de", ["a dog"]),
    ]
    assert found[0]["input_text"] == {"body": "a good one"}
    assert found[0]["label"] == "positive" and found[0]["meta"] == {"n": 1}
    assert found[1]["tags"] == ["B-X", "O"]
    assert found[2]["id"] == 7 and found[2]["translation"] == "A DOG"
    assert found[2]["input_translation"] == PAIR["translation"]


def test_flags_name_them(run, files):
    row = {"meta": {"task": "books"}, "review": {"body": "good"}}
    columns = "--columns=text=review.body,task=meta.task"
    (found,) = files.call(lines(row), "--format=jsonl", columns)
    assert found["label"] == "positive" and found["review"] == row["review"]
    columns = "--columns=text=review.title"
    message = (
        "in:1: no field 'review.title', which --columns names for text; the "
        "keys in 'review' are 'body'"
    )
    with pytest.raises(DataError, match=message):
        files.call(lines(row), "--format=jsonl", columns)


def test_objects_are_no_texts(run, files):
    wrong = {"text": {"title": "good"}}
    with pytest.raises(ConfigError, match='in:1: .*; text is {"title": "good"'):
        files.call(lines(wrong), "--task=films", "--format=jsonl")
    with pytest.raises(ConfigError) as error:
        files.call(lines(wrong), "--task=books", "--format=jsonl")
    assert str(error.value).endswith(
        "no 'text.body', which is text in the task's own files; the keys in "
        "'text' are 'title'"
    )


def test_translations_that_are_given(run, files):
    flags = ("--score", "--task=en-de", "--format=jsonl")
    (found,) = files.call(lines(PAIR), *flags)
    given = {"text": "a dog", "translation": "ein Hund"}
    assert run.calls == [("en-de", [given])]
    assert found["input_translation"] == PAIR["translation"]
    assert found["id"] == 7 and "text" not in found
    # The fields' own names still come first.
    files.call(lines({**PAIR, "text": "b", "translation": "c"}), *flags)
    assert run.calls[-1][1] == [{"text": "b", "translation": "c"}]


@pytest.mark.parametrize(
    ("task", "row", "expected"),
    [
        (BOOKS, {"text": {"body": "a"}}, {"text": "a"}),
        (BOOKS, {"text": "a"}, {"text": "a"}),
        (BOOKS, {"text.body": "a", "text": "b"}, {"text": "a"}),
        (TAGGING, {"sentence": {"forms": ["a"]}}, {"tokens": ["a"]}),
        (TRANSLATION, PAIR, {"text": "a dog"}),
    ],
)
def test_rows_in_python(run, task, row, expected):
    predictions = task_types.of(task["type"])
    columns = labelled_data.trained_columns(run.config, task)
    named = predictions.named(task, row, columns)
    assert predictions.fields_of(task, named) == expected


def test_rows_that_are_scored(run, monkeypatch):
    read = []

    def read_file(path, task, entry):
        read.append(entry["columns"])
        raise StopIteration

    monkeypatch.setattr(
        task_types.of("translation"), "read_file", read_file, raising=False
    )
    with pytest.raises(StopIteration):
        labelled_data.evaluate(run, {"en-de": [PAIR]})
    assert read == [SIDES]


@pytest.mark.parametrize(
    ("task", "row", "examples", "targets"),
    [
        (
            BOOKS,
            {"text": {"body": "a"}, "meta": {"label": "positive"}},
            [{"text": "a"}],
            [1],
        ),
        (
            TAGGING,
            {"sentence": {"forms": ["a", "b"], "ner": ["B-X", "O"]}},
            [{"tokens": ["a", "b"]}],
            [[1, 0]],
        ),
        (TRANSLATION, PAIR, [{"text": "a dog"}], ["ein Hund"]),
    ],
)
def test_files_that_are_scored(run, tmp_path, task, row, examples, targets):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(row))
    own = labelled_data.entry_of(run.config, task["name"])
    read = task_types.of(task["type"]).read_file(str(path), task, own)
    assert [list(examples), list(targets)] == [read[0], list(read[1])]
