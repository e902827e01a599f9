"""Answers of an `n_best` above 1."""

import types

import pytest
import tensorflow as tf

from export import task_types as served_types
from mtl_tf.prediction import answering
from mtl_tf.runs import systems
from tests.system import questions
from tests.task_types.question_files import LINE, NAME, task_of

CHANCES = [0.5, 0.25, 0.125, 0.0]


@pytest.fixture
def answerer(tmp_path):
    """It finds three answers, two of which are written alike."""
    chosen = questions.config([])["text"] | {"min_count": 1}
    task = task_of(tmp_path, LINE, LINE)
    text = systems.of_type(NAME).build_text([task], chosen)
    ann, it = map(text.vocabulary.tokens.index, ("ann", "it"))
    ids = [[ann, 0], [text.size, 0], [it, ann], [0, 0]]
    found = {
        "tokens": tf.constant([ids]),
        "length": tf.constant([[1, 1, 2, 0]]),
        "log_probability": tf.math.log([CHANCES]),
        "sources": tf.fill([1, 4, 2, 3], 1 / 3),
    }
    model = types.SimpleNamespace(answer=lambda *_, **__: found)
    decoding = answering.Decoding(beam=4, n_best=4)
    return answering.Answerer(model, text, decoding)


def test_of_answers_that_are_written_alike_the_best_one_stays(answerer):
    own = tf.constant([["ann"]])
    ids = tf.ones([1, 1], tf.int32)
    texts, chances, words, shares = answerer.search(ids, ids, own)
    assert texts.numpy().tolist() == [[b"ann", b"it ann", b"", b""]]
    assert chances.numpy().tolist() == [pytest.approx([0.5, 0.125, 0, 0])]
    assert words.numpy().tolist() == [[b"ann", b""]]
    assert shares.shape == (1, 2, 3)


def test_python_and_exports_tell_only_answers_that_there_are(answerer):
    example = {"context": "ann Sue", "question": "who?"}
    (found,) = answerer.answer("mine", [example])
    assert found["answer"] == "ann"
    assert found["answers"] == ["ann", "sue", "it ann"]
    assert found["confidences"] == pytest.approx(CHANCES[:3])
    outputs = {
        **{"answer": "ann", "confidence": 0.5},
        **{"words": ["ann"], "shares": [[1.0, 0.0, 0.0]]},
        "answers": ["ann", "", "it ann", ""],
        "confidences": CHANCES,
    }
    row = served_types.of(NAME).row(outputs)
    # "" is an answer where it is likely.
    assert row["answers"] == ["ann", "", "it ann"]
    assert row["confidences"] == CHANCES[:3]
