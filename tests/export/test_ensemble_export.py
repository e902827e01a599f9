"""An ensemble predicts, and is exported, as the mean of its runs."""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from export import (
    c_loader_process,
    check,
    saved_model,
    served_graph,
    task_types,
)
from launch import ensemble
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import runner
from mtl_tf.runs import fitting, training_run
from mtl_tf.runs.directory import seals
from mtl_tf.runs.loaded import loaded_ensemble
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from tests.export.export_testing import TEXTS
from tests.system import corpus, random_runs

SIZES = {"train": 60, "validation": 40, "test": 20}


def combine(output, *paths):
    """Writes what `launch.ensemble` says of the runs."""
    given = ["ensemble", *map(str, paths), f"--output={output}", "--draws=9"]
    ensemble.main(runner.parse(ensemble.PROGRAM, given))
    return str(output)


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """Three systems: two have another order of labels, or single models.

    The single models are trained, the other two have random weights.
    """
    folder = tmp_path_factory.mktemp("members")
    entries = corpus.write(folder, 1, SIZES)
    turned = [{**entry, "labels": ["1", "0"]} for entry in entries]
    made = {name: str(folder / name) for name in ("joint", "turned", "alone")}
    config = corpus.quick(entries, best_per_task=True)
    run, _ = random_runs.write_weights(made["joint"], config)
    model = mtl_tf.load(run.path).model
    for number, name in enumerate(("plain", "mirror")):
        for weight in model.trainable_variables:
            weight.assign((0.5 + number) * weight)
        best = run.file(f"best_per_task/{name}/best")
        BestWeights(best, model).save(1, 50.0)
    other, _ = random_runs.write_weights(made["turned"], corpus.quick(turned))
    for one in (run, other):
        # Whose training has come to its end.
        one.write("results.json", {})
    config = corpus.quick(entries, steps=1, evaluate_every=1)
    config["train_separately"] = True
    training_run.train(config, made["alone"])
    return made


@pytest.fixture(scope="module")
def written(members, tmp_path_factory):
    """The ensemble's file; the members weigh 1/6, 2/6 and 3/6."""
    path = combine(
        tmp_path_factory.mktemp("ensemble") / "three.json", *members.values()
    )
    with open(path) as file:
        found = json.load(file)
    for number, member in enumerate(found["members"]):
        member["weight"] = (number + 1) / 6
    with open(path, "w") as file:
        json.dump(found, file)
    return path


