"""Entries whose columns are keys inside the objects of jsonl files."""

import json
import math

import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks import in_memory, registry
from mtl_tf.tasks.reading import given_rows

IN, OUT = "data.in", "meta.gold"
# By type: the columns, what a line holds, the targets of two lines, and what
# is read of them.
TYPES = {
    "classification": (
        {"text": IN, "label": OUT},
        {"in": "a"},
        ("x", "y"),
        {"text": b"a", "label": 1},
    ),
    "multi_label": (
        {"text": IN, "labels": OUT},
        {"in": "a"},
        (["x"], ["x", "y"]),
        {"text": b"a", "labels": [1, 1]},
    ),
    "regression": (
        {"text": IN, "value": OUT},
        {"in": "a"},
        (1, 2),
        {"text": b"a", "value": 2},
    ),
    "pair_classification": (
        {"text": IN, "text_pair": "data.other", "label": OUT},
        {"in": "a", "other": "b"},
        ("x", "y"),
        {"text": b"a", "text_pair": b"b", "label": 1},
    ),
    "pair_regression": (
        {"text": IN, "text_pair": "data.other", "value": OUT},
        {"in": "a", "other": "b"},
        (1, 2),
        {"text": b"a", "text_pair": b"b", "value": 2},
    ),
    "tagging": (
        {"tokens": IN, "tags": OUT},
        {"in": ["a", "b"]},
        (["X", "X"], ["Y", "X"]),
        {"tokens": [b"a", b"b"], "tags": [1, 0]},
    ),
    "translation": (
        {"source": IN, "target": OUT},
        {"in": "a"},
        ("x", "y"),
        {"source": b"a", "target": b"y"},
    ),
    "question_answering": (
        {"context": IN, "question": "data.asked", "answer": OUT},
        {"in": "a", "asked": "why?"},
        ("x", ["y", "z"]),
        {"context": b"a", "question": b"why?", "answer": b"y"},
    ),
}


def rows_of(task_type):
    _, given, targets, _ = TYPES[task_type]
    return [{"data": given, "meta": {"gold": gold}} for gold in targets]


def resolved(path, task_type, rows, **fields):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = dict.fromkeys(("train", "validation"), str(path))
    columns = TYPES[task_type][0]
    entry = {"name": "en-de", "type": task_type, "columns": columns}
    (task,) = registry.resolve([{**entry, "files": files, **fields}])
    return task


def last_of(task):
    *_, example = task.dataset("train").as_numpy_iterator()
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in example.items()
    }


@pytest.mark.parametrize("task_type", TYPES)
def test_every_type_reads_keys_inside_objects(tmp_path, task_type):
    task = resolved(tmp_path / "a.jsonl", task_type, rows_of(task_type))
    assert task.size("train") == 2
    expected = TYPES[task_type][-1]
    assert last_of(task).items() >= expected.items()


@pytest.mark.parametrize("task_type", TYPES)
def test_a_key_that_is_not_there(tmp_path, task_type):
    path, rows = tmp_path / "a.jsonl", rows_of(task_type)
    rows[1]["meta"] = {"old": 1, "new": 2}
    with pytest.raises(DataError) as error:
        resolved(path, task_type, rows).size("train")
    message = str(error.value)
    assert message.startswith(f"{path}:2: no ") and "\n" not in message
    assert "'meta.gold'; the keys in 'meta' are 'old', 'new'" in message


@pytest.mark.parametrize("task_type", TYPES)
def test_keys_with_dots_in_them_come_first(tmp_path, task_type):
    columns, _, (_, target), expected = TYPES[task_type]
    rows = rows_of(task_type)
    for row in rows:
        gold = row["meta"].pop("gold")
        row[OUT] = gold
        row["meta"]["gold"] = 17
    task = resolved(tmp_path / "a.jsonl", task_type, rows)
    assert last_of(task).items() >= expected.items()


def test_rows_without_a_target_are_left_out(tmp_path):
    rows = rows_of("classification")
    rows += [{**rows[0], "meta": meta} for meta in ({"gold": None}, {}, None)]
    path = tmp_path / "a.jsonl"
    task = resolved(path, "classification", rows, skip_missing=True)
    assert task.size("train") == 2
    with pytest.raises(DataError, match=f"{path}:3: 'meta.gold' must be"):
        resolved(path, "classification", rows).size("train")


def test_tables_have_no_keys_inside_cells(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("data.in,meta.gold\na,x\nb,y\n")
    files = {"train": str(path)}
    entry = {"name": "t", "files": files}
    columns = TYPES["classification"][0]
    (task,) = registry.resolve([{**entry, "columns": columns}])
    assert task.labels == ("x", "y")
    wrong = {"text": "data.in.more", "label": OUT}
    with pytest.raises((ConfigError, DataError), match="no column 'data.in.mo"):
        registry.resolve([{**entry, "columns": wrong}])


def entry_of(rows, **fields):
    columns = TYPES["classification"][0]
    data = dict.fromkeys(("train", "validation"), rows)
    return {"name": "t", "columns": columns, "data": data, **fields}


def test_examples_at_hand(tmp_path):
    rows = rows_of("classification")
    for row in rows:
        # What nobody reads need not be plain.
        row["meta"]["when"] = row["then"] = object()
    rows.append({"data": {"in": "c"}, "meta": {"gold": math.nan}})
    entry = in_memory.to_files(
        entry_of(rows, skip_missing=True), str(tmp_path / "a")
    )
    (task,) = registry.resolve([entry])
    assert task.size("train") == 2
    assert last_of(task) == {"text": b"a", "label": 1}
    entry = in_memory.to_files(entry_of(rows), str(tmp_path / "given"))
    with pytest.raises(DataError) as error:
        registry.resolve([entry])
    told = given_rows.named(str(error.value), in_memory.paths_of([entry]))
    assert told.startswith("task t: data['train'] row 2: 'meta.gold' must be")
    assert "found null; `skip_missing=True` in the task's entry" in told
    rows[2] = {"data": {"in": "c"}, "meta": {"old": 1}}
    entry = in_memory.to_files(entry_of(rows), str(tmp_path / "given"))
    with pytest.raises(DataError, match="keys in 'meta' are 'old'") as error:
        registry.resolve([entry])
    told = given_rows.named(str(error.value), in_memory.paths_of([entry]))
    assert told.startswith("task t: data['train'] row 2: no key 'meta.gold'")
