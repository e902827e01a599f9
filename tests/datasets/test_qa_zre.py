import os

import pytest

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from tests.datasets.question_corpora import build, examples, triplets, write

REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")

ROW = "owner\tWho owns XXX?\tOrl Mill\tOrl Mill is Bo's.\tBo\n"


def test_answers_and_none(tmp_path):
    manual = tmp_path / "m" / "relation_splits"
    text = (
        "owner\tWho owns XXX, and had XXX?\tOrl Mill\tBo and Al's\x85Orl Mill ."
        "\tBo\tAl\r\n"
        "owner\tWho owns XXX?\tthe inn\tThe inn burned down .\r\n"
        "owner\tWho owns XXX?\tthe inn\tThe inn is old .\t\t\n"
        "\n"
        "river\tWhich river?\tOrl\tOrl is on the Un .\tUn\t\n"
        "river\tWhere is XXX?\t\tOrl is on the Un .\tOrl\n"
        "river\tWhere is XXX?\tOrl\t \tOrl\n"
    )
    write(manual, "train.0", text.encode() + b"a\tXXX?\tb\tCaf\xe9 .")
    write(manual, "dev.0.gz", ROW)
    builder, warnings = build("qa_zre", tmp_path / "m", tmp_path)
    assert set(builder.info.splits) == {"train", "validation"}
    assert triplets(builder, "train") == [
        (
            "Who owns Orl Mill, and had Orl Mill?",
            "Bo and Al's\x85Orl Mill .",
            ["Bo, Al"],
        ),
        ("Who owns the inn?", "The inn burned down .", ["unanswerable"]),
        ("Who owns the inn?", "The inn is old .", ["unanswerable"]),
        ("Which river?", "Orl is on the Un .", ["Un"]),
        ("Where is ?", "Orl is on the Un .", ["Orl"]),
        ("b?", "Café .", ["unanswerable"]),
    ]
    ids = [row["id"] for row in examples(builder, "train")]
    assert ids[2:4] == ["train.0:3", "train.0:5"]
    for expected in (
        "train.0: 1 line not UTF-8, read as Latin-1",
        "train.0: 1 line blank, left out (first: line 4)",
        "train.0: 1 question without XXX for its subject, kept (first: line 5)",
        "train.0: 1 line with an empty answer beside others",
        "train.0: 1 question with an empty subject, kept (first: line 6)",
        "train.0: 1 line with an empty context, left out (first: line 7)",
        "train: 6 examples; the released corpus has 840,000",
        "validation: 1 example; the released corpus has 600",
        "there is no test.0: the build has no test",
    ):
        assert expected in warnings


def test_what_cannot_be_read_says_where(tmp_path):
    manual = write(tmp_path / "m", "dev.0", ROW + "owner\tWho?\tOrl\n")
    with pytest.raises(DataError, match="dev.0:2: 3 fields in 'owner.*context"):
        build("qa_zre", manual, tmp_path)
    write(manual, "dev.0", "a\tb\tc\t\n")
    with pytest.raises(DataError, match="no question of validation"):
        build("qa_zre", manual, tmp_path)
    write(manual, "dev.0", "")
    with pytest.raises(DataError, match="dev.0: the file is empty"):
        build("qa_zre", manual, tmp_path)


def test_no_files_and_no_configurations(tmp_path):
    with pytest.raises(MissingData, match="train.0, .*dev.0, .*test.0"):
        build("qa_zre", tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="no configurations"):
        build("qa_zre/0", tmp_path, tmp_path)


@pytest.mark.skipif(
    not any(
        os.path.isdir(os.path.join(REAL, name))
        for name in ("qa_zre", "relation_splits")
    ),
    reason="not there",
)
def test_real_files(tmp_path):
    builder, warnings = build("qa_zre", REAL, tmp_path)
    assert "the released corpus has" not in warnings
    answers = [row["answer"] for row in examples(builder, "validation")]
    assert 0 < answers.count("unanswerable") < len(answers)
