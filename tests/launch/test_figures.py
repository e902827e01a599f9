"""The figures program on a small trained run."""

import json
import os

import pytest

pytest.importorskip("matplotlib")

from launch import figures
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.figures import drawing
from mtl_tf.programs import runner
from tests.system import questions, random_runs


def call(*arguments):
    figures.main(runner.parse(figures.PROGRAM, ["figures", *arguments]))


@pytest.mark.extended
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


@pytest.mark.extended
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


@pytest.mark.extended
def test_figures_of_translation(translation_run, tmp_path, capsys):
    names = ("a.png", "a.svg", "c.svg", "n.md", "n.json", "n.png")
    paths = [str(tmp_path / name) for name in names]
    call(
        "--figure=alignment",
        f"--model_dir={translation_run}",
        "--task=xx-bb",
        "--text=no tree in the house.",
        f"--output={','.join(paths[:2])}",
    )
    call(
        "--figure=score_curves",
        f"--model_dir=Multi={translation_run},again={translation_run}",
        "--metric=bleu_lc",
        f"--output={paths[2]}",
    )
    call(
        "--figure=neighbours",
        f"--model_dir=Multi={translation_run}",
        "--words=no,the",
        "--count=2",
        f"--output={','.join(paths[3:])}",
    )
    assert capsys.readouterr().out.split() == paths
    assert all(os.path.getsize(paths[n]) > 10_000 for n in (0, 1, 2, 5))
    with open(paths[4]) as file:
        found = json.load(file)["Multi"]
    assert list(found) == ["no", "the"] and len(found["the"]) == 2
    with open(paths[3]) as file:
        line = file.read().split("\n")[-2]
    assert found["the"][0]["word"] in line
    assert f"{found['the'][0]['cosine']:.2f}" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--figure=neighbours"], "give --words"),
        (["--figure=alignment", "--text=no"], "give one of xx-aa, xx-bb"),
        (["--figure=attention", "--text=no"], "is the figure alignment"),
        (
            ["--figure=fusion_gate", "--text=no", "--task=xx-aa"],
            "of the type 'translation'",
        ),
        (["--figure=score_curves", "--metric=blue"], "did you mean 'bleu'"),
        (["--figure=score_curves", "--output=x.md"], "x.md must end with"),
    ],
)
def test_what_a_run_of_translation_has_not(
    translation_run, tmp_path, arguments, message
):
    arguments = [f"--output={tmp_path / 'x.png'}", *arguments]
    with pytest.raises(ConfigError, match=message):
        call(f"--model_dir={translation_run}", *arguments)


@pytest.mark.parametrize(
    "argument", ["--task=a", "--text=no", "--words=a", "--count=3", "--split=x"]
)
def test_flags_that_a_figure_does_not_read(argument, tmp_path):
    with pytest.raises(ConfigError, match="does nothing for --figure=layers"):
        call("--figure=layers", "--model_dir=x", "--output=x.png", argument)


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
    with pytest.raises(RunError, match="nowhere does not exist"):
        call(
            "--figure=learning_curves",
            "--model_dir=nowhere",
            "--output=x.png",
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--figure=attention", "--height=3"],
            "--height=3: attention is as high as what it shows; only learning",
        ),
        (
            ["--figure=layers", "--width=1"],
            "--width=1 is too little for a type of 9 points: give 2.0 inches",
        ),
        (["--figure=layers", "--font=Nohow"], "--font=Nohow is no font of"),
    ],
)
def test_pages_that_cannot_be(arguments, message):
    with pytest.raises(ConfigError, match=message):
        call("--model_dir=x", "--output=x.png", *arguments)


@pytest.mark.parametrize(
    "flag", ["--width=41", "--font_size=3", "--dpi=10", "--dpi=x"]
)
def test_sizes_beyond_all_bounds(flag):
    with pytest.raises(ConfigError, match=flag):
        call("--figure=layers", "--model_dir=x", "--output=x.png", flag)


def test_the_flags_of_the_page_act(toy_run, tmp_path):
    from matplotlib import image

    shapes = []
    for flags in ([], ["--width=4", "--height=3", "--dpi=50"]):
        path = str(tmp_path / "curves.png")
        call(
            "--figure=learning_curves",
            f"--model_dir={toy_run}",
            f"--output={path}",
            *flags,
        )
        shapes.append(image.imread(path).shape[:2])
    assert shapes[1] == (150, 200)
    assert shapes[0][1] == 6.5 * 300


@pytest.mark.parametrize(
    ("item", "label", "path"),
    [
        ("runs/meta/", "meta", "runs/meta/"),
        ("LSTM=runs/lstm", "LSTM", "runs/lstm"),
        ("runs/a=b", "a=b", "runs/a=b"),
    ],
)
def test_labels(item, label, path):
    run = figures.Named(label, path)
    assert drawing.all_named([item]) == [run]


def test_folders_with_commas_are_one(tmp_path):
    # Such as those of `launch.sweep`.
    run = tmp_path / "seed=0,fold=0of10,units=3"
    run.mkdir()
    items = f"A=x,B={run},{run},y".split(",")
    assert drawing.all_named(items) == [
        figures.Named("A", "x"),
        figures.Named("B", str(run)),
        figures.Named(run.name, str(run)),
        figures.Named("y", "y"),
    ]


@pytest.mark.slow
def test_the_sources_of_answers_are_drawn(tmp_path):
    sizes = {"train": 12, "validation": 3, "test": 3}
    tasks = questions.entries(tmp_path, sizes, ("behind", "mentions"))
    config = questions.config(tasks, units=8, feed_forward=6)
    run = random_runs.write_weights(tmp_path / "run", config)[0].path
    line = "behind w3 w4\tw1 key anna w2"
    for name, more in (
        (drawing.SOURCES, ["--split=test", "--examples=2"]),
        (drawing.ANSWER, ["--task=behind", f"--text={line}"]),
    ):
        path = tmp_path / f"{name}.png"
        argv = ["figures", f"--figure={name}", f"--model_dir={run}"]
        argv += [f"--output={path}", *more]
        figures.main(runner.parse(figures.PROGRAM, argv))
        assert path.read_bytes().startswith(b"\x89PNG")
