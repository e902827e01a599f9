import os

import pytest

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets.question_corpora import (
    build,
    examples,
    json_lines,
    triplets,
    write,
)

REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")

# wiki1


def slots(text, *answers):
    """A line of a question from its words, `_` for an empty slot."""
    return "\t".join([*text.split(), "?", *answers]) + "\n"


SENTENCE = "The goat of Bo -LRB- 7 -RRB- ate Al 's hat ."
GOOD = slots("what _ _ ate something _ _", "The goat of Bo ### the goat")


def block(*questions, name="WIKI1_1", predicates=1, announced=None):
    announced = len(questions) if announced is None else announced
    return (
        f"{name}\t{predicates}\n{SENTENCE}\n7\tate\t{announced}\n"
        f"{''.join(questions)}\n"
    )


def test_sentences_predicates_and_questions(tmp_path):
    manual = tmp_path / "m" / "qasrl_2015"
    text = (
        block(GOOD, slots("what did Bo eat _ in _", "Al 's hat\x85!"))
        + "\n"
        + "WIKI1_2\t2\nBo\x85ran and hid .\n1\tran\t1\n"
        + slots("who might_not _ run _ _ _", " Bo ### ").replace("_n", " n")
        + "3\thid\t1\n"
        + slots("who _ _ hid _ _ _", "Bo").rstrip("\n")
    )
    write(manual, "wiki1.train.qa", text.replace("\n", "\r\n"))
    write(manual, "wiki1.test.qa.gz", block(GOOD, name="WIKI1_3"))
    builder, warnings = build("qa_srl/wiki1", tmp_path / "m", tmp_path)
    context = "The goat of Bo ( 7 ) ate Al 's hat ."
    assert triplets(builder, "train") == [
        ("what ate something?", context, ["The goat of Bo", "the goat"]),
        ("what did Bo eat in?", context, ["Al 's hat\x85!"]),
        ("who might not run?", "Bo\x85ran and hid .", ["Bo"]),
        ("who hid?", "Bo\x85ran and hid .", ["Bo"]),
    ]
    assert [row["id"] for row in examples(builder, "train")] == [
        "WIKI1_1/7/0",
        "WIKI1_1/7/1",
        "WIKI1_2/1/0",
        "WIKI1_2/3/0",
    ]
    assert set(builder.info.splits) == {"train", "test"}
    assert "1 question with an empty answer beside others" in warnings
    assert "number of" not in warnings
    assert "train: 4 examples; the released corpus has 6,414" in warnings
    assert "there is no wiki1.dev.qa: the build has no validation" in warnings


def test_what_is_odd_is_counted(tmp_path):
    text = block(
        GOOD,
        slots("what _ _ ate _ _ _", ""),
        slots("what _ _ ate _ _ _"),
        slots("what ate _ _", "it"),
        announced=5,
        predicates=2,
    )
    manual = write(tmp_path / "m", "wiki1.dev.qa", text)
    builder, warnings = build("qa_srl/wiki1", manual, tmp_path)
    assert [row[0] for row in triplets(builder, "validation")] == [
        "what ate something?",
        "what ate?",
    ]
    for expected in (
        "2 questions without an answer, left out (first: line 5)",
        "1 question without its 7 slots, kept (first: line 7)",
        "1 sentence with other than its number of predicates (first: line 1)",
        "1 predicate with other than its number of questions (first: line 3)",
    ):
        assert f"wiki1.dev.qa: {expected}" in warnings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Bo ran .\n", r"dev.qa:1: a block begins with 'Bo ran .'; it must"),
        ("WIKI1_1\tone\nBo .\n", "dev.qa:1: a block begins with"),
        ("\nWIKI1_1\t1\n", "dev.qa:2: no sentence follows"),
        (f"WIKI1_1\t1\nBo .\n{GOOD}", "dev.qa:3: a question before any"),
        (block("what did he eat\n"), "dev.qa:4: found 'what.*a predicate"),
        (block(slots("_ _ _ _ _ _ _", "a")), "dev.qa:4: .*must have words"),
        ("WIKI1_1\t0\nBo .\n", "no question of validation has an answer"),
    ],
)
def test_a_wrong_line_of_wiki1_says_where(tmp_path, text, message):
    manual = write(tmp_path / "m", "wiki1.dev.qa", text)
    with pytest.raises(DataError, match=message):
        build("qa_srl/wiki1", manual, tmp_path)


# bank2

TOKENS = ["Bo", "-LRB-", "``", "it", "''", "ran", "home", "."]


def judged(*spans, valid=True):
    judgement = {"sourceId": "judge-1", "isValid": valid}
    return judgement | ({"spans": list(spans)} if valid else {})


def bank_line(*questions, **replaced):
    """A line of the bank from pairs of question and judgements."""
    labels = {
        text: {"questionString": text, "answerJudgments": list(judgements)}
        for text, judgements in questions
    }
    verb = {"verbIndex": 5, "questionLabels": labels}
    return {
        "sentenceId": "s:1",
        "sentenceTokens": TOKENS,
        "verbEntries": {"5": verb},
    } | replaced


