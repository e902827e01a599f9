"""What several tests of the training start from."""

import os
import shutil

import pytest
import tensorflow as tf

from tests.training import toy


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A training of 12 steps that nothing interrupts."""
    return toy.Stage(tmp_path_factory.mktemp("whole")).run()


@pytest.fixture
def finished(whole, tmp_path):
    """A directory as `whole` left its own."""
    directory = os.path.dirname(whole.checkpoints.directory)
    return shutil.copytree(directory, tmp_path / "finished")


@pytest.fixture
def no_dropout(monkeypatch):
    """Masks differ between replicas and parts by design: keeps all inputs."""
    draw = tf.random.stateless_uniform

    def constant(shape, seed, alg=None):
        return draw(shape, seed, alg=alg) if alg else tf.ones(shape)

    monkeypatch.setattr(tf.random, "stateless_uniform", constant)
