"""`launch.ensemble` on directories that hold what runs keep."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

import mtl_tf
from launch import ensemble
from mtl_tf.baselines import linear
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import scored_examples
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.experiments import averaging
from mtl_tf.programs import runner
from mtl_tf.runs import training_run
from mtl_tf.runs.data import probability_files
from tests.analysis import made_runs
from tests.system import corpus


def run(*arguments):
    given = ["ensemble", *map(str, arguments)]
    return ensemble.main(runner.parse(ensemble.PROGRAM, given))


def said(seed, name="books", size=200, noise=1.0, classes="np"):
    """Probabilities of a run that is mostly right, and errs by itself."""
    draw = np.random.default_rng(seed)
    labels = np.arange(size) % 2
    odds = (2 * labels - 1) + noise * 2 * draw.normal(size=size)
    yes = 1 / (1 + np.exp(-odds))
    scores = np.stack([1 - yes, yes], 1)
    if classes != "np":
        labels, scores = 1 - labels, scores[:, ::-1]
    return TaskPredictions(
        name, labels, scores.argmax(1), tuple(classes), scores=scores
    )


def make_run(path, seed, *tasks, splits=("validation", "test"), **options):
    """A finished run with what it said; returns its path."""
    made_runs.make_run(path, tasks or ("books",))
    for number, split in enumerate(splits):
        found = [
            said(10 * seed + number, name, **options)
            for name in tasks or ("books",)
        ]
        scored_examples.write(str(path), split, found)
    return path


def test_runs_may_be_named_without_the_flag():
    """As a shell writes them for a pattern, and as `launch.compare` does."""
    argv = ["ensemble", "runs/a", "--model_dir=runs/c", "--greedy", "runs/b"]
    values = runner.parse(ensemble.PROGRAM, argv)
    assert values.model_dir == ["runs/c", "runs/a", "runs/b"]
    assert values.greedy


def test_members_and_the_ensemble(tmp_path, capsys):
    for seed in (1, 2, 3):
        make_run(tmp_path / f"seed_{seed}", seed, "books", "films")
    output = tmp_path / "found.json"
    run(f"--model_dir={tmp_path}/seed_*", f"--output={output}", "--draws=100")
    printed = capsys.readouterr().out
    for split in ("validation", "test"):
        assert any(
            line.split() == [split, "weight", "books", "films", "mean"]
            for line in printed.splitlines()
        )
    found = json.loads(output.read_text())
    assert [one["weight"] for one in found["members"]] == [1 / 3] * 3
    means = [one["splits"]["test"]["mean"] for one in found["members"]]
    assert found["mean"]["overall"] > max(means)
    assert found["comparison"]["mean"]["gain"] > 0
    assert found["other_splits"]["validation"]["split"] == "validation"
    averaged = np.mean([said(10 * s + 1, "books").scores for s in (1, 2, 3)], 0)
    right = averaged.argmax(1) == np.arange(200) % 2
    expected = 100 * right.mean()
    assert found["tasks"]["books"]["accuracy"] == pytest.approx(expected)
    run(f"--model_dir={tmp_path}", "--output=-", "--tasks=films", "--draws=9")
    found = json.loads(capsys.readouterr().out)
    assert list(found["tasks"]) == ["films"]


def test_tasks_that_not_all_runs_have_are_named(tmp_path, capsys, caplog):
    runs = [make_run(tmp_path / "a", 1, "books", "films")]
    runs.append(make_run(tmp_path / "b", 2, "books"))
    run(*runs, "--draws=9", "--tasks=books")
    assert "Left out" not in caplog.text
    run(*runs, "--draws=9")
    assert "Left out, since not all runs have them: films" in caplog.text


def test_rounds_are_those_of_greedy(tmp_path):
    runs = [make_run(tmp_path / f"seed_{n}", n) for n in (1, 2)]
    with pytest.raises(ConfigError, match="--rounds does nothing without --gr"):
        run(*runs, "--rounds=3")


def test_from_python(tmp_path):
    paths = [make_run(tmp_path / f"seed_{n}", n, "books") for n in (1, 2)]
    output = tmp_path / "found.json"
    run(f"--model_dir={tmp_path}/seed_*", f"--output={output}", "--draws=50")
    found = mtl_tf.ensemble(paths, draws=50)
    assert json.loads(json.dumps(found)) == json.loads(output.read_text())
    with pytest.raises(ConfigError, match="at least two runs"):
        mtl_tf.ensemble(paths[:1])


def test_clean_is_what_no_member_has_trained_on(tmp_path, capsys):
    for seed, seen in ((1, 50), (2, 80), (3, None)):
        path = make_run(tmp_path / f"seed_{seed}", seed)
        task = said(10 * seed + 1)
        if seen:
            task = dataclasses.replace(task, clean=np.arange(200) >= seen)
        scored_examples.write(str(path), "test", [task])
    output = tmp_path / "found.json"
    run(f"--model_dir={tmp_path}/seed_*", f"--output={output}", "--draws=9")
    head = [
        line.split()
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("validation  ", "test  "))
    ]
    assert [line[-1] for line in head[:2]] == ["mean", "clean"]
    found = json.loads(output.read_text())
    averaged = np.mean([said(10 * s + 1).scores for s in (1, 2, 3)], 0)
    right = (averaged.argmax(1) == np.arange(200) % 2)[80:]
    books = found["tasks"]["books"]["clean"]
    assert books["examples"] == 120
    assert books["accuracy"] == pytest.approx(100 * right.mean())
    first, _, third = (one["splits"]["test"] for one in found["members"])
    alone = (said(11).scores.argmax(1) == np.arange(200) % 2)[50:]
    assert first["clean"] == pytest.approx(100 * alone.mean())
    assert "clean" not in third


def test_labels_in_another_order(tmp_path, capsys):
    one = make_run(tmp_path / "one", 1)
    other = make_run(tmp_path / "two", 2, classes="pn")
    same = make_run(tmp_path / "three", 2)
    found = []
    for second in (other, same):
        run(
            f"--model_dir={one}",
            f"--model_dir={second}",
            "--draws=9",
            "--output=-",
        )
        found.append(json.loads(capsys.readouterr().out)["tasks"])
    assert found[0] == found[1]


def test_other_texts_with_the_same_labels_are_told(tmp_path, caplog):
    runs = [make_run(tmp_path / name, 1) for name in ("one", "two")]
    for name, path in zip("xy", runs):
        kept = scored_examples.read(str(path), "test")["books"]
        marked = dataclasses.replace(kept, examples=name)
        scored_examples.write(str(path), "test", [marked])
    run(*(f"--model_dir={path}" for path in runs), "--draws=9")
    assert f"{runs[0]} and {runs[1]} read other texts" in caplog.text


def test_only_what_is_averaged_is_scored(tmp_path, capsys):
    """The runs have no weights: what they did not keep fails."""
    for seed in (1, 2):
        path = make_run(tmp_path / f"{seed}", seed, "books", "tags")
        described = json.loads((path / "labels.json").read_text())
        described["tasks"][1]["type"] = "tagging"
        (path / "labels.json").write_text(json.dumps(described))
        for split in ("validation", "test"):
            shutil.rmtree(path / "scored" / split)
            scored_examples.write(str(path), split, [said(seed)])
    with pytest.raises(ConfigError, match="tags is of the type tagging, which"):
        run(f"--model_dir={tmp_path}/*")
    run(
        f"--model_dir={tmp_path}/*",
        "--tasks=books",
        "--draws=9",
        "--output=-",
    )
    assert list(json.loads(capsys.readouterr().out)["tasks"]) == ["books"]


def test_other_labels_are_told_before_runs_are_scored(tmp_path):
    """The runs have no weights: scoring them fails."""
    runs = [make_run(tmp_path / name, 1) for name in ("one", "two")]
    described = json.loads((runs[1] / "labels.json").read_text())
    described["tasks"][0]["labels"].append("maybe")
    (runs[1] / "labels.json").write_text(json.dumps(described))
    shutil.rmtree(runs[0] / "scored")
    label = f"books has the label 'maybe' in {runs[1]}, but not in {runs[0]}"
    with pytest.raises(RunError, match=label):
        run(*runs)


def test_scores_of_fewer_examples_than_labels_are_told(tmp_path):
    runs = [make_run(tmp_path / name, 1) for name in ("one", "two")]
    path = runs[1] / "scored" / "test" / "books.json"
    kept = json.loads(path.read_text())
    kept["scores"].pop()
    path.write_text(json.dumps(kept))
    with pytest.raises(
        RunError, match="books.json must hold scores of all 200"
    ):
        run(*runs)


def test_the_greedy_choice_leaves_bad_runs_out():
    good = [{"books": said(seed)} for seed in range(3)]
    bad = {"books": said(9, noise=30.0)}
    weights, steps = averaging.greedy([bad, *good], 12, list("abcd"))
    assert weights[0] < 0.2 < weights[3] and sum(weights) == pytest.approx(1)
    alone = [averaging.mean(one) for one in good]
    assert steps[0] == {"path": "bcd"[np.argmax(alone)], "mean": max(alone)}
    assert max(one["mean"] for one in steps) > max(alone)
    again, _ = averaging.greedy([bad, *good], 12, list("abcd"))
    assert again == weights


def test_the_greedy_choice_on_the_command_line(tmp_path, capsys):
    make_run(tmp_path / "good", 1)
    make_run(tmp_path / "bad", 2, noise=50.0)
    run(
        f"--model_dir={tmp_path}/*",
        "--greedy",
        "--rounds=4",
        "--draws=9",
        "--output=-",
    )
    found = json.loads(capsys.readouterr().out)
    weights = {one["path"][-4:]: one["weight"] for one in found["members"]}
    assert weights["good"] > 0.7 and len(found["steps"]) == 4


def test_a_run_counts_once_however_it_is_spelled(tmp_path, monkeypatch):
    one, other = make_run(tmp_path / "one", 1), make_run(tmp_path / "two", 2)
    monkeypatch.chdir(tmp_path)
    given = [f"--model_dir={p}" for p in (one, other, "one", f"{one}/")]
    output = tmp_path / "found.json"
    run(*given, "--draws=9", f"--output={output}")
    members = json.loads(output.read_text())["members"]
    assert [one["weight"] for one in members] == [0.5, 0.5]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two runs on a part of one task's texts, and the folder of its files."""
    folder = tmp_path_factory.mktemp("trained")
    sizes = {"train": 60, "validation": 20, "test": 20}
    config = corpus.quick(corpus.write(folder, 5, sizes), epochs=1)
    config["pipeline"]["fractions"] = {"plain": 0.5}
    for seed in (1, 2):
        training_run.train(
            {**config, "seed": seed},
            str(folder / "runs" / f"seed_{seed}"),
            strategy="one_device",
        )
    linear.train(config, str(folder / "linear"))
    return folder


