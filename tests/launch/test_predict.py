"""The predict program on a stand-in run."""

import io
import json
import os

import pytest

import mtl_tf
from launch import predict
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.programs import runner
from tests.launch.helpers import execute, start
from tests.launch.stand_in import TASKS, Run

# Runs the real program on the stand-in, without loading TensorFlow.
PROGRAM = (
    "import dataclasses, mtl_tf\n"
    "from launch import predict\nfrom mtl_tf.programs import runner\n"
    "from tests.launch.stand_in import Run\n"
    "mtl_tf.load = lambda model_dir: Run()\n"
    "runner.run(dataclasses.replace(predict.PROGRAM, tensorflow=False))\n"
)


@pytest.fixture
def run(monkeypatch):
    run = Run()
    monkeypatch.setattr(mtl_tf, "load", lambda path: run, raising=False)
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


def test_undecodable_bytes_are_counted(run, files, caplog):
    answers = files.call(b"caf\xe9 \xff\n", "--task=books")
    assert answers[0]["text"] == "caf\ufffd \ufffd"
    assert "2 characters stand for bytes that are not UTF-8" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--task is missing: this run has books, films"),
        (("--task=boks",), "unknown task 'boks'; did you mean 'books'?"),
        (("--batch_size=0",), "batch_size"),
        (("--format=csv",), "format"),
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


def test_a_pipe_gets_its_answer_before_the_input_ends():
    process = start("-c", PROGRAM, "--model_dir=x", "--task=books")
    for text in ("good", "", "worse"):
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == text
    rest, err = process.communicate(timeout=20)
    assert (process.returncode, rest, err) == (0, b"", b"")


def test_interactive_in_a_process():
    status, out, err = execute(
        "-c", PROGRAM, "--model_dir=x", "--interactive", stdin=b"good\n"
    )
    assert status == 0
    assert [json.loads(line)["label"] for line in out.splitlines()] == [
        "positive"
    ]
    assert "books> " in err


def test_interactive_commands(run, capsys):
    source = io.BytesIO(b"good\n/task films\n\n/task film\n/tasks\n/what\ntail")
    output = io.BytesIO()
    predict.interact(run, "", source, output)
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
