"""Examples at hand become files of lines that a task reads."""

import datetime
import json
import os

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.tasks import registry
from mtl_tf.tasks.in_memory import paths_of, to_files
from mtl_tf.tasks.reading.given_rows import file_of, named

ROWS = [
    {"text": "a good tea", "label": "yes"},
    {"text": "ünbearable \u2028 stuff", "label": "no"},
]


def columns(rows):
    return {key: [row[key] for row in rows] for key in rows[0]}


def pairs(rows):
    """As `text_dataset_from_directory` of Keras gives them."""
    made = columns(rows)
    return tf.data.Dataset.from_tensor_slices((made["text"], made["label"]))


def inputs_and_target(rows):
    return pairs(rows).map(lambda text, label: ({"text": text}, label))


FORMS = {
    "frame": pd.DataFrame,
    "columns": columns,
    "arrays": lambda rows: {k: np.array(v) for k, v in columns(rows).items()},
    "dataset": lambda rows: tf.data.Dataset.from_tensor_slices(columns(rows)),
    "batches": lambda rows: FORMS["dataset"](rows).batch(64),
    "fixed batches": lambda rows: FORMS["dataset"](rows).batch(1, True),
    "pairs": pairs,
    "batches of pairs": lambda rows: pairs(rows).batch(64),
    "inputs and target": inputs_and_target,
    "batches of inputs": lambda rows: inputs_and_target(rows).batch(2),
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


def test_batches_of_keras_have_the_columns_of_the_entry(tmp_path):
    data = dict.fromkeys(("train", "validation"), pairs(ROWS).batch(2))
    names = {"text": "order", "label": "kind"}
    entry = to_files(entry_of(data, columns=names), str(tmp_path))
    assert read(entry) == [(row["text"], row["label"]) for row in ROWS]


@pytest.mark.parametrize("is_pair", [False, True])
@pytest.mark.parametrize("batch", [0, 2])
def test_sentences_of_a_dataset(is_pair, batch, tmp_path):
    tokens = tf.ragged.constant([["a", "tea"], ["hot"], ["tea"]])
    tags = tf.ragged.constant([["O", "B-X"], ["O"], ["B-X"]])
    given = (tokens, tags) if is_pair else {"tokens": tokens, "tags": tags}
    data = tf.data.Dataset.from_tensor_slices(given)
    data = data.batch(batch) if batch else data
    entry = {"name": "tags", "type": "tagging", "data": {"train": data}}
    with open(to_files(entry, str(tmp_path))["files"]["train"]) as file:
        lines = [json.loads(line) for line in file]
    assert [line["tokens"] for line in lines] == [
        ["a", "tea"],
        ["hot"],
        ["tea"],
    ]
    assert [line["tags"] for line in lines] == [["O", "B-X"], ["O"], ["B-X"]]


def test_two_texts_of_a_dataset(tmp_path):
    texts = ["a", "b"], ["c", "d"]
    data = tf.data.Dataset.from_tensor_slices((texts, ["x", "y"])).batch(2)
    entry = {"name": "p", "type": "pair_classification"}
    entry = to_files({**entry, "data": {"train": data}}, str(tmp_path))
    with open(entry["files"]["train"]) as file:
        first = json.loads(next(file))
    assert first == {"text": "a", "text_pair": "c", "label": "x"}


def marked(rows):
    """An entry with a column of ones and zeros for each of two labels."""
    names = {"text": "said", "labels": ["hot", "cold"]}
    entry = entry_of({"train": rows}, type="multi_label", columns=names)
    entry["labels"] = ["warm", "cool"]
    return entry


def test_a_column_for_each_label(tmp_path):
    frame = pd.DataFrame(
        {"said": ["a", "b"], "cold": [0, 1], "hot": [True, False], "n": [5, 6]}
    )
    dataset = tf.data.Dataset.from_tensor_slices(dict(frame)).batch(2)
    for rows in (frame, dataset):
        (task,) = registry.resolve([to_files(marked(rows), str(tmp_path))])
        assert task.labels == ("warm", "cool")
        found = [
            (one["text"], one["labels"].tolist())
            for one in task.source.dataset("train").as_numpy_iterator()
        ]
        assert found == [(b"a", [1, 0]), (b"b", [0, 1])]
    pairs = tf.data.Dataset.from_tensor_slices((["a"], [[0, 1]]))
    with pytest.raises(ConfigError, match="in 2 columns: give a tf.data.Dat"):
        to_files(marked(pairs), str(tmp_path))
    for columns in ({"text": ["a", "b"]}, {"label": ["a"]}):
        with pytest.raises(ConfigError, match="columns.* must be a name, got"):
            to_files(entry_of({"train": ROWS}, columns=columns), str(tmp_path))
    with pytest.raises(ConfigError, match="header is of csv and tsv files"):
        to_files(entry_of({"train": ROWS}, header=False), str(tmp_path))
    frame["cold"] = [np.nan, 1]
    entry = to_files(marked(frame), str(tmp_path / "given"))
    (task,) = registry.resolve([entry])
    with pytest.raises(DataError, match="jsonl:1: the column 'cold' must be"):
        next(iter(task.source.dataset("train")))


def test_columns_of_one_name(tmp_path):
    # pandas would keep the last one.
    rows = [["a", "x", "y"], ["b", "y", "x"]]
    frame = pd.DataFrame(rows, columns=["text", "label", "label"])
    message = r"data\['train'\]: 2 columns .* are called 'label': rename or"
    with pytest.raises(DataError, match=message):
        to_files(entry_of({"train": frame}), str(tmp_path))


def test_whole_floats_are_integers(tmp_path):
    frame = pd.DataFrame({"text": ["a", "b"], "label": [1.0, 0.0]})
    data = dict.fromkeys(("train", "validation"), frame)
    entry = to_files(entry_of(data), str(tmp_path))
    assert read(entry) == [("a", "1"), ("b", "0")]
    labels = {"text": "a", "labels": [1.0, 2]}
    entry = {"name": "t", "type": "multi_label", "data": {"train": [labels]}}
    (task,) = registry.resolve([to_files(entry, str(tmp_path))])
    assert task.labels == ("1", "2")


@pytest.mark.parametrize(
    ("fields", "rows", "message"),
    [
        (
            {},
            [*ROWS, {"text": "a"}],
            "task tea: data['train'] row 2: no key 'label'; known: text",
        ),
        (
            {},
            [*ROWS, {"text": "a", "label": 1.5}],
            "task tea: data['train'] row 2: 'label' must be a string or an "
            "integer, found 1.5",
        ),
        ({}, [], "task tea: data['train'] is empty: it has no rows of"),
        (
            {"type": "tagging"},
            [{"tokens": ["a"], "tags": ["O"]}, {"tokens": ["a"], "tags": []}],
            "task tea: data['train'] row 1: ",
        ),
        (
            {"type": "tagging", "labels": ["O", "X"]},
            [{"tokens": ["a", "b"], "tags": ["O", "Y"]}] * 20,
            "task tea: data['train'] row 0: unknown tag 'Y'",
        ),
        (
            {"type": "question_answering"},
            [{"question": "a", "context": "b"}] * 20,
            "task tea: data['train'] row 0: ",
        ),
    ],
)
def test_messages_name_what_was_given(fields, rows, message, tmp_path):
    folder = tmp_path / "a run" / "given"
    entry = to_files(entry_of({"train": rows}, **fields), str(folder))
    with pytest.raises(DataError) as raised:
        (task,) = registry.resolve([entry])
        list(task.dataset("train"))
    paths = paths_of(["quickstart", {"files": 3}, entry])
    found = named(str(raised.value), paths)
    assert found.startswith(message)
    assert "jsonl" not in found


def test_a_wrong_name_is_told_without_the_examples(tmp_path):
    entry = entry_of({"train": pd.DataFrame(ROWS)}, name="a/b", type="tagging")
    message = r"got 'a/b', in \{'name': 'a/b', 'type': 'tagging'\}$"
    with pytest.raises(ConfigError, match=message):
        to_files(entry, str(tmp_path))


def test_sentences_without_any_token(tmp_path):
    rows = [{"tokens": [], "tags": []}] * 20
    entry = entry_of({"train": rows}, type="tagging")
    with pytest.raises(ConfigError, match="^task tea: no sentence has a token"):
        registry.resolve([to_files(entry, str(tmp_path))])


def test_warnings_name_what_was_given(tmp_path, caplog):
    rows = ROWS * 60 + [{"text": " ", "label": "noo"}]
    entry = to_files(entry_of({"train": rows}), str(tmp_path / "given"))
    (task,) = registry.resolve([entry])
    assert task.source.warnings[0] == (
        "task tea: data['train']: 1 row with an empty text (first: row 120)"
    )
    assert "'noo' (row 120; did you mean 'no'?)" in task.source.warnings[1]
    assert "jsonl" not in caplog.text


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


def test_what_a_column_that_nobody_reads_holds_does_not_matter(tmp_path):
    other = {"bought": datetime.date(2026, 1, 2), "price": float("nan")}
    rows = [{**row, **other, "stars": 4} for row in ROWS]
    entry = to_files(entry_of({"train": rows}), str(tmp_path))
    with open(entry["files"]["train"]) as file:
        kept = [json.loads(line) for line in file]
    assert kept == [{**row, "stars": 4} for row in ROWS]
    # A column that is read has to be fine, also by another name.
    named = entry_of({"train": rows}, columns={"text": "bought"})
    with pytest.raises(DataError, match="row 0 'bought' must be text"):
        to_files(named, str(tmp_path))


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
            entry_of({"train": [{"text": float("nan"), "label": 1}]}),
            DataError,
            "row 0 'text' is missing or not finite: nan",
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
        (
            entry_of({"train": {"text": "ab", "label": [1, 2]}}),
            ConfigError,
            "the column 'text' must be a list or an array of values, got 'ab'",
        ),
        (
            entry_of({"train": {"text": ["a"], "label": iter([1])}}),
            ConfigError,
            "the column 'label' must be a list or an array of values, got <",
        ),
        (
            entry_of({"train": pairs(ROWS)}, type="clasification"),
            ConfigError,
            "task tea: data['train']: unknown task type 'clasification'; did",
        ),
        (
            entry_of({"train": pairs(ROWS)}, columns={"text": 3}),
            ConfigError,
            "task tea: data['train']: columns.text must be a name, got 3",
        ),
        (
            entry_of(
                {
                    "train": tf.data.Dataset.from_tensor_slices(
                        (["a"], ["x"], [1.0])
                    )
                }
            ),
            DataError,
            "task tea: data['train'] row 0 must be a dict, got (b'a'",
        ),
        ({"name": "../a", "data": {}}, ConfigError, "must start with"),
        (
            entry_of({"train": pd.DataFrame(ROWS).set_index("text")}),
            DataError,
            "task tea: data['train']: 'text' is the index of the DataFrame",
        ),
        (
            entry_of({"train": pd.DataFrame(ROWS).set_index("label")}),
            DataError,
            "task tea: data['train']: 'label' is the index of the DataFrame",
        ),
        (
            entry_of({"train": ROWS}, delimiter=";"),
            ConfigError,
            "delimiter is of csv and tsv files, and the entry has data",
        ),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    entry, error, message, tmp_path
):
    with pytest.raises(error) as raised:
        to_files(entry, str(tmp_path))
    assert message in str(raised.value)
    assert os.listdir(tmp_path) == []


