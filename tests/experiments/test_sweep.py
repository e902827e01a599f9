"""Sweeps with a stand-in for training, and one that really trains."""

import contextlib
import json
import os

import pytest

from mtl_tf.config_fields import validation
from mtl_tf.core.errors import (
    ConfigError,
    DataError,
    Diverged,
    Interrupted,
    MtlError,
    RunError,
)
from mtl_tf.experiments import sweep
from mtl_tf.runs import training_run
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.system import corpus

RATES = "training.optimizer.learning_rate"


class Training:
    """Trains nothing: validation is best at the middle rate, tests are not.

    Attributes:
        seen: the folders that were trained.
        configs: what they were trained with.
        errors: what to raise, by learning rate.
    """

    def __init__(self):
        self.seen, self.configs = [], []
        self.errors = {}

    def __call__(self, config, folder, *_):
        rate = config["training"]["optimizer"]["learning_rate"]
        self.seen.append(folder)
        self.configs.append(config)
        if rate in self.errors:
            raise self.errors[rate]
        validation = {0.1: 60.0, 0.2: 80.0, 0.3: 70.0}[rate] + config["seed"]
        task = {"type": "k", "primary": "accuracy", "accuracy": 100 * rate}
        results = {
            "split": "test",
            "tasks": {"books": task},
            "mean": {"overall": 100 * rate, "clean": {"overall": 50.0}},
            "run": {"validation_mean": validation, "wall_time": 2.0},
        }
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "results.json"), "w") as file:
            json.dump(results, file)
        return results


@pytest.fixture
def training(monkeypatch):
    stand_in = Training()
    monkeypatch.setattr(training_run, "train", stand_in)
    return stand_in


def config(grid=f"{RATES}=0.1,0.2,0.3", seeds=2, **sweeping):
    found = corpus.config(
        [{"name": "books", "files": {"train": "a.tsv"}}], epochs=1
    )
    found["seed"] = 0
    found["sweep"] = {"grid": grid, "folds": 0, "seeds": seeds, **sweeping}
    return found


def read(path):
    with open(path) as file:
        return json.load(file)


def test_validation_selects_and_tests_only_report(tmp_path, training):
    report = sweep.sweep(config(), str(tmp_path))
    assert len(training.seen) == 6
    names = [s["settings"][RATES] for s in report["settings"]]
    assert names == [0.2, 0.3, 0.1]
    selected = report["selected"]
    assert selected["settings"] == {RATES: 0.2}
    assert selected["validation"] == {
        "mean": 80.5,
        "std": pytest.approx(0.5**0.5),
        "runs": 2,
    }
    assert selected["tasks"] == {"books": {"mean": 20.0, "std": 0.0, "runs": 2}}
    assert selected["clean"]["mean"] == 50.0
    assert read(tmp_path / "sweep.json") == report
    page = (tmp_path / "sweep.md").read_text()
    assert "| **0.2**" in page and "80.50" in page
    assert f"## Selected: `{RATES}=0.2`" in page
    # Test scores of what was not selected would tempt to select by them.
    assert "30.00" not in page and "20.00" in page


def test_a_program_may_start_anew_before_each_cell(tmp_path, training, points):
    sweep.sweep(config(), str(tmp_path))
    assert len(points) == len(training.seen) == 6


def test_finished_cells_are_not_repeated_and_a_grid_may_grow(
    tmp_path, training
):
    sweep.sweep(config(f"{RATES}=0.1,0.3"), str(tmp_path))
    training.seen.clear()
    report = sweep.sweep(config(), str(tmp_path))
    assert len(training.seen) == 2
    assert all("learning_rate=0.2" in folder for folder in training.seen)
    assert report["selected"]["settings"] == {RATES: 0.2}


@pytest.mark.parametrize(
    "grid, seeds", [(f"{RATES}=0.1,0.2", 2), ("training.l2=0,1", 2), (None, 1)]
)
def test_a_grid_without_finished_cells_is_refused(
    tmp_path, training, grid, seeds
):
    """Its report took the place of theirs."""
    report = sweep.sweep(config(f"{RATES}=0.1,0.3"), str(tmp_path))
    training.seen.clear()
    other = config(grid or f"{RATES}=0.1,0.3", seeds=seeds)
    with pytest.raises(ConfigError, match="4 finished cells, of which"):
        sweep.sweep(other, str(tmp_path))
    assert training.seen == []
    assert read(tmp_path / "sweep.json") == report


