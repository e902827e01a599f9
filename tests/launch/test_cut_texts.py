"""What `launch.predict` tells: texts that are cut, and its progress."""

import io
import json

import pytest

import mtl_tf
from launch import row_predictions
from mtl_tf.core import passes
from mtl_tf.programs import text_input
from mtl_tf.runs.loaded import prompt


@pytest.fixture(scope="module")
def run(tagging_run):
    """A run that tags words and tells a sentence's mood; reads 3 words."""
    loaded = mtl_tf.load(tagging_run)
    loaded.encoder.max_length = 3
    return loaded


@pytest.fixture
def told(caplog):
    """What is told of rows, after their predictions."""

    def predict(run, *rows, **options):
        caplog.clear()
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        stream = io.BytesIO(lines.encode())
        reader = text_input.TextReader(stream, "rows", "jsonl")
        output = io.BytesIO()
        row_predictions.predict(run, "", reader, output, 2, **options)
        assert len(output.getvalue().splitlines()) == len(rows)
        return [
            message
            for message in caplog.messages
            if "longer than the model reads" in message
        ]

    return predict


def test_longer_texts_are_counted(run, told):
    rows = [
        {"task": "mood", "text": "one two three"},
        {"task": "chunks", "tokens": ["one", "two", "three"]},
        {"task": "chunks", "text": "one two three"},
        {"task": "mood", "text": ""},
    ]
    assert told(run, *rows) == []
    rows[1:1] = [{"task": "mood", "text": "one two three four"}]
    (message,) = told(run, *rows)
    assert "1 of 5, the first at rows:2;" in message
    rows += [{"task": "chunks", "text": "a b c d e"}]
    rows += [{"task": "chunks", "tokens": ["a"] * 4}]
    (message,) = told(run, *rows)
    assert "3 of 7" in message


@pytest.mark.extended
def test_it_is_told_at_the_prompt(run, capsys):
    source = io.BytesIO(b"one two three\none two three four\n")
    prompt.interact(run, "chunks", source, io.BytesIO())
    assert capsys.readouterr().err.count("chunks: longer than the model") == 1


@pytest.mark.extended
def test_no_limit_cuts_nothing(run, told, monkeypatch):
    monkeypatch.setattr(run.encoder, "max_length", 0)
    rows = [{"task": name, "text": "a " * 500} for name in ("chunks", "mood")]
    assert told(run, *rows) == []


@pytest.mark.extended
def test_translations_read_whole_texts(translation_run, told):
    run = mtl_tf.load(translation_run, {"max_length": 3})
    assert told(run, {"task": run.tasks[0]["name"], "text": "a " * 99}) == []


@pytest.mark.extended
def test_progress_of_a_decoding_names_its_task(
    translation_run, monkeypatch, caplog
):
    run = mtl_tf.load(translation_run)
    name = run.tasks[0]["name"]
    monkeypatch.setattr(passes, "_SECONDS", 0.0)
    with caplog.at_level("INFO", logger="absl"):
        run.predict(name, ["a b"])
    assert f"{name}: decoding, 1 of 1 examples" in caplog.messages