@pytest.mark.extended
def test_probabilities_are_of_the_texts_that_runs_train_on(trained, tmp_path):
    options = (f"--model_dir={trained}/runs", "--draws=9")
    saved = tmp_path / "saved"
    run(
        *options,
        f"--model_dir={trained}/linear",
        f"--save_probabilities={saved}",
    )
    table = probability_files.read(str(saved), "plain")
    assert len(table.keys) == 30 + 20
    kept = [
        scored_examples.read(str(path), "train")["plain"]
        for path in (*trained.glob("runs/seed_*"), trained / "linear")
    ]
    mean = np.mean([one.scores for one in kept], 0)
    assert any(
        np.allclose(table.scores[start : start + 30], mean, atol=1e-6)
        for start in (0, 20)
    )
    # The same labels, in the same places, of other texts.
    file = trained / "mirror.train.tsv"
    lines = file.read_text().splitlines(True)
    file.write_text("".join(lines[2:] + lines[:2]))
    try:
        with pytest.raises(RunError, match="train of mirror has other texts"):
            run(*options, f"--save_probabilities={tmp_path / 'other'}")
    finally:
        file.write_text("".join(lines))
    # Nor is the file of plain, whose texts are the same, left.
    assert not (tmp_path / "other").exists()


def test_tasks_that_were_not_scored_yet_are(trained, tmp_path):
    path = str(shutil.copytree(trained / "runs", tmp_path / "runs") / "seed_1")
    scored_examples.forget(path)
    mtl_tf.load(path).evaluate("validation", ["mirror"], keep=True)
    output = tmp_path / "found.json"
    run(
        f"--model_dir={tmp_path}/runs",
        "--draws=9",
        f"--output={output}",
    )
    assert set(json.loads(output.read_text())["tasks"]) == {"plain", "mirror"}


