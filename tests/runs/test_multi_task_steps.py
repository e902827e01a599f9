"""PCGrad and GradNorm in whole runs."""

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from tests.runs.helpers import assert_same_weights, metrics, train_killed
from tests.system import corpus


def joint(entries, **training):
    config = corpus.config(entries, **training)
    config["pipeline"]["mixing"] = {"name": "joint"}
    return config


@pytest.mark.slow
def test_both_learn_what_conflicts_and_resume_after_kill_9(tmp_path, toy_files):
    options = {"loss_weighting": "gradnorm", "gradient_surgery": "pcgrad"}
    config = joint(toy_files, epochs=4, checkpoint_seconds=1e-6, **options)
    whole = training_run.train(config, str(tmp_path / "whole"))
    assert whole["mean"]["overall"] > 95
    weights = metrics(tmp_path / "whole")[-1]["loss_weights"]
    assert sum(weights.values()) == pytest.approx(2.0, rel=1e-5)
    assert abs(weights["plain"] - 1.0) > 1e-4
    train_killed(config, tmp_path / "killed", 5)
    killed = training_run.train(config, str(tmp_path / "killed"))
    assert_same_weights(tmp_path / "whole", tmp_path / "killed")
    assert killed["tasks"] == whole["tasks"]
    assert metrics(tmp_path / "killed") == metrics(tmp_path / "whole")


def test_an_unknown_surgery_offers_the_nearest(tmp_path, toy_files):
    config = joint(toy_files, gradient_surgery="pcgrab")
    with pytest.raises(ConfigError, match="did you mean 'pcgrad'"):
        training_run.train(config, str(tmp_path / "a"))


@pytest.mark.extended
def test_stages_that_share_nothing_train_plainly(tmp_path, toy_files):
    config = joint(
        toy_files,
        steps=2,
        loss_weighting="gradnorm",
        gradient_surgery="pcgrad",
        freeze=["shared", "embedding"],
    )
    training_run.train(config, str(tmp_path / "a"))
    weights = metrics(tmp_path / "a")[-1]["loss_weights"]
    assert weights == {"plain": 1.0, "mirror": 1.0}