def test_a_grid_may_leave_out_what_has_no_results(tmp_path, training):
    training.errors[0.3] = DataError("a wrong file")
    sweep.sweep(config(f"{RATES}=0.1,0.3"), str(tmp_path))
    report = sweep.sweep(config(f"{RATES}=0.1,0.2"), str(tmp_path))
    assert report["selected"]["settings"] == {RATES: 0.2}


def test_an_interrupted_sweep_continues(tmp_path, training):
    training.errors[0.2] = Interrupted("stopped", 15)
    with pytest.raises(Interrupted):
        sweep.sweep(config(), str(tmp_path))
    report = read(tmp_path / "sweep.json")
    waiting = {s["settings"][RATES]: s["waiting"] for s in report["settings"]}
    assert waiting == {0.1: 0, 0.2: 2, 0.3: 2}
    assert report["selected"]["settings"] == {RATES: 0.1}
    training.errors.clear()
    training.seen.clear()
    report = sweep.sweep(config(), str(tmp_path))
    assert len(training.seen) == 4
    assert report["selected"]["settings"] == {RATES: 0.2}


def test_what_diverged_is_recorded_and_the_others_go_on(tmp_path, training):
    training.errors[0.2] = Diverged("the loss is not finite")
    report = sweep.sweep(config(), str(tmp_path))
    assert report["selected"]["settings"] == {RATES: 0.3}
    failed = report["settings"][-1]
    assert (failed["failed"], failed["validation"]["mean"]) == (2, None)
    assert failed["cells"][0]["status"] == "diverged"
    assert failed["cells"][0]["error"] == "Diverged: the loss is not finite"
    assert "the loss is not finite" in (tmp_path / "sweep.md").read_text()
    training.seen.clear()
    sweep.sweep(config(), str(tmp_path))
    assert training.seen == []
    training.errors.clear()
    report = sweep.sweep(config(), str(tmp_path), retry=True)
    assert report["selected"]["settings"] == {RATES: 0.2}


def test_other_failures_are_tried_again(tmp_path, training):
    training.errors[0.2] = MemoryError("no memory")
    report = sweep.sweep(config(), str(tmp_path))
    failed = report["settings"][-1]
    assert failed["failed"] == 2
    assert {cell["status"] for cell in failed["cells"]} == {"failed"}
    training.errors.clear()
    report = sweep.sweep(config(), str(tmp_path))
    assert report["settings"][0]["settings"] == {RATES: 0.2}


def test_a_setting_with_a_failed_run_is_not_selected(
    tmp_path, training, monkeypatch
):
    def sometimes(config, folder, *_):
        rate = config["training"]["optimizer"]["learning_rate"]
        if rate == 0.2 and config["seed"] == 1:
            raise Diverged("not finite")
        return training(config, folder)

    monkeypatch.setattr(training_run, "train", sometimes)
    report = sweep.sweep(config(), str(tmp_path))
    assert report["settings"][0]["settings"] == {RATES: 0.2}
    assert report["selected"]["settings"] == {RATES: 0.3}


def test_no_cell_that_succeeds_is_an_error(tmp_path, training):
    training.errors = dict.fromkeys((0.1, 0.2, 0.3), Diverged("not finite"))
    with pytest.raises(RunError, match="every cell failed.*not finite"):
        sweep.sweep(config(), str(tmp_path))


def test_another_config_is_refused(tmp_path, training):
    sweep.sweep(config(), str(tmp_path))
    other = config()
    other["training"]["l2"] = 0.5
    with pytest.raises(RunError, match="config changed .* training.l2"):
        sweep.sweep(other, str(tmp_path))


def test_a_sweep_and_a_run_have_folders_of_their_own(tmp_path, training):
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(config())
    with pytest.raises(RunError, match="run holds a run: name another"):
        sweep.sweep(config(), run.path)
    sweep.sweep(config(), str(tmp_path / "sweep"))
    with pytest.raises(RunError, match="sweep holds a sweep: name another"):
        RunDirectory(str(tmp_path / "sweep")).claim(config())
    assert not (tmp_path / "sweep/config.json").exists()


