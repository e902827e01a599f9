"""Word vectors that tasks share in part, through whole runs."""

import os

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import DataError
from mtl_tf.runs import training_run
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from tests.system import corpus

WORDS = ["yes", "no", "the", "unused"]


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    sizes = {"train": 60, "validation": 20, "test": 20}
    return corpus.write(str(tmp_path_factory.mktemp("files")), 3, sizes)


def make_config(entries, **training):
    config = corpus.config(entries, **training)
    config["model"]["scheme"] = {"name": "nbow"}
    config["model"]["embedding_private_dim"] = 4
    return config


def tables(run, *parts):
    path = os.path.join(run.directory.path, *parts)
    BestWeights(path, run.model).load()
    embedding = run.model.embedding
    return np.array(embedding.vectors), np.array(embedding.private_vectors)


@pytest.mark.extended
def test_pretrained_vectors_fill_the_shared_table(tmp_path, entries):
    numbers = np.random.default_rng(0).normal(size=(len(WORDS), 12))
    with open(tmp_path / "vectors.txt", "w") as file:
        for word, row in zip(WORDS, numbers):
            file.write(f"{word} {' '.join(f'{x:.4f}' for x in row)}\n")
    config = make_config(entries, steps=3)
    config["text"]["vectors"] = str(tmp_path / "vectors.txt")
    # Belongs to the table that is filled: it does not move, the other does.
    optimizer = config["training"]["optimizer"]
    optimizer["pretrained_learning_rate"] = 1e-12
    training_run.train(config, str(tmp_path / "moved"))
    moved = tables(mtl_tf.load(str(tmp_path / "moved")), "best")
    # Belongs to both tables: neither moves, the heads do.
    optimizer["embedding_learning_rate"] = 1e-12
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    shared, private = tables(run, "best")
    tokens = run.encoder.vocabulary.tokens
    assert shared.shape == (len(tokens), 12)
    assert private.shape == (2 * len(tokens), 4)
    rows = [tokens.index(word) for word in WORDS[:3]]
    np.testing.assert_allclose(shared[rows], numbers[:3], atol=1e-4)
    assert np.abs(private).max() <= 0.1
    np.testing.assert_allclose(moved[0], shared, atol=1e-6)
    assert np.abs(moved[1]).max() > 0.1
    config["model"]["embedding_private_dim"] = 5
    with pytest.raises(DataError, match=r"vectors\.txt:1"):
        training_run.train(config, str(tmp_path / "wrong"))


@pytest.mark.extended
def test_vectors_of_our_own_learn_at_the_rate_of_the_rest(tmp_path, entries):
    config = make_config(entries, steps=3)
    training_run.train(config, str(tmp_path / "plain"))
    optimizer = config["training"]["optimizer"]
    optimizer["pretrained_learning_rate"] = 1e-12
    training_run.train(config, str(tmp_path / "run"))
    plain, same = (
        tables(mtl_tf.load(str(tmp_path / name)), "best")[0]
        for name in ("plain", "run")
    )
    np.testing.assert_array_equal(plain, same)


@pytest.mark.extended
def test_private_fine_tuning_moves_the_tasks_own_tables(tmp_path, entries):
    tuning = {"epochs": 2, "scope": "private", "learning_rate": 0.02}
    config = make_config(entries, epochs=1, fine_tune=tuning)
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    shared, private = tables(run, "best")
    tuned = tables(run, "fine_tuned", "best")
    np.testing.assert_array_equal(tuned[0], shared)
    assert run.directory.read("fine_tuned/best/best.json")["step"] > 0
    used = np.any(tuned[1] != private, axis=1).reshape(2, -1)
    # Padding (0) is no word, and 1 stands for words not in training.
    assert used[:, 2:].all() and not used[:, :2].any()
