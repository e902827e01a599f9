"""`launch.calibrate` on a small run, and its arguments."""

import glob
import json
import os
import shutil
import types

import numpy as np
import pytest

import mtl_tf
from launch import calibrate
from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import scored_examples
from mtl_tf.evaluation.probabilities import OneLabel
from mtl_tf.experiments import calibration
from mtl_tf.prediction import calibrating
from mtl_tf.programs import runner
from mtl_tf.runs import fitting, training_run
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory import seals
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.system import corpus


def run(*arguments):
    given = ["calibrate", *map(str, arguments)]
    return calibrate.main(runner.parse(calibrate.PROGRAM, given))


@pytest.fixture(scope="module")
def directory(tmp_path_factory, small_files):
    config = corpus.quick(small_files, epochs=1)
    config["evaluation"]["calibrate"] = True
    path = str(tmp_path_factory.mktemp("run") / "quick")
    training_run.train(config, path, strategy="one_device")
    return path


def test_a_training_calibrates_where_it_is_asked_to(directory):
    with open(os.path.join(directory, "results.json")) as file:
        task = json.load(file)["tasks"]["plain"]
    found = task["calibration"]
    assert set(found) == {
        "temperature",
        "calibration_error",
        "brier",
        "log_loss",
        "before",
    }
    fitted = mtl_tf.load(directory).directory.read("fitted.json")
    assert fitted["plain"] == {"temperature": found["temperature"]}
    with open(os.path.join(directory, "results.md")) as file:
        assert "probabilities of plain: calibration error" in file.read()


@pytest.mark.slow
def test_thresholds_and_the_way_back(directory, capsys, tmp_path):
    text = ["the yes tree no stone", "no a yes of"]
    before = mtl_tf.load(directory).predict("plain", text)
    output = tmp_path / "found.json"
    run(
        f"--model_dir={directory}",
        "--threshold=plain=1:f1",
        f"--output={output}",
    )
    printed = capsys.readouterr().out
    for line in ("precision of 1", "Brier score", "mirror: temperature"):
        assert line in printed
    assert ", 1 from 0." in printed
    found = json.loads(output.read_text())
    threshold = found["plain"]["fitted"]["decision"]["threshold"]
    loaded = mtl_tf.load(directory)
    for one in loaded.predict("plain", text):
        assert (one["label"] == "1") == (one["scores"]["1"] >= threshold)
    after = found["plain"]["splits"]["test"]["after"]["accuracy"]
    kept = scored_examples.read(directory, "test")["plain"]
    right = [a == b for a, b in zip(kept.labels, kept.predictions)]
    assert after == pytest.approx(100 * sum(right) / len(right))
    assert "temperature" in kept.settings and "decision" in kept.settings
    run(f"--model_dir={directory}", "--notemperature", "--output=-")
    found = json.loads(capsys.readouterr().out)
    assert found["plain"]["fitted"] == found["mirror"]["fitted"] == {}
    run(f"--model_dir={directory}", "--output=-")
    # The same validation examples give the same temperature.
    assert mtl_tf.load(directory).predict("plain", text) == before


@pytest.mark.parametrize(
    "argument, expected",
    [
        ("spam=yes:f1", ("spam", ("yes", 0.0))),
        ("a=b:c:precision=0.9", ("a", ("b:c", 0.9))),
    ],
)
def test_thresholds_are_read(argument, expected):
    assert calibrate.parse_threshold(argument) == expected


@pytest.mark.parametrize(
    "argument",
    ["a", "a=b", "a=b:f2", "a=b:precision", "a=b:precision=0", "=b:f1"]
    + ["a=b:precision=1.5", "a=b:precision=high", "a=:f1", "a=b:f1=3"],
)
def test_wrong_thresholds(argument):
    with pytest.raises(ConfigError, match="--threshold must be TASK=LABEL:f1"):
        calibrate.parse_threshold(argument)


@pytest.mark.extended
def test_what_is_kept_of_other_splits_is_written_anew(directory):
    loaded = mtl_tf.load(directory)
    for split in ("train", "test"):
        loaded.evaluate(split, keep=True)
    run(f"--model_dir={directory}", "--split=validation", "--notemperature")
    found = {}
    for split in ("train", "validation", "test"):
        kept = scored_examples.read(directory, split)["plain"]
        assert "temperature" not in kept.settings
        found[split] = kept.scores
    run(f"--model_dir={directory}", "--split=validation")
    fitted = loaded.directory.read("fitted.json")["plain"]
    for split, before in found.items():
        kept = scored_examples.read(directory, split)["plain"]
        assert kept.settings == fitted
        tempered = OneLabel().tempered(before, fitted["temperature"])
        np.testing.assert_allclose(kept.scores, tempered, atol=1e-6)


def test_whoever_settles_anew_keeps_nothing_of_before(directory):
    loaded = mtl_tf.load(directory)
    loaded.evaluate("test", keep=True)
    validation = [
        run_data.encode_split(task, "validation", loaded.encoder)
        for task in run_data.tasks_of(loaded.config, (None, None))
    ]
    fitting.keep(loaded, fitting.fit(loaded, validation, temperature=True))
    assert scored_examples.splits(directory) == []


