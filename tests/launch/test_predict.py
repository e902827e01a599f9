"""The predict program on a stand-in run."""

import gzip
import io
import json
import os

import pytest

import mtl_tf
from launch import predict, row_predictions
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.programs import runner, text_input
from mtl_tf.runs import prompt
from tests.launch.helpers import start
from tests.launch.stand_in import TAGGING, TASKS, TRANSLATION, Run

# Runs the real program on the stand-in.
PROGRAM = (
    "import dataclasses, mtl_tf\n"
    "from launch import predict\nfrom mtl_tf.programs import runner\n"
    "from tests.launch.stand_in import Run\n"
    "mtl_tf.load = lambda *_: Run()\n"
    "runner.run(dataclasses.replace(predict.PROGRAM, tensorflow=False))\n"
)


@pytest.fixture
def run(monkeypatch):
    run = Run()
    monkeypatch.setattr(mtl_tf, "load", lambda *_: run, raising=False)
    return run


@pytest.fixture
def files(tmp_path):
    class Files:
        source = tmp_path / "in"
        output = tmp_path / "out"

        def call(self, content, *arguments):
            self.source.write_bytes(content)
            argv = ["predict", "--model_dir=x", f"--input={self.source}"]
            argv += [f"--output={self.output}", *arguments]
            predict.main(runner.parse(predict.PROGRAM, argv))
            return self.lines()

        def lines(self):
            content = self.output.read_text(encoding="utf-8")
            return [json.loads(line) for line in content.split("\n")[:-1]]

    return Files()


def test_a_line_of_json_for_each_text(run, files):
    answers = files.call(b"a good one\n\nbad", "--task=books")
    assert [list(a) for a in answers] == [
        ["text", "task", "label", "scores"]
    ] * 3
    assert [a["text"] for a in answers] == ["a good one", "", "bad"]
    assert [a["label"] for a in answers] == ["positive", "negative", "negative"]
    assert {a["task"] for a in answers} == {"books"}
    expected = run.predict("books", ["a good one"])[0]["scores"]
    assert answers[0]["scores"] == expected


def test_texts_go_to_the_model_in_batches(run, files):
    files.call(b"good\n" * 10, "--task=books", "--batch_size=4")
    assert [len(texts) for _, texts, _ in run.calls] == [4, 4, 2]
    assert {size for _, _, size in run.calls} == {4}


def test_jsonl_of_mixed_tasks_keeps_the_order(run, files):
    content = "".join(
        json.dumps({"text": f"text {n}", "task": task}) + "\n"
        for n, task in enumerate(["films", "books", "books", "films"])
    )
    answers = files.call(content.encode(), "--format=jsonl")
    assert [a["text"] for a in answers] == [f"text {n}" for n in range(4)]
    assert [a["task"] for a in answers] == ["films", "books", "books", "films"]
    assert [(task, texts) for task, texts, _ in run.calls] == [
        ("films", ["text 0", "text 3"]),
        ("books", ["text 1", "text 2"]),
    ]


def test_the_flag_is_the_task_of_lines_without_one(run, files):
    content = b'{"text": "a"}\n{"text": "b", "task": "films"}\n'
    answers = files.call(content, "--format=jsonl", "--task=books")
    assert [a["task"] for a in answers] == ["books", "films"]


def test_a_single_task_needs_no_flag(run, files):
    run.tasks = TASKS[:1]
    assert files.call(b"a\n")[0]["task"] == "books"


def test_no_input_gives_no_answers(run, files):
    assert files.call(b"", "--task=books") == []


def test_a_text_of_100_000_tokens(run, files):
    text = "good " * 100_000
    assert files.call(text.encode(), "--task=books")[0]["text"] == text


def test_characters_beyond_ascii_stay_readable(run, files):
    files.call("schön \u2028".encode(), "--task=books")
    assert "schön" in files.output.read_text(encoding="utf-8")
    assert len(files.lines()) == 1


def test_what_is_no_text_is_counted(run, files, caplog):
    answers = files.call(b"caf\xe9 \xff\n", "--task=books")
    assert answers[0]["text"] == "caf\xe9 \xff"
    assert "not UTF-8, read as Latin-1: 1" in caplog.text
    half = b'{"text": "a \\ud800"}\n'
    answers = files.call(half, "--task=books", "--format=jsonl")
    assert answers[0]["text"] == "a \ufffd"
    assert "1 halves of surrogate pairs" in caplog.text