def test_a_run_directory_that_is_a_file(tmp_path):
    (tmp_path / "run").touch()
    with pytest.raises(RunError, match="cannot make the directory .*run/given"):
        to_files(entry_of({"train": ROWS}), str(tmp_path / "run" / "given"))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_rows_without_a_label_are_left_out_if_allowed(tmp_path, missing):
    labels = pd.Series(["yes", missing, "no"], dtype=object)
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": labels})
    data = {"train": frame, "validation": frame}
    given = entry_of(data, skip_missing=True)
    entry = to_files(given, str(tmp_path))
    assert read(entry) == [("a", "yes"), ("c", "no")]
    entry = to_files(entry_of(data), str(tmp_path))
    with pytest.raises(DataError, match="found null; `skip_missing=True`"):
        read(entry)


def test_an_index_of_another_name_does_not_stand_for_labels(tmp_path):
    frame = pd.DataFrame({"text": ["a", "b"]}, index=["yes", "no"])
    entry = to_files(entry_of({"train": frame}), str(tmp_path))
    with pytest.raises(DataError, match="no key 'label'"):
        read(entry)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_question_of_all_examples_needs_none_of_a_row(tmp_path, missing):
    rows = {"question": [missing], "context": ["c"], "answer": ["a"]}
    entry = {"name": "t", "type": "question_answering", "question": "is it?"}
    entry["data"] = dict.fromkeys(("train", "validation"), pd.DataFrame(rows))
    (task,) = registry.resolve([to_files(entry, str(tmp_path))])
    (example,) = task.dataset("train").as_numpy_iterator()
    assert example["question"] == b"is it?"


def test_a_task_is_named_once_in_a_message():
    path = file_of("/run/given", "tea", "train", "0" * 12)
    found = named(f"task tea: {path}:2: no header", [path])
    assert found == "task tea: data['train'] row 1: no header"
    found = named(f"{path}: 2 lines without a question (first: line 3)", [path])
    assert found.endswith("2 rows without a question (first: row 2)")
