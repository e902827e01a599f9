"""Callbacks by name, what they are told, and the trackers."""

import json
import os
import sys

import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.callbacks import Callback, Training, by_name, flat, scalars
from mtl_tf.training.summaries import TensorBoard

ENTRY = {
    "stage": "joint",
    "step": 20,
    "train_loss": {"books": 0.5},
    "loss_weights": {"books": 2.0},
    "learning_rate": 0.1,
    "validation": {
        "mean": 80.0,
        "diagnostics": {"shared": 3.0, "nothing": None},
        "tasks": {
            "books": {
                "accuracy": 80.0,
                "loss": float("nan"),
                "primary": "accuracy",
                "diagnostics": {"words": 1.0},
            }
        },
    },
}
RESULTS = {
    "split": "test",
    "mean": {"overall": 79.5},
    "tasks": {"books": {"accuracy": 79.5, "primary": "accuracy"}},
    "other_splits": {},
}
CONFIG = {"seed": 3, "model": {"scheme": {"name": "lstm"}, "empty": {}}}


def training(directory, step=0):
    return Training(str(directory), CONFIG, "joint", "", step, 40)


class Mine(Callback):
    """One of a user's own."""


def test_scalars_are_the_finite_numbers_of_an_entry():
    assert scalars(ENTRY) == {
        "train/learning_rate": 0.1,
        "train/books/loss": 0.5,
        "train/books/loss_weight": 2.0,
        "validation/mean": 80.0,
        "diagnostics/shared": 3.0,
        "validation/books/accuracy": 80.0,
        "diagnostics/books/words": 1.0,
    }


def test_a_task_called_mean_is_not_the_mean(tmp_path):
    entry = json.loads(json.dumps(ENTRY).replace("books", "mean"))
    entry["validation"]["tasks"]["mean"]["diagnostics"] = {"shared": 7.0}
    callback = TensorBoard()
    callback.on_begin(training(tmp_path))
    callback.on_evaluation(entry)
    runs = tmp_path / "tensorboard"
    assert scalars_below(runs / "mean") == {
        "validation/mean": 80.0,
        "diagnostics/shared": 3.0,
        "train/learning_rate": pytest.approx(0.1),
    }
    assert scalars_below(runs / "mean (task)")["diagnostics/shared"] == 7.0


def scalars_below(folder):
    [path] = folder.iterdir()
    values = [
        value
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
    ]
    assert len({value.tag for value in values}) == len(values)
    return {value.tag: tf.make_ndarray(value.tensor) for value in values}


def test_fields_of_a_config_by_their_whole_names():
    found = {"seed": 3, "model.scheme.name": "lstm", "model.empty": {}}
    assert flat(CONFIG) == found


def test_callbacks_by_name():
    first, second = by_name(["tensorboard", f"{__name__}:Mine"])
    assert isinstance(first, TensorBoard) and type(second).__name__ == "Mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wandbb", "did you mean 'wandb'"),
        ("no_such_module:X", "cannot be made: .*No module named"),
        (f"{__name__}:NoSuch", "cannot be made"),
        ("collections:namedtuple", "cannot be made: .* missing 2 required"),
        ("collections:Counter", "must be a mtl_tf.training.callbacks"),
    ],
)
def test_wrong_names(name, message):
    with pytest.raises(ConfigError, match=message):
        by_name([name])


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    message = rf"'{name}' cannot be made: tracking needs .*'mtl_tf\[trackers\]'"
    with pytest.raises(ConfigError, match=message):
        by_name([name])


def tell(callback, directory):
    callback.on_begin(training(directory))
    callback.on_step(10, 0.4)
    callback.on_evaluation(ENTRY)


def test_mlflow_has_config_scores_and_results(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path}/tracked")
    (callback,) = by_name(["mlflow"])
    tell(callback, tmp_path)
    mlflow.end_run("FAILED")  # the process was killed
    (again,) = by_name(["mlflow"])
    again.on_begin(training(tmp_path, step=20))
    again.on_evaluation({**ENTRY, "step": 40})
    again.on_end(str(tmp_path), RESULTS)
    known = json.loads((tmp_path / "mlflow.json").read_text())["id"]
    client = mlflow.MlflowClient()
    run = client.get_run(known)
    assert run.info.status == "FINISHED"
    assert run.data.params["model.scheme.name"] == "lstm"
    assert run.data.metrics["test/books/accuracy"] == 79.5
    assert run.data.metrics["test/mean/overall"] == 79.5
    history = client.get_metric_history(known, "joint/validation/mean")
    assert [(m.step, m.value) for m in history] == [(20, 80.0), (40, 80.0)]


def test_wandb_goes_on_in_the_run_that_it_began(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    (callback,) = by_name(["wandb"])
    tell(callback, tmp_path)
    known = json.loads((tmp_path / "wandb.json").read_text())["id"]
    callback.on_end(str(tmp_path), RESULTS)
    (again,) = by_name(["wandb"])
    again.on_begin(training(tmp_path, step=20))
    again.on_end(str(tmp_path), RESULTS)
    assert json.loads((tmp_path / "wandb.json").read_text())["id"] == known
    folders = [n for n in os.listdir(tmp_path / "wandb") if known in n]
    assert folders and all(known in name for name in folders)


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_an_end_without_a_beginning_is_nothing(name, tmp_path):
    pytest.importorskip(name)
    (callback,) = by_name([name])
    callback.on_end(str(tmp_path), RESULTS)