def test_judgements(tmp_path):
    questions = (
        ("Who ran?", [judged([0, 1]), judged([0, 5]), judged([0, 5], [6, 7])]),
        ("Where?", [judged([6, 7]), judged(valid=False)]),
        ("Why?", [judged([6, 7]), judged([3, 4]), judged(valid=False)]),
        ("How?", [judged(valid=False)]),
        ("None?", []),
        ("Empty?", [judged()]),
    )
    empty = bank_line(verbEntries={}, sentenceId="s:2")
    content = json_lines(empty, bank_line(*questions))
    manual = tmp_path / "m"
    write(manual / "qasrl-v2/orig", "dev.jsonl.gz", content)
    builder, warnings = build("qa_srl/bank2", manual, tmp_path)
    context = 'Bo ( " it " ran home .'
    assert triplets(builder, "validation") == [
        ("Who ran?", context, ['Bo ( " it "', "Bo", "home"]),
        ("Why?", context, ["home", "it"]),
    ]
    rows = examples(builder, "validation")
    assert [row["id"] for row in rows] == ["s:1/5/0", "s:1/5/2"]
    assert [row["answer"] for row in rows] == ['Bo ( " it "', "home"]
    for expected in (
        "3 questions not valid to most judges, left out (first: line 2)",
        "1 question without an answer, left out (first: line 2)",
        "1 judgement valid but without an answer (first: line 2)",
        "there is no train.jsonl: the build has no train",
    ):
        assert expected in warnings
    assert "released" not in warnings


def span(*ends):
    return bank_line(("Who?", [judged(list(ends))]))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (span(0, 9), r"jsonl:1: \$\.verb.*spans\[0\]: found '\[0, 9\]'.*8 tok"),
        (span(3, 3), r"must be \[begin, end\) of an answer"),
        (span(1), r"must be \[begin, end\)"),
        (span("0", 1), "must be a whole number"),
        (
            bank_line(("Who?", [{"sourceId": "j"}])),
            r"answerJudgments\[0\]: the key 'isValid' is missing; it must hold "
            "true or false",
        ),
        (bank_line(verbEntries=[]), "verbEntries: .*must be an object"),
        (bank_line(sentenceTokens=[1]), r"sentenceTokens\[0\]: .*be a text"),
        ({"sentenceId": "s"}, r"jsonl:1: \$: the key 'sentenceTokens' is miss"),
    ],
)
def test_a_wrong_line_of_bank2_says_where(tmp_path, entry, message):
    manual = write(tmp_path / "m", "dev.jsonl", json_lines(entry))
    with pytest.raises(DataError, match=message):
        build("qa_srl/bank2", manual, tmp_path)


def test_broken_files(tmp_path):
    manual = write(tmp_path / "m", "dev.jsonl", '{"sentenceId": "s"}\n{"a"\n')
    with pytest.raises(DataError, match=r"dev.jsonl:1: \$: the key"):
        build("qa_srl/bank2", manual, tmp_path)
    write(manual, "dev.jsonl", json_lines(bank_line()) + '{"a"\n')
    with pytest.raises(DataError, match="dev.jsonl:2: not JSON.*column 5"):
        build("qa_srl/bank2", manual, tmp_path)
    os.rename(f"{manual}/dev.jsonl", f"{manual}/dev.jsonl.gz")
    with pytest.raises(DataError, match="dev.jsonl.gz cannot be unpacked"):
        build("qa_srl/bank2", manual, tmp_path)


def test_no_files_and_no_configuration(tmp_path):
    write(tmp_path / "m", "wiki1.dev.qa", block(GOOD))
    with pytest.raises(MissingData, match="train.jsonl"):
        build("qa_srl/bank2", tmp_path / "m", tmp_path)
    with pytest.raises(ConfigError, match="qa_srl/wiki1, qa_srl/bank2"):
        build("qa_srl", tmp_path / "m", tmp_path)
    assert building.expand("qa_srl") == ["qa_srl/wiki1", "qa_srl/bank2"]


@pytest.mark.skipif(
    not any(
        os.path.isdir(os.path.join(REAL, name))
        for name in ("qa_srl", "qasrl_2015")
    ),
    reason="not there",
)
@pytest.mark.parametrize("config", ["wiki1", "bank2"])
def test_real_files(tmp_path, config):
    builder, warnings = build(f"qa_srl/{config}", REAL, tmp_path)
    assert "number of" not in warnings and "slots" not in warnings
    for split in builder.info.splits:
        rows = examples(builder, split)
        assert len({row["id"] for row in rows}) == len(rows)
        for row in rows:
            assert row["question"].endswith("?") and row["answer"]
            assert config == "wiki1" or all(
                answer in row["context"] for answer in row["answers"]
            )
