import json
import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from mtl_tf.datasets.statistics import statistics
from tests.datasets.question_corpora import build, examples, triplets, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")

CONTEXT = "The mill at Orl\x85burned in 1702 and again in 1803."


def question(text="When did it burn?", answers=("1702",), name="q1"):
    starts = [max(CONTEXT.find(answer), 0) for answer in answers]
    return {
        "id": name,
        "question": text,
        "answers": [
            {"text": answer, "answer_start": start}
            for answer, start in zip(answers, starts)
        ],
    }


def corpus(*questions):
    paragraph = {"context": CONTEXT, "qas": list(questions)}
    return {"data": [{"title": "Mill", "paragraphs": [paragraph]}]}


def test_both_splits_with_all_gold_answers(tmp_path):
    manual = tmp_path / "manual"
    train = json.dumps(corpus(question(), question("Where ?  ", ("Orl",))))
    # Indented, with a byte-order mark and carriage returns.
    text = json.dumps(corpus(question("When?", ("1702", "1803", "1702"))))
    dev = "\ufeff" + text.replace("{", "{\r\n", 1)
    write(manual / "squad", "train-v1.1.json", train)
    write(manual / "squad", "dev-v1.1.json.gz", dev)
    builder, warnings = build("squad", manual, tmp_path)
    assert triplets(builder, "train") == [
        ("When did it burn?", CONTEXT, ["1702"]),
        ("Where ?", CONTEXT, ["Orl"]),
    ]
    [row] = examples(builder, "validation")
    assert row == {
        "question": "When?",
        "context": CONTEXT,
        "answer": "1702",
        "answers": ["1702", "1803", "1702"],
        "id": "q1",
        "scoring": {},
    }
    assert "train: 2 examples; the released corpus has 87,599" in warnings
    assert [split.tokens for split in statistics(builder)] == [10, 10]


def test_what_is_odd_is_counted(tmp_path):
    moved = question("Moved?", ("1702",), "q2")
    moved["answers"][0]["answer_start"] = 3
    content = corpus(
        question("Empty?", ("",), "q1"),
        moved,
        question("None?", (), "q3"),
        question(" ", ("1702",), "q4"),
        question("Two?", ("", "1803"), "q5"),
    )
    manual = write(tmp_path / "m", "train-v1.1.json", json.dumps(content))
    builder, warnings = build("squad", manual, tmp_path)
    assert [row[::2] for row in triplets(builder, "train")] == [
        ("Moved?", ["1702"]),
        ("Two?", ["1803"]),
    ]
    name = "train-v1.1.json: "
    for expected in (
        name + "2 answers empty, left out (first: question q1)",
        name + "2 questions without an answer, left out (first: question q1)",
        name + "1 answer not where answer_start says, kept",
        name + "1 question without a text, left out (first: question q4)",
        "there is no dev-v1.1.json: the build has no validation",
    ):
        assert expected in warnings


def test_a_part_of_a_file_is_taken_by_its_name(tmp_path):
    content = json.dumps(corpus(question()))
    manual = write(tmp_path / "m", "dev-v1.1_part.json", content)
    builder, _ = build("squad", manual, tmp_path)
    assert list(builder.info.splits) == ["validation"]
    write(manual, "dev-v1.1_other.json", content)
    with pytest.raises(DataError, match="has not dev-v1.1.json, but dev-v1"):
        build("squad", manual, tmp_path)
    write(manual, "dev-v1.1.json", json.dumps(corpus(question("Whole?"))))
    builder, _ = build("squad", manual, tmp_path)
    assert triplets(builder, "validation")[0][0] == "Whole?"


def broken(path, value):
    """A corpus in which `value` stands at `path`; None drops the key."""
    content = corpus(question())
    at = content
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(content)


QAS = ("data", 0, "paragraphs", 0, "qas", 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"data": [\n{"title": }', r"v1.1.json:2: not JSON: Expecting value"),
        ("[" * 100_000, "JSON that cannot be read"),
        (" \n", "the file is empty"),
        ("[]", r"v1.1.json: \$: found '\[\]'; it must be an object"),
        (broken(("data",), None), "the key 'data' is missing.*a list"),
        (broken((*QAS, "id"), None), r"\.qas\[0\]: the key 'id' is missing"),
        (broken((*QAS, "id"), 7), r"qas\[0\]\.id: found '7'.*must be a text"),
        (broken((*QAS, "answers"), "x"), r"answers: .*must be a list"),
        (
            broken((*QAS, "answers", 0, "answer_start"), "5"),
            r"answers\[0\]\.answer_start: found .*must be a whole number",
        ),
        (
            broken((*QAS, "answers", 0, "answer_start"), True),
            "found 'true'; it must be a whole number",
        ),
        (broken((*QAS, "question"), "\ud800"), "half of a surrogate pair"),
        (broken(("data",), []), "no question of train has an answer"),
    ],
)
def test_what_cannot_be_read_says_where(tmp_path, content, message):
    manual = write(tmp_path / "m", "train-v1.1.json", content)
    with pytest.raises(DataError, match=message):
        build("squad", manual, tmp_path)


def test_no_files(tmp_path):
    with pytest.raises(MissingData, match="train-v1.1.json"):
        build("squad", tmp_path, tmp_path)
    with pytest.raises(MissingData, match="MTL_TF_MANUAL_DIR"):
        building.prepare("squad", str(tmp_path / "build"))


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "squad")), reason="not there"
)
def test_real_files(tmp_path):
    builder, warnings = build("squad", REAL, tmp_path)
    for split in builder.info.splits:
        rows = examples(builder, split)
        assert len({row["id"] for row in rows}) == len(rows) > 1000
        assert all(
            answer in row["context"]
            for row in rows
            for answer in row["answers"]
        )
    assert "answer_start" not in warnings and "left out" not in warnings
