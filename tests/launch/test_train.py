"""The train program with a stand-in for the training room."""

import json
import sys
import types

import pytest
from absl import flags

import mtl_tf.runs
from launch import train
from mtl_tf.baselines import yardsticks
from mtl_tf.core.errors import ConfigError
from mtl_tf.experiments import single_tasks
from mtl_tf.programs import common_flags, runner
from tests.launch import helpers
from tests.launch.stand_in import Run


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.delenv("MTL_TF_DATA_DIR", raising=False)
    monkeypatch.delenv("MTL_TF_MANUAL_DIR", raising=False)
    calls = []
    module = types.ModuleType("mtl_tf.runs.training_run")
    module.results = Run().evaluate()

    def record(config, **options):
        calls.append((config, options))
        return module.results

    module.train = record
    module.calls = calls
    monkeypatch.setitem(sys.modules, "mtl_tf.runs.training_run", module)
    monkeypatch.setattr(mtl_tf.runs, "training_run", module, raising=False)
    return module


def call(*arguments):
    argv = ["train", "--config=quickstart", "--model_dir=here", *arguments]
    return train.main(runner.parse(train.PROGRAM, argv))


def test_the_config_reaches_the_training_as_plain_values(calls):
    assert call("--config.training.epochs=2", "--strategy=mirrored") == 0
    ((config, options),) = calls.calls
    assert type(config) is dict
    assert type(config["training"]["optimizer"]) is dict
    assert config["training"]["epochs"] == 2
    assert options == {
        "model_dir": "here",
        "data_dir": None,
        "manual_dir": None,
        "strategy": "mirrored",
        "beside": yardsticks.add,
        "callbacks": [],
    }


def test_callbacks_by_name(calls):
    assert call("--callbacks=tensorboard") == 0
    ((_, options),) = calls.calls
    assert [type(c).__name__ for c in options["callbacks"]] == ["TensorBoard"]
    with pytest.raises(ConfigError, match="did you mean 'tensorboard'"):
        call("--callbacks=tensorbord")


def test_without_yardsticks(calls):
    call("--config.evaluation.yardsticks=False")
    ((_, options),) = calls.calls
    assert options["beside"] is None


def test_the_table_goes_to_standard_output(calls, capsys):
    call()
    assert "75.0" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["nan", "-1", "inf"])
def test_wrong_hyperparameters_stop_before_training(calls, value):
    with pytest.raises(ConfigError, match="training.l2 must be zero or pos"):
        call(f"--config.training.l2={value}")
    assert calls.calls == []


def test_a_run_that_was_begun_goes_on_with_fields_that_do_nothing(
    calls, tmp_path
):
    begun = {"model": {"wide": {"dimension": 4}}}
    (tmp_path / "config.json").write_text(json.dumps(begun))
    field, place = "--config.model.wide.dimension", f"--model_dir={tmp_path}"
    call(f"{field}=4", place)
    assert len(calls.calls) == 1
    with pytest.raises(ConfigError, match="dimension does nothing without"):
        call(f"{field}=5", place)
    assert len(calls.calls) == 1


def test_what_is_set_by_hand_and_does_nothing_stops_before_training(calls):
    field = "model.wide.dimension"
    with pytest.raises(ConfigError, match=f"{field} does nothing without"):
        call(f"--config.{field}=4")
    assert calls.calls == []
    call(f"--config.{field}=4", "--config.model.wide.buckets=8")
    assert len(calls.calls) == 1


def test_fields_of_other_task_types_stop_before_training(calls):
    with pytest.raises(ConfigError, match="without tagging tasks, got 'soft"):
        call("--config.model.tagging.decoder=softmax")
    assert calls.calls == []
    call(
        "--config.model.tagging.decoder=softmax",
        "--config.tasks=sample_reviews,conll2000",
    )
    assert len(calls.calls) == 1


def test_models_of_single_tasks_read_it(calls, monkeypatch):
    monkeypatch.setattr(single_tasks, "train", calls.train)
    with pytest.raises(ConfigError, match="without train_separately, got Tr"):
        call("--config.training.share_steps")
    call("--config.training.share_steps", "--compare_single")
    assert len(calls.calls) == 1


def test_virtual_devices_are_for_the_strategy_that_mirrors():
    values = flags.FlagValues()
    common_flags.define_strategy(values)
    values(["train", "--virtual_cpus=2"])
    with pytest.raises(ConfigError, match="mirrored, got --strategy=auto"):
        common_flags.divide_cpu(values)


@pytest.mark.extended
def test_virtual_devices_are_replicas():
    code = (
        "import os\n"
        "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n"
        "from absl import flags\n"
        "from mtl_tf.programs import common_flags\n"
        "values = flags.FlagValues()\n"
        "common_flags.define_strategy(values)\n"
        "values(['x', '--virtual_cpus=3', '--strategy=mirrored'])\n"
        "common_flags.divide_cpu(values)\n"
        "from mtl_tf.training.distribution import strategies\n"
        "made = strategies.make_strategy('mirrored')\n"
        "print(made.num_replicas_in_sync)\n"
    )
    status, out, err = helpers.execute("-c", code)
    assert (status, out.strip()) == (0, "3"), err
