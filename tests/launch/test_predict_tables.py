"""The predict program on rows of named fields, and on prompts for people."""

import csv
import io
import json

import pytest

from launch import predict
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.programs import runner
from mtl_tf.runs.loaded import prompt
from tests.launch.stand_in import TAGGING, TASKS, TRANSLATION

ROWS = 'id,review,label\n7,"a good, ""old"" one",x\n8,"two\nlines",\n'


@pytest.fixture
def call(tmp_path):
    def call(content, source, output, *flags):
        path = tmp_path / source
        path.write_text(content, encoding="utf-8", newline="")
        argv = ["predict", "--model_dir=x", f"--input={path}", *flags]
        argv.append(f"--output={tmp_path / output}")
        predict.main(runner.parse(predict.PROGRAM, argv))
        return (tmp_path / output).read_text(encoding="utf-8")

    return call


def test_a_name_that_ends_in_json_is_one_of_jsonl(run, call):
    text = call('{"text": "good"}\n', "in.json", "out.jsonl", "--task=books")
    assert json.loads(text)["text"] == "good"
    with pytest.raises(DataError, match="in.json:1: must be an object such as"):
        call('"good"', "in.json", "out.csv", "--task=books")


def test_other_columns_stay(run, call):
    flags = ("--task=books", "--columns=text=review")
    text = call(ROWS, "in.csv", "out.csv", *flags)
    first, second = csv.DictReader(io.StringIO(text))
    assert list(first) == [
        "id",
        "review",
        "input_label",
        "task",
        "label",
        "scores.negative",
        "scores.positive",
    ]
    assert first["id"] == "7" and first["review"] == 'a good, "old" one'
    assert first["input_label"] == "x" and first["label"] == "positive"
    assert second["review"] == "two\nlines" and second["label"] == "negative"
    scores = run.predict("books", ['a good, "old" one'])[0]["scores"]
    assert float(first["scores.positive"]) == scores["positive"]
    # Endings are forms in any combination.
    lines = call(ROWS, "in.csv", "out.jsonl", *flags).splitlines()
    assert json.loads(lines[1]) == {
        **{"id": "8", "review": "two\nlines", "input_label": ""},
        **run.predict("books", ["two\nlines"])[0],
    }


def test_line_ends_within_cells_stay(run, call, tmp_path):
    texts = ["two\r\nlines", "an old\rone", "three\n\r\nlines", "one\r"]
    rows = "".join(f'"{text}",x\r\n' for text in texts)
    call(f"text,note\r\n{rows}", "in.csv", "out.csv", "--task=books")
    with open(tmp_path / "out.csv", newline="") as file:
        content = file.read()
    assert content.startswith("text,note,task,label,")
    found = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["text"] for row in found] == texts
    assert [row["note"] for row in found] == ["x"] * 4
    assert '"an old\rone",x' in content


@pytest.mark.parametrize(("delimiter", "argument"), [(";", ";"), ("\t", "\\t")])
def test_a_delimiter_of_csv(run, call, delimiter, argument):
    rows = '7;"a ; b";x\n8;c, d;y\n'
    content = ("id;review;label\n" + rows).replace(";", delimiter)
    flags = ("--task=books", "--columns=text=review")
    lines = call(
        content, "in.csv", "out.jsonl", *flags, f"--delimiter={argument}"
    ).splitlines()
    first, second = map(json.loads, lines)
    assert (first["review"], first["id"]) == (f"a {delimiter} b", "7")
    assert (second["review"], second["input_label"]) == ("c, d", "y")


def test_a_column_of_the_fields_own_name_is_not_renamed(run, call):
    rows = ROWS.replace("review", "text")
    expected = call(rows, "in.csv", "one.csv", "--task=books")
    flags = ("--task=books", "--columns=text=text")
    assert call(rows, "in.csv", "two.csv", *flags) == expected
    assert expected.startswith("id,text,input_label,task,label")


def test_columns_of_the_training_are_the_default(run, call):
    entry = {"name": "books", "files": {"train": "x.csv"}}
    entry["columns"] = {"text": "review", "label": "felt"}
    run.config = {"tasks": [entry, "sample_reviews"]}
    rows = "id,review,other,task\n7,a good one,bad,\n8,x,good,films\n"
    text = rows.replace("other", "text")
    first, second = csv.DictReader(
        io.StringIO(call(text, "in.csv", "out.csv", "--task=books"))
    )
    assert (first["review"], first["label"]) == ("a good one", "positive")
    assert first["input_text"] == "bad"
    # The other task was trained on columns of its own.
    assert second["task"] == "films" and second["label"] == "positive"
    # Who names columns is followed; files without the column have their own.
    flags = ("--task=books", "--columns=text=other")
    said = call(rows[:39], "in.csv", "o.jsonl", *flags)
    assert json.loads(said)["label"] == "negative"
    said = call('{"text": "good"}', "in.jsonl", "o.jsonl", flags[0])
    assert json.loads(said)["label"] == "positive"
    with pytest.raises(
        ConfigError, match="the fields id, other .*: --columns=t"
    ):
        call("id,other\n7,a\n", "in.csv", "out.csv", "--task=books")


