"""Fine-tuning after joint training."""

import json
import os

import numpy as np
import pytest

import mtl_tf
from tests.runs.charts import scalars
from tests.runs.helpers import metrics, train, weights
from tests.system import corpus


@pytest.mark.extended
@pytest.mark.parametrize(
    "scope", ["private", pytest.param("all", marks=pytest.mark.slow)]
)
def test_fine_tuning(tmp_path, toy_files, scope, monkeypatch):
    config = corpus.quick(
        toy_files,
        "lstm",
        epochs=2,
        steps_per_epoch=30,
        fine_tune={"epochs": 1, "scope": scope, "learning_rate": 0.005},
    )
    with monkeypatch.context() as patched:
        # The scores come from the model that was trained, not from another.
        patched.delattr("mtl_tf.runs.loaded.loading.build")
        results = train(config, tmp_path / "a")
    assert results["mean"]["overall"] > 98
    entries = metrics(tmp_path / "a")
    ends = [e["step"] for e in entries if e["stage"] == "joint"]
    assert ends == [30, 60]
    # What counts as an epoch is the joint training's, not the tuning's.
    assert entries[-1]["step"] == (60 if scope == "private" else 30)
    run = mtl_tf.load(str(tmp_path / "a"))
    assert run.evaluate("test")["tasks"] == results["tasks"]
    folders = {run.weights_for(t) for t in ("plain", "mirror")}
    assert len(folders) == (1 if scope == "private" else 2)
    joint, tuned = weights(tmp_path / "a"), {}
    for folder in folders:
        tuned = weights(os.path.dirname(folder))
        moved = {k for k in joint if not np.array_equal(joint[k], tuned[k])}
        shared = {k for k in moved if "scheme" in k or "embedding" in k}
        with open(os.path.join(folder, "best.json")) as file:
            if json.load(file)["step"]:
                assert moved
        if scope == "private":
            assert not shared
    charts = os.path.join(tmp_path, "a", "tensorboard")
    assert {"plain", "mirror", "mean"} < set(os.listdir(charts))
    for stage in {e["stage"] for e in entries}:
        folder = os.path.join(charts, "" if stage == "joint" else stage)
        history = [e for e in entries if e["stage"] == stage]
        means = {e["step"]: e["validation"]["mean"] for e in history}
        drawn = scalars(os.path.join(folder, "mean"), "validation/mean")
        assert drawn == pytest.approx(means)
        for task in history[0]["validation"]["tasks"]:
            losses = {e["step"]: e["train_loss"][task] for e in history}
            drawn = scalars(os.path.join(folder, task), "train/loss")
            assert drawn == pytest.approx(losses)


@pytest.mark.parametrize(
    "scope", ["private", pytest.param("all", marks=pytest.mark.slow)]
)
def test_the_validation_score_is_that_of_the_fine_tuned_weights(
    tmp_path, toy_files, scope
):
    tuning = {"epochs": 1, "scope": scope, "learning_rate": 0.005}
    config = corpus.quick(toy_files, "lstm", steps=1, fine_tune=tuning)
    about = train(config, tmp_path / "a")["run"]
    folders = {"private": ["."], "all": ["plain", "mirror"]}[scope]
    tuned = [tmp_path / "a" / "fine_tuned" / f / "best" for f in folders]
    best = [json.loads((one / "best.json").read_text()) for one in tuned]
    mean = np.mean([one["score"] for one in best])
    assert about["validation_mean"] == pytest.approx(mean)
    joint = json.loads((tmp_path / "a" / "best" / "best.json").read_text())
    assert about["validation_mean"] > joint["score"]
    seconds = about["stage_seconds"]
    stages = [e["stage"] for e in metrics(tmp_path / "a")]
    assert list(seconds) == list(dict.fromkeys(stages))
    assert min(seconds.values()) > 0
    assert sum(seconds.values()) == about["wall_time"]
