import gzip
import json
import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets.question_corpora import rows, sizes, warnings, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
PAIRS = [
    ("1n", "A cat sleeps. ", 'It is "old" ', "neutral"),
    ("2e", "Two men\u0085 row.", "Men row.", "entailment"),
    ("3x", "It rains.", "It is May.", "-"),
    ("4c", "It rains.", "It is dry.", "contradiction"),
]
END = "-- entailment, neutral, or contradiction?"
CAST = [
    ("1n", f'Hypothesis: "It is "old"" {END}', 'Premise: "A cat sleeps."'),
    ("2e", f'Hypothesis: "Men row." {END}', 'Premise: "Two men\u0085 row."'),
    ("4c", f'Hypothesis: "It is dry." {END}', 'Premise: "It rains."'),
]
CAST = [
    (*row, answer)
    for row, answer in zip(CAST, ("neutral", "entailment", "contradiction"))
]


def json_lines(pairs=PAIRS):
    keys = ("pairID", "sentence1", "sentence2", "gold_label")
    lines = [
        json.dumps({**dict(zip(keys, pair)), "genre": "fiction"})
        for pair in pairs
    ]
    return "".join(f"{line}\n" for line in lines)


def official_columns(pairs=PAIRS):
    lines = ["gold_label\tsentence1\tsentence2\tpairID\tlabel1\tlabel2"]
    lines += [f"{g}\t{p}\t{h}\t{i}\tneutral\t" for i, p, h, g in pairs]
    return "\r\n".join(lines) + "\r\n"


def glue_columns(pairs=PAIRS):
    lines = ["index\tpairID\tsentence1\tsentence2\tlabel1\tgold_label"]
    lines += [f"0\t{i}\t{p}\t{h}\tx\t{g}" for i, p, h, g in pairs]
    return "\n".join(lines)


def reading_comprehension(pairs=PAIRS):
    instances = [
        {
            "id": i,
            "support": [{"id": i, "text": p}],
            "questions": [{"question": h, "answers": [{"text": g}]}],
        }
        for i, p, h, g in pairs
    ]
    return json.dumps({"instances": instances})


@pytest.mark.parametrize(
    ("name", "layout", "place"),
    [
        ("multinli_1.0_dev_matched.jsonl", json_lines, "line 3"),
        ("multinli_1.0_dev_matched.txt", official_columns, "line 4"),
        ("dev_matched.tsv", glue_columns, "line 4"),
        (
            "1000_dev_matched_jtr.json",
            reading_comprehension,
            r"$.instances[2].questions[0]",
        ),
    ],
)
def test_every_layout_gives_the_same(tmp_path, name, layout, place):
    manual = write(tmp_path / "m", name, layout())
    builder = building.prepare("decanlp_multi_nli", str(tmp_path / "d"), manual)
    assert sizes(builder) == {"validation_matched": 3}
    assert rows(builder, "validation_matched") == CAST
    found = warnings(builder)
    assert f"1 pair without a gold label (-) skipped (first: {place})" in found
    assert "3 pairs with a label; the released file has 9,815" in found


def test_of_several_layouts_the_largest_is_taken(tmp_path):
    manual = tmp_path / "m"
    write(manual, "mnli/train.tsv", glue_columns(PAIRS[:1]))
    write(manual, "mnli/multinli_1.0_train.txt", official_columns())
    builder = building.prepare(
        "decanlp_multi_nli", str(tmp_path / "d"), str(manual)
    )
    assert sizes(builder) == {"train": 3}
    assert (
        "multinli_1.0_train.txt: taken for train, and not train.tsv"
        in warnings(builder)
    )


def test_an_archive_may_have_the_same_pairs_in_two_forms(tmp_path):
    manual = write(tmp_path / "m", "multinli_1.0_train.txt", official_columns())
    write(manual, "multinli_1.0_train.jsonl", json_lines())
    builder = building.prepare("decanlp_multi_nli", str(tmp_path / "d"), manual)
    found = warnings(builder)
    assert "taken for" not in found
    for split in ("validation_matched", "validation_mismatched"):
        assert f"the build has no {split}" in found


def test_gold_labels_of_glue_are_the_last_field(tmp_path):
    """Rows with five annotators have more fields than the header."""
    header = "index\tpairID\tsentence1\tsentence2\tlabel1\tgold_label\n"
    five = "1\ta\tOne.\tTwo.\tneutral\tneutral\tentailment\tneutral\t\t"
    text = header + "0\tz\tYes.\tNo.\tneutral\tcontradiction\n"
    manual = write(tmp_path / "m", "train.tsv", f"{text}{five}entailment\n")
    builder = building.prepare("decanlp_snli", str(tmp_path / "d"), manual)
    found = [row[3] for row in rows(builder, "train")]
    assert found == ["contradiction", "entailment"]
    # A tab within a sentence: its parts would be taken for both.
    shifted = "1\ta\tO\tne.\tTwo.\tneutral\tneutral\n"
    write(manual, "train.tsv", text + shifted)
    with pytest.raises(DataError, match="train.tsv:3: 7 fields; the header "):
        building.prepare("decanlp_snli", str(tmp_path / "e"), manual)


