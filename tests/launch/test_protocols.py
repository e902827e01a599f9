"""The transfer and sweep programs with stand-ins for the training room."""

import pytest

from launch import sweep, transfer
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.experiments import sweep as sweeping
from mtl_tf.experiments import transfer as transferring
from mtl_tf.programs import runner
from tests.launch.stand_in import Run

REPORT = {
    "name": "quickstart",
    "settings": [
        {
            "name": "as_configured",
            "settings": {},
            "validation": {"mean": 81.25, "std": None, "runs": 1},
            "failed": 0,
            "waiting": 0,
            "wall_time": 2.0,
            "cells": [{"folder": "x", "status": "finished"}],
        }
    ],
    "selected": None,
}


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.delenv("MTL_TF_DATA_DIR", raising=False)
    monkeypatch.delenv("MTL_TF_MANUAL_DIR", raising=False)
    calls = []

    def record(returned):
        def called(config, **options):
            calls.append((config, options))
            return returned

        return called

    monkeypatch.setattr(transferring, "transfer", record(Run().evaluate()))
    monkeypatch.setattr(sweeping, "sweep", record(REPORT))
    return calls


def call(module, *arguments):
    argv = ["x", "--config=quickstart", "--model_dir=here", *arguments]
    return module.main(runner.parse(module.PROGRAM, argv))


def test_transfer_hands_everything_on_and_prints_the_table(calls, capsys):
    arguments = ("--targets=books,films", "--config.training.epochs=2")
    assert call(transfer, *arguments, "--manual_dir=corpora") == 0
    ((config, options),) = calls
    assert type(config) is dict and config["training"]["epochs"] == 2
    assert options == {
        "model_dir": "here",
        "data_dir": None,
        "manual_dir": "corpora",
        "strategy": "auto",
        "targets": ["books", "films"],
        "control": "",
    }
    assert "75.0" in capsys.readouterr().out


def test_transfer_takes_all_turns_by_default(calls):
    call(transfer)
    assert calls[0][1]["targets"] is None
    call(transfer, "--control=random")
    assert calls[1][1]["control"] == "random"


def test_sweep_takes_the_flags_before_the_config(calls, capsys):
    grid = "training.l2=0,1e-5"
    assert call(sweep, f"--grid={grid}", "--seeds=3", "--retry") == 0
    ((config, options),) = calls
    assert config["sweep"] == {"grid": grid, "folds": 0, "seeds": 3}
    assert options["retry"] is True
    assert options["model_dir"] == "here"
    options["validate"](config)
    assert "81.25" in capsys.readouterr().out


def test_sweep_leaves_phases_to_the_cells(calls):
    phases = "[{'tasks': ['books'], 'fraction': 0.1}]"
    mixing = f"{{'name': 'phases', 'phases': {phases}}}"
    call(
        sweep, f"--config.pipeline.mixing={mixing}", "--config.training.steps=9"
    )
    (phase,) = calls[0][0]["pipeline"]["mixing"]["phases"]
    assert phase["fraction"] == 0.1
    cell = calls[0][0]
    cell["training"]["steps"] = 50
    (phase,) = calls[0][1]["validate"](cell)["pipeline"]["mixing"]["phases"]
    assert phase == {"tasks": ["books"], "steps": 5}


def test_sweep_takes_the_configs_own_wishes(calls):
    call(sweep, "--config.sweep.seeds=4", "--config.sweep.folds=10")
    assert calls[0][0]["sweep"] == {"grid": "", "folds": 10, "seeds": 4}
    call(sweep, "--config.sweep.seeds=4", "--seeds=1")
    assert calls[1][0]["sweep"]["seeds"] == 1


@pytest.mark.parametrize("status", ["diverged", "failed"])
def test_only_what_can_be_repaired_fails_a_sweep(
    calls, capsys, monkeypatch, status
):
    cell = {"folder": "cells/y", "status": status, "error": "no memory"}
    setting = REPORT["settings"][0] | {"failed": 1, "cells": [cell]}
    settings = [*REPORT["settings"], setting]
    monkeypatch.setitem(REPORT, "settings", settings)
    if status == "diverged":
        assert call(sweep) == 0
    else:
        with pytest.raises(RunError, match="1 of the cells failed"):
            call(sweep)
    assert "- `cells/y`: no memory" in capsys.readouterr().out


@pytest.mark.parametrize("module", [sweep, transfer])
def test_wrong_hyperparameters_stop_before_training(calls, module):
    with pytest.raises(ConfigError, match="training.l2 must be zero or pos"):
        call(module, "--config.training.l2=-1")
    with pytest.raises(ConfigError, match="seeds must be a positive integer"):
        call(module, "--config.sweep.seeds=0")
    assert calls == []
