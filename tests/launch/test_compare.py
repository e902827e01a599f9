"""`launch.compare` on directories that hold what runs keep."""

import json
import shutil

import numpy as np
import pytest

import mtl_tf
from launch import compare
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import scored_examples
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.programs import runner


def run(arguments):
    values = runner.parse(compare.PROGRAM, ["compare", *map(str, arguments)])
    return compare.main(values)


def make_run(
    path,
    share,
    tasks=("a", "b"),
    seed=0,
    size=200,
    classes="np",
    examples=None,
):
    """A run that is right about a share of the examples of each task."""
    found = []
    for number, name in enumerate(tasks):
        draw = np.random.default_rng([seed, number])
        labels = np.arange(size) % 2
        right = draw.random(size) < share
        swap = classes != "np"
        labels, said = labels, np.where(right, labels, 1 - labels)
        if swap:
            labels, said = 1 - labels, 1 - said
        found.append(
            TaskPredictions(
                name=name,
                labels=labels,
                predictions=said,
                class_names=tuple(classes),
                metrics=("accuracy",),
                examples=examples,
            )
        )
    scored_examples.write(str(path), "test", found)
    (path / "results.json").write_text("{}")
    return path


def test_two_runs(tmp_path, capsys):
    one = make_run(tmp_path / "one", 0.6)
    other = make_run(tmp_path / "two", 0.9, seed=1, classes="pn")
    output = tmp_path / "found.json"
    run([one, other, f"--output={output}", "--draws=200"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"A: {one}" and lines[1] == f"B: {other}"
    assert [line.split()[0] for line in lines[4:7]] == ["a", "b", "mean"]
    assert all(line.endswith("*") for line in lines[4:7])
    found = json.loads(output.read_text())
    assert found["draws"] == 200 and found["mean"]["p_value"] < 0.05
    assert 20 < found["mean"]["gain"] < 40
    run([f"--runs={other},{one}", "--output=-", "--tasks= b", "--draws=50"])
    found = json.loads(capsys.readouterr().out)
    assert list(found["tasks"]) == ["b"] and found["mean"]["gain"] < -20


def test_whole_numbers_below_zero_are_no_classes(tmp_path, capsys):
    for name, said in {"one": [3, -1, 0], "two": [1, -2, 0]}.items():
        numbers = TaskPredictions(
            name="a",
            type="regression",
            labels=[1, -2, 0],
            predictions=said,
            class_names=(),
            metrics=("mae",),
        )
        scored_examples.write(str(tmp_path / name), "test", [numbers])
        (tmp_path / name / "results.json").write_text("{}")
    one, two = tmp_path / "one", tmp_path / "two"
    run([one, two, "--output=-", "--draws=50"])
    found = json.loads(capsys.readouterr().out)
    assert found["tasks"]["a"]["scores"] == [1.0, 0.0]


def test_a_run_beside_itself_is_told(tmp_path, capsys, caplog):
    one = make_run(tmp_path / "one", 0.6)
    run([one, f"{one}/", "--output=-", "--draws=5"])
    assert json.loads(capsys.readouterr().out)["mean"]["gain"] == 0
    assert f"{one} is compared with itself" in caplog.text


def test_from_python(tmp_path):
    one = make_run(tmp_path / "one", 0.6)
    other = make_run(tmp_path / "two", 0.9, seed=1)
    output = tmp_path / "found.json"
    run([one, other, f"--output={output}", "--draws=50", "--tasks=a"])
    found = mtl_tf.compare(one, str(other), tasks="a", draws=50)
    assert json.loads(json.dumps(found)) == json.loads(output.read_text())
    with pytest.raises(TypeError, match="run must be .* got None"):
        mtl_tf.compare(None, one)


def test_folders_of_seeds_and_models_of_single_tasks(tmp_path, capsys):
    for seed in (1, 2, 10):
        make_run(tmp_path / "joint" / f"seed_{seed}", 0.9, seed=seed)
        alone = tmp_path / "alone" / f"seed_{seed}"
        for task in ("a", "b"):
            make_run(alone / "tasks" / task, 0.7, (task,), seed=seed)
        (alone / "results.json").write_text("{}")
    (tmp_path / "joint" / "seed_3").mkdir()
    run([tmp_path / "alone", tmp_path / "joint", "--output=-", "--draws=50"])
    found = json.loads(capsys.readouterr().out)
    ends = [[path.rsplit("/", 1)[1] for path in side] for side in found["runs"]]
    assert ends == [["seed_1", "seed_2", "seed_10"]] * 2
    assert set(found["tasks"]) == {"a", "b"} and found["mean"]["gain"] > 10


def test_another_split_than_the_kept_one(tmp_path):
    one = make_run(tmp_path / "one", 0.6)
    with pytest.raises(
        RunError, match="'dev', but for test .--split.: py.* --keep"
    ):
        run([one, one, "--split=dev"])


def test_several_labels_in_another_order(tmp_path, capsys):
    rows = np.random.default_rng(0).integers(0, 2, (50, 3))
    said = rows * [1, 1, 0]
    paths = []
    for order in ([0, 1, 2], [2, 0, 1]):
        task = TaskPredictions(
            "a",
            rows[:, order],
            said[:, order],
            tuple("xyz"[number] for number in order),
            type="multi_label",
            metrics=("micro_f1",),
        )
        paths.append(tmp_path / task.class_names[0])
        scored_examples.write(str(paths[-1]), "test", [task])
        (paths[-1] / "results.json").write_text("{}")
    run([*paths, "--output=-", "--draws=9"])
    found = json.loads(capsys.readouterr().out)["tasks"]["a"]
    assert found["gain"] == 0 and 50 < found["scores"][0] < 90
    other = TaskPredictions(
        "a",
        1 - rows,
        said,
        ("x", "y", "z"),
        type="multi_label",
        metrics=("micro_f1",),
    )
    scored_examples.write(str(paths[1]), "test", [other])
    with pytest.raises(RunError, match="on other examples of the task a"):
        run(paths)


SIZES = (30, 50, 40)


def make_folds(sweep, share, seeds=(2, 10)):
    """A sweep of one setting: three folds with other examples for each seed."""
    for seed in seeds:
        for fold, size in enumerate(SIZES):
            folder = f"cells/l2=0.1/seed={seed},fold={fold}of3"
            make_run(sweep / folder, share, seed=10 * seed + fold, size=size)
    return sweep


def test_all_folds_are_one_test_set(tmp_path, capsys):
    one = make_folds(tmp_path / "one", 0.6)
    other = make_folds(tmp_path / "two", 0.8)
    run([one, other / "cells/l2=0.1", "--output=-", "--draws=99"])
    found = json.loads(capsys.readouterr().out)
    ends = [path.rsplit("/", 1)[1] for path in found["runs"][1]]
    assert ends == [f"seed={s},fold={f}of3" for s in (2, 10) for f in range(3)]
    # As `make_run` draws which examples of the first task are right.
    right = [
        np.random.default_rng([10 * seed + fold, 0]).random(size) < 0.8
        for seed in (2, 10)
        for fold, size in enumerate(SIZES)
    ]
    run([one, other, "--draws=9"])
    folder = one / "cells/l2=0.1"
    first = f"A: {folder}: seed=2,fold=0of3, seed=2,fold=1of3, seed=2,fold="
    assert capsys.readouterr().out.startswith(first)
    task = found["tasks"]["a"]
    assert task["examples"] == sum(SIZES)
    assert task["scores"][1] == pytest.approx(
        100 * np.mean(np.concatenate(right))
    )
    assert task["p_value"] < 0.05


def test_an_open_fold_leaves_its_seed_out(tmp_path, capsys, caplog):
    one = make_folds(tmp_path / "one", 0.6, seeds=(2, 10))
    other = make_folds(tmp_path / "two", 0.8, seeds=(2, 10))
    lost = one / "cells/l2=0.1/seed=10,fold=1of3"
    shutil.rmtree(lost)
    run([one, other, "--output=-", "--draws=9"])
    assert f"{lost} is not finished: it is left out." in caplog.messages
    found = json.loads(capsys.readouterr().out)
    assert [len(side) for side in found["runs"]] == [3, 6]
    (one / "cells/l2=0.1/seed=2,fold=0of3/results.json").unlink()
    with pytest.raises(RunError, match="or of all folds of a cross-valid"):
        run([one, other])


def test_folds_that_cannot_be_compared(tmp_path):
    one = make_folds(tmp_path / "one", 0.6, seeds=(2,))
    (one / "cells/notes.txt").write_text("no setting")
    # An example of another split is in several folds.
    with pytest.raises(ConfigError, match="folds of a cross-validation divide"):
        run([one, one, "--split=validation"])
    fold = one / "cells/l2=0.1/seed=2,fold=1of3"
    make_run(fold, 0.6, seed=21, size=SIZES[1], classes="pn")
    with pytest.raises(RunError, match="class_names is .* in one and"):
        run([one, one])
    with pytest.raises(RunError, match="folds of a cross-validation, whose"):
        mtl_tf.ensemble([one, one])
    shutil.copytree(one / "cells/l2=0.1", one / "cells/l2=0.2")
    with pytest.raises(RunError, match="a sweep of 2 settings: .*0.1, .*0.2"):
        run([one, one])


def test_settings_of_a_sweep_are_folders_of_seeds(tmp_path, capsys):
    for setting, share in (("l2=0.0", 0.7), ("l2=0.1", 0.9)):
        for seed in (2, 10):
            folder = tmp_path / setting / f"seed={seed}"
            make_run(folder, share, seed=seed)
        # A fold is scored on examples of its own.
        make_run(tmp_path / setting / "seed=2,fold=0of2", share, size=20)
    run([tmp_path / "l2=0.0", tmp_path / "l2=0.1", "--output=-", "--draws=9"])
    found = json.loads(capsys.readouterr().out)
    ends = [[path.rsplit("/", 1)[1] for path in side] for side in found["runs"]]
    assert ends == [["seed=2", "seed=10"]] * 2


@pytest.mark.parametrize(
    "texts, told", [("ab", True), ("aa", False), (("a", None), False)]
)
def test_other_texts_with_the_same_labels_are_told(
    tmp_path, caplog, texts, told
):
    # Splits that are sorted by their labels have equal ones, of other texts.
    runs = [
        make_run(tmp_path / name, 0.8, ("a",), examples=text)
        for name, text in zip(("one", "two"), texts)
    ]
    run([*runs, "--draws=5"])
    start = f"{runs[0]} and {runs[1]} read other texts of the task a, or in"
    assert [m for m in caplog.messages if m.startswith(start)] == (
        caplog.messages if told else []
    )
    assert bool(caplog.messages) == told


@pytest.mark.parametrize("count", [0, 1, 3])
def test_two_are_named(tmp_path, count):
    with pytest.raises(ConfigError, match="name two runs, or two folders"):
        run([tmp_path] * count)


def test_mistakes(tmp_path):
    one = make_run(tmp_path / "one", 0.6)
    with pytest.raises(RunError, match="nothing does not exist"):
        run([one, tmp_path / "nothing"])
    with pytest.raises(RunError, match="holds no finished run"):
        run([one, tmp_path])
    with pytest.raises(RunError, match="kept no predictions for the split 'd"):
        run([one, one, "--split=dev"])
    other = make_run(tmp_path / "other", 0.6, tasks=("c",))
    with pytest.raises(ConfigError, match="no task in common"):
        run([one, other])
    with pytest.raises(ConfigError, match="'c' is not among .*: a, b"):
        run([one, one, "--tasks=c"])
    longer = make_run(tmp_path / "longer", 0.6, size=210)
    with pytest.raises(RunError, match="scored on other examples of the task"):
        run([one, longer])
    shutil.rmtree(one / "scored")
    with pytest.raises(RunError, match="launch.evaluate --keep"):
        run([one, other])


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("name", None, "the task of its name, not None"),
        ("name", "b", "the task of its name, not 'b'"),
        ("type", 3, "another type than 3"),
        ("settings", [], r"another settings than \[\]"),
        ("class_names", -3, "a list of names as class_names, not -3"),
        ("class_names", ["n"], "labels that are numbers of its class_names"),
        ("metrics", [None], "a list of names as metrics"),
        ("predictions", [None] * 8, "predictions of one kind"),
        ("predictions", [0] * 7 + ["z"], "predictions of one kind"),
        ("predictions", [[1, 0]] * 8, "a prediction for each label"),
        ("predictions", [2] * 8, "predictions that are numbers of its class"),
        ("predictions", [0] * 7, "lists of labels, as many predictions"),
        ("clean", "z", "clean of all 8 examples"),
        ("clean", ["z"] * 8, "other clean, or null"),
        ("units", 3, "units of all 8 examples"),
        ("scores", [[0.5]] * 8, "scores of all 2 class_names"),
        ("scores", [[None, 1]] * 8, "other scores, or null"),
    ],
)
def test_damaged_predictions_are_told(tmp_path, field, value, message):
    one = make_run(tmp_path / "one", 0.6, size=8)
    file = one / "scored" / "test" / "a.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}))
    with pytest.raises(RunError, match=rf"a\.json must hold {message}"):
        run([one, make_run(tmp_path / "two", 0.6, size=8)])