@pytest.mark.parametrize("held", ["transfer.json", "setting.json"])
def test_other_folders_are_no_sweep(tmp_path, training, held):
    (tmp_path / held).write_text("{}")
    with pytest.raises(RunError, match="holds .*: name another .* a sweep"):
        sweep.sweep(config(), str(tmp_path))
    with pytest.raises(RunError, match="holds .*: name another .* for a run"):
        RunDirectory(str(tmp_path)).claim(config())
    assert [file.name for file in tmp_path.iterdir()] == [held]


def test_settings_of_other_tasks_are_told(tmp_path, training, caplog):
    sweep.sweep(config(f"{RATES}=0.1,0.2"), str(tmp_path / "rates"))
    assert "The grid changes tasks" not in caplog.text
    found = config("tasks=('books',),()", seeds=1)
    with contextlib.suppress(MtlError):
        sweep.sweep(found, str(tmp_path / "tasks"))
    assert "The grid changes tasks: the mean of each" in caplog.text


ALPHA, LOSSES = "training.gradnorm.alpha=3.0", "training.loss_weighting"


def test_what_no_cell_reads_is_refused(tmp_path, training):
    base = config(f"{RATES}=0.1;{ALPHA}", seeds=1)
    with pytest.raises(ConfigError, match="alpha does nothing without"):
        sweep.sweep(base, str(tmp_path))
    base["sweep"]["grid"] = f"{RATES}=0.1;model.tagging.decoder=softmax"
    with pytest.raises(ConfigError, match="does nothing without tagging task"):
        sweep.sweep(base, str(tmp_path))
    base["sweep"]["grid"] = f"{RATES}=0.1"
    base["training"]["steps"] = 9
    with pytest.raises(ConfigError, match="epochs does nothing where"):
        sweep.sweep(base, str(tmp_path), overridden=["training.epochs"])
    assert training.seen == [] and list(tmp_path.iterdir()) == []


def test_what_some_cell_reads_is_tried(tmp_path, training):
    base = config(f"{RATES}=0.1;{LOSSES}=static,gradnorm;{ALPHA}", seeds=1)
    base["pipeline"]["mixing"] = {"name": "joint"}
    sweep.sweep(base, str(tmp_path))
    assert len(training.seen) == 2
    # Also with fewer values, where they were tried already.
    for name in training.seen:
        os.remove(os.path.join(name, "results.json"))
    base["sweep"]["grid"] = f"{RATES}=0.1;{LOSSES}=static;{ALPHA}"
    sweep.sweep(base, str(tmp_path))
    assert len(training.seen) == 3


def test_all_cells_are_checked_before_the_first_is_trained(tmp_path, training):
    def positive(found):
        rate = found["training"]["optimizer"]["learning_rate"]
        if rate <= 0:
            raise ConfigError(f"learning_rate must be positive, got {rate}")
        return found

    wanted = config(f"{RATES}=0.1,-1")
    with pytest.raises(ConfigError, match="must be positive, got -1"):
        sweep.sweep(wanted, str(tmp_path), validate=positive)
    assert training.seen == []


@pytest.mark.parametrize(
    "grid, message",
    [
        (
            "model.scheme.units=8;model.scheme.unitz=4,8",
            "unitz=4.*did you mean",
        ),
        ("model.scheme.sharing=shared,sharedd", "sharedd.*did you mean"),
    ],
)
def test_options_of_choices_are_checked_before_the_first_cell(
    tmp_path, training, grid, message
):
    (tmp_path / "a.csv").write_text("text,label\na,1\nb,2\n")
    wanted, folder = config(grid, seeds=1), tmp_path / "sweep"
    files = {"train": str(tmp_path / "a.csv")}
    wanted["tasks"] = [{"name": "books", "files": files}]
    with pytest.raises(ConfigError, match=message):
        sweep.sweep(wanted, str(folder), validate=validation.validate)
    assert training.seen == [] and not folder.exists()


