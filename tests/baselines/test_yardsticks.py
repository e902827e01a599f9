"""What stands beside a model's scores, on files made by hand."""

import json
import sys

import numpy as np
import pytest

from mtl_tf.baselines import linear, svm, task_types, yardsticks
from mtl_tf.evaluation.metrics import binary_metrics
from mtl_tf.evaluation.tables import remarks
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.runs import training_run
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.system import corpus
from tests.system.random_runs import written

CONLL = "the D\ncat N\nruns V\n\nthe D\nrun N\nrun V\n\nrun V\n"
FILES = {
    "mood.tsv": "good\ta b\ngood\tc\nbad\ta\ngood\td\n",
    "size.tsv": "1\ta\n2\tb\n6\tc\n",
    "topics.jsonl": "".join(
        json.dumps({"text": "a", "labels": labels}) + "\n"
        for labels in (["x", "y"], ["x"], ["x", "z"], [])
    ),
    "tags.conll": CONLL,
}
#: Test files: of them the scores are counted by hand.
TEST = {
    "mood.tsv": "bad\ta\ngood\tb\n",
    "size.tsv": "3\ta\n5\ta\n",
    "topics.jsonl": json.dumps({"text": "a", "labels": ["x", "z"]}) + "\n",
    # "run" is V twice and N once; words that occur once are mostly... both
    # "cat" and "runs", N and V: the first of the two that labels name.
    "tags.conll": "the D\nrun N\ncat N\n\nrun V\n",
}
TYPES = {
    "mood": ("classification", {"columns": {"label": 0, "text": 1}}),
    "size": ("regression", {"columns": {"value": 0, "text": 1}}),
    "topics": ("multi_label", {}),
    "tags": ("tagging", {"columns": {"tags": 1}}),
}
METRICS = {
    "mood": "accuracy",
    "size": "mae",
    "topics": "micro_f1",
    "tags": "token_accuracy",
}


def load(folder):
    entries = []
    for path in FILES:
        name = path.partition(".")[0]
        train = written(folder, path, FILES[path])
        test = written(folder, f"test_{path}", TEST[path])
        task_type, more = TYPES[name]
        files = {"train": train, "validation": train, "test": test}
        entry = {"name": name, "type": task_type, "files": files, **more}
        entries.append({**entry, "metrics": [METRICS[name]]})
    run = RunDirectory(str(folder / "run"))
    return run_data.load(corpus.config(entries), run, None, None)


def part(loaded, score=50.0, split="test"):
    tasks = {
        task.name: {"type": task.type, "primary": m, m: score}
        for task in loaded.tasks
        for m in task.metrics[:1]
    }
    return {"split": split, "tasks": tasks, "mean": {"overall": score}}


def test_scores_counted_by_hand(tmp_path):
    loaded = load(tmp_path)
    found = part(loaded)
    yardsticks.add(loaded, [found], seed=1)
    scores = {n: t.get("yardsticks") for n, t in found["tasks"].items()}
    assert scores["mood"]["majority"] == 50.0
    # The mean of 1, 2 and 6 is 3; of 3 and 5 one is 2 away.
    assert scores["size"]["majority"] == pytest.approx(1.0)
    # Of x and z it says x alone.
    assert scores["topics"]["majority"] == pytest.approx(200 / 3)
    # Wrong is "run" as a noun.
    assert scores["tags"] == {"majority": 75.0}


