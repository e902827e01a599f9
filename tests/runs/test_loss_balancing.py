"""Balancing the losses of tasks of several types in one run."""

import json
import os

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from tests.runs.helpers import assert_same_weights, train_killed
from tests.system import corpus

SIZES = {"train": 60, "validation": 20, "test": 20}
NAMES = ["plain", "said", "count"]


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """A task that classifies, one that tags and one that tells a number."""
    folder = tmp_path_factory.mktemp("types")
    draw = np.random.default_rng(3)
    [plain, *_] = corpus.write(folder, 3, SIZES)
    said = {"name": "said", "type": "tagging", "files": {}}
    count = {"name": "count", "type": "regression", "files": {}}
    for split, size in SIZES.items():
        texts = [corpus.text(draw, n % 2) for n in range(size)]
        paths = [folder / f"{n}.{split}.jsonl" for n in ("said", "count")]
        tagged, counted = [], []
        for text in texts:
            words = text.split()
            tags = ["B-Y" if word == "yes" else "O" for word in words]
            tagged.append({"tokens": words, "tags": tags})
            # In hundreds: a loss of another size than those of the others.
            value = 100.0 * words.count("yes")
            counted.append({"text": text, "value": value})
        for path, rows in zip(paths, (tagged, counted)):
            path.write_text("".join(json.dumps(r) + "\n" for r in rows))
        said["files"][split], count["files"][split] = map(str, paths)
    return [plain, said, count]


def config(entries, **training):
    made = corpus.config(entries, epochs=3, **training)
    made["model"]["scheme"] = {"name": "direct", "pooling": "mean"}
    made["model"]["tagging"] = {"decoder": "softmax"}
    made["evaluation"]["yardsticks"] = False
    return made


@pytest.mark.slow
def test_uncertainty_weighs_tasks_of_all_types(entries, tmp_path):
    one = str(tmp_path / "one")
    chosen = config(entries, loss_weighting="uncertainty")
    results = training_run.train(chosen, one)
    assert list(results["tasks"]) == NAMES
    with open(os.path.join(one, "metrics.jsonl")) as file:
        entries_of = [json.loads(line) for line in file]
    weights = entries_of[-1]["loss_weights"]
    assert list(weights) == NAMES
    # Every task's weight has moved, and each in its own way.
    assert len({round(weight, 4) for weight in weights.values()}) == 3
    assert all(weight > 0 and weight != 1 for weight in weights.values())
    evaluated = mtl_tf.load(one).evaluate("test")
    assert evaluated["tasks"] == results["tasks"]


@pytest.mark.slow
def test_kill_9_ends_with_the_same_weights(entries, tmp_path):
    chosen = config(entries, loss_weighting="uncertainty")
    training_run.train(chosen, str(tmp_path / "whole"))
    chosen["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    train_killed(chosen, str(tmp_path / "a"), 3)
    training_run.train(chosen, str(tmp_path / "a"))
    assert_same_weights(str(tmp_path / "a"), str(tmp_path / "whole"))


@pytest.mark.parametrize(
    ("field", "value"),
    [("gradient_surgery", "pcgrad"), ("loss_weighting", "gradnorm")],
)
def test_what_needs_joint_steps_says_so(entries, tmp_path, field, value):
    """Steps of several types are none: what is right then, is said."""
    chosen = config(entries, **{field: value})
    chosen["pipeline"]["mixing"] = {"name": "joint"}
    with pytest.raises(ConfigError, match="graphs of their own.*'uncertainty'"):
        training_run.train(chosen, str(tmp_path / "a"))
    assert not os.path.exists(tmp_path / "a" / "checkpoints")
