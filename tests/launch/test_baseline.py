"""The baseline program with a stand-in for the training room."""

import sys
import types

import pytest

import mtl_tf.baselines
from launch import baseline
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import runner
from tests.launch.stand_in import Run


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.delenv("MTL_TF_DATA_DIR", raising=False)
    monkeypatch.delenv("MTL_TF_MANUAL_DIR", raising=False)
    found = []
    module = types.ModuleType("mtl_tf.baselines.linear")

    def record(config, **options):
        found.append((config, options))
        results = Run().evaluate()
        for task in results["tasks"].values():
            del task["loss"]
        return results

    module.train = record
    monkeypatch.setitem(sys.modules, "mtl_tf.baselines.linear", module)
    monkeypatch.setattr(mtl_tf.baselines, "linear", module, raising=False)
    return found


def call(*arguments):
    argv = ["baseline", "--config=quickstart", "--model_dir=here", *arguments]
    return baseline.main(runner.parse(baseline.PROGRAM, argv))


def test_flags_reach_the_training(calls):
    kept = "--probabilities_of=train, unlabelled"
    flags = "--config.text.max_length=7", "--features=private", kept
    assert call(*flags) == 0
    ((config, options),) = calls
    assert type(config) is dict and config["text"]["max_length"] == 7
    assert options == {
        "model_dir": "here",
        "data_dir": None,
        "manual_dir": None,
        "features": "private",
        "probabilities_of": ["train", "unlabelled"],
    }


def test_the_seed_is_the_configs_unless_it_is_given(calls):
    call("--config.seed=5")
    call("--config.seed=5", "--seed=0")
    assert [config["seed"] for config, _ in calls] == [5, 0]


def test_the_table_goes_to_standard_output(calls, capsys):
    call()
    assert "75.0" in capsys.readouterr().out


def test_unknown_features_are_refused(calls):
    with pytest.raises(ConfigError, match="features.*shared_private"):
        call("--features=all")
    assert calls == []


def test_the_flags_features_are_the_librarys():
    from mtl_tf.baselines import svm

    assert baseline.FEATURES == svm.FEATURES
