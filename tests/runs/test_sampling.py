"""`sampling` of a task, from its entry to the batches of a training."""

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.training.callbacks import Callback


def rows(split):
    """One of ten is rare; the texts do not say which."""
    for number in range(200 if split == "train" else 60):
        label = ("odd", "usual")[number % 10 > 0]
        yield {"text": "the same words", "label": label}


def trained(folder, **fields):
    config = mtl_tf.config(
        "quickstart", {"training.epochs": 4, "evaluation.yardsticks": False}
    )
    data = {"train": list(rows("train")), "test": list(rows("test"))}
    config.tasks = ({"name": "mine", "data": data, **fields},)
    seen = []

    class Steps(Callback):
        def on_step(self, step, loss):
            seen.append(step)

    run = mtl_tf.train(config, folder, callbacks=[Steps()], verbose=False)
    return run, seen[-1]


def probability(run):
    (found,) = mtl_tf.predict(run, "mine", ["the same words"])
    return found["scores"]["odd"]


@pytest.mark.extended
def test_a_model_learns_from_labels_as_often_as_they_are_drawn(tmp_path):
    plain, steps = trained(tmp_path / "plain")
    even, same = trained(tmp_path / "even", sampling="balanced")
    assert steps == same  # an epoch is as long
    found = probability(plain), probability(even)
    print(f"seed {plain.config['seed']}, probabilities {found}")
    assert found[0] < 0.2 and 0.4 < found[1] < 0.6
    again, _ = trained(tmp_path / "again", sampling="balanced")
    for one, other in zip(even.model.weights, again.model.weights):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_an_unknown_sampling(tmp_path):
    with pytest.raises(ConfigError, match="sampling.*did you mean 'balanced'"):
        trained(tmp_path, sampling="balance")
