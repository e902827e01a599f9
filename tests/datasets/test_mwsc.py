import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from tests.datasets.question_corpora import build, examples, triplets, write

REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")


def schema(number):
    return (
        f"Goat {number} saw the cat as it was so [loud/quiet]. \n"
        "What was so [loud/quiet]? \ncat/Goat\n"
    )


def test_schemas_become_two_examples_each(tmp_path):
    text = (
        "The pot hid the lid because its [rim/hole] was [big/small]. \r\n"
        "Whose [rim/hole] was [big/small]? \r\n"
        "pot's/ lid's\r\n \r\n\r\n"
        # Only one of the lines has a choice; U+0085 ends no line.
        "Bo [rang/told]\x85Al.\nWho was it\nBo/Al"
    )
    manual = write(tmp_path / "mwsc", "schema.txt", text)
    builder, warnings = build("mwsc", tmp_path, tmp_path)
    assert triplets(builder, "train") == [
        (
            "Whose rim was big? pot's or lid's?",
            "The pot hid the lid because its rim was big.",
            ["pot's"],
        ),
        (
            "Whose hole was small? pot's or lid's?",
            "The pot hid the lid because its hole was small.",
            ["lid's"],
        ),
        ("Who was it Bo or Al?", "Bo rang\x85Al.", ["Bo"]),
        ("Who was it Bo or Al?", "Bo told\x85Al.", ["Al"]),
    ]
    ids = [row["id"] for row in examples(builder, "train")]
    assert ids[2:] == ["schema.txt:6/0", "schema.txt:6/1"]
    assert list(builder.info.splits) == ["train"]
    for expected in (
        "schema.txt: 2 schemas; the released file has 132",
        "1 question without a question mark, kept (first: line 7)",
        "train: 4 examples; the released corpus has 80",
    ):
        assert expected in warnings
    assert os.path.isdir(manual)


@pytest.mark.by_default("135-*")
@pytest.mark.parametrize(("schemas", "left"), [(132, ""), (135, "8 examples")])
def test_splits_by_position(tmp_path, schemas, left):
    text = "\n".join(map(schema, range(schemas)))
    manual = write(tmp_path / "m/local_data", "schema.txt", text)
    builder, warnings = build("mwsc", tmp_path / "m", tmp_path)
    sizes = {k: v.num_examples for k, v in builder.info.splits.items()}
    assert sizes == {"train": 80, "validation": 82, "test": 100}
    contexts = {s: triplets(builder, s)[0][1].split()[1] for s in sizes}
    assert contexts == {"train": "0", "validation": "40", "test": "81"}
    assert triplets(builder, "test")[-1][1].startswith("Goat 130 ")
    assert (
        f"{left} at the end of the file" in warnings if left else not warnings
    )
    assert manual


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("One [a/b].\nTwo?\n", r"schema.txt:1: 2 lines in the schema"),
        ("One [a/b].\nTwo?\nc/d\ne", r"schema.txt:1: 4 lines in the schema"),
        ("\nOne [a/b].\nTwo?\nc d\n", "schema.txt:4: found 'c d'; it must be"),
        ("One [a/b].\nTwo?\nc/\n", "schema.txt:3: found 'c/'; it must be two"),
        ("One [a/b].\nTwo?\nc/c\n", "must be two answers"),
        ("One [a b].\nTwo?\nc/d\n", r"schema.txt:1: found '\[a b\]'"),
        ("One [a/b].\nTwo [a/b/c]?\nc/d\n", r"schema.txt:2: found '\[a/b/c"),
        ("One [a/b.\nTwo?\nc/d\n", "schema.txt:1: a bracket without"),
        ("One a.\nTwo?\nc/d\n", r"schema.txt:1: no \[one/other\]"),
        ("", "the file is empty"),
    ],
)
def test_what_cannot_be_read_says_where(tmp_path, text, message):
    manual = write(tmp_path / "m", "schema.txt", text)
    with pytest.raises(DataError, match=message):
        build("mwsc", manual, tmp_path)


def test_no_files(tmp_path):
    with pytest.raises(MissingData, match="schema.txt"):
        build("mwsc", tmp_path, tmp_path)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "mwsc")), reason="not there"
)
def test_real_files(tmp_path):
    builder, warnings = build("mwsc", REAL, tmp_path)
    sizes = {k: v.num_examples for k, v in builder.info.splits.items()}
    assert sizes == {"train": 80, "validation": 82, "test": 100}
    assert "2 questions without a question mark" in warnings
    for split in sizes:
        for row in examples(builder, split):
            assert row["answer"] in row["question"].rpartition(" or ")[0] or (
                row["question"].endswith(f" or {row['answer']}?")
            )
            assert not set("[]") & {*row["question"], *row["context"]}