def test_thresholds_are_settled_anew():
    """Those of the members are of the members' probabilities."""
    draw = np.random.default_rng(0)
    labels = draw.random((100, 2)) < 0.3
    tasks = []
    for high in (0.2, 0.4):
        scores = np.where(labels, high, high / 2)
        scores = scores + 0.01 * draw.random((100, 2))
        tasks.append(
            TaskPredictions(
                "t",
                labels.astype(int),
                labels.astype(int),
                ("a", "b"),
                type="multi_label",
                metrics=("micro_f1",),
                scores=scores,
                settings={"thresholds": {"a": high, "b": high}},
            )
        )
    mean = averaging.averaged(tasks, [1, 3])
    assert "thresholds" not in mean.settings
    fitted = averaging.fitted_on(mean)
    found = averaging.decided(mean, fitted)
    np.testing.assert_array_equal(found.predictions, labels)


def test_mistakes(tmp_path):
    one = make_run(tmp_path / "one", 1)
    with pytest.raises(ConfigError, match="at least two runs, got"):
        run(f"--model_dir={one}")
    with pytest.raises(ConfigError, match="matches no folder"):
        run(f"--model_dir={tmp_path}/no*")
    other = make_run(tmp_path / "other", 2, size=100)
    both = (f"--model_dir={one}", f"--model_dir={other}")
    with pytest.raises(RunError, match="scored on other examples"):
        run(*both)
    with pytest.raises(ConfigError, match="'films' is not among .*: books"):
        run(*both, "--tasks=films")
    three = make_run(tmp_path / "three", 2, classes="nx")
    with pytest.raises(RunError, match="other labels, another type"):
        run(f"--model_dir={one}", f"--model_dir={three}")
    tags = [dataclasses.replace(said(1), type="tagging", scores=None)]
    for folder in (one, other):
        for split in ("validation", "test"):
            scored_examples.write(str(folder), split, tags)
    with pytest.raises(ConfigError, match="of the type tagging, which has no"):
        run(*both)
    old = [dataclasses.replace(said(1), scores=None)]
    for folder in (one, other):
        for split in ("validation", "test"):
            scored_examples.write(str(folder), split, old)
    with pytest.raises(ConfigError, match="an older version scored it"):
        run(*both)
