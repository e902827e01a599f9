"""The predict program on tasks that tag tokens, on a stand-in run."""

import io
import json

import pytest

from launch import row_predictions
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import text_input
from mtl_tf.runs.loaded import prompt
from tests.launch.stand_in import TAGGING, TASKS


@pytest.fixture
def tagger(run):
    run.tasks = [TAGGING, *TASKS]
    return run


def test_raw_text_is_tagged(tagger, files):
    (answer,) = files.call(b"I see  Ann\n", "--task=names")
    assert list(answer) == [
        "text",
        "task",
        "tokens",
        "tags",
        "offsets",
        "confidence",
    ]
    assert answer["text"] == "I see  Ann"
    assert answer["offsets"] == [[0, 1], [2, 5], [7, 10]]
    assert answer["tags"] == ["B-X", "O", "B-X"]


def test_jsonl_of_texts_and_tokens_keeps_the_order(tagger, files):
    content = "".join(
        json.dumps(line) + "\n"
        for line in (
            {"tokens": ["New York", "is"], "task": "names"},
            {"text": "good", "task": "books"},
            {"text": "in Bonn"},
            {"tokens": []},
        )
    )
    arguments = ("--format=jsonl", "--task=names")
    given, text, raw, empty = files.call(content.encode(), *arguments)
    assert "text" not in given and "offsets" not in given
    assert given["tokens"] == ["New York", "is"]
    assert text["label"] == "positive"
    assert (raw["text"], raw["tags"]) == ("in Bonn", ["O", "B-X"])
    assert empty["tags"] == []


COLUMNS = "-DOCSTART- x\n\nAnn NNP B\n\tsees  VBZ\n\n\n \t\nNew\u00a0York\n"


def test_columns_in_and_out(tagger, files):
    arguments = ("--format=conll", "--task=names")
    first, second = files.call(COLUMNS.encode(), *arguments)
    assert first["tokens"] == ["Ann", "sees"]
    assert second["tokens"] == ["New\u00a0York"]
    lines = [{"tokens": ["Ann", "sees"]}, {"tokens": ["New\u00a0York"]}]
    given = "\n".join(map(json.dumps, lines)).encode()
    with pytest.raises(json.JSONDecodeError):
        files.call(
            given, "--format=jsonl", "--task=names", "--output_format=conll"
        )
    # A no-break space would be a column to other readers.
    assert files.output.read_text("utf-8") == (
        "Ann B-X\nsees O\n\nNew_York B-X\n\n"
    )
    assert files.call(b"\n\n", *arguments) == []


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (
            '{"tokens": ["a"], "task": "books"}',
            ["--format=jsonl"],
            "in:1: the task books reads text: there is no 'text' among",
        ),
        (
            "\na\nb\n",
            ["--format=conll", "--task=books"],
            "in:2: the task books reads text: there is no 'text' among",
        ),
        ("a\n", ["--format=conll"], "--task is missing"),
        (
            "a\n",
            ["--output_format=conll", "--task=books"],
            "in:1: the task books .* is written as jsonl, csv or tsv, not",
        ),
    ],
)
def test_what_only_a_tagging_task_can_do(
    tagger, files, content, arguments, message
):
    with pytest.raises(ConfigError, match=message):
        files.call(content.encode(), *arguments)
    assert not files.output.exists()


class Talk(io.RawIOBase):
    """A pipe whose writer waits for an answer before it goes on."""

    def __init__(self, *pieces):
        self.pieces, self.answers, self.before = [*pieces], io.BytesIO(), []

    def readable(self):
        return True

    def readinto(self, buffer):
        self.before.append(self.answers.getvalue().count(b"\n"))
        piece = self.pieces.pop(0) if self.pieces else b""
        buffer[: len(piece)] = piece
        return len(piece)


def test_sentences_of_a_pipe_are_tagged_as_they_end(tagger):
    talk = Talk(b"Ann\n\n", b"see\n\n", b"Bonn")
    reader = text_input.TextReader(io.BufferedReader(talk), "-", "conll")
    row_predictions.predict(tagger, "names", reader, talk.answers, 64)
    found = [json.loads(line) for line in talk.answers.getvalue().splitlines()]
    assert [one["tokens"] for one in found] == [["Ann"], ["see"], ["Bonn"]]
    assert found[-1]["tags"] == ["B-X"]
    assert talk.before == [0, 1, 2, 2]


def test_tags_at_a_prompt(tagger, capsys):
    source = io.BytesIO(b"Ann\n/task books\ngood\n")
    output = io.BytesIO()
    prompt.interact(tagger, "", source, output, "conll")
    assert output.getvalue() == b"Ann B-X\n\n"
    assert "is written as jsonl, not as conll" in capsys.readouterr().err
