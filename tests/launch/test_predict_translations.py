"""The predict program on translations, and the scores of given ones."""

import json

import pytest

import mtl_tf
from launch import predict
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import runner
from tests.launch.stand_in import TASKS, TRANSLATION, Run


@pytest.fixture
def translator(monkeypatch):
    """A run that translates; notes how it was loaded."""
    run = Run([TRANSLATION, *TASKS])

    def load(path, decoding, _):
        run.decoding = decoding
        return run

    monkeypatch.setattr(mtl_tf, "load", load)
    return run


def test_a_line_for_each_line(translator, files):
    argv = ["predict", "--model_dir=x", "--task=en-de", "--output_format=text"]
    files.source.write_text("a dog .\n\nein Stück\n")
    argv += [f"--input={files.source}", f"--output={files.output}"]
    predict.main(runner.parse(predict.PROGRAM, argv))
    assert files.output.read_text() == "A DOG .\n\nEIN STÜCK\n"
    assert translator.decoding == {}


def test_flags_of_the_search_reach_the_run(translator, files):
    flags = ("--beam=4", "--n_best=2", "--length_penalty=0", "--task=en-de")
    files.call(b"a", *flags, "--noreplace_unknown")
    assert translator.decoding == {
        "beam": 4,
        "n_best": 2,
        "length_penalty": 0.0,
        "replace_unknown": False,
    }


@pytest.mark.parametrize(
    ("more", "form"),
    [
        (("--output_format=text",), "text"),
        (("--output_format=text", "--interactive"), "text"),
        (("--interactive",), "lines for people"),
    ],
)
def test_alignments_have_no_place_in_lines(translator, files, more, form):
    for flag in ("--alignments", "--n_best=2"):
        with pytest.raises(ConfigError, match=f"csv or tsv, .* as {form}:"):
            files.call(b"a", "--task=en-de", flag, *more)
    assert not files.output.exists()
    files.call(b"a", "--task=en-de", "--alignments")
    assert translator.decoding == {"alignments": True}


def test_only_translations_are_lines(translator, files):
    with pytest.raises(
        ConfigError,
        match="in:1: the task books .* is written as jsonl, csv or tsv, not",
    ):
        files.call(b"a", "--task=books", "--output_format=text")
    assert not files.output.exists()


def test_texts_that_are_given_are_scored(translator, files, caplog):
    task = ("--score", "--task=en-de")
    found = files.call(b"a dog\tein Hund\n\t\n", *task)
    assert found[0] == {
        "text": "a dog",
        "translation": "ein Hund",
        "task": "en-de",
        "score": -1.0,
        "log_likelihood": -1.5,
    }
    assert found[1]["text"] == found[1]["translation"] == ""
    files.call(b"a\t\n\ta\n", *task)
    # Nothing may be right; it is no reason for a warning.
    assert "empty text: 1, the first at" in caplog.text.splitlines()[-1]
    assert caplog.text.splitlines()[-1].endswith("that was read.")
    assert "in:2; " in caplog.text.splitlines()[-1]
    files.call(b"a\tb\r\nc\td", *task, "--output_format=text")
    assert files.output.read_text() == "-1.5\n-2.5\n"
    assert translator.calls[-1][1][0] == {"text": "a", "translation": "b"}
    # What launch.predict has written, with a score of its own.
    said = {"id": 7, "text": "a", "translation": "b", "score": -9.0}
    line = json.dumps(said).encode()
    (found,) = files.call(line, *task, "--format=jsonl")
    assert found["id"] == 7 and found["input_score"] == -9.0
    assert found["score"] == -1.0 and found["text"] == "a"
    # Files to train on, and those that launch.evaluate has written.
    (found,) = files.call(b"source,target\na,b\n", *task, "--format=csv")
    assert found["source"] == "a" and found["target"] == "b"
    assert translator.calls[-1][1] == [{"text": "a", "translation": "b"}]
    line = json.dumps({"text": "a", "label": "b", "prediction": "c"}).encode()
    columns = "--columns=translation=label"
    (found,) = files.call(line, *task, "--format=jsonl", columns)
    assert translator.calls[-1][1] == [{"text": "a", "translation": "b"}]
    assert found["label"] == "b" and found["prediction"] == "c"


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"a\tb\na\n", (), "in:2: .* needs text and translation .* a tab "),
        (b"a\tb\tc\n", (), "in:1: .* got 'a\\\\tb\\\\tc'.*texts with tabs can"),
        (
            b'{"text": "a"}',
            ("--format=jsonl",),
            "in:1: .*fields text .*: --columns=text=COLUMN --columns=translat",
        ),
        (b"a\tb", ("--task=books",), "models write no texts"),
        (b"a\tb", ("--output_format=conll",), "jsonl, text, csv or tsv, not"),
        (b"a\tb", ("--interactive",), "--score takes no --interactive"),
        (b"a\tb", ("--alignments",), "--score takes no --alignments: it looks"),
        (b"a\tb", ("--beam=2",), "--score takes no --beam"),
    ],
)
def test_what_cannot_be_scored(translator, files, content, arguments, message):
    with pytest.raises(ConfigError, match=message):
        files.call(content, "--score", "--task=en-de", *arguments)
    assert not files.output.exists()