def test_packed_files_in_the_archives_folder(tmp_path):
    manual = tmp_path / "m"
    name = "mnli/multinli_1.0/multinli_1.0_train.jsonl.gz"
    write(manual, name, gzip.compress(json_lines().encode()))
    builder = building.prepare(
        "decanlp_multi_nli", str(tmp_path / "d"), str(manual)
    )
    assert rows(builder, "train") == CAST


@pytest.mark.parametrize("name", ["decanlp_multi_nli", "qa_srl/bank2"])
def test_another_corpus_has_files_of_the_same_names(tmp_path, name):
    """It is left out then, and does not stop those that are there."""
    manual = write(tmp_path / "m", "train.jsonl", '{"sql": {}}\n')
    write(manual, "dev.tsv", "question1\tquestion2\n")
    with pytest.raises(MissingData, match="so they are of another corpus"):
        building.prepare(name, str(tmp_path / "d"), manual)
    write(manual, "train.jsonl", '{"sentenceId": 1, "sentence1": 2}\n')
    with pytest.raises(DataError) as caught:
        building.prepare(name, str(tmp_path / "d"), manual)
    assert caught.type is DataError  # its own, though wrong


def test_snli_has_its_own_names_and_counts(tmp_path):
    manual = tmp_path / "m"
    pairs = [*PAIRS, ("5e", "", "n/a", "entailment")]
    write(manual, "snli_1.0/snli_1.0_train_first1000.jsonl", json_lines(pairs))
    write(manual, "snli_1.0/test.tsv", glue_columns())
    builder = building.prepare("decanlp_snli", str(tmp_path / "d"), str(manual))
    assert sizes(builder) == {"train": 4, "test": 3}
    assert rows(builder, "train")[3][2:] == ('Premise: ""', "entailment")
    found = warnings(builder)
    assert "1 pair with an empty sentence, kept (first: line 5)" in found
    assert "the released file has 549,367" in found
    with pytest.raises(MissingData, match="has none of snli_1.0_train.jsonl"):
        building.prepare("decanlp_snli", "", os.path.dirname(__file__))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "train.tsv",
            "index\tpairID\tsentence1\tsentence2\n",
            "train.tsv:1: no column gold_label.*answers are kept back",
        ),
        (
            "train.tsv",
            glue_columns() + "\n9\t9e\tone\ttwo",
            "train.tsv:6: 4 fields; the header has 6",
        ),
        (
            "train.tsv",
            glue_columns([("1", "a", "b", "hidden")]),
            "train.tsv:2: gold_label is 'hidden'; it must be entailment, neu",
        ),
        (
            "train.tsv",
            glue_columns(PAIRS[2:3]),
            "no pairs with a gold label",
        ),
        (
            "multinli_1.0_train.jsonl",
            json_lines() + "{'a'}\n",
            "train.jsonl:5: not JSON: .*column 2",
        ),
        (
            "multinli_1.0_train.jsonl",
            json_lines([(1, "a", "b", "neutral")]),
            r"train.jsonl:1: \$.pairID: found '1'; it must be a text",
        ),
        (
            "multinli_1.0_train.jsonl",
            '{"pairID": "1", "sentence1": "a"}',
            r"train.jsonl:1: \$: the key 'sentence2' is missing",
        ),
        (
            "train.json",
            '{"instances": [{"id": "1", "support": [], "questions": []}]}',
            r"\$.instances\[0\].support: found '\[\]'; it must be a list of on",
        ),
    ],
)
def test_wrong_files_are_named_with_the_place(tmp_path, name, content, message):
    manual = write(tmp_path / "m", name, content)
    with pytest.raises(DataError, match=message):
        building.prepare("decanlp_multi_nli", str(tmp_path / "d"), manual)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "mnli")), reason="not there"
)
def test_released_files_of_multi_nli(tmp_path):
    builder = building.prepare("decanlp_multi_nli", str(tmp_path), REAL)
    for split, size in sizes(builder).items():
        assert size > 0
        found = rows(builder, split)
        assert len({row[0] for row in found}) == size
        assert all(row[1].endswith(END) for row in found)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "snli")), reason="not there"
)
def test_released_files_of_snli(tmp_path):
    builder = building.prepare("decanlp_snli", str(tmp_path), REAL)
    assert sizes(builder)["train"] >= 998
    assert "without a gold label (-) skipped" in warnings(builder)
