"""What belongs to a task stays as it is while others are trained."""

import numpy as np
import pytest

from mtl_tf.runs import training_run
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from tests.system import corpus

OWN = {"mirror": 2, "plain": 4}


def train(entries, directory, optimizer, phases):
    """Best weights after the steps of `phases`, scored at their end alone."""
    steps = sum(phases.values())
    config = corpus.config(entries, steps=steps, evaluate_every=steps)
    config["training"]["optimizer"] |= {**optimizer, "learning_rate": 0.05}
    config["model"] |= {
        "scheme": {"name": "psp", "units": 4},
        "embedding_private_dim": 4,
    }
    config["pipeline"]["mixing"] = {
        "name": "phases",
        "phases": [{"tasks": [t], "steps": n} for t, n in phases.items()],
    }
    training_run.train(config, str(directory))
    return BestWeights.read(str(directory / "best"))[1]


@pytest.mark.extended
@pytest.mark.parametrize(
    "optimizer",
    [
        {"name": "adam"},
        pytest.param(
            {"name": "sgd", "options": {"momentum": 0.9}},
            marks=pytest.mark.slow,
        ),
        pytest.param({"name": "adadelta"}, marks=pytest.mark.slow),
    ],
    ids=lambda o: o["name"],
)
def test_steps_of_another_task_leave_them(toy_files, tmp_path, optimizer):
    """Momentum would carry them on: Algorithm 1 of Sun (2019), line 14."""
    before = train(toy_files, tmp_path / "a", optimizer, {"mirror": 2})
    after = train(toy_files, tmp_path / "b", optimizer, OWN)
    # The tasks' slices lie in the order of the config: plain, mirror.
    stacks = [
        path for path in before if "private" in path or "classification" in path
    ]
    assert len(stacks) >= 6
    for path in stacks:
        plain, mirror = np.split(after[path], 2)
        np.testing.assert_array_equal(
            mirror, np.split(before[path], 2)[1], err_msg=path
        )
        assert np.any(plain != np.split(before[path], 2)[0]), path
    shared = [path for path in before if path not in stacks]
    assert any(np.any(before[path] != after[path]) for path in shared)
