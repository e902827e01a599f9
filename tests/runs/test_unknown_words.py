"""Words that training never saw, and those that only some tasks have."""

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core import random
from mtl_tf.runs import building, training_run
from tests.system import corpus

UNKNOWN = 1


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """Two tasks; every text has a word of its own, and test texts more."""
    folder = tmp_path_factory.mktemp("unknown")
    made = []
    for task in ("one", "two"):
        files = {}
        for split, size in (("train", 40), ("validation", 8), ("test", 8)):
            files[split] = str(folder / f"{task}.{split}.tsv")
            with open(files[split], "w") as file:
                for n in range(size):
                    words = ("good", "bad")[n % 2], f"{task}{split}{n}"
                    file.write(f"{n % 2}\t{' '.join(words)}\n")
        made.append(
            {
                "name": task,
                "type": "classification",
                "files": files,
                "columns": {"text": 1, "label": 0},
            }
        )
    return made


def train(entries, directory, **changes):
    config = corpus.quick(entries, steps=6)
    config["model"] |= changes.pop("model", {})
    config["text"] |= changes.pop("text", {})
    config |= changes
    training_run.train(config, str(directory))
    return config


@pytest.mark.extended
@pytest.mark.parametrize("rate, moves", [(0.0, False), (0.5, True)])
def test_words_that_occur_once_teach_the_unknown_one(
    entries, tmp_path, rate, moves
):
    config = train(entries, tmp_path, model={"rare_word_dropout": rate})
    run = mtl_tf.load(str(tmp_path))
    tokens = run.encoder.vocabulary.tokens
    assert tokens[run.encoder.rare_from] == "onetrain0"
    seed = random.fold(config["seed"], "init")
    start = building.build(config, run.encoder, run.tasks, seed=seed)
    before = start.embedding.vectors.numpy()
    after = run.model.embedding.vectors.numpy()
    assert np.any(before[UNKNOWN] != after[UNKNOWN]) == moves
    good = tokens.index("good")
    assert np.any(before[good] != after[good])


@pytest.mark.extended
def test_single_models_know_the_words_and_vectors_of_all(entries, tmp_path):
    path = tmp_path / "vectors.txt"
    words = ["good", "bad", "onetest3", "twovalidation1", "elsewhere"]
    rows = [f"{w} {' '.join(['0.25'] * 16)}\n" for w in words]
    path.write_text("".join(rows))
    train(
        entries,
        tmp_path / "run",
        train_separately=True,
        text={"vectors": str(path)},
    )
    known = []
    for name in ("one", "two"):
        run = mtl_tf.load(str(tmp_path / "run" / "tasks" / name))
        tokens = run.encoder.vocabulary.tokens
        known.append(tokens)
        assert {"onetrain0", "twotrain0", "onetest3"} < set(tokens)
        # Of other splits only what has a vector.
        assert "onetest4" not in tokens and "elsewhere" not in tokens
        row = run.model.embedding.vectors.numpy()[tokens.index("onetest3")]
        np.testing.assert_allclose(row, 0.25)
    assert known[0] == known[1]
