"""What is wrong with a command is told before TensorFlow is imported."""

import pytest

from tests.launch.helpers import environment, execute
from tests.programs.own_config import OWN


@pytest.fixture
def no_tensorflow(tmp_path):
    """An environment in which importing TensorFlow raises."""
    for name in ("tensorflow", "keras"):
        folder = tmp_path / "modules" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    path = environment()["PYTHONPATH"]
    return environment(PYTHONPATH=f"{tmp_path / 'modules'}:{path}")


def train(env, *arguments):
    return execute(
        "-m",
        "launch.train",
        "--config=quickstart",
        "--model_dir=/no",
        *arguments,
        env=env,
    )


@pytest.mark.by_default("*unform*", "*lstmm*", "*epochs=-3*", "*model_dri*")
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "--config.training.epochs=-3",
            "training.epochs must be a positive integer, got -3",
        ),
        (
            "--config.model.scheme.name=lstmm",
            "unknown scheme in model.scheme.name: 'lstmm'; did you mean 'lstm'",
        ),
        (
            "--config.training.optimizer.name=adm",
            "unknown optimizer in training.optimizer.name: 'adm'; did you mean "
            "'adam'",
        ),
        (
            "--config.training.optimizer.schedule=liner",
            "training.optimizer.schedule: 'liner'; did you mean 'linear'",
        ),
        (
            "--config.pipeline.mixing={'name':'unform'}",
            "mixing in pipeline.mixing.name: 'unform'; did you mean 'uniform'",
        ),
        ("--epochs=3", "--epochs; did you mean --config.training.epochs or"),
        ("--clip_norm=3", "did you mean --config.training.clip_norm?"),
        ("--model_dri=x", "unknown flag --model_dri; did you mean --model_dir"),
    ],
)
def test_wrong_values(no_tensorflow, argument, message):
    status, out, err = train(no_tensorflow, argument)
    assert (status, out) == (1, "")
    assert message in err and len(err.splitlines()) == 1


def test_without_a_mistake_tensorflow_is_imported(no_tensorflow):
    status, _, err = train(no_tensorflow)
    assert status == 1 and "RuntimeError: imported" in err


@pytest.mark.by_default("train", "predict", "figures")
@pytest.mark.parametrize(
    "module",
    [
        *(
            "train",
            "prepare_data",
            "train_vectors",
            "pretrain",
            "data_service",
            "evaluate",
            "predict",
        ),
        *("benchmark", "baseline", "compare", "transfer", "sweep"),
        *("reproduce", "figures"),
    ],
)
def test_every_program_tells_its_version(no_tensorflow, module):
    status, out, err = execute(
        "-m", f"launch.{module}", "--version", env=no_tensorflow
    )
    assert (status, err) == (0, "")
    assert out == f"python -m launch.{module} of mtl_tf 0.1.0\n"


def test_the_version_of_an_export_is_a_flag_beside_others(no_tensorflow):
    asked = ("-m", "export.saved_model", "--version")
    status, out, _ = execute(*asked, env=no_tensorflow)
    assert (status, out) == (
        0,
        "python -m export.saved_model of mtl_tf 0.1.0\n",
    )
    status, out, err = execute(*asked, "x", env=no_tensorflow)
    assert status == 1 and "--version" in err and out == ""


def test_an_unknown_task_of_ones_own_config(no_tensorflow, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    status, _, err = execute(
        "-m",
        "launch.train",
        f"--config={tmp_path / 'own.py'}",
        "--model_dir=/no",
        "--config.tasks=strs,subj",
        env=no_tensorflow,
    )
    assert status == 1
    assert err == (
        "error: config.tasks: unknown task 'strs'; did you mean 'stars'?\n"
    )