def test_the_delimiter_of_the_training_is_the_default(run, call):
    entry = {"name": "books", "files": {"train": "x.csv"}, "delimiter": ";"}
    run.config = {"tasks": [entry]}
    said = call("id;text\n7;bad\n", "in.csv", "o.jsonl", "--task=books")
    assert json.loads(said)["label"] == "negative"
    flags = ("--task=books", "--delimiter=,")
    said = call("id,text\n7,bad\n", "in.csv", "o.jsonl", *flags)
    assert json.loads(said)["label"] == "negative"


def test_values_of_json_stay_what_they_are(run, call):
    line = {"id": 7, "text": "good", "more": {"a": [1, None]}, "score": None}
    text = call(json.dumps(line), "in.jsonl", "out.jsonl", "--task=books")
    assert json.loads(text) == {**line, **run.predict("books", ["good"])[0]}
    text = call(json.dumps(line), "in.jsonl", "out.csv", "--task=books")
    [row] = csv.DictReader(io.StringIO(text))
    assert row["id"] == "7" and row["score"] == ""
    assert row["more.a"] == "[1, null]"


def test_half_a_character_does_not_stop_the_output(run, call, caplog):
    line = '{"text": "good", "note": ["\\ud800"]}'
    text = call(line, "in.jsonl", "out.jsonl", "--task=books")
    assert json.loads(text)["note"] == ["\ufffd"]
    assert "1 halves of surrogate pairs" in caplog.text


def test_tsv_has_no_quotes_and_loses_tabs(run, call, caplog):
    rows = 'text\tid\n"good\t1\r\n\nbad\t2\n'
    text = call(rows, "in.tsv", "out.tsv", "--task=films")
    lines = [line.split("\t") for line in text.splitlines()]
    assert [line[:2] for line in lines] == [
        ["text", "id"],
        ['"good', "1"],
        ["bad", "2"],
    ]
    assert "cells had tabs" not in caplog.text
    line = json.dumps({"text": "a\tb\r\nc", "id": "x"})
    text = call(line, "in.jsonl", "out.tsv", "--task=films")
    assert text.splitlines()[1].startswith("a b c\tx\tfilms")
    assert "1 cells had tabs or line ends" in caplog.text


def test_a_column_names_the_task(run, call):
    rows = "text,corpus,task\ngood,films,t\nbad,books,u\n"
    text = call(rows, "in.csv", "out.jsonl", "--columns=task=corpus")
    found = [json.loads(line) for line in text.splitlines()]
    assert [one["task"] for one in found] == ["films", "books"]
    # A column that was called so is not lost.
    assert [one["input_task"] for one in found] == ["t", "u"]


def test_a_column_task_of_another_meaning_is_told(run, call):
    rows = "text,task\ngood,onboarding\n"
    message = "in.csv:2: unknown task 'onboarding'; .*; if the field 'task' nam"
    with pytest.raises(ConfigError, match=message):
        call(rows, "in.csv", "out.csv", "--task=books")


