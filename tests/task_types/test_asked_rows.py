"""Rows of questions that `launch.predict` reads, as in files to train on."""

import io
import json

import pytest

from launch import row_predictions
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.programs import text_input
from mtl_tf.runs.loaded import prompt
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.questions import QuestionEncoder
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary

ASKED = {"question": "who?", "context": "it was Ann"}
OWNERS = {"name": "owners", "type": "question_answering", "labels": []}
MOODS = {**OWNERS, "name": "moods", "question": "good or bad?"}
REMARKS = {**MOODS, "name": "remarks"}
COLUMNS = {"context": "remark", "answer": "verdict"}


class Run:
    """Answers "it" to all questions, of which `moods` has one for all."""

    tasks = (MOODS, OWNERS, REMARKS)
    config = {
        "tasks": [
            {**MOODS, "files": {}},
            {**OWNERS, "files": {}},
            {**REMARKS, "files": {}, "columns": COLUMNS},
        ]
    }

    def run_of(self, task):
        return self

    def token_columns(self, task):
        tokenizer = make_tokenizer({"name": "whitespace", "lowercase": False})
        encoder = TextEncoder(
            tokenizer, Vocabulary.from_counts({}, specials=BOUNDS)
        )
        reader = QuestionEncoder(encoder, max_length=3)
        return [*reader.token_columns().values()]

    def predict(self, task, examples, batch_size):
        assert all(set(example) == set(ASKED) for example in examples)
        return [{"task": task, "answer": "it"} for _ in examples]

    def score(self, task, examples):
        assert all(set(e) == {*ASKED, "answer"} for e in examples)
        return [{"task": task} for _ in examples]


def predicted(task, *rows, form="", score=False, name="rows"):
    """What is written of rows, or of a file's content in a form."""
    lines = rows if form else (json.dumps(row) + "\n" for row in rows)
    stream = io.BytesIO("".join(lines).encode())
    reader = text_input.TextReader(stream, name, form or "jsonl")
    output = io.BytesIO()
    row_predictions.predict(Run(), task, reader, output, 4, score=score)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_contexts_that_are_cut_are_told(caplog):
    asked = {"question": "who is it ?", "context": "it was"}
    rows = [{"context": "it was Ann"}, {"context": "it was Ann !"}, asked]
    rows = [{"task": "moods", **row, "answer": "a b c d"} for row in rows]
    predicted("", *rows[:1], score=True)
    assert "longer than the model" not in caplog.text
    predicted("", *rows)
    assert "(text.max_length): 2 of 3, the first at rows:2;" in caplog.text


def test_the_question_of_all_examples_is_asked():
    rows = [
        {"context": "c"},
        {"context": "c", "question": "is it?"},
        {"context": "c", "question": ""},
    ]
    found = predicted("moods", *rows)
    asked = [one["question"] for one in found]
    assert asked == ["good or bad?", "is it?", "good or bad?"]
    (scored,) = predicted("moods", {**rows[0], "answer": "good"}, score=True)
    assert scored["question"] == "good or bad?"
    with pytest.raises(ConfigError, match="a question about a context"):
        predicted("owners", rows[0])


def test_lines_need_not_ask_the_question_of_all_examples():
    lines = "c\nis it?\tc\n\tc\n"
    found = predicted("moods", lines, form="text")
    asked = [(one["question"], one["context"]) for one in found]
    assert asked == [("good or bad?", "c"), ("is it?", "c"), asked[0]]
    lines = "c\tgood\nis it?\tc\tgood\n\tc\tgood\n"
    scored = predicted("moods", lines, form="text", score=True)
    assert [(one["question"], one["context"]) for one in scored] == asked
    assert all(one["answer"] == "good" for one in scored)
    for line, score in (("c", False), ("c\tgood", True)):
        with pytest.raises(ConfigError, match="rows:1: .*tab"):
            predicted("owners", line, form="text", score=score)


def test_a_prompt_does_not_ask_for_the_question_of_all_examples(capsys):
    lines = b"c\nis it?\tc\n \n/task owners\nwho?\nit was Ann\n"
    output = io.BytesIO()
    prompt.interact(Run(), "moods", io.BytesIO(lines), output, "jsonl")
    found = map(json.loads, output.getvalue().splitlines())
    asked = [(one["question"], one["context"]) for one in found]
    ours = [("good or bad?", "c"), ("is it?", "c"), ("good or bad?", " ")]
    assert asked == [*ours, ("who?", "it was Ann")]
    assert capsys.readouterr().err.count("context> ") == 1
    prompt.interact(Run(), "moods", io.BytesIO(b" \n"), output)
    assert "the text is empty" in capsys.readouterr().err