@pytest.fixture(scope="module")
def version(written, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    return mtl_tf.export_saved_model(written, folder)


def mean_of(members, task, texts):
    """The weighted mean of what the runs predict, by label."""
    runs = [members["joint"], members["turned"], f"{members['alone']}/tasks/"]
    runs[2] += task
    said = [mtl_tf.load(run).predict(task, texts) for run in runs]
    return [
        {
            label: sum(
                weight * row["scores"][label]
                for weight, row in zip((1 / 6, 2 / 6, 3 / 6), rows)
            )
            for label in ("0", "1")
        }
        for rows in zip(*said)
    ]


def assert_means(answers, means):
    for answer, mean in zip(answers, means, strict=True):
        assert answer["label"] == max(mean, key=mean.get)
        for label, score in mean.items():
            assert answer["scores"][label] == pytest.approx(score, abs=1e-5)


MIXED = ["mirror", "nothing", "plain", "mirror", "plain"]


@pytest.fixture(scope="module")
def served(version):
    """What a single process answers to all that tests ask."""
    calls = [("plain", TEXTS), ("mirror", TEXTS), ("plain", [])]
    requests = [
        {"signature": task, "inputs": {"text": texts}} for task, texts in calls
    ]
    inputs = {"text": TEXTS, "task": MIXED}
    requests.append({"signature": "serving_default", "inputs": inputs})
    return c_loader_process.run_in_c_loader(version, requests)


@pytest.mark.extended
def test_the_export_is_checked(version):
    rows = check.check(version)
    assert {row["signature"] for row in rows} == {
        "plain",
        "mirror",
        "serving_default",
    }
    assert all(row["ok"] for row in rows)


@pytest.mark.extended
def test_the_mean_is_served(members, served):
    assert set(served["signatures"]) == {"plain", "mirror", "serving_default"}
    row_of = task_types.of("classification").row
    outputs = [answer["outputs"] for answer in served["answers"]]
    answers = [
        [row_of({n: v[row] for n, v in one.items()}) for row in range(5)]
        for one in outputs[:2]
    ]
    assert not any(outputs[2].values())
    for task, found in zip(("plain", "mirror"), answers):
        assert_means(found, mean_of(members, task, TEXTS))
    assert len({row["scores"]["0"] for found in answers for row in found}) > 4


@pytest.mark.extended
def test_an_ensemble_predicts_as_its_export_does(members, written, tmp_path):
    loaded = mtl_tf.load(written)
    for task in ("plain", "mirror"):
        rows = loaded.predict(task, TEXTS)
        assert {row["task"] for row in rows} == {task}
        assert_means(rows, mean_of(members, task, TEXTS))
    assert loaded.predict("plain", []) == []
    with pytest.raises(ConfigError, match="unknown task 'plan'"):
        loaded.predict("plan", TEXTS)
    # The columns are those of the tasks' own files.
    labels = [row["label"] for row in loaded.predict("mirror", TEXTS)]
    path = tmp_path / "mirror.tsv"
    path.write_text("".join(f"{n}\t{t}\n" for n, t in zip(labels, TEXTS)))
    found = loaded.evaluate(data={"mirror": path})
    assert found["tasks"]["mirror"]["accuracy"] == 100.0
    with pytest.raises(ConfigError, match="launch.ensemble scores its splits"):
        loaded.evaluate("test")


@pytest.mark.extended
def test_rows_of_any_task(members, served):
    *_, found = served["answers"]
    scores, classes = (found["outputs"][n] for n in ("scores", "classes"))
    for row, task in enumerate(MIXED):
        if task == "nothing":
            assert found["outputs"]["label"][row] == ""
            assert scores[row] == [0.0, 0.0] and classes[row] == ["", ""]
            continue
        answer = {
            "label": found["outputs"]["label"][row],
            "scores": dict(zip(classes[row], scores[row])),
        }
        assert_means([answer], mean_of(members, task, [TEXTS[row]]))


@pytest.mark.extended
def test_what_smaller_weights_cost_is_not_measured(
    written, tmp_path, caplog, capsys
):
    given = ["saved_model", f"--model_dir={written}", "--weights=int8"]
    given.append(f"--export_dir={tmp_path}")
    saved_model.main(runner.parse(saved_model.PROGRAM, given))
    assert "is not measured for an ensemble" in caplog.text
    out = capsys.readouterr().out
    assert "weights: " in out and "as int8" in out
    assert all(row["ok"] for row in check.check(str(tmp_path)))


def topics(draw, size):
    """Texts, and which of two words each has."""
    rows = []
    for _ in range(size):
        words = draw.choice(["tea", "cup", "rain", "sun"], 3).tolist()
        labels = [w for w in ("tea", "rain") if w in words]
        rows.append({"text": " ".join(words), "labels": labels})
    return rows


@pytest.mark.extended
def test_several_types_and_their_thresholds(tmp_path):
    draw = np.random.default_rng(0)
    files = {}
    for split, size in SIZES.items():
        files[split] = str(tmp_path / f"{split}.jsonl")
        with open(files[split], "w") as file:
            file.writelines(json.dumps(r) + "\n" for r in topics(draw, size))
    several = {"name": "topics", "type": "multi_label", "files": files}
    pairs = tmp_path / "pairs.csv"
    rows = "".join(f"{w},{v},{w == v}\n" for w in "abcd" for v in "abcd")
    pairs.write_text("text,text_pair,label\n" + rows)
    of_pairs = {
        "name": "pairs",
        "type": "pair_classification",
        "files": dict.fromkeys(SIZES, str(pairs)),
    }
    entries = [several, corpus.write(tmp_path, 1, SIZES)[0], of_pairs]
    paths = []
    for seed in (1, 2):
        paths.append(str(tmp_path / f"seed_{seed}"))
        training_run.train(corpus.quick(entries) | {"seed": seed}, paths[-1])
    run = mtl_tf.load(paths[0])
    found = run.directory.read(fitting.FILE)
    run.directory.write(fitting.FILE, found | {"plain": {"temperature": 3.0}})
    seals.seal(run.directory, fitting.FILE)
    shutil.rmtree(tmp_path / "seed_1/scored")
    path = combine(tmp_path / "two.json", *paths)
    with open(path) as file:
        fitted = json.load(file)["fitted"]
    thresholds = fitted["topics"]["thresholds"]
    assert set(thresholds) == {"tea", "rain"}
    assert fitted["plain"] == fitted["pairs"] == {}
    version = saved_model.export(mtl_tf.load(path), str(tmp_path / "out"))
    texts = [row["text"] for row in topics(draw, 20)]
    served = tf.saved_model.load(version)
    assert set(served.signatures) == {"topics", "plain", "pairs"}
    for task, given in (("plain", TEXTS), ("pairs", [["a", "b"], ["c", "c"]])):
        both = zip(*[mtl_tf.load(p).predict(task, given) for p in paths])
        written = ["\t".join(x) if task == "pairs" else x for x in given]
        answers = check.ask(version, task, written)
        for answer, rows in zip(answers, both, strict=True):
            for label, score in answer["scores"].items():
                mean = np.mean([row["scores"][label] for row in rows])
                assert score == pytest.approx(mean, abs=1e-5)
    said = [mtl_tf.load(path).predict("topics", texts) for path in paths]
    answers = check.ask(version, "topics", texts)
    rows = mtl_tf.predict(path, "topics", texts)
    assert [row["labels"] for row in rows] == [a["labels"] for a in answers]
    for answer, *rows in zip(answers, *said):
        for label, score in answer["scores"].items():
            mean = np.mean([row["scores"][label] for row in rows])
            assert score == pytest.approx(mean, abs=1e-5)
            is_above = score >= np.float32(thresholds[label])
            assert (label in answer["labels"]) == is_above


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda v: v.pop("members"), "must be what launch.ensemble --output"),
        (lambda v: v.pop("fitted"), "an older version wrote it"),
        (
            lambda v: [m.update(weight=0) for m in v["members"]],
            "no member with",
        ),
        (
            lambda v: v["members"][0].update(directory="/nothing"),
            "its member /nothing is not there any more",
        ),
    ],
)
def test_wrong_files(written, tmp_path, change, match):
    with open(written) as file:
        value = json.load(file)
    change(value)
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(value))
    with pytest.raises(RunError, match=match):
        loaded_ensemble.load(str(path))


