"""Files that are one JSON list, in place of an object a line."""

import gzip
import json

import pandas as pd
import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.tasks import registry

# By type: rows, and what one without its last field lacks.
TYPES = {
    "classification": [{"text": "a", "label": "x"}, {"text": "b", "label": 1}],
    "multi_label": [{"text": "a", "labels": ["x", "y"]}] * 2,
    "regression": [{"text": "a", "value": 1}, {"text": "b", "value": 2.5}],
    "pair_classification": [
        {"text": "a", "text_pair": "b", "label": label} for label in "xy"
    ],
    "tagging": [
        {"tokens": ["a", "b"], "tags": ["X", "Y"]},
        {"tokens": ["c"], "tags": ["X"]},
    ],
    "translation": [{"source": "a", "target": "b"}] * 2,
    "question_answering": [
        {"context": "a", "question": "b?", "answer": ["c", "d"]},
        {"context": "a", "question": "", "answer": "d"},
    ],
}


def resolved(path, task_type, **fields):
    files = dict.fromkeys(("train", "validation"), str(path))
    entry = {"name": "en-de", "type": task_type, "files": files}
    (task,) = registry.resolve([{**entry, **fields}])
    return task


def examples(task):
    return [
        {
            name: value.tolist() if hasattr(value, "tolist") else value
            for name, value in example.items()
        }
        for example in task.dataset("train").as_numpy_iterator()
    ]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("task_type", TYPES)
def test_a_list_is_read_as_lines_are(tmp_path, task_type, indent):
    rows = TYPES[task_type]
    lines, whole = tmp_path / "a.jsonl", tmp_path / "a.json.gz"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole.write_bytes(gzip.compress(json.dumps(rows, indent=indent).encode()))
    expected = examples(resolved(lines, task_type))
    assert len(expected) == 2
    assert examples(resolved(whole, task_type)) == expected
    # The first byte tells, whatever the name says.
    named_wrong = tmp_path / "b.jsonl"
    named_wrong.write_bytes(gzip.decompress(whole.read_bytes()))
    assert examples(resolved(named_wrong, task_type)) == expected
    # Lines may stand in a file called .json, too.
    also = tmp_path / "c.json"
    also.write_bytes(lines.read_bytes())
    assert examples(resolved(also, task_type)) == expected


@pytest.mark.parametrize("task_type", TYPES)
def test_a_wrong_element_is_named(tmp_path, task_type):
    *_, target = TYPES[task_type][1]
    rows = [*TYPES[task_type], {**TYPES[task_type][1], target: None}]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, indent=1))
    with pytest.raises(DataError) as error:
        resolved(path, task_type).size("train")
    assert str(error.value).startswith(f"{path}: element 3: ")
    del rows[2][target]
    path.write_text(json.dumps(rows))
    with pytest.raises(DataError) as error:
        resolved(path, task_type).size("train")
    assert str(error.value).startswith(f"{path}: element 3: no ")


def test_what_pandas_writes(tmp_path):
    path = tmp_path / "a.json"
    frame = pd.DataFrame({"text": ["a/é", "b"], "label": ["x", "y"]})
    for indent in (None, 4):
        frame.to_json(path, orient="records", indent=indent)
        task = resolved(path, "classification")
        assert examples(task)[0] == {"text": "a/é".encode(), "label": 0}


def test_places_are_elements(tmp_path, caplog):
    rows = [{"text": "a", "label": "x"}, {"text": " ", "label": "y"}]
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(json.dumps(rows))
    other.write_text(json.dumps([*rows, {"text": "c", "label": "z"}]))
    files = {"train": str(path), "test": str(other)}
    task = resolved(path, "classification", files=files)
    assert "1 row with an empty text (first: element 2)" in caplog.text
    message = f"{other}: element 3: unknown label 'z'"
    with pytest.raises(DataError, match=message):
        task.size("test")
    path.write_text(json.dumps([{"source": "a", "target": t} for t in "b "]))
    resolved(path, "translation").size("train")
    assert "with an empty text skipped (first: element 2)" in caplog.text
    rows = [{"context": "a", "question": q, "answer": "b"} for q in "c "]
    path.write_text(json.dumps(rows))
    resolved(path, "question_answering").size("train")
    assert "1 element without a question (first: element 2)" in caplog.text
    rows = [{"context": "a", "question": "b"} for _ in range(3)]
    for row, answer in zip(rows, ["['c', \"d\"]", ["e", "f"], "[g]"]):
        row["answer"] = answer
    path.write_text(json.dumps(rows))
    resolved(path, "question_answering").size("train")
    assert "1 element whose answer is the text of a list" in caplog.text
    assert "in a .jsonl file (first: element 1)" in caplog.text


def test_tags_that_are_unknown(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(TYPES["tagging"]))
    with pytest.raises(DataError, match=f"{path}: element 1: .*'Y'"):
        resolved(path, "tagging", labels=["X", "Z"]).dataset("train")


@pytest.mark.parametrize("content", ["[]", "[\n]\n"])
@pytest.mark.parametrize("task_type", TYPES)
def test_an_empty_list(tmp_path, task_type, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(DataError, match=f"{path} is empty"):
        resolved(path, task_type).size("train")
