"""What several tests of the training start from."""

import os
import shutil

import pytest

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
