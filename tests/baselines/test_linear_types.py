"""The linear baseline on tasks of other types than classification."""

import json
import os

import numpy as np
import pytest

from mtl_tf.baselines import linear
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs.data import probability_files
from mtl_tf.tasks.task import SPLITS
from tests.system import corpus

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


@pytest.mark.parametrize("names", [["x", "none", "y", "all"], ["x"]])
def test_texts_with_several_labels(tmp_path, names):
    """Labels that all texts have or none; a label alone."""
    texts = {"log in": ["x"], "pay": ["y"], "log pay": ["x", "y"], "ok": []}
    path = tmp_path / "topics.jsonl"
    with open(path, "w") as file:
        for text, labels in [*texts.items()] * 5:
            kept = [name for name in [*labels, "all"] if name in names]
            file.write(json.dumps({"text": text, "labels": kept}) + "\n")
    topics = {
        "name": "topics",
        "type": "multi_label",
        "files": dict.fromkeys(SPLITS, str(path)),
        "labels": names,
    }
    where = str(tmp_path / "run")
    results = linear.train(
        corpus.config((topics,)), where, probabilities_of=["train"]
    )
    scores = results["tasks"]["topics"]
    assert scores[scores["primary"]] == 100.0
    assert results["run"]["parameters"] > 4
    folder = os.path.join(where, probability_files.FOLDER)
    table = probability_files.read(folder, "topics")
    given = {"text": [text.encode() for text in texts]}
    rows, found = probability_files.looked_up(
        table, probability_files.keys_of(given)
    )
    assert found.all()
    right = [
        [name in (*labels, "all") for name in table.labels]
        for labels in texts.values()
    ]
    np.testing.assert_array_equal(table.scores[rows] > 0.5, right)


@pytest.mark.by_default("apart")
@pytest.mark.parametrize("pairs", ["apart", "joined"])
def test_pairs_of_texts(tmp_path, pairs):
    """Of `apart` it sees whether both texts have a word in common."""
    draw = np.random.default_rng(3)
    rows = []
    for number in range(400):
        word, other = draw.choice(20, 2, replace=False)
        texts = (f"a w{word}", f"w{other if number % 2 else word} b")
        label = ("same", "other")[number % 2]
        rows.append({"text": texts[0], "text_pair": texts[1], "label": label})
    files = {}
    for split, part in (("train", rows[:300]), ("test", rows[300:])):
        files[split] = str(tmp_path / f"{split}.jsonl")
        with open(files[split], "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in part)
    task = {"name": "p", "type": "pair_classification", "pairs": pairs}
    config = corpus.config(({**task, "files": files},))
    run = tmp_path / "run"
    results = linear.train(config, str(run), probabilities_of=["test"])
    assert results["tasks"]["p"]["examples"] == 100
    assert pairs == "joined" or results["tasks"]["p"]["accuracy"] > 95
    table = probability_files.read(str(run / probability_files.FOLDER), "p")
    assert table.scores.shape == (100, 2)


def test_a_type_that_it_does_not_know_is_told_with_the_tasks_it_knows(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nlog in,x\npay,y\n")
    (tmp_path / "a.conll").write_text("log O\n\npay B\n")
    (tmp_path / "my_types.py").write_text(
        "from mtl_tf.baselines.yardstick import Yardstick\n"
        "class Mine:\n"
        "    tasks = models = evaluation = prediction = export = 'tagging'\n"
        "    baselines = Yardstick()\n"
    )
    tags = {
        "name": "tags",
        "type": f"{tmp_path}/my_types.py:Mine",
        "files": dict.fromkeys(SPLITS, str(tmp_path / "a.conll")),
    }
    files = dict.fromkeys(SPLITS, str(tmp_path / "a.csv"))
    topics = {"name": "topics", "files": files}
    message = "'tags' is of the type 'Mine'.*: --config.tasks=topics$"
    with pytest.raises(ConfigError, match=message):
        linear.train(corpus.config((tags, topics)), str(tmp_path / "run"))
    with pytest.raises(ConfigError, match="name only tasks that it knows$"):
        linear.train(corpus.config((tags,)), str(tmp_path / "alone"))
