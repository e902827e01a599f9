"""Which test texts a run has not seen in training."""

import pytest

from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.tasks import registry


@pytest.mark.parametrize(
    ("test", "clean"),
    [
        ("a b\t1\nc d\t0\n", [False, False]),
        ("a b\t1\nnew\t0\n", [False, True]),
    ],
)
def test_a_split_without_new_texts_is_told(tmp_path, caplog, test, clean):
    rows = {"train": "a b\t1\nc d\t0\n", "validation": "e\t1\n", "test": test}
    files = {split: str(tmp_path / f"{split}.tsv") for split in rows}
    for split, text in rows.items():
        (tmp_path / f"{split}.tsv").write_text(f"text\tlabel\n{text}")
    entry = {"name": "own", "files": files}
    [task] = registry.resolve([entry])
    with caplog.at_level("WARNING", logger="absl"):
        about = CleanParts([entry], None, None).about(task, "test")
    assert about["clean"].tolist() == clean
    told = "task own: all 2 texts of the split test also occur in training or"
    assert (told in caplog.text) == (not any(clean))
