"""Transformers that tag: every word's tag depends on another word."""

import os

import numpy as np
import pytest

import mtl_tf
from mtl_tf.runs import training_run
from tests.system import corpus

SIZES = {"train": 400, "validation": 60, "test": 100}
TAGS = {"alpha": "A", "beta": "B"}


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """Two tasks with opposite tags, those of the one Greek letter in a text."""
    folder = str(tmp_path_factory.mktemp("letters"))
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"corpus seed {seed}")
    rng = np.random.default_rng(seed)
    found = []
    for task in ("plain", "mirror"):
        files = {}
        for split, size in SIZES.items():
            files[split] = os.path.join(folder, f"{task}.{split}.txt")
            with open(files[split], "w") as file:
                for _ in range(size):
                    file.write(sentence(rng, task == "mirror"))
        kind = {"type": "tagging", "format": "conll", "scheme": "none"}
        found.append({"name": task, "files": files, **kind})
    return found


def sentence(rng, mirrored):
    letters = list(TAGS)
    letter = letters[rng.integers(2)]
    tag = TAGS[letters[1 - letters.index(letter)] if mirrored else letter]
    words = list(rng.choice(corpus.FILLERS, rng.integers(2, 9)))
    words.insert(rng.integers(len(words) + 1), letter)
    return "".join(f"{word} {tag}\n" for word in words) + "\n"


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param("l_e", marks=pytest.mark.slow),
        pytest.param("s_p", marks=pytest.mark.slow),
        pytest.param("l_i", marks=pytest.mark.slow),
    ],
)
def test_words_learn_from_each_other(entries, tmp_path, scheme):
    config = corpus.transformer(entries, scheme, layers=1, epochs=6)
    config["model"]["scheme"] |= {"units": 16, "dropout": 0.0}
    config["model"]["scheme"]["input_dropout"] = 0.0
    config["model"]["tagging"] = {"decoder": "softmax", "constraints": True}
    results = training_run.train(config, str(tmp_path))
    # Without attention a word that is no letter is right half of the time.
    for task in ("plain", "mirror"):
        assert results["tasks"][task]["token_accuracy"] > 98
    (tagged,) = mtl_tf.load(str(tmp_path)).predict("mirror", ["tree beta a"])
    assert tagged["tags"] == ["A", "A", "A"]