def test_rows_of_several_types_share_a_table(run, call):
    run.tasks = [TAGGING, *TASKS]
    rows = "task,tokens,text\nnames,New Ann,\n"
    flags = ("--format=csv",)
    with pytest.raises(DataError, match="in.csv:2: must be an object such as"):
        call(rows, "in.csv", "out.csv", *flags)
    rows = [
        {"task": "names", "tokens": ["Ann", "is"], "id": 1},
        {"task": "books", "text": "good", "id": 2},
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    found = call(content, "in.jsonl", "out.csv", "--batch_size=1")
    names, books = csv.DictReader(io.StringIO(found))
    assert json.loads(names["tags"]) == ["B-X", "O"] and not names["label"]
    assert books["label"] == "positive" and books["tags"] == ""
    assert (names["id"], books["id"]) == ("1", "2")


def test_tokens_of_a_table_have_spaces_between_them(run, call):
    run.tasks = [TAGGING]
    text = call("id,tokens\n3,see Ann\n", "in.csv", "out.jsonl")
    found = json.loads(text)
    assert found["id"] == "3" and found["tokens"] == ["see", "Ann"]
    assert found["tags"] == ["O", "B-X"] and "input_tokens" not in found
    text = call("id,tokens\n3,see Ann\n", "in.csv", "out.conll")
    assert text == "see O\nAnn B-X\n\n"


def test_a_table_without_rows(run, call):
    assert call("id,text\n", "in.csv", "out.csv", "--task=books") == ""


def test_a_table_of_pandas_and_names_with_spaces(run, call):
    rows = ',"text ", label\r\n0,good,x\r\n1,old,\r\n'
    text = call(rows, "in.csv", "out.csv", "--task=books")
    first, second = csv.DictReader(io.StringIO(text))
    assert first[""] == "0" and first["text"] == "good"
    assert second["input_label"] == "" and second["label"]


def test_empty_texts_are_told(run, call, caplog):
    rows = "id,text\n1,good\n2, \n3,\n"
    text = call(rows, "in.csv", "out.csv", "--task=books")
    assert len(text.splitlines()) == 4
    assert "Examples with an empty text: 2, the first at" in caplog.text
    assert "in.csv:3;" in caplog.text


@pytest.mark.parametrize(
    ("content", "flags", "message"),
    [
        ("id,text\n1\n", [], "in.csv:2: a row must have 2 cells"),
        ("id,id\n1,2\n", [], "in.csv:1: the first row must name the columns"),
        (
            ",,text\n1,2,3\n",
            [],
            "in.csv:1: the first row must name the columns",
        ),
        (
            "text;id\na, b;1\n",
            [],
            "in.csv:1: .*'text;id': if ';' separates .* give --delimiter=';'",
        ),
        ('id,text\n1,"2\n\n', [], "in.csv:2: a quoted cell is never closed"),
        ('id,text\n1,a"2"\n', [], 'in.csv:2: a " stands inside .* in it, in '),
        ('"id";"text"\n1;"a"\n', [], "in.csv:1: .* if ';' separates the cells"),
        (
            "id,txt\n1,2\n",
            ["--columns=text=text"],
            "in.csv:2: no field 'text', which --columns names for text; did "
            "you mean 'txt'",
        ),
    ],
)
def test_wrong_tables(run, call, tmp_path, content, flags, message):
    with pytest.raises(DataError, match=message):
        call(content, "in.csv", "out.csv", "--task=books", *flags)
    assert [file.name for file in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--delimiter=;;"], "--delimiter must be one character"),
        (
            ["--delimiter=;", "--format=tsv"],
            "is for csv and conll, and the input is re",
        ),
        (["--columns=text"], "--columns must be FIELD=COLUMN, got 'text'"),
        (["--columns=text=a,text=b"], "names the field text twice"),
        (
            ["--columns=txt=review"],
            "unknown field .*'txt'; did you mean 'text'",
        ),
        (["--columns=text=a", "--format=text"], "is for jsonl, csv, tsv, conl"),
        (
            [],
            r"in.csv:2: .* has the fields id, review, label \(in a table, its "
            r"first row\): --columns=text=COLUMN names the one to read",
        ),
    ],
)
def test_wrong_columns(run, call, flags, message):
    with pytest.raises(ConfigError, match=message):
        call(ROWS, "in.csv", "out.csv", "--task=books", *flags)


def talk(run, typed, task="", form=prompt.PEOPLE):
    output = io.BytesIO()
    prompt.interact(run, task, io.BytesIO(typed), output, form)
    return output.getvalue().decode().splitlines()


def test_all_tasks_answer_at_once(run, capsys):
    score = run.predict("books", ["good"])[0]["scores"]["positive"]
    books, films = talk(run, b"good\n")
    assert books == f"books  positive  {100 * score:.1f} %"
    assert films.startswith("films  positive")
    assert "2 tasks> " in capsys.readouterr().err
    assert len(talk(run, b"/task films\ngood\n/all\nbad\n")) == 3
    assert len(talk(run, b"good\n", "films")) == 1


def test_an_empty_text_says_so(run, capsys):
    assert talk(run, b"\n  \ngood\n", "books")[0].startswith("books  positive")
    err = capsys.readouterr().err
    assert err.count("the text is empty: there is nothing to predict") == 2
    assert [texts for _, texts, _ in run.calls] == [["good"]]


def test_tasks_that_read_something_else_are_left_out(run, capsys):
    pairs = {**TASKS[0], "name": "nli", "type": "pair_classification"}
    run.tasks = [*TASKS, pairs]
    assert [line.split()[0] for line in talk(run, b"good\n")] == [
        "books",
        "films",
    ]
    [answer] = talk(run, b"/task nli\ngood\nbetter\n\tonly\n")
    assert answer.startswith("nli  positive")
    assert "one of the texts is empty" in capsys.readouterr().err


def test_tags_and_translations_for_people(run):
    run.tasks = [TAGGING, TRANSLATION]
    assert talk(run, b"New York is x\n") == [
        "names  [New X] [York X] is x",
        "en-de  NEW YORK IS X",
    ]


def test_the_prompt_of_the_program_is_for_people(run, monkeypatch, capfdbinary):
    source = io.TextIOWrapper(io.BytesIO(b"good\n"))
    monkeypatch.setattr("sys.stdin", source)
    argv = ["predict", "--model_dir=x", "--interactive"]
    predict.main(runner.parse(predict.PROGRAM, argv))
    out = capfdbinary.readouterr().out.decode()
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["books", "positive"],
        ["films", "positive"],
    ]


def test_a_binary_table_is_refused(run, call):
    message = r"^--input: .*in.parquet is no text file: convert it to jsonl "
    with pytest.raises(ConfigError, match=message):
        call("PAR1", "in.parquet", "out.jsonl", "--task=books")
