"""The linear baseline on files whose labels follow from single words."""

import functools
import json
import os
import sys

import numpy as np
import pytest

from mtl_tf.baselines import linear, svm
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import scored_examples
from mtl_tf.runs import teachers
from mtl_tf.runs.data import probability_files, soft_targets
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import registry
from mtl_tf.tasks.task import Task
from tests.system import corpus

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

POLAR, FILLERS = 60, 8
SIZES = {"train": 500, "validation": 60, "test": 200}


def line(draw, task, words):
    """A text with one polar word; `flip` has the opposite labels."""
    word = int(draw.choice(words))
    text = [f"filler{n}" for n in draw.integers(0, FILLERS, 6)]
    text.insert(int(draw.integers(0, 7)), f"polar{word}")
    label = (word + (task == "flip")) % 2
    return f"{label}\t{' '.join(text)}\n"


def entry(folder, name, splits):
    draw = np.random.default_rng(sum(map(ord, name)))
    files = {}
    for split, words in splits.items():
        files[split] = os.path.join(folder, f"{name}.{split}.tsv")
        with open(files[split], "w") as file:
            file.writelines(
                line(draw, name, words) for _ in range(SIZES[split])
            )
    return {
        "name": name,
        "type": "classification",
        "files": files,
        "columns": {"text": 1, "label": 0},
        "labels": ["0", "1"],
    }


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """`small` trains on a third of the words and is tested on all."""
    folder = str(tmp_path_factory.mktemp("files"))
    every, few = np.arange(POLAR), np.arange(POLAR // 3)
    whole = dict.fromkeys(SIZES, every)
    return {
        "large": entry(folder, "large", whole),
        "small": entry(folder, "small", whole | {"train": few}),
        "flip": entry(folder, "flip", whole),
    }


@pytest.fixture(scope="module")
def trained(entries, tmp_path_factory):
    """Gives folder and results of a training on all tasks by features."""
    config = make_config(*entries.values())

    @functools.cache
    def train(features):
        where = tmp_path_factory.mktemp("trained") / features
        return where, linear.train(config, str(where), features=features)

    return train


def make_config(*entries):
    return corpus.config(entries)


def accuracies(results):
    return {n: t["accuracy"] for n, t in results["tasks"].items()}


@pytest.mark.extended
def test_sharing_helps_and_own_copies_tell_tasks_apart(
    entries, trained, tmp_path
):
    """`small` needs the words of `large`, `flip` the opposite of them."""
    found = {f: accuracies(trained(f)[1]) for f in svm.FEATURES}
    assert found["private"]["large"] > 95 and found["private"]["flip"] > 95
    assert found["private"]["small"] < 85
    assert found["shared"]["flip"] < 50  # outvoted
    both = found["shared_private"]
    assert both["large"] > 95 and both["flip"] > 95
    two = make_config(entries["large"], entries["small"])
    for features in ("shared", "shared_private"):
        where = str(tmp_path / f"two_{features}")
        together = accuracies(linear.train(two, where, features=features))
        assert together["small"] > 95, features


def test_results_have_the_structure_of_a_trained_run(trained):
    where, results = trained("shared_private")
    assert results["split"] == "test"
    assert list(results["tasks"]) == ["large", "small", "flip"]
    task = results["tasks"]["large"]
    assert task["examples"] == 200 and "loss" not in task
    assert np.sum(task["confusion"]["matrix"]) == 200
    assert set(task["clean"]) == {"examples", "accuracy", "macro_f1"}
    assert task["validation_in_training"] >= 0
    validation = results["other_splits"]["validation"]
    assert "clean" not in validation["tasks"]["large"]
    run = results["run"]
    assert run["validation_mean"] == validation["mean"]["overall"]
    assert set(run["C"].values()) <= set(svm.GRID) and len(run["C"]) == 3
    assert run["features"] == "shared_private" and run["parameters"] > 100
    assert run["versions"]["scikit-learn"] and run["wall_time"] > 0
    assert json.loads((where / "results.json").read_text()) == results
    page = (where / "results.md").read_text()
    assert page.startswith("# toy: linear model on TF-IDF, shared_private\n")
    assert "| large" in page and "**mean**" in page


@pytest.mark.extended
def test_the_same_seed_gives_the_same_results(entries, trained, tmp_path):
    config = make_config(*entries.values())
    _, a = trained("shared_private")
    b = linear.train(config, str(tmp_path / "again"))
    assert a["tasks"] == b["tasks"] and a["run"]["C"] == b["run"]["C"]


def test_a_finished_run_is_not_repeated_nor_overwritten(
    entries, trained, monkeypatch
):
    config = make_config(*entries.values())
    path, results = trained("shared_private")
    where = str(path)
    monkeypatch.setattr(linear, "_train", None)
    assert linear.train(config, where) == results
    with pytest.raises(RunError, match="baseline.features: 'shared_private'"):
        linear.train(config, where, features="private")
    with pytest.raises(RunError, match="holds a run with another config"):
        linear.train({**config, "seed": 4}, where)


def test_a_model_cannot_take_the_baselines_folder(entries, trained):
    from mtl_tf.runs import training_run

    config = make_config(*entries.values())
    where, _ = trained("shared_private")
    with pytest.raises(RunError, match="baseline.name: 'linear' there"):
        training_run.train(config, str(where))


def test_the_penalty_is_chosen_on_validation(entries, tmp_path, monkeypatch):
    monkeypatch.setattr(svm, "GRID", (1e-9, 1.0))
    results = linear.train(make_config(entries["large"]), str(tmp_path / "run"))
    assert results["run"]["C"] == {"large": 1.0}


def test_tasks_with_other_labels_have_an_svm_of_their_own(tmp_path, entries):
    path = tmp_path / "five.tsv"
    draw = np.random.default_rng(0)
    with open(path, "w") as file:
        for n in range(300):
            words = " ".join(f"filler{w}" for w in draw.integers(0, 8, 4))
            file.write(f"{n % 5}\tgrade{n % 5} {words}\n")
    five = {
        "name": "five",
        "type": "classification",
        "files": dict.fromkeys(SIZES, str(path)),
        "columns": {"text": 1, "label": 0},
        "labels": list("01234"),
    }
    tasks = [
        Task(name, "classification", None, labels)
        for name, labels in (("a", "01"), ("b", "012"), ("c", "01"))
    ]
    tasks.append(Task("d", "multi_label", None, "01"))
    assert svm.blocks_of(tasks, "shared_private") == [[0, 2], [1], [3]]
    assert svm.blocks_of(tasks, "private") == [[0], [1], [2], [3]]
    config = make_config(five, entries["large"])
    results = linear.train(config, str(tmp_path / "run"))
    assert accuracies(results)["five"] == 100
    assert accuracies(results)["large"] > 95


@pytest.mark.parametrize("labels", [["0", "1"], ["1"]])
def test_odd_data(tmp_path, labels):
    """Empty texts, unknown words, one label only: no error, a result."""
    rows = {
        "train": ["0\t\n", "0\tone two\n", "0\tthree\n"],
        "validation": ["0\tunknown\n"],
        "test": ["0\t\n", "1\tone unknown two\n"],
    }
    if "0" in labels:
        rows["train"].append("1\tfour\n")
    files = {}
    for split, lines in rows.items():
        files[split] = str(tmp_path / f"{split}.tsv")
        with open(files[split], "w") as file:
            file.writelines(lines)
    odd = {
        "name": "odd",
        "type": "classification",
        "files": files,
        "columns": {"text": 1, "label": 0},
        "labels": ["0", "1"],
    }
    results = linear.train(make_config(odd), str(tmp_path / "run"))
    assert results["tasks"]["odd"]["examples"] == 2


def test_numbers_beside_labels(tmp_path, entries):
    """A task of numbers has no probabilities to keep."""
    path = tmp_path / "lengths.tsv"
    with open(path, "w") as file:
        file.writelines(f"{n % 7}\tword{n % 7} filler\n" for n in range(70))
    lengths = {
        "name": "lengths",
        "type": "regression",
        "files": dict.fromkeys(SIZES, str(path)),
        "columns": {"value": 0, "text": 1},
    }
    where = str(tmp_path / "run")
    config = make_config(entries["large"], lengths)
    results = linear.train(config, where, probabilities_of=["train"])
    assert results["tasks"]["lengths"]["pearson"] > 99
    assert set(results["run"]["C"]) == {"large", "lengths"}
    assert set(results["run"]["temperature"]) == {"large"}
    kept = os.listdir(os.path.join(where, probability_files.FOLDER))
    assert not [name for name in kept if "lengths" in name]
    predicted = scored_examples.read(where, "test")["lengths"]
    assert len(predicted.predictions) == 70 and predicted.scores is None


def test_missing_scikit_learn_names_the_extra(tmp_path, monkeypatch, entries):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    where = tmp_path / "run"
    with pytest.raises(ConfigError, match=r"pip install 'mtl_tf\[baselines\]'"):
        linear.train(make_config(entries["large"]), str(where))
    assert not where.exists()


def test_unknown_features(tmp_path, entries):
    with pytest.raises(ConfigError, match="'privat'; did you mean 'private'"):
        linear.train(
            make_config(entries["large"]), str(tmp_path), features="privat"
        )


UNLABELLED = ["polar0 filler1", "filler2 polar1", "filler3 polar2 filler4"]


@pytest.mark.by_default("kept2")
@pytest.mark.parametrize("kept", [("train", "unlabelled"), ("train",), ()])
def test_it_teaches_by_the_probabilities_that_it_kept(tmp_path, entries, kept):
    path = tmp_path / "more.tsv"
    path.write_text("".join(f"\t{text}\n" for text in UNLABELLED * 4))
    large = entries["large"]
    files = large["files"] | {"unlabelled": str(path)}
    config = make_config(large | {"files": files}, entries["flip"])
    directory = str(tmp_path / "linear")
    run_of_teacher = linear.train(config, directory, probabilities_of=kept)
    (task, *_) = tasks = registry.resolve(config["tasks"])
    student = json.loads(json.dumps(config))
    student["training"]["teachers"] = [directory]
    student["training"]["distillation"]["unlabelled"] = "unlabelled"
    run = RunDirectory(str(tmp_path / "student"))
    run.claim(student)
    if "unlabelled" not in kept:
        message = "lacks 12 of 12 texts" if kept else "--probabilities_of=train"
        with pytest.raises(ConfigError, match=message):
            teachers.prepare(student, run, (None, None))
        return
    teachers.prepare(student, run, (None, None))
    labelled, unlabelled = soft_targets.folders(run)
    said = scored_examples.read(directory, "train")
    for one in tasks:
        table = probability_files.read(labelled, one.name)
        np.testing.assert_allclose(
            table.scores, said[one.name].scores, atol=1e-6
        )
    scores = probability_files.read(unlabelled, task.name).scores
    assert len(np.unique(scores, axis=0)) > 1
    # Equal texts have equal answers: there are three, four times each.
    for again in range(3, 12, 3):
        np.testing.assert_array_equal(scores[again : again + 3], scores[:3])
    with pytest.raises(ConfigError, match="no task has a split 'unlabeled'"):
        linear.train(
            config, str(tmp_path / "b"), probabilities_of=["unlabeled"]
        )
    assert not (tmp_path / "b").exists()
    path.unlink()
    again = linear.train(config, directory, probabilities_of=kept)
    assert again == run_of_teacher
    with pytest.raises(RunError, match="probabilities_of"):
        linear.train(config, directory)


@pytest.mark.extended
def test_a_tested_fold_counts_as_unseen(tmp_path):
    chosen = corpus.write(tmp_path, 5, {"train": 60, "validation": 30})
    config = make_config(chosen[0])
    config["text"]["vocabulary_tasks"] = tuple(chosen)
    config["cross_validation"] = {"folds": 2, "fold": 1}
    results = linear.train(config, str(tmp_path / "run"), "shared")
    scores = results["tasks"]["plain"]
    assert scores["examples"] == pytest.approx(45, abs=1)
    # All but the texts that a file has twice.
    assert scores["clean"]["examples"] > 40


@pytest.mark.slow
def test_the_vocabulary_of_a_group_leaves_the_tested_fold_out(tmp_path):
    path = tmp_path / "train.tsv"
    lines = [f"{n % 2}\tword{n}\n" for n in range(40)]
    path.write_text("".join(lines))
    mails = {"name": "mails", "files": {"train": str(path)}}
    mails |= {"columns": {"text": 1, "label": 0}}
    config = make_config(mails)
    config["text"]["vocabulary_tasks"] = (mails,)
    config["cross_validation"] = {"folds": 4, "fold": 0}
    linear.train(config, str(tmp_path / "run"), "shared")
    vocabulary = (
        tmp_path / "run" / "vocabulary" / "vocabulary.txt"
    ).read_text()
    assert len(vocabulary.split()) == 2 + 40 - 10 - 3


def test_probabilities_are_kept_and_mean_what_they_say(trained):
    """Of the most probable label, which is the prediction."""
    directory, results = trained("shared_private")
    temperatures = results["run"]["temperature"]
    assert set(temperatures) == set(results["tasks"])
    for split in ("train", "validation", "test"):
        for task in scored_examples.read(str(directory), split).values():
            scores = np.array(task.scores)
            np.testing.assert_allclose(scores.sum(1), 1)
            assert scores.argmax(1).tolist() == task.predictions
            assert task.name in temperatures
