import json
import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.wikisql.wikisql_dataset_builder import sql
from tests.datasets.question_corpora import (
    build,
    examples,
    json_lines,
    triplets,
    write,
)

REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")

HEADER = ["Goat", "Milk (l)", "Farm  name"]
TABLE = {"id": "7-1", "header": HEADER, "types": ["text", "real", "text"]}


def line(question="How much?", sel=1, agg=0, conds=(), table="7-1"):
    return {
        "phase": 1,
        "table_id": table,
        "question": question,
        "sql": {"sel": sel, "agg": agg, "conds": list(conds)},
    }


def files(directory, *lines, name="dev", tables=(TABLE,)):
    write(directory, f"{name}.tables.jsonl", json_lines(*tables))
    return write(directory, f"{name}.jsonl", json_lines(*lines))


def test_questions_queries_and_logical_forms(tmp_path):
    lines = (
        line("Which farm has Bea? ", 2, 0, [[0, 0, "Bea  II"], [1, 1, 2.5]]),
        line("How many with\x85less than 3?", 0, 3, [[1, 2, 3]]),
        line("The most?", 1, 1),
    )
    other = TABLE | {"id": "7-2", "header": ["", "A"]}
    files(tmp_path / "m/data", *lines, tables=(other, TABLE))
    builder, warnings = build("wikisql", tmp_path / "m", tmp_path)
    assert list(builder.info.splits) == ["validation"]
    first, second, third = examples(builder, "validation")
    assert first == {
        "question": "What is the translation from English to SQL?",
        "context": "The table has columns Goat, Milk (l), Farm  name and key "
        "words MAX, MIN, COUNT, SUM, AVG, =, >, <, OP, SELECT, WHERE, AND, "
        "COL, TABLE, CAPTION, PAGE, SECTION, OP, COND, QUESTION, AGG, AGGOPS, "
        "CONDOPS -- Which farm has Bea?",
        "answer": "SELECT Farm name FROM table WHERE Goat = Bea II AND "
        "Milk (l) > 2.5",
        "answers": [
            "SELECT Farm name FROM table WHERE Goat = Bea II AND Milk (l) > 2.5"
        ],
        "id": "dev.jsonl:1",
        "scoring": {
            "header": HEADER,
            "sel": 2,
            "agg": 0,
            "conds": [[0, 0, "Bea  II"], [1, 1, 2.5]],
        },
    }
    assert second["context"].endswith("-- How many with\x85less than 3?")
    assert second["answer"] == "SELECT COUNT Goat FROM table WHERE Milk (l) < 3"
    assert second["scoring"]["conds"] == [[1, 2, 3]]
    assert third["answer"] == "SELECT MAX Milk (l) FROM table"
    for expected in (
        "dev.tables.jsonl: 1 table with a column without a name, kept",
        "there is no train.jsonl: the build has no train",
        "validation: 3 examples; the released corpus has 8,421",
    ):
        assert expected in warnings


def test_all_splits_packed_or_not_and_blank_lines(tmp_path):
    manual = tmp_path / "m" / "wikisql"
    for name in ("train", "test"):
        files(manual, line(name), line(" "), name=name)
    packed = json_lines(line("dev")) + "\r\n\n"
    write(manual, "dev.jsonl.gz", packed)
    write(manual, "dev.tables.jsonl.gz", json_lines(TABLE))
    builder, warnings = build("wikisql", tmp_path / "m", tmp_path)
    for split, end in zip(("train", "validation", "test"), "ntv"):
        [(_, context, _)] = triplets(builder, split)
        assert context[-1] == {"n": "n", "t": "v", "v": "t"}[end]
    assert "train.jsonl: 1 question without a text, left out" in warnings


def test_rows_of_tables(tmp_path):
    rows = [["Bea", 2.5, None], ["Ada", 3, "Hill"]]
    full = TABLE | {"rows": rows}
    lines = (line("How much?", 1, 0, [[0, 0, "Ada"]]), line("Which?", 0))
    files(tmp_path / "m", *lines, tables=(full,))
    builder, warnings = build("wikisql", tmp_path / "m", tmp_path)
    found = examples(builder, "validation")
    assert [row["scoring"]["rows"] for row in found] == [rows, rows]
    assert [row["scoring"]["types"] for row in found] == [TABLE["types"]] * 2
    assert "without rows" not in warnings


def test_rows_of_some_tables_alone_are_not_kept(tmp_path):
    full = TABLE | {"id": "7-2", "rows": []}
    files(tmp_path / "m", line(), line(table="7-2"), tables=(TABLE, full))
    builder, warnings = build("wikisql", tmp_path / "m", tmp_path)
    assert "1 table without rows (first: line 1), so no rows" in warnings
    for row in examples(builder, "validation"):
        assert set(row["scoring"]) == {"header", "sel", "agg", "conds"}


