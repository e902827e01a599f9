"""A run of classification and tagging tasks in one model."""

import os

import numpy as np
import pytest

import mtl_tf
from mtl_tf.runs import training_run
from tests.runs.helpers import assert_same_weights, metrics
from tests.system import corpus

SIZES = {"train": 300, "validation": 60, "test": 60}


def write_tags(folder, seed):
    """A word's tag tells whether "yes" or "no" was said last before it."""
    rng = np.random.default_rng(seed)
    files = {}
    for split, size in SIZES.items():
        lines = []
        for n in range(size):
            said = "O"
            for word in corpus.text(rng, n % 2).split():
                lines.append(f"{word} {said}\n")
                said = {"yes": "Y", "no": "N"}.get(word, said)
            lines.append("\n")
        files[split] = os.path.join(folder, f"said.{split}.txt")
        with open(files[split], "w") as file:
            file.writelines(lines)
    return {
        "name": "said",
        "type": "tagging",
        "format": "conll",
        "files": files,
        "scheme": "none",
    }


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("mixed"))
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"corpus seed {seed}")
    return [*corpus.write(folder, seed, SIZES)[:1], write_tags(folder, seed)]


def config(entries, **training):
    made = corpus.config(entries, epochs=6, **training)
    made["model"]["scheme"] = {"name": "lstm", "units": 24}
    # Half of a CRF's graph; the stored runs have one.
    made["model"]["tagging"] = {"decoder": "softmax"}
    return made


@pytest.mark.extended
def test_one_model_learns_both_kinds(entries, tmp_path):
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    results = training_run.train(config(entries), one)
    assert results["tasks"]["said"]["token_accuracy"] > 98
    assert results["tasks"]["plain"]["accuracy"] > 95
    assert set(results["mean"]) >= {"overall", "classification", "tagging"}
    run = mtl_tf.load(one)
    assert run.evaluate("test")["tasks"] == results["tasks"]
    # Steps of one kind are taken in one call; how many makes no difference.
    again = training_run.train(config(entries, steps_per_call=3), other)
    assert_same_weights(one, other)
    assert again["tasks"] == results["tasks"]
    assert set(metrics(one)[-1]["train_loss"]) == {"plain", "said"}


@pytest.mark.extended
def test_joint_steps_have_both_kinds(entries, tmp_path):
    joint = config(entries)
    joint["pipeline"]["mixing"] = {"name": "joint"}
    results = training_run.train(joint, str(tmp_path / "run"))
    assert results["tasks"]["said"]["token_accuracy"] > 98
    assert results["tasks"]["plain"]["accuracy"] > 95
    last = metrics(tmp_path / "run")[-1]
    assert set(last["train_loss"]) == {"plain", "said"}
    # Both have as many batches: each step has one of each.
    assert last["step"] == 6 * SIZES["train"] // 20
