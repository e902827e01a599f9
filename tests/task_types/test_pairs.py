"""Pairs of texts: one after the other, or each by itself."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.models.multi_task import build_model
from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.text_examples import TextExamples
from mtl_tf.prediction import task_types as prediction_types
from mtl_tf.tasks.registry import resolve

ROWS = [
    {"text": "a b c", "text_pair": "d", "label": "x", "value": 1},
    {"text": "a", "text_pair": "", "label": "y", "value": 2},
    {"text": "c", "text_pair": "a b d c b", "label": "x", "value": 3},
]


def task_of(tmp_path, **fields):
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    entry = {"name": "pairs", "type": "pair_classification", **fields}
    (task,) = resolve([entry | {"files": {"train": str(path)}}])
    return task


@pytest.mark.parametrize("name", ["pair_classification", "pair_regression"])
def test_features(tmp_path, name):
    apart = task_of(tmp_path, type=name)
    assert [f.time for f in apart.features] == ["text", "text_pair", ""]
    assert apart.settings["pairs"] == "apart"
    joined = task_of(tmp_path, type=name, pairs="joined")
    assert [f.time for f in joined.features] == ["text", "text", ""]
    assert joined.to_json()["pairs"] == "joined"
    with pytest.raises(
        ConfigError, match="unknown pairs 'together'; known: apart, joined"
    ):
        task_of(tmp_path, type=name, pairs="together")


def test_columns_of_files(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("x\tone\ttwo\ny\tthree\tfour\n")
    columns = {"label": 0, "text": 1, "text_pair": 2}
    entry = {"name": "p", "type": "pair_classification", "columns": columns}
    entry["files"] = {"train": str(path)}
    (task,) = resolve([entry])
    first = next(task.source.dataset("train").as_numpy_iterator())
    assert (first["text"], first["text_pair"]) == (b"one", b"two")
    with pytest.raises(ConfigError, match="columns.text and columns.text_pair"):
        resolve([entry | {"columns": {"label": 0, "text": 1, "text_pair": 1}}])
    path.write_text("x\tone\n")
    with pytest.raises(DataError, match="the text pair is wanted in column 2"):
        resolve([entry])


def encoded(task, max_length=0):
    config = {
        "tokenizer": {"name": "whitespace", "lowercase": True},
        "max_length": max_length,
        "min_count": 1,
        "max_size": 0,
        "characters": {"max_word_length": 0, "min_count": 1},
        "casing": False,
    }
    text = encoding.build_encoder([task], config)
    split = encoding.encode(
        task.source.dataset("train"), TextExamples(text, task.features)
    )
    words = text.vocabulary.tokens
    return {
        name: [" ".join(words[i] for i in column[n]) for n in range(3)]
        for name, column in split.columns.items()
        if column.offsets is not None
    }


def test_ids_of_both_forms(tmp_path):
    assert encoded(task_of(tmp_path)) == {
        "tokens": ["a b c", "a", "c"],
        "text_pair_tokens": ["d", "", "a b d c b"],
    }
    joined = task_of(tmp_path, pairs="joined")
    assert encoded(joined) == {
        "tokens": [r"a b c \<sep> d", r"a \<sep>", r"c \<sep> a b d c b"]
    }
    # The longer text is cut first.
    assert encoded(joined, 4)["tokens"] == [
        r"a b \<sep> d",
        r"a \<sep>",
        r"c \<sep> a b",
    ]


def model_of(pairs, scheme="nbow"):
    tasks = [
        {
            "name": "pairs",
            "type": "pair_classification",
            "labels": ["x", "y"],
            "pairs": pairs,
        }
    ]
    config = {"embedding_dim": 5, "scheme": {"name": scheme}}
    return build_model(config, 9, tasks)


def batch_of():
    draw = np.random.default_rng(0)
    return {
        "task": tf.constant([0]),
        "tokens": tf.constant(draw.integers(1, 9, (1, 4, 3)), tf.int32),
        "text_pair_tokens": tf.constant(
            draw.integers(1, 9, (1, 4, 6)), tf.int32
        ),
        "label": tf.constant([[0, 1, 1, 0]]),
    }


def test_the_head_reads_both_summaries():
    model, batch = model_of("apart"), batch_of()
    u, v = (
        model.scheme(
            model.embedding(batch[name], batch["task"]),
            batch[name] > 0,
            batch["task"],
        )["summary"][0].numpy()
        for name in ("tokens", "text_pair_tokens")
    )
    read = np.concatenate([u, v, np.abs(u - v), u * v], -1)
    kernel, bias = (
        np.array(w)
        for w in model.heads["pair_classification"].dense.get_weights()
    )
    np.testing.assert_allclose(
        model(batch)["logits"][0], read @ kernel[0] + bias[0], 1e-4, 1e-5
    )
    # Padding of either text changes nothing.
    longer = batch | {
        name: tf.pad(batch[name], [[0, 0], [0, 0], [0, 2]])
        for name in ("tokens", "text_pair_tokens")
    }
    np.testing.assert_allclose(
        model(longer)["scores"], model(batch)["scores"], 1e-5
    )


def test_joined_pairs_are_one_text():
    model, batch = model_of("joined"), batch_of()
    del batch["text_pair_tokens"]
    assert model(batch)["scores"].shape == (1, 4, 2)


def test_one_form_a_run():
    task = {"type": "pair_classification", "labels": ["x", "y"]}
    tasks = [
        {"name": "a", **task, "pairs": "apart"},
        {"name": "b", **task, "pairs": "joined"},
    ]
    with pytest.raises(ConfigError, match=r"apart \(a\) and joined \(b\)"):
        build_model({"embedding_dim": 5, "scheme": {"name": "nbow"}}, 9, tasks)


def test_what_a_user_may_give():
    predictions = prediction_types.of("pair_classification")
    task = {"name": "p", "type": "pair_classification", "labels": ["x", "y"]}
    expected = {"text": "one", "text_pair": "two"}
    for value in (("one", "two"), expected, expected | {"id": 3}):
        assert predictions.fields_of(task, value) == expected
    assert predictions.fields_of_line(task, "one\ttwo") == expected
    for line in ("one two", "one\ttwo\tthree"):
        with pytest.raises(TypeError, match="a line must have one tab, which"):
            predictions.fields_of_line(task, line)
    for value in ("one", ["one"], ["a", "b", "c"], {"text": "one"}, ("a", 3)):
        with pytest.raises(TypeError, match="p reads text and text_pair"):
            predictions.fields_of(task, value)


def test_rows_of_some_labels_are_left_out(tmp_path, caplog):
    path = tmp_path / "train.jsonl"
    rows = [*ROWS, {"text": "e", "text_pair": "f", "label": "-"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    entry = {"name": "p", "type": "pair_classification", "skip_labels": ["-"]}
    (task,) = resolve([entry | {"files": {"train": str(path)}}])
    assert task.labels == ("x", "y")
    assert task.source.size("train") == 3
    assert "1 row left out by skip_labels" in task.source.warnings[0]
    path.write_text(json.dumps(rows[-1]) + "\n")
    with pytest.raises(DataError, match="is empty.*1 row left out by skip"):
        resolve([entry | {"files": {"train": str(path)}}])
    entry |= {"files": {"train": str(path)}, "labels": ["x", "-"]}
    with pytest.raises(ConfigError, match="- stands in labels and in skip"):
        resolve([entry])


@pytest.mark.parametrize("wrong", [5, None, "ab", ["a"], ["a", 5], b"ab"])
def test_what_is_no_pair(wrong):
    task = {"name": "p", "type": "pair_classification", "labels": ["x", "y"]}
    task["pairs"] = "apart"
    types = prediction_types.of(task["type"])
    with pytest.raises(TypeError, match="reads text and text_pair: each"):
        types.fields_of(task, wrong)