def test_vectors_are_missed_before_the_first_cell(tmp_path, training):
    """Cells that were begun need them no more."""
    (tmp_path / "a.csv").write_text("text,label\na,1\nb,2\n")
    vectors, folder = tmp_path / "vectors.txt", tmp_path / "sweep"
    wanted = config(seeds=1)
    wanted["tasks"] = [
        {"name": "books", "files": {"train": str(tmp_path / "a.csv")}}
    ]
    wanted["text"]["vectors"] = str(vectors)
    with pytest.raises(ConfigError, match="seed=0: cannot read the word vec"):
        sweep.sweep(wanted, str(folder))
    assert training.seen == [] and not folder.exists()
    vectors.write_text("word" + " 0.5" * wanted["model"]["embedding_dim"])
    sweep.sweep(wanted, str(folder))
    vectors.unlink()
    sweep.sweep(wanted, str(folder))
    assert len(training.seen) == 3


def test_too_many_folds_are_refused_before_the_first_cell(tmp_path, training):
    (tmp_path / "a.csv").write_text("text,label\na,1\nb,2\nc,1\nd,2\n")
    wanted, folder = config(f"{RATES}=0.1", folds=5), tmp_path / "sweep"
    files = {"train": str(tmp_path / "a.csv")}
    wanted["tasks"] = [{"name": "books", "files": files}]
    with pytest.raises(ConfigError, match="books .* in 5 folds: it has 4 ex"):
        sweep.sweep(wanted, str(folder))
    assert training.seen == [] and not folder.exists()


def test_settings_that_do_not_go_together(tmp_path, training, monkeypatch):
    """Their cells fail by themselves: others have both values."""
    (tmp_path / "a.csv").write_text("text,label\na,1\nb,2\n")
    wanted = config("training.l2=0,1;training.clip_norm=1,2", seeds=1)
    wanted["training"]["optimizer"]["learning_rate"] = 0.1
    files = {"train": str(tmp_path / "a.csv")}
    wanted["tasks"] = [{"name": "books", "files": files}]
    refused = [(1, 2)]

    def check_options(config, tasks):
        training = config["training"]
        if (training["l2"], training["clip_norm"]) in refused:
            raise ConfigError("they do not go together")

    monkeypatch.setattr(training_run, "check_options", check_options)
    sweep.sweep(wanted, str(tmp_path / "sweep"))
    assert len(training.seen) == 4
    refused.append((0, 2))
    with pytest.raises(ConfigError, match="l2=0, .*clip_norm=2, .*go together"):
        sweep.sweep(wanted, str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_phases_are_fractions_of_the_steps_of_their_cell(tmp_path, training):
    wanted = config(f"{RATES}=0.1;training.steps=100,400", seeds=1)
    phases = [{"tasks": ["books"], "fraction": 0.25}]
    wanted["pipeline"]["mixing"] = {"name": "phases", "phases": phases}
    wanted["training"]["steps"] = 20
    validate = validation.validate
    sweep.sweep(validation.checked(wanted), str(tmp_path), validate=validate)
    assert [
        found["pipeline"]["mixing"]["phases"] for found in training.configs
    ] == [[{"tasks": ["books"], "steps": steps}] for steps in (25, 100)]


def test_progress_tells_the_time_left(tmp_path, training, caplog):
    with caplog.at_level("INFO", logger="absl"):
        sweep.sweep(config(seeds=1), str(tmp_path))
    lines = [line for line in caplog.messages if line.startswith("Cell ")]
    assert lines[0].startswith("Cell 1 of 3 (1 of 3 to train): ")
    assert "left): " in lines[1]
    assert lines[2].endswith("learning_rate=0.3, seed=0")


@pytest.mark.slow
def test_real_runs_with_one_that_diverges(tmp_path, toy_files):
    found = corpus.config(toy_files, steps=3)
    found["training"]["optimizer"]["name"] = "sgd"
    grid = f"{RATES}=0.01,1e30"
    found["sweep"] = {"grid": grid, "folds": 0, "seeds": 1}
    report = sweep.sweep(found, str(tmp_path))
    assert report["selected"]["settings"] == {RATES: 0.01}
    best = tmp_path / "cells" / f"{RATES}=0.01" / "seed=3"
    results = read(best / "results.json")
    tasks = report["selected"]["tasks"]
    assert tasks["plain"]["mean"] == results["tasks"]["plain"]["accuracy"]
    assert report["settings"][1]["cells"][0]["status"] == "diverged"
