"""All types of whole texts in one run: trained, predicted, exported."""

import json
import os
import random

import numpy as np
import pytest

import mtl_tf
from export import c_loader_process, check, saved_model
from export import task_types as served_types
from mtl_tf.runs import training_run
from tests.system import corpus

WORDS = "a b c d e f g h".split()  # noqa: SIM905


def words_of(rng):
    return list(rng.choice(WORDS, rng.integers(3, 8)))


def labels(rng):
    words = words_of(rng)
    present = [word for word in "abc" if word in words]
    return {"text": " ".join(words), "labels": present}


def count(rng):
    words = words_of(rng)
    # Three and more are rare: 500 texts are few to learn them from.
    return {
        "text": " ".join(words),
        "value": 10.0 * min(words.count("a"), 2) + 3,
    }


def same(rng):
    first, second = words_of(rng), words_of(rng)
    alike = rng.random() < 0.5
    second = list(rng.permutation(first)) if alike else second
    return {
        "text": " ".join(first),
        "text_pair": " ".join(second),
        "label": "same" if sorted(first) == sorted(second) else "other",
    }


def both(rng):
    first, second = words_of(rng), words_of(rng)
    return {
        "text": " ".join(first),
        "text_pair": " ".join(second),
        "value": 5.0 * ("a" in first) + 5.0 * ("a" in second),
    }


def has(rng):
    words = words_of(rng)
    label = "yes" if "a" in words else "no"
    return {"text": " ".join(words), "label": label}


TASKS = {
    "labels": ("multi_label", labels, {}),
    "count": ("regression", count, {}),
    "same": ("pair_classification", same, {}),
    "both": ("pair_regression", both, {"range": [0, 10]}),
    "has": ("classification", has, {}),
}