def test_only_what_is_served_is_stored(members, written, tmp_path):
    with open(written) as file:
        value = json.load(file)
    del value["tasks"]["mirror"]
    path = tmp_path / "plain.json"
    path.write_text(json.dumps(value))
    loaded = mtl_tf.load(path)
    assert repr(loaded) == f"<ensemble {path}: plain (classification)>"
    graph = served_graph.of(loaded, "float32")
    assert set(graph.functions) == {"plain", "serving_default"}
    # The joint run has weights of each task's own.
    assert len(graph.weights) == len(members)


@pytest.mark.parametrize("file", ["best/best.json", "fitted.json"])
def test_a_member_that_was_trained_or_calibrated_since(
    members, written, tmp_path, file
):
    copy = shutil.copytree(members["joint"], tmp_path / "copy")
    with open(written) as lines:
        value = json.load(lines)
    value["members"][0]["directory"] = str(copy)
    path = tmp_path / "copied.json"
    path.write_text(json.dumps(value))
    mtl_tf.load(path)
    (copy / file).write_text('{"plain": {"temperature": 2.0}}')
    with pytest.raises(RunError, match="/copy has been trained or calibrated"):
        mtl_tf.load(path)


def test_what_takes_no_ensemble(written):
    loaded = mtl_tf.load(written)
    for call in (mtl_tf.compare, mtl_tf.analyse):
        with pytest.raises(TypeError, match="run or its path, got <ensemble"):
            call(loaded, loaded)
    with pytest.raises(ConfigError, match="data takes no split, tasks"):
        loaded.evaluate("dev", data={"plain": "a.tsv"})


def test_members_of_other_labels(members, written, monkeypatch):
    right = loaded_ensemble.loading.load

    def load(path):
        run = right(path)
        if path == members["turned"]:
            run.tasks = [{**task, "labels": ["1", "2"]} for task in run.tasks]
        return run

    monkeypatch.setattr(loaded_ensemble.loading, "load", load)
    with pytest.raises(RunError, match="/turned has other labels of the task "):
        loaded_ensemble.load(written)


def test_a_baseline_keeps_no_model(members, written, tmp_path):
    with open(written) as file:
        value = json.load(file)
    with open(f"{members['joint']}/config.json") as file:
        config = json.load(file)
    linear = tmp_path / "linear"
    linear.mkdir()
    (linear / "config.json").write_text(json.dumps(config | {"baseline": {}}))
    state = loaded_ensemble.state_of(str(linear))
    value["members"][1] |= {"directory": str(linear), "state": state}
    path = tmp_path / "linear.json"
    path.write_text(json.dumps(value))
    with pytest.raises(ConfigError, match="linear baseline, which keeps no"):
        mtl_tf.load(str(path))
    with pytest.raises(
        ConfigError, match="beam_size, weights: .* is an ensemble"
    ):
        mtl_tf.load(written, {"beam_size": 2}, "last")
