"""Runs that sum the gradients of several batches in each update."""

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from tests.runs.helpers import weights
from tests.system import corpus

SIZES = {"train": 90, "validation": 20, "test": 20}


def config_of(entries, batch_size, parts, **pipeline):
    chosen = corpus.quick(entries, epochs=2)
    chosen["training"] |= {"accumulate_steps": parts, "clip_norm": 0.05}
    chosen["pipeline"] |= {"batch_size": batch_size, **pipeline}
    chosen["model"]["dropout"] = {"embedding": 0.0, "head": 0.0}
    chosen["evaluation"]["yardsticks"] = False
    return chosen


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return corpus.write(tmp_path_factory.mktemp("files"), 1, SIZES)


@pytest.mark.slow
def test_four_batches_of_eight_are_one_of_thirty_two(entries, tmp_path):
    """Also the last of an epoch, which has the rows that are left."""
    for name, sizes in (("parts", (8, 4)), ("whole", (32, 1))):
        config = config_of(entries, *sizes, static_shapes=False)
        training_run.train(config, str(tmp_path / name))
    parts, whole = weights(tmp_path / "parts"), weights(tmp_path / "whole")
    assert set(parts) == set(whole)
    for key, value in whole.items():
        np.testing.assert_allclose(parts[key], value, atol=2e-5, err_msg=key)


def test_gradients_task_by_task_are_refused(entries, tmp_path):
    config = config_of(entries, 8, 2)
    config["training"]["gradient_surgery"] = "pcgrad"
    config["pipeline"]["mixing"] = {"name": "joint"}
    with pytest.raises(ConfigError, match="accumulate_steps must be 1"):
        training_run.train(config, str(tmp_path / "run"))