def test_only_contexts_without_a_question_of_their_own_need_a_text(caplog):
    rows = {"context": "", "question": "who?"}, {"context": " "}
    predicted("owners", rows[0])
    assert "empty text" not in caplog.text
    predicted("moods", rows[1])
    assert "Examples with an empty text: 1" in caplog.text


SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "paragraphs": [
                {
                    "context": "it was Ann",
                    "qas": [
                        {
                            "id": "a1",
                            "question": "who?",
                            "answers": [{"text": "Ann", "answer_start": 7}],
                        },
                        {"id": "a2", "question": "why?"},
                    ],
                }
            ]
        }
    ],
}


@pytest.mark.parametrize(
    ("context", "told"),
    [(5, "5"), (None, "null"), ({"a": 1}, '{"a": 1}'), (["a"], '["a"]')],
)
def test_what_is_no_text_is_told_as_it_stands(context, told):
    row = {"question": "who?", "context": context}
    with pytest.raises(ConfigError) as caught:
        predicted("owners", row)
    assert str(caught.value).endswith(f"; context is {told}, which is no text")
    row = {"verdict": ["Ann"], "remark": context}
    for score in (False, True):
        with pytest.raises(ConfigError, match="; remark is .* is no text"):
            predicted("remarks", row, score=score)


@pytest.mark.parametrize("indent", [None, 1])
def test_questions_of_a_whole_file_of_squad_are_answered(indent):
    content = json.dumps(SQUAD, indent=indent)
    one, two = predicted("owners", content, form="jsonl")
    assert one == {
        "id": "a1",
        "question": "who?",
        "context": "it was Ann",
        "answers": {"text": ["Ann"]},
        "task": "owners",
        "answer": "it",
    }
    assert two["id"] == "a2" and "answers" not in two
    # What a packed file holds arrives unpacked.
    again = predicted("owners", content, form="jsonl", name="dev.json.gz")
    assert again == [one, two]
    (first,) = SQUAD["data"][0]["paragraphs"][0]["qas"][:1]
    paragraph = {"context": "it was Ann", "qas": [first]}
    content = json.dumps({"data": [{"paragraphs": [paragraph]}]}, indent=indent)
    (scored,) = predicted("owners", content, form="jsonl", score=True)
    assert scored["id"] == "a1" and scored["answer"] == "Ann"


def test_a_line_whose_first_field_is_a_list_called_data_is_none_of_squad():
    rows = [{"data": [1, 2], **ASKED}, {"data": ["a"], **ASKED}]
    found = predicted("owners", *rows)
    assert [one["data"] for one in found] == [[1, 2], ["a"]]


def test_wrong_files_of_squad_are_told_by_place():
    missing = json.dumps(SQUAD).replace('"question": "why?"', '"asked": ""')
    with pytest.raises(DataError, match=r"qas\[1\]: the key 'question' is mis"):
        predicted("owners", missing, form="jsonl")
    with pytest.raises(DataError, match="rows:1: not JSON"):
        predicted("owners", json.dumps(SQUAD)[:-4], form="jsonl")
    with pytest.raises(ConfigError, match=r"qas\[1\]: to score a text"):
        predicted("owners", json.dumps(SQUAD), form="jsonl", score=True)


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
        ({"answers": []}, ""),
        ({"answers": [{"text": "Ann", "answer_start": 7}]}, "Ann"),
        ({"answer": [{"text": "Ann"}, {"text": "it"}]}, "Ann"),
    ],
)
def test_answers_are_scored_in_the_forms_of_files(given, scored):
    (one,) = predicted("owners", {**ASKED, **given}, score=True)
    assert one["answer"] == scored


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "no answer"),
        ({"answers": {"a": 1}}, "{'a': 1} as answer"),
        ({"answer": [{"a": 1}]}, "[{'a': 1}] as answer"),
        ({"question": "who? " * 20}, "no answer"),
    ],
)
def test_rows_without_an_answer_are_not_scored(given, told):
    with pytest.raises(ConfigError, match="rows:1: to score a text") as caught:
        predicted("owners", {**ASKED, **given}, score=True)
    assert f"as strings, got {told}" in str(caught.value)
