"""Examples at hand become files of lines that a task reads."""

import json
import os

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks import registry
from mtl_tf.tasks.in_memory import to_files

ROWS = [
    {"text": "a good tea", "label": "yes"},
    {"text": "ünbearable \u2028 stuff", "label": "no"},
]


def columns(rows):
    return {key: [row[key] for row in rows] for key in rows[0]}


FORMS = {
    "frame": pd.DataFrame,
    "columns": columns,
    "arrays": lambda rows: {k: np.array(v) for k, v in columns(rows).items()},
    "dataset": lambda rows: tf.data.Dataset.from_tensor_slices(columns(rows)),
    "list": list,
    "generator": lambda rows: (row for row in rows),
}


def entry_of(data, **fields):
    return {"name": "tea", "data": data, **fields}


def read(entry, split="train"):
    (task,) = registry.resolve([entry])
    return [
        (one["text"].decode(), task.labels[int(one["label"])])
        for one in task.dataset(split).as_numpy_iterator()
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_examples_in_order(form, tmp_path):
    data = {"train": FORMS[form](ROWS), "validation": FORMS[form](ROWS[::-1])}
    entry = to_files(entry_of(data), str(tmp_path))
    wanted = [(row["text"], row["label"]) for row in ROWS]
    assert read(entry) == wanted
    assert read(entry, "validation") == wanted[::-1]


def test_tags_and_numbers_are_kept(tmp_path):
    sentences = [{"tokens": np.array(["a", "tea"]), "tags": ("O", "B-X")}]
    values = pd.DataFrame({"text": ["a", "b"], "value": [1.5, 2.0]})
    tags = to_files(
        {"name": "tags", "type": "tagging", "data": {"train": sentences}},
        str(tmp_path),
    )
    numbers = to_files(
        {"name": "numbers", "type": "regression", "data": {"train": values}},
        str(tmp_path),
    )
    with open(tags["files"]["train"]) as file:
        assert json.loads(file.read()) == {
            "tokens": ["a", "tea"],
            "tags": ["O", "B-X"],
        }
    with open(numbers["files"]["train"]) as file:
        assert [json.loads(x)["value"] for x in file] == [1.5, 2.0]


def test_names_of_files_tell_their_contents(tmp_path):
    first = to_files(entry_of({"train": ROWS}), str(tmp_path))
    again = to_files(entry_of({"train": list(ROWS)}), str(tmp_path))
    other = to_files(entry_of({"train": ROWS[:1]}), str(tmp_path))
    assert first == again
    assert first["files"] != other["files"]
    assert os.path.isabs(first["files"]["train"])
    assert len(os.listdir(tmp_path / "tea")) == 2


def test_other_entries_stay_as_they_are(tmp_path):
    for entry in ("sample_reviews", {"name": "a", "files": {"train": "a.tsv"}}):
        assert to_files(entry, str(tmp_path)) == entry
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("entry", "error", "message"),
    [
        (entry_of(ROWS), ConfigError, "must map train, validation or test"),
        (entry_of({"train": "text"}), ConfigError, "data['train'] must be"),
        (entry_of({"train": 7}), ConfigError, "data['train'] must be"),
        (entry_of({"dev": ROWS}), ConfigError, "dev"),
        (entry_of({"train": ROWS}, files={}), ConfigError, "data and files"),
        (entry_of({"train": ROWS}, dataset="x"), ConfigError, "and dataset"),
        (
            entry_of({"train": [*ROWS, "text"]}),
            DataError,
            "task tea: data['train'] row 2 must be a dict, got 'text'",
        ),
        (
            entry_of({"train": [{"text": "a", "label": float("nan")}]}),
            DataError,
            "row 0 'label' is missing or not finite: nan",
        ),
        (
            entry_of({"train": [{"text": b"\xff", "label": 1}]}),
            DataError,
            "row 0 'text' is not UTF-8",
        ),
        (
            entry_of({"train": [{"text": object(), "label": 1}]}),
            DataError,
            "row 0 'text' must be text, a number or a list of such",
        ),
        (
            entry_of({"train": {"text": ["a", "b"], "label": ["x"]}}),
            DataError,
            "columns differ in length: {'text': 2, 'label': 1}",
        ),
        ({"name": "../a", "data": {}}, ConfigError, "must start with"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    entry, error, message, tmp_path
):
    with pytest.raises(error) as raised:
        to_files(entry, str(tmp_path))
    assert message in str(raised.value)
    assert os.listdir(tmp_path) == []
