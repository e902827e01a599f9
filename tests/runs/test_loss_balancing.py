"""Balancing the losses of tasks of several types in one run."""

import json

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from tests.runs.helpers import assert_same_weights, metrics, train_killed
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


def joint(entries, **training):
    made = config(entries, **training)
    made["pipeline"]["mixing"] = {"name": "joint"}
    return made


@pytest.mark.slow
@pytest.mark.parametrize("method", ["uncertainty", "gradnorm"])
def test_tasks_of_all_types_are_weighed(entries, tmp_path, method):
    one = str(tmp_path / "one")
    chosen = joint(entries, loss_weighting=method)
    results = training_run.train(chosen, one)
    assert list(results["tasks"]) == NAMES
    weights = metrics(one)[-1]["loss_weights"]
    assert list(weights) == NAMES
    # Every task's weight has moved, and each in its own way.
    assert len({round(weight, 4) for weight in weights.values()}) == 3
    assert all(weight > 0 and weight != 1 for weight in weights.values())
    evaluated = mtl_tf.load(one).evaluate("test")
    assert evaluated["tasks"] == results["tasks"]


def killed_and_continued(chosen, folder):
    """Holds a run that was killed to one that was not."""
    training_run.train(chosen, str(folder / "whole"))
    chosen["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    train_killed(chosen, str(folder / "a"), 3)
    training_run.train(chosen, str(folder / "a"))
    assert_same_weights(str(folder / "a"), str(folder / "whole"))
    assert metrics(folder / "a") == metrics(folder / "whole")


@pytest.mark.slow
def test_kill_9_ends_with_the_same_weights(entries, tmp_path):
    chosen = config(entries, loss_weighting="uncertainty")
    killed_and_continued(chosen, tmp_path)


@pytest.mark.extended
def test_kill_9_of_joint_steps_ends_with_the_same_weights(entries, tmp_path):
    options = {"loss_weighting": "gradnorm", "gradient_surgery": "pcgrad"}
    killed_and_continued(joint(entries, **options), tmp_path)
    last = metrics(tmp_path / "whole")[-1]
    assert list(last["train_loss"]) == NAMES
    assert sum(last["loss_weights"].values()) == pytest.approx(3.0, rel=1e-5)
    assert len(set(last["loss_weights"].values())) == 3


def test_parts_of_a_batch_are_refused(entries, tmp_path):
    chosen = joint(entries, gradient_surgery="pcgrad", accumulate_steps=2)
    with pytest.raises(ConfigError, match="accumulate_steps must be 1"):
        training_run.train(chosen, str(tmp_path / "a"))
