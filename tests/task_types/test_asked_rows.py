"""Rows of questions that `launch.predict` reads, as in files to train on."""

import io
import json

import pytest

import mtl_tf
from launch import row_predictions
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import text_input
from tests.system import questions, random_runs

ASKED = {"question": "behind w3 w4", "context": "w1 key w2"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    sizes = {"train": 12, "validation": 3, "test": 3}
    tasks = questions.entries(folder, sizes, ("behind", "mentions"))
    tasks[1]["question"] = ASKED["question"]
    config = questions.config(tasks, units=8, feed_forward=6)
    directory, _ = random_runs.write_weights(folder / "run", config)
    return mtl_tf.load(directory.path)


def predicted(run, task, *rows, score=False):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    reader = text_input.TextReader(io.BytesIO(content), "rows", "jsonl")
    output = io.BytesIO()
    row_predictions.predict(run, task, reader, output, 4, score=score)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_the_question_of_all_examples_is_asked(run):
    own = {"question": "key?", "context": ASKED["context"]}
    one, two, three = predicted(
        run, "mentions", {"context": ASKED["context"]}, ASKED, own
    )
    assert one == two and one["question"] == ASKED["question"]
    assert three["question"] == "key?"
    with pytest.raises(ConfigError, match="a question about a context"):
        predicted(run, "behind", {"context": "c"})


@pytest.mark.parametrize(
    "answers",
    [
        {"answers": ["key", "w1"]},
        {"answers": {"text": ["key"], "answer_start": [3]}},
        {"answer": {"text": ["key", "w1"]}},
        {"answers": "key"},
    ],
)
def test_answers_are_scored_in_the_forms_of_files(run, answers):
    rows = [{**ASKED, "answer": "key"}, {**ASKED, **answers}]
    one, two = predicted(run, "behind", *rows, score=True)
    assert two["answer"] == "key" and one["words"] == two["words"]
    assert two["confidence"] == pytest.approx(one["confidence"], 1e-4)


def test_no_answer_is_scored_as_an_empty_one(run):
    nothing = {"answers": {"text": [], "answer_start": []}}
    (one,) = predicted(run, "behind", {**ASKED, **nothing}, score=True)
    assert one["answer"] == "" and one["words"] == ["</s>"]