def test_packed_files_are_unpacked(run, files):
    packed = files.source.with_name("in.jsonl.gz")
    packed.write_bytes(gzip.compress(b'{"text": "good"}\n{"text": "bad"}\n'))
    argv = ["predict", "--model_dir=x", "--task=books", f"--input={packed}"]
    call = [*argv, f"--output={files.output}"]
    predict.main(runner.parse(predict.PROGRAM, call))
    assert [one["text"] for one in files.lines()] == ["good", "bad"]
    files.output.unlink()
    for content in (packed.read_bytes()[:-9], b"a good one\n"):
        packed.write_bytes(content)
        with pytest.raises(DataError, match="in.jsonl.gz cannot be unpacked"):
            predict.main(runner.parse(predict.PROGRAM, call))
    with pytest.raises(DataError, match="in: packed by gzip: unpack it"):
        files.call(gzip.compress(b"good\n"), "--task=books")
    assert not files.output.exists()
    files.source.write_bytes(b"good\n")
    argv[-1:] = [f"--input={files.source}", f"--output={packed}"]
    with pytest.raises(ConfigError, match="gz: what is written is not packed"):
        predict.main(runner.parse(predict.PROGRAM, argv))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--task is missing: this run has books, films"),
        (("--task=boks",), "unknown task 'boks'; did you mean 'books'?"),
        (("--batch_size=0",), "batch_size"),
        (("--format=xls",), "format"),
    ],
)
def test_wrong_flags(run, files, arguments, message):
    with pytest.raises(ConfigError, match=message):
        files.call(b"a\n", *arguments)
    assert not files.output.exists()


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (b'{"text": "a", "task": "film"}', ConfigError, "in:2: unknown task"),
        (b'{"text": "a"}', ConfigError, "in:2: no task: give --task or"),
        (b"{", DataError, "in:2: not JSON"),
    ],
)
def test_a_wrong_line_leaves_no_output(run, files, line, kind, message):
    first = b'{"text": "a", "task": "films"}\n'
    with pytest.raises(kind, match=message):
        files.call(first + line, "--format=jsonl")
    assert os.listdir(files.output.parent) == ["in"]


@pytest.mark.extended
def test_a_pipe_gets_its_answer_before_the_input_ends():
    process = start("-c", PROGRAM, "--model_dir=x", "--task=books")
    for text in ("good", "", "worse"):
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == text
    rest, err = process.communicate(timeout=20)
    assert (process.returncode, rest) == (0, b"")
    assert b"Error" not in err


def test_interactive_on_standard_streams(run, monkeypatch, capfdbinary):
    source = io.TextIOWrapper(io.BytesIO(b"good\n"))
    monkeypatch.setattr("sys.stdin", source)
    argv = ["predict", "--model_dir=x", "--interactive"]
    argv.append("--output_format=jsonl")
    predict.main(runner.parse(predict.PROGRAM, argv))
    out, err = capfdbinary.readouterr()
    assert [json.loads(line)["label"] for line in out.splitlines()] == [
        "positive"
    ]
    assert b"books> " in err


def test_interactive_commands(run, capsys):
    source = io.BytesIO(b"good\n/task films\n\n/task film\n/tasks\n/what\ntail")
    output = io.BytesIO()
    prompt.interact(run, "", source, output, "jsonl")
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [(a["task"], a["text"]) for a in answers] == [
        ("books", "good"),
        ("films", ""),
        ("films", "tail"),
    ]
    err = capsys.readouterr().err
    assert err.count("films> ") == 6
    assert "unknown task 'film'; did you mean 'films'?" in err
    assert "books\nfilms\n" in err
    assert err.count("Ctrl-D ends") == 2


@pytest.fixture
def tagger(run):
    run.tasks = [TAGGING, *TASKS]
    return run


def test_raw_text_is_tagged(tagger, files):
    (answer,) = files.call(b"I see  Ann\n", "--task=names")
    assert list(answer) == [
        *("text", "task", "tokens", "tags", "offsets", "confidence")
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
            *(given, "--format=jsonl", "--task=names"), "--output_format=conll"
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
            "in:1: the task books reads whole texts: each must",
        ),
        (
            "\na\nb\n",
            ["--format=conll", "--task=books"],
            "in:2: the task books reads whole texts: each must",
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
    with pytest.raises(ConfigError, match=f"jsonl, csv or tsv, .* as {form}:"):
        files.call(b"a", "--task=en-de", "--alignments", *more)
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
            "in:1: .*fields text: --columns=text=COLUMN --columns=translation=",
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
