"""The figures program on a small trained run."""

import os

import pytest

pytest.importorskip("matplotlib")

from launch import figures
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import runner


def call(*arguments):
    figures.main(runner.parse(figures.PROGRAM, ["figures", *arguments]))


def test_generated_weights(toy_run, tmp_path, capsys):
    source = tmp_path / "texts.txt"
    source.write_text("no tree yes\n\nyes stone\n")
    paths = [str(tmp_path / name) for name in ("w.png", "w.svg")]
    call(
        "--figure=generated_weights",
        f"--model_dir=Toy={toy_run}",
        "--task=mirror",
        "--text=the yes of no house",
        f"--input={source}",
        f"--output={','.join(paths)}",
    )
    assert capsys.readouterr().out.split() == paths
    assert all(os.path.getsize(path) > 10_000 for path in paths)


def test_learning_curves(toy_run, tmp_path):
    path = str(tmp_path / "curves.svg")
    call(
        "--figure=learning_curves",
        f"--model_dir={toy_run},again={toy_run}",
        f"--output={path}",
    )
    assert os.path.getsize(path) > 10_000


def test_attention_and_layers(transformer_run, tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("a.png", "a.svg", "l.png")]
    call(
        "--figure=attention",
        f"--model_dir={transformer_run}",
        "--text=the yes of no house",
        f"--output={','.join(paths[:2])}",
    )
    call(
        "--figure=layers",
        f"--model_dir={transformer_run},L-I={transformer_run}",
        f"--output={paths[2]}",
    )
    assert capsys.readouterr().out.split() == paths
    assert all(os.path.getsize(path) > 10_000 for path in paths)
    with pytest.raises(ConfigError, match="attention shows one run, got 2"):
        call(
            "--figure=attention",
            f"--model_dir={transformer_run},{transformer_run}",
            "--text=yes",
            f"--output={paths[0]}",
        )


def test_a_run_without_gates_is_named(toy_run, tmp_path):
    with pytest.raises(ConfigError, match=r"none of the runs \(toy\) has a fu"):
        call(
            "--figure=fusion_gate",
            f"--model_dir={toy_run}",
            "--task=plain",
            "--text=yes",
            f"--output={tmp_path / 'x.png'}",
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task=plain"], "give --text or --input"),
        (["--text=yes"], "--task is missing: give one of plain, mirror"),
        (["--text=yes", "--task=plane"], "did you mean 'plain'"),
    ],
)
def test_what_is_missing_is_said(toy_run, tmp_path, arguments, message):
    with pytest.raises(ConfigError, match=message):
        call(
            "--figure=generated_weights",
            f"--model_dir={toy_run}",
            f"--output={tmp_path / 'x.png'}",
            *arguments,
        )


def test_the_output_is_checked_before_anything_is_read():
    with pytest.raises(ConfigError, match=r"--output=x.gif must end with"):
        call("--figure=learning_curves", "--model_dir=x", "--output=x.gif")
    with pytest.raises(RunError, match="nowhere is not a run directory"):
        call(
            "--figure=learning_curves",
            "--model_dir=nowhere",
            "--output=x.png",
        )


@pytest.mark.parametrize(
    ("item", "label", "path"),
    [
        ("runs/meta/", "meta", "runs/meta/"),
        ("LSTM=runs/lstm", "LSTM", "runs/lstm"),
        ("runs/a=b", "a=b", "runs/a=b"),
    ],
)
def test_labels(item, label, path):
    assert figures.named(item) == figures.Named(label, path)
