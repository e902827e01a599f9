"""Tasks whose entries have one question for all examples, in runs."""

import json

import pandas as pd
import pytest
import tensorflow as tf

import mtl_tf
from export import check, exported_files
from export import task_types as served_types
from mtl_tf.prediction import task_types
from tests.system import questions, random_runs
from tests.task_types.question_files import NAME

QUESTION, CONTEXT = "behind w3 w4 w5", "w1 key Zoë w2"


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    """A run of random weights of two tasks; the first has a question."""
    folder = tmp_path_factory.mktemp("questions")
    sizes = {"train": 12, "validation": 3, "test": 3}
    tasks = questions.entries(folder, sizes, ("behind", "mentions"))
    tasks[0]["question"] = QUESTION
    config = questions.config(tasks, units=8, feed_forward=6)
    directory, _ = random_runs.write_weights(folder / "run", config)
    return mtl_tf.load(directory.path)


def test_it_need_not_be_given(asking):
    types, (task, other) = task_types.of(NAME), asking.tasks
    for given in (CONTEXT, {"context": CONTEXT}, ["", CONTEXT]):
        fields = types.fields_of(task, given)
        assert fields == {"question": QUESTION, "context": CONTEXT}
    for missing in (None, float("nan"), pd.NA, ""):
        for given in (
            {"question": missing, "context": CONTEXT},
            [missing, CONTEXT],
        ):
            assert types.fields_of(task, given)["question"] == QUESTION
    with pytest.raises(TypeError, match="a question about a context"):
        types.fields_of(task, {"question": 3, "context": CONTEXT})
    scorer = types.given_texts
    fields = scorer.fields_of(task, [CONTEXT, "key"])
    assert fields == {"question": QUESTION, "context": CONTEXT, "answer": "key"}
    with pytest.raises(TypeError, match="question, context and answer"):
        scorer.fields_of(other, [CONTEXT, "key"])
    for wrong in (CONTEXT, {"context": CONTEXT}, [CONTEXT]):
        with pytest.raises(TypeError, match="a question about a context"):
            types.fields_of(other, wrong)
    for own in (["who?", CONTEXT], {"question": "who?", "context": CONTEXT}):
        assert types.fields_of(task, own)["question"] == "who?"
    assert types.fields_of(other, ["", ""])["question"] == ""


@pytest.mark.extended
def test_it_need_not_be_given_in_python(asking):
    given = [[QUESTION, CONTEXT], CONTEXT, ["who?", CONTEXT]]
    *same, other = asking.predict("behind", given)
    chances = [one["confidence"] for one in same]
    assert chances[1] == pytest.approx(chances[0], 1e-4)
    assert other["confidence"] != pytest.approx(chances[0], 1e-3)
    pair = {"context": CONTEXT, "answer": "key"}
    one, two = asking.score("behind", [pair, {**pair, "question": QUESTION}])
    assert one["confidence"] == pytest.approx(two["confidence"], 1e-4)


def test_exports_ask_it_where_rows_do_not(asking, monkeypatch):
    served = served_types.of(NAME)(asking, [asking.model] * 2, [0, 1])
    assert served.extra["decoding.json"]["questions"] == {"behind": QUESTION}
    strings = {
        "question": tf.constant(["", "who?", "", ""]),
        "context": tf.constant(["a", "b", "c", "d"]),
    }
    found = served.completed(strings, tf.constant([0, 0, 1, -1]))
    question = QUESTION.encode()
    asked = found["question"].numpy().tolist()
    assert asked == [question, b"who?", b"", b""]
    assert found["context"] is strings["context"]
    # Of two questions none is that of a row without a task.
    with monkeypatch.context() as patched:
        patched.setitem(asking.tasks[1], "question", "is it?")
        two = served_types.of(NAME)(asking, [asking.model] * 2, [0, 1])
        found = two.completed(strings, tf.constant([0, 0, 1, -1]))
    asked = found["question"].numpy().tolist()
    assert asked == [question, b"who?", b"is it?", b""]
    # Whatever the task of a row, it is that of all.
    only = served_types.of(NAME)(asking, [asking.model] * 2, [0])
    found = only.completed(strings, tf.constant([-1, -1, 0, -1]))
    asked = found["question"].numpy().tolist()
    assert asked == [question, b"who?", question, question]


@pytest.mark.slow
def test_signatures_take_empty_questions(asking):
    served = served_types.of(NAME)(asking, [asking.model] * 2, [0, 1])
    question = tf.constant(["", QUESTION])
    context = tf.constant([CONTEXT] * 2)
    one, two = served.for_task(0)(question, context)["confidence"].numpy()
    assert one == pytest.approx(two, 1e-4)
    # Nothing tells here whose question it would be.
    one, two = served.for_all()(question, context)["confidence"].numpy()
    assert one != pytest.approx(two, 1e-3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ctx", ["is it?", "ctx"]),
        ("\tctx", ["is it?", "ctx"]),
        ("who?\tctx", ["who?", "ctx"]),
    ],
)
def test_a_check_of_an_export_need_not_ask_it(tmp_path, text, expected):
    names = ["question", "context"]
    assert check._texts(text, names, "is it?") == expected
    assert check._texts(text, names, "") == text.split("\t")
    # Given apart, a text may have tabs.
    apart = ["", f"{text}\tmore"]
    assert check._texts(apart, names, "is it?") == ["is it?", apart[1]]
    folder = tmp_path / exported_files.FOLDER
    assert exported_files.question_of(str(tmp_path), "moods") == ""
    folder.mkdir()
    written = {"questions": {"moods": "is it?"}}
    (folder / "decoding.json").write_text(json.dumps(written))
    assert exported_files.question_of(str(tmp_path), "moods") == "is it?"
    assert exported_files.question_of(str(tmp_path), "owners") == ""