def test_the_linear_baseline_is_that_of_its_program(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    loaded = load(tmp_path)
    found = part(loaded, split="validation")
    yardsticks.add(loaded, [found], seed=1)
    # The texts that it was trained on: "a" is bad, "a b" good.
    assert found["tasks"]["mood"]["yardsticks"] == {
        "majority": 75.0,
        "linear": 100.0,
    }


@pytest.mark.by_default("mae")
@pytest.mark.parametrize("metric", ["mae", "pearson"])
def test_the_linear_baseline_of_numbers(tmp_path, metric):
    """Values are sums over the words: a linear model has them at once."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    rng = np.random.default_rng(3)
    entries = []
    # Two tasks of other scales, which must not share a model.
    for name, scale in (("small", 1.0), ("large", -1000.0)):
        lines = [
            f"{scale * (1 + n + m)}\tw{n} v{m}\n"
            for n, m in rng.integers(0, 9, [300, 2])
        ]
        path = written(tmp_path, f"{name}.tsv", "".join(lines))
        files = dict.fromkeys(("train", "validation", "test"), path)
        columns = {"value": 0, "text": 1}
        entry = {"name": name, "type": "regression", "files": files}
        entries.append({**entry, "columns": columns, "metrics": [metric]})
    run = RunDirectory(str(tmp_path / "run"))
    loaded = run_data.load(corpus.config(entries), run, None, None)
    found = part(loaded)
    yardsticks.add(loaded, [found], seed=1)
    for name, scale in (("small", 1.0), ("large", 1000.0)):
        linear = found["tasks"][name]["yardsticks"]["linear"]
        assert linear < 0.35 * scale if metric == "mae" else linear > 99


@pytest.mark.parametrize("metric", ["micro_f1", "average_precision"])
def test_the_linear_baseline_of_several_labels(tmp_path, metric):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    texts = {"log in": ["x"], "pay": ["y"], "log pay": ["x", "y"], "ok": []}
    # All texts have "all", and the last but one label none of them.
    lines = [
        json.dumps({"text": text, "labels": [*labels, "all"]}) + "\n"
        for text, labels in texts.items()
    ]
    path = written(tmp_path, "train.jsonl", "".join(lines * 3))
    entry = {
        "name": "topics",
        "type": "multi_label",
        "files": dict.fromkeys(("train", "validation", "test"), path),
        "labels": ["x", "none", "y", "all"],
        "metrics": [metric],
    }
    run = RunDirectory(str(tmp_path / "run"))
    loaded = run_data.load(corpus.config([entry]), run, None, None)
    found = part(loaded)
    yardsticks.add(loaded, [found], seed=1)
    scores = found["tasks"]["topics"]["yardsticks"]
    assert scores["linear"] == 100.0 > scores["majority"]


@pytest.mark.by_default("roc_auc")
@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_areas_below_curves_are_of_probabilities(tmp_path, metric):
    """Decisions have one threshold alone: the area below it is smaller."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    draw = np.random.default_rng(0)
    lines = []
    for label in draw.choice(["no", "yes"], 200, p=[0.7, 0.3]):
        words = draw.integers(0, 8, 4) + 3 * (label == "yes")
        lines.append(f"{label}\t{' '.join(map('w{}'.format, words))}\n")
    parts = {"train": lines[:100], "validation": lines[100:150]}
    parts["test"] = lines[150:]
    entry = {
        "name": "mood",
        "files": {
            split: written(tmp_path, f"{split}.tsv", "".join(rows))
            for split, rows in parts.items()
        },
        "columns": {"label": 0, "text": 1},
        "metrics": [metric],
    }
    config = corpus.config([entry])
    loaded = run_data.load(config, RunDirectory(str(tmp_path)), None, None)
    found = part(loaded)
    yardsticks.add(loaded, [found], seed=config["seed"])
    program = linear.train(config, str(tmp_path / "linear"))
    linear_score = found["tasks"]["mood"]["yardsticks"]["linear"]
    assert linear_score == program["tasks"]["mood"][metric]
    # So is the choice of C.
    block = svm.Block(loaded, [0], False, svm.seed_of(config["seed"]))
    block.fit()
    validation = loaded.validation[0]
    is_yes = np.array([row.startswith("yes") for row in parts["validation"]])
    scores = block.probabilities(validation, 0)[:, 1]
    area = binary_metrics.METRICS[metric](is_yes, None, scores)
    assert max(block.scores.values()) == pytest.approx(area)


def test_a_temperature_divides_the_margins_of_each_label(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    loaded = load(tmp_path)
    names = [task.name for task in loaded.tasks]
    number = names.index("topics")
    block = svm.Block(loaded, [number], False, seed=1)
    block.fit()
    split = loaded.train[number]
    odds = []
    for temperature in (1.0, 2.0):
        block.temperatures[number] = temperature
        scores = block.probabilities(split, number)
        assert np.array_equal(scores > 0.5, block.predict(split, number))
        odds.append(np.log(scores / (1.0 - scores)))
    np.testing.assert_allclose(odds[0], 2.0 * odds[1], rtol=1e-6)


def test_too_many_words_for_an_svm_of_each_label(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    loaded = load(tmp_path)
    # 5 words of "mood", 3 of "size", and 4 of "topics", once for each of its
    # 3 labels.
    for most, learns in ((20, True), (19, False)):
        monkeypatch.setattr(yardsticks, "_MOST_TOKENS", most)
        found = part(loaded)
        yardsticks.add(loaded, [found], seed=1)
        for task in ("mood", "topics"):
            scores = found["tasks"][task]["yardsticks"]
            assert ("linear" in scores) == learns


def test_without_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    loaded = load(tmp_path)
    found = part(loaded)
    yardsticks.add(loaded, [found], seed=1)
    assert set(found["tasks"]["mood"]["yardsticks"]) == {"majority"}


def test_a_split_without_targets_has_none(tmp_path):
    loaded = load(tmp_path)
    found = part(loaded, None)
    yardsticks.add(loaded, [found], seed=1)
    assert not any("yardsticks" in task for task in found["tasks"].values())


def test_unknown_words_are_tagged_as_words_that_occur_once():
    def split(tokens, tags):
        offsets = np.array([0, len(tokens)])
        return EncodedSplit(
            "t",
            {
                "tokens": Column(np.array(tokens), offsets, "text"),
                "tags": Column(np.array(tags), offsets, "text"),
            },
        )

    train = split([5, 5, 5, 6, 7, 8, 6], [0, 0, 1, 1, 2, 2, 1])
    asked = split([5, 6, 7, 1, 9, 4], [0] * 6)
    (found,) = task_types.of("tagging").majority({}, train, asked)
    # 7 and 8 occur once, with the tag 2.
    np.testing.assert_array_equal(found, [0, 1, 2, 2, 2, 2])


def test_the_pieces_of_a_word_are_one_word():
    def split(words):
        """Each word's pieces, between those at the start and the end."""
        starts = np.cumsum([1, *map(len, words)])
        tokens = [101, *(piece for word in words for piece in word), 102]
        columns = {
            "words": (starts[:-1], "text"),
            "tokens": (tokens, "pieces"),
            "tags": ([1 if len(word) > 1 else 0 for word in words], "text"),
        }
        return EncodedSplit(
            "t",
            {
                name: Column(np.array(v), np.array([0, len(v)]), axis)
                for name, (v, axis) in columns.items()
            },
        )

    train = split([[5], [5, 6], [5, 6], [7, 6], [5], [8]])
    # The last word's pieces end where the text's special piece stands.
    asked = split([[5], [5, 7], [8], [5, 6]])
    (found,) = task_types.of("tagging").majority({}, train, asked)
    # Of those that occur once, [7, 6] and [8], the first tag is the lower.
    np.testing.assert_array_equal(found, [0, 0, 0, 1])


def test_types_without_a_yardstick():
    for name in ("translation", "question_answering"):
        assert task_types.of(name).majority({}, None, None) is None


def test_results_have_them_and_warn(tmp_path):
    sizes = {"train": 40, "validation": 10, "test": 20}
    entries = corpus.write(str(tmp_path), 1, sizes)
    config = corpus.quick(entries, steps=1, evaluate_every=1)
    results = training_run.train(
        config, str(tmp_path / "run"), beside=yardsticks.add
    )
    for task in results["tasks"].values():
        assert task["yardsticks"]["majority"] == 50.0
    page = (tmp_path / "run" / "results.md").read_text()
    assert "| majority" in page
    stored = json.loads((tmp_path / "run" / "results.json").read_text())
    assert remarks.beaten(stored) == remarks.beaten(results)


def test_a_warning_names_task_score_and_what_is_better():
    tasks = {
        "a": {"primary": "accuracy", "accuracy": 40.0},
        "b": {"primary": "rmse", "rmse": 2.0, "lower_is_better": True},
        "c": {"primary": "accuracy", "accuracy": 99.0},
        "d": {"primary": "accuracy", "accuracy": None},
    }
    tasks["a"]["yardsticks"] = {"majority": 43.8, "linear": 49.8}
    tasks["b"]["yardsticks"] = {"majority": 1.5}
    tasks["c"]["yardsticks"] = {"majority": 50.0}
    tasks["d"]["yardsticks"] = {"majority": 50.0}
    first, second = remarks.beaten({"tasks": tasks})
    assert first == (
        "Warning: on a the model (40.0 accuracy) is not better than "
        "majority (43.8) and linear (49.8)."
    )
    assert second.startswith("Warning: on b the model (2.0")
