"""The transfer program with a stand-in for the training."""

import json

import pytest

from launch import transfer as program
from mtl_tf.core.errors import ConfigError
from mtl_tf.experiments import transfer
from mtl_tf.programs import runner
from tests.launch.stand_in import Run


@pytest.fixture
def call(monkeypatch, tmp_path):
    calls = []

    def record(config, **options):
        calls.append(config)
        return Run().evaluate()

    def call(*arguments):
        argv = ["transfer", "--config=quickstart", f"--model_dir={tmp_path}"]
        program.main(runner.parse(program.PROGRAM, [*argv, *arguments]))
        return calls

    monkeypatch.setattr(transfer, "transfer", record)
    return call


@pytest.mark.parametrize(
    ("field", "value", "missing"),
    [
        ("training.gradnorm.alpha", 3, "training.loss_weighting=gradnorm"),
        ("evaluation.decoding.beam", 3, "translation tasks"),
    ],
)
def test_what_does_nothing_stops_before_training(call, field, value, missing):
    message = f"{field} does nothing without {missing}"
    with pytest.raises(ConfigError, match=message):
        call(f"--config.{field}={value}")
    assert len(call("--config.training.epochs=2")) == 1


def test_what_was_begun_goes_on(call, tmp_path):
    begun = {"training": {"gradnorm": {"alpha": 3.0}}}
    (tmp_path / "transfer.json").write_text(json.dumps({"config": begun}))
    assert len(call("--config.training.gradnorm.alpha=3")) == 1