def train(folder, size, rate, **training):
    """Trains a run; returns its directory and its results."""
    seed = random.SystemRandom().randrange(2**31)
    print(f"corpus seed {seed}")
    rng, entries = np.random.default_rng(seed), []
    for name, (task_type, make, fields) in TASKS.items():
        files = {}
        for split, part in (("train", 1), ("validation", 5), ("test", 5)):
            files[split] = str(folder / f"{name}.{split}.jsonl")
            with open(files[split], "w") as file:
                file.writelines(
                    json.dumps(make(rng)) + "\n" for _ in range(size // part)
                )
        entries.append(
            {"name": name, "type": task_type, "files": files, **fields}
        )
    config = corpus.quick(entries, **training)
    config["model"]["embedding_dim"] = 32
    config["training"]["optimizer"]["learning_rate"] = rate
    directory = str(folder / "run")
    return directory, training_run.train(config, directory)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run that has begun to learn, and its results."""
    return train(tmp_path_factory.mktemp("types"), 200, 0.05, epochs=2)


@pytest.fixture(scope="module")
def run(trained):
    return mtl_tf.load(trained[0])


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A run that has learnt its tasks, and its results."""
    folder = tmp_path_factory.mktemp("learnt")
    return train(folder, 500, 0.02, epochs=12, evaluate_every=375)


def scores_of(results):
    """The tasks' main scores."""
    return {
        name: task[task["primary"]] for name, task in results["tasks"].items()
    }


def test_each_type_is_better_than_a_guess(trained):
    scores = scores_of(trained[1])
    least = {"labels": 80, "count": 75, "same": 80, "both": 55, "has": 80}
    assert all(scores[name] >= least[name] for name in least), scores


@pytest.mark.extended
def test_each_type_is_learnt(learnt):
    scores = scores_of(learnt[1])
    least = {"labels": 97, "count": 97, "same": 85, "both": 95, "has": 95}
    assert all(scores[name] >= least[name] for name in least), scores


@pytest.mark.extended
def test_a_loaded_run_has_the_scores_of_the_trained_one(trained, run):
    again = run.evaluate("test")["tasks"]
    assert again == trained[1]["tasks"]


def test_thresholds_are_those_of_the_validation(trained, run):
    with open(os.path.join(trained[0], "fitted.json")) as file:
        fitted = json.load(file)
    assert set(fitted) == {"labels"}
    assert run.tasks[0]["thresholds"] == fitted["labels"]["thresholds"]
    best = run.evaluate("validation", ["labels"])["tasks"]["labels"]
    # No other threshold is better on validation.
    task = run.tasks[0]
    before = dict(task["thresholds"])
    for limit in (0.2, 0.5, 0.8):
        task["thresholds"] = dict.fromkeys(before, limit)
        others = run.evaluate("validation", ["labels"])["tasks"]["labels"]
        assert others["micro_f1"] <= best["micro_f1"] + 1e-9
    task["thresholds"] = before


@pytest.mark.extended
def test_predictions(learnt):
    run = mtl_tf.load(learnt[0])
    (found,) = run.predict("labels", ["a b d"])
    assert found["labels"] == ["a", "b"]
    assert set(found["scores"]) == {"a", "b", "c"}
    few, many = run.predict("count", ["b c d", "a a a"])
    assert few["value"] < 10 < 20 < many["value"]
    (found,) = run.predict(
        "same", [{"text": "a b c d", "text_pair": "d c b a"}]
    )
    assert found["label"] == "same"
    few, many = run.predict("both", [["b c d", ""], ["a c d", "b a"]])
    assert 0 <= few["value"] < many["value"] <= 10


def test_files_of_ones_own(run, tmp_path):
    for name, line in (
        ("labels", {"text": "a b d", "labels": ["a", "b"]}),
        ("count", {"text": "a c d", "value": 13}),
        ("same", {"text": "a b", "text_pair": "b a", "label": "same"}),
        ("both", {"text": "a b", "text_pair": "b a", "value": 4}),
    ):
        path = tmp_path / f"{name}.jsonl"
        path.write_text((json.dumps(line) + "\n") * 3)
        folder = str(tmp_path / "said")
        data = {name: str(path)}
        results = run.evaluate(data=data, predictions_dir=folder)
        assert results["tasks"][name]["examples"] == 3
        with open(os.path.join(folder, f"{name}.jsonl")) as file:
            first = json.loads(file.readline())
        assert {"text", "label", "prediction"} <= set(first)


def test_a_file_has_the_scores_of_its_split(run):
    entries = {entry["name"]: entry for entry in run.config["tasks"]}
    split = run.evaluate("test")["tasks"]
    files = {name: entry["files"]["test"] for name, entry in entries.items()}
    for name, found in run.evaluate(data=files)["tasks"].items():
        expected, primary = split[name], found["primary"]
        assert found[primary] == pytest.approx(expected[primary], abs=1e-3)
        # That of a number is in units that predictions do not have.
        has_loss = "regression" not in found["type"]
        assert ("loss" in found) == has_loss
        if has_loss:
            assert found["loss"] == pytest.approx(expected["loss"], rel=1e-3)


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    """A version of the run with other thresholds, which it then has, too."""
    # Not those that validation would settle on.
    limits = {"a": 0.0, "b": 1.1, "c": 0.0}
    before = run.tasks[0]["thresholds"]
    run.tasks[0]["thresholds"] = limits
    yield saved_model.export(run, str(tmp_path_factory.mktemp("export")))
    run.tasks[0]["thresholds"] = before


@pytest.mark.extended
def test_the_export_answers_as_the_run(run, exported):
    given = {
        "labels": ("b c d",),
        "count": ("a c",),
        "same": ("a b", "b a"),
        "both": ("a b", ""),
    }
    requests = [
        {"signature": task, "inputs": dict(zip(("text", "text_pair"), columns))}
        for task, texts in given.items()
        for columns in [[[text] for text in texts]]
    ]
    found = c_loader_process.run_in_c_loader(exported, requests)
    assert set(found["signatures"]) == set(TASKS)
    for (task, texts), answer in zip(given.items(), found["answers"]):
        row_of = served_types.of(TASKS[task][0]).row
        asked = row_of({n: v[0] for n, v in answer["outputs"].items()})
        (said,) = run.predict(task, [texts if texts[1:] else texts[0]])
        assert said.pop("task") == task
        for name, value in said.items():
            if name in ("scores", "value"):
                assert asked[name] == pytest.approx(value, rel=1e-4)
            else:
                assert asked[name] == value
        if task == "labels":
            assert asked["labels"] == ["a", "c"]


@pytest.mark.extended
def test_the_export_is_checked_and_asked(run, exported):
    rows = check.check(exported)
    assert {row["signature"] for row in rows} == set(TASKS)
    assert all(row["ok"] for row in rows), rows
    (asked,) = check.ask(exported, "same", ["a b\tb a"])
    assert (asked["text"], asked["text_pair"]) == ("a b", "b a")
    assert asked["label"] == run.predict("same", [("a b", "b a")])[0]["label"]
