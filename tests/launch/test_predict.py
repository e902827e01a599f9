"""The predict program on a stand-in run."""

import gzip
import io
import json
import os

import pytest

from launch import predict
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.programs import runner
from mtl_tf.runs.loaded import prompt
from tests.launch.helpers import start
from tests.launch.stand_in import TASKS

# Runs the real program on the stand-in.
PROGRAM = (
    "import dataclasses, mtl_tf\n"
    "from launch import predict\nfrom mtl_tf.programs import runner\n"
    "from tests.launch.stand_in import Run\n"
    "mtl_tf.load = lambda *_: Run()\n"
    "runner.run(dataclasses.replace(predict.PROGRAM, tensorflow=False))\n"
)


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
    files.call(b"good\n" * 40, "--task=books", "--batch_size=2")
    # Sixteen batches are read at once, and sorted by length.
    assert [len(texts) for _, texts, _ in run.calls] == [32, 8]
    assert {size for _, _, size in run.calls} == {2}


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


def test_the_input_is_not_overwritten(run, files, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(files.source)
    for output in (files.source, link):
        with pytest.raises(ConfigError, match="is the input, which would be"):
            files.call(b"good\n", "--task=books", f"--output={output}")
        assert files.source.read_bytes() == b"good\n"


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
    rest, err = process.communicate(timeout=120)
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
    source = io.BytesIO(
        b"good\n/task films\n\n/task film\n/tasks\n/what\n//tail"
    )
    output = io.BytesIO()
    prompt.interact(run, "", source, output, "jsonl")
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [(a["task"], a["text"]) for a in answers] == [
        ("books", "good"),
        ("films", ""),
        ("films", "/tail"),
    ]
    err = capsys.readouterr().err
    assert err.count("films> ") == 6
    assert "unknown task 'film'; did you mean 'films'?" in err
    assert "books\nfilms\n" in err
    assert err.count("Ctrl-D ends") == 2
