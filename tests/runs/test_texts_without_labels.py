"""Texts without labels that students learn from."""

import json

import pytest

from mtl_tf.core.errors import DataError
from tests.runs.teaching import (
    UNLABELLED,
    loaded,
    student,
    train,
    with_unlabelled,
)
from tests.system import corpus


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return with_unlabelled(tmp_path_factory.mktemp("entries"))


def test_what_is_not_labelled_needs_no_label(tmp_path, entries):
    """Not even a column of them; the texts are those of the column."""
    rows = "".join(json.dumps({"text": text}) + "\n" for text in UNLABELLED)
    path = tmp_path / "more.jsonl"
    path.write_text(rows)
    train_file = tmp_path / "train.jsonl"
    labelled = [{"text": "yes no", "label": n} for n in "01" * 5]
    train_file.write_text("".join(json.dumps(r) + "\n" for r in labelled))
    from mtl_tf.tasks import registry

    files = {"train": str(train_file), "unlabelled": str(path)}
    (task,) = registry.resolve([{"name": "t", "files": files}])
    examples = list(task.dataset("unlabelled").as_numpy_iterator())
    assert [one["text"].decode() for one in examples] == UNLABELLED
    assert all(set(one) == {"text"} for one in examples)
    assert task.labels == ("0", "1") and task.size("unlabelled") == 12
    path.write_text('{"texts": "a"}\n')
    (task,) = registry.resolve([{"name": "t", "files": files}])
    with pytest.raises(DataError, match=r"more.jsonl:1: no key 'text'"):
        task.size("unlabelled")


@pytest.mark.extended
def test_raw_texts_are_read_as_the_training_texts_are(tmp_path, entries):
    """Spaced as tokens are, without those of the test split."""
    more = tmp_path / "more.tsv"
    tested = entries[0]["files"]["test"]
    with open(tested) as file:
        tested_text = file.readline().rstrip("\n").split("\t")[1]
    more.write_text(f"\tyes, the tree. No.\n\t{tested_text.upper()} !\n")
    train_file = tmp_path / "train.tsv"
    rows = [f"{n % 2}\tyes , a tree .\n" for n in range(20)]
    train_file.write_text("".join(rows))
    files = entries[0]["files"] | {
        "unlabelled": str(more),
        "train": str(train_file),
    }
    raw = entries[0] | {"files": files}
    config = corpus.quick([raw], epochs=1)
    train(config, tmp_path / "teacher")
    taught = student([raw], tmp_path / "teacher", unlabelled="unlabelled")
    data = loaded(taught, tmp_path / "run")
    (split,) = data.train
    assert len(split) == 21
    tokens = split.columns["tokens"]
    yes, comma, _, tree, stop = tokens[0]
    assert tokens[20][[0, 1, 3, 4]].tolist() == [yes, comma, tree, stop]
