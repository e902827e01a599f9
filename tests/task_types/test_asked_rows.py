"""Rows of questions that `launch.predict` reads, as in files to train on."""

import io
import json

import pytest

from launch import row_predictions
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import text_input

ASKED = {"question": "who?", "context": "it was Ann"}
MOODS = {"name": "moods", "type": "question_answering", "labels": []}
OWNERS = {**MOODS, "name": "owners"}


class Run:
    """Answers "it" to all questions, of which `moods` has one for all."""

    tasks = (MOODS, OWNERS)
    config = {
        "tasks": [
            {**MOODS, "files": {}, "question": "good or bad?"},
            {**OWNERS, "files": {}},
        ]
    }

    def predict(self, task, examples, batch_size):
        assert all(set(example) == set(ASKED) for example in examples)
        return [{"task": task, "answer": "it"} for _ in examples]

    def score(self, task, examples):
        assert all(set(e) == {*ASKED, "answer"} for e in examples)
        return [{"task": task} for _ in examples]


def predicted(task, *rows, score=False):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    reader = text_input.TextReader(io.BytesIO(content), "rows", "jsonl")
    output = io.BytesIO()
    row_predictions.predict(Run(), task, reader, output, 4, score=score)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_the_question_of_all_examples_is_asked():
    rows = {"context": "c"}, {"context": "c", "question": "is it?"}
    found = predicted("moods", *rows)
    asked = [one["question"] for one in found]
    assert asked == ["good or bad?", "is it?"]
    (scored,) = predicted("moods", {**rows[0], "answer": "good"}, score=True)
    assert scored["question"] == "good or bad?"
    with pytest.raises(ConfigError, match="a question about a context"):
        predicted("owners", rows[0])


@pytest.mark.parametrize(
    ("given", "scored"),
    [
        ({"answer": ["Ann", "it"]}, "Ann"),
        ({"answers": ["Ann", "it"]}, "Ann"),
        ({"answers": "Ann"}, "Ann"),
        ({"answer": {"text": ["Ann", "it"]}}, "Ann"),
        ({"answers": {"text": ["Ann"], "answer_start": [7]}}, "Ann"),
        ({"answers": {"text": [], "answer_start": []}}, ""),
        ({"answer": "Ann", "answers": ["it"]}, "Ann"),
    ],
)
def test_answers_are_scored_in_the_forms_of_files(given, scored):
    (one,) = predicted("owners", {**ASKED, **given}, score=True)
    assert one["answer"] == scored


@pytest.mark.parametrize("given", [{}, {"answers": []}, {"answers": {"a": 1}}])
def test_rows_without_an_answer_are_not_scored(given):
    with pytest.raises(ConfigError, match="rows:1: to score a text"):
        predicted("owners", {**ASKED, **given}, score=True)