def test_one_file_of_a_split(tmp_path):
    manual = files(tmp_path / "m", line())
    os.unlink(os.path.join(manual, "dev.tables.jsonl"))
    with pytest.raises(DataError, match="cannot read .*dev.tables.jsonl"):
        build("wikisql", manual, tmp_path)
    with pytest.raises(MissingData, match="train.jsonl"):
        build("wikisql", tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            line(table="9"),
            r"dev.jsonl:1: \$.table_id: found .*id of a table of",
        ),
        (line(sel=3), r"sql.sel: found '3'.*number of a column, 0 to 2"),
        (line(sel=-1), "sql.sel: found '-1'"),
        (line(agg=6), "sql.agg: found '6'.*number of an aggregate, 0 to 5"),
        (line(agg="MAX"), "sql.agg: found .*must be a whole number"),
        (line(conds=[[0, 4, "a"]]), r"conds\[0\]\[1\]: .*an operator, 0 to 2"),
        (
            line(conds=[[0, 3, "a"]]),
            r"dev.jsonl:1: .*conds\[0\]\[1\]: .*an operator, 0 to 2",
        ),
        (line(conds=[[3, 0, "a"]]), r"conds\[0\]\[0\]: .*a column, 0 to 2"),
        (line(conds=[[0, 0, None]]), r"\[2\]: found 'null'.*text or a number"),
        (line(conds=[[0, 0, True]]), "found 'true'; it must be a text or"),
        (line(conds=[[0, 0, float("nan")]]), "found 'NaN'; it must be a text"),
        (line(conds=[[0, 0]]), r"conds\[0\]: .*must be three things"),
        (line(conds=["a"]), r"conds\[0\]: .*must be a list"),
        (
            {"table_id": "7-1"},
            r"dev.jsonl:1: \$: the key 'question' is missing",
        ),
        ([], r"dev.jsonl:1: \$: found '\[\]'; it must be an object"),
    ],
)
def test_a_wrong_question_says_where(tmp_path, entry, message):
    manual = files(tmp_path / "m", entry)
    with pytest.raises(DataError, match=message):
        build("wikisql", manual, tmp_path)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ("{\n", "dev.tables.jsonl:1: not JSON"),
        ('\n{"id": "1"}\n', r"jsonl:2: \$: the key 'header' is missing"),
        ('{"id": "1", "header": []}', "header: .*the names of the columns"),
        ('{"id": "1", "header": [1]}', r"header\[0\]: .*must be a text"),
        (
            json_lines(TABLE | {"rows": [["a"], ["b", ["c"]]]}),
            r"jsonl:1: \$.rows\[1\]: .*a list of texts and numbers",
        ),
        (
            json_lines(TABLE | {"rows": [1]}),
            r"rows\[0\]: .*must be a list",
        ),
        (
            json_lines(TABLE | {"rows": [], "types": ["text"]}),
            r"jsonl:1: \$.types: .*a list of 3, one for each column",
        ),
        (
            json_lines(TABLE | {"rows": [], "types": ["text", 1, "text"]}),
            r"\$.types\[1\]: .*must be a text",
        ),
        (
            json_lines(TABLE | {"rows": [], "types": ["text", "int", "text"]}),
            r"\$.types\[1\]: found .*int.*one of text, real",
        ),
        (
            json_lines(TABLE | {"rows": []}, TABLE | {"rows": [["a"]]}),
            r"jsonl:2: \$.id: another table has the id '7-1'",
        ),
        (
            json_lines(TABLE, TABLE | {"header": ["A"]}),
            r"jsonl:2: \$.id: another table has the id '7-1'",
        ),
    ],
)
def test_a_wrong_table_says_where(tmp_path, tables, message):
    manual = files(tmp_path / "m", line())
    write(manual, "dev.tables.jsonl", tables)
    with pytest.raises(DataError, match=message):
        build("wikisql", manual, tmp_path)


def test_sql():
    form = {"sel": 0, "agg": 5, "conds": [[0, 3, "x y"]]}
    assert (
        sql(["A\u00a0b"], form) == "SELECT AVG A b FROM table WHERE A b OP x y"
    )


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "wikisql")), reason="not there"
)
def test_real_files(tmp_path):
    builder, warnings = build("wikisql", REAL, tmp_path)
    assert builder.info.splits["validation"].num_examples == 8421
    assert "left out" not in warnings
    for row in examples(builder, "validation"):
        assert row["answer"].startswith("SELECT ")
        assert set(row["scoring"]) == {"header", "sel", "agg", "conds"}
        assert json.dumps(row["scoring"]["conds"]) is not None