@pytest.mark.extended
def test_of_separate_models_all_change_or_none(small_files, tmp_path):
    config = corpus.quick(small_files, epochs=1) | {"train_separately": True}
    path = str(tmp_path / "run")
    training_run.train(config, path, strategy="one_device")
    # The models are fitted in this order; the second wish cannot be met.
    wishes = {"mirror": [("1", 0)], "plain": [("0", 0), ("1", 0)]}
    with pytest.raises(ConfigError, match="task plain gives a text one label"):
        calibration.calibrate(path, thresholds=wishes)
    assert not glob.glob(f"{path}/**/fitted.json", recursive=True)
    calibration.calibrate(path, thresholds={"plain": [("1", 0)]})
    assert len(glob.glob(f"{path}/**/fitted.json", recursive=True)) == 2


def test_a_longer_training_says_that_fitted_values_go(
    directory, tmp_path, caplog
):
    directory = shutil.copytree(directory, tmp_path / "run")
    config = mtl_tf.load(directory).config
    config["training"]["epochs"] = 2
    with caplog.at_level("WARNING"):
        RunDirectory(directory).claim(config)
    assert "fitted.json goes" in caplog.text
    assert not os.path.exists(os.path.join(directory, "fitted.json"))


def test_losses_are_of_the_probabilities_that_users_get(directory, tmp_path):
    directory = shutil.copytree(directory, tmp_path / "run")
    kept_run = RunDirectory(str(directory))
    kept_run.write("fitted.json", {"plain": {"temperature": 3.0}})
    seals.seal(kept_run, "fitted.json")
    loaded = mtl_tf.load(str(directory))
    kept = loaded.evaluate("test", keep=True)["tasks"]["plain"]
    found = scored_examples.read(str(directory), "test")["plain"]
    right = np.take_along_axis(
        np.array(found.scores), np.array(found.labels)[:, None], 1
    )
    assert kept["loss"] == pytest.approx(-np.log(right).mean(), 1e-5)


def test_only_labels_have_thresholds(directory, monkeypatch):
    made = types.SimpleNamespace(tasks=[{"name": "stars", "labels": ()}])
    monkeypatch.setattr(calibration, "load", lambda path: made)
    with pytest.raises(ConfigError, match="the task stars has no labels"):
        run(f"--model_dir={directory}", "--threshold=stars=1:f1")


def test_unknown_tasks_and_labels(directory):
    with pytest.raises(ConfigError, match="the label 1 of plain twice"):
        run(f"--model_dir={directory}", *["--threshold=plain=1:f1"] * 2)
    with pytest.raises(ConfigError, match="unknown task of --threshold 'plan"):
        run(f"--model_dir={directory}", "--threshold=plan=1:f1")
    with pytest.raises(ConfigError, match="unknown label of plain '2'"):
        run(f"--model_dir={directory}", "--threshold=plain=2:f1")


def test_a_run_without_probabilities_is_refused_before_it_is_scored(
    tmp_path, monkeypatch
):
    (tmp_path / "config.json").write_text("{}")
    tags = [{"name": "tags", "type": "tagging", "labels": ["O"]}]
    run_of_tags = types.SimpleNamespace(tasks=tags)
    monkeypatch.setattr(calibration, "load", lambda path: run_of_tags)
    monkeypatch.setattr(
        calibration, "_Fit", lambda *_: pytest.fail("it was scored")
    )
    with pytest.raises(ConfigError, match="probabilities.*type is tagging$"):
        run(f"--model_dir={tmp_path}")


def test_what_cannot_be_fitted_is_told_before_the_splits_are_scored(
    directory, monkeypatch
):
    def refused(*_):
        raise ConfigError("no threshold")

    monkeypatch.setattr(fitting, "fit", refused)
    monkeypatch.setattr(
        calibration, "_scores", lambda *_: pytest.fail("it was scored")
    )
    with pytest.raises(ConfigError, match="no threshold"):
        calibration.calibrate(directory)


@pytest.mark.extended
def test_the_scores_before_are_those_with_the_former_temperature(
    directory, tmp_path
):
    path = shutil.copytree(directory, tmp_path / "run")
    fitting.keep(mtl_tf.load(str(path)), {"plain": {"temperature": 3.0}})
    found = calibration.calibrate(str(path), temperature=False)
    assert found["plain"]["fitted"] == {}
    scores = found["plain"]["splits"]["test"]
    with open(path / "results.json") as file:
        own = json.load(file)["tasks"]["plain"]["calibration"]["before"]
    assert scores["after"]["log_loss"] == pytest.approx(own["log_loss"])
    assert scores["before"]["log_loss"] != pytest.approx(own["log_loss"])


def test_the_only_label_of_a_task_has_no_threshold():
    task = {"name": "mails", "type": "classification", "labels": ["spam"]}
    outputs = {"scores": np.ones([3, 1]), "prediction": np.zeros(3, int)}
    with pytest.raises(ConfigError, match="mails has one label alone, 'spam'"):
        calibrating.settled(
            task, np.zeros(3, int), outputs, False, [calibrating.Wish("spam")]
        )
