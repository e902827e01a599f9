"""Multi-label classification: its targets, head, scores and thresholds."""

import json

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from sklearn import metrics as reference

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import evaluator, thresholds
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.layers.heads.multi_label import MultiLabelHead
from mtl_tf.prediction.task_types import multi_label as predictions
from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.task_statistics import statistics
from mtl_tf.tasks.task_types.multi_label import LabelSet
from tests.layers.layer_testing import run_layer_test


def task_of(tmp_path, content, name="train.jsonl", **fields):
    path = tmp_path / name
    path.write_text(content)
    entry = {"name": "topics", "type": "multi_label", **fields}
    (task,) = resolve([entry | {"files": {"train": str(path)}}])
    return task


def rows(task, split="train"):
    return [
        (one["text"].decode(), one["labels"].tolist())
        for one in task.source.dataset(split).as_numpy_iterator()
    ]


def test_lists_and_cells(tmp_path):
    lines = [
        {"text": "a", "labels": ["x", "z"]},
        {"text": "b", "labels": []},
        {"text": "c", "labels": "y, x,"},
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    task = task_of(tmp_path, content)
    assert task.labels == ("x", "y", "z")
    expected = [("a", [1, 0, 1]), ("b", [0, 0, 0]), ("c", [1, 1, 0])]
    # A part is held out for validation: both are of the one file.
    assert rows(task) == expected
    table = "text\tlabels\na\tx|z\nb\t\nc\ty|x\n"
    task = task_of(tmp_path, table, "train.tsv", separator="|")
    assert rows(task) == expected
    counted = [split.labels for split in statistics(task)]
    assert sum(labels["x"] for labels in counted) == 2


CONTENT = {
    "csv": "id,toxic,comment,insult\n7,0,a,0\n8,1.0,b,1\n9, True ,c,false\n",
    "jsonl": "".join(
        json.dumps(row) + "\n"
        for row in (
            {"comment": "a", "toxic": 0, "insult": False},
            {"comment": "b", "toxic": 1.0, "insult": True},
            {"comment": "c", "toxic": "1", "insult": 0.0},
        )
    ),
}


@pytest.mark.parametrize("form", CONTENT)
def test_a_column_for_each_label(tmp_path, form):
    columns = {"text": "comment", "labels": ["toxic", "insult"]}
    task = task_of(tmp_path, CONTENT[form], f"train.{form}", columns=columns)
    assert task.labels == ("toxic", "insult")
    expected = [("a", [0, 0]), ("b", [1, 1]), ("c", [1, 0])]
    assert rows(task, "train") == expected


def test_columns_by_number_need_the_names_of_their_labels(tmp_path):
    columns = {"text": 0, "labels": (2, 1)}
    content = "a\t0\t1\nb\t1\t1\nc\t0\t0\n"
    arguments = (tmp_path, content, "train.tsv")
    task = task_of(*arguments, columns=columns, labels=["x", "y"])
    assert rows(task) == [("a", [1, 0]), ("b", [1, 1]), ("c", [0, 0])]
    with pytest.raises(ConfigError, match="give the names of the labels in"):
        task_of(*arguments, columns=columns)


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        (["toxic"], {"labels": ["a", "b"]}, "labels has 2 names, and columns"),
        (["toxic"], {"separator": ";"}, "separator is for the labels of one"),
        (["toxic", "toxic"], {}, "columns.labels must be .*, got"),
        ([], {}, "columns.labels must be .* or for labels a list of diff"),
        (["comment", "toxic"], {}, "columns.text and columns.labels are both"),
    ],
)
def test_wrong_lists_of_columns(tmp_path, columns, more, message):
    columns = {"text": "comment", "labels": columns}
    with pytest.raises(ConfigError, match=message):
        task_of(tmp_path, CONTENT["csv"], "a.csv", columns=columns, **more)
    swapped = {"text": ["comment"], "labels": "toxic"}
    with pytest.raises(ConfigError, match="columns.text must be a column's"):
        task_of(tmp_path, CONTENT["csv"], "a.csv", columns=swapped)


@pytest.mark.parametrize("labels", [None, ["insult", "toxic"]])
def test_an_object_is_no_list_of_labels(tmp_path, labels):
    row = {"text": "a", "labels": {"toxic": 1, "insult": 0}}
    with pytest.raises(DataError, match="'labels' must be a list of labels"):
        rows(task_of(tmp_path, json.dumps(row) + "\n", labels=labels))


def test_cells_that_are_neither_one_nor_zero(tmp_path):
    columns = {"text": "comment", "labels": ["toxic", "insult"]}

    def read(wrong, **fields):
        content = CONTENT["csv"].replace("8,1.0,b,1", f"8,1.0,b,{wrong}")
        task = task_of(
            tmp_path, content, "train.csv", columns=columns, **fields
        )
        return rows(task)

    with pytest.raises(
        DataError, match=r"3: the column 'insult' .*found \"2\""
    ):
        read("2")
    with pytest.raises(DataError, match='found ""; `skip_missing=True` in'):
        read("")
    assert [text for text, _ in read("", skip_missing=True)] == ["a", "c"]
    columns["labels"] = ["toxic", "insults"]
    with pytest.raises(DataError, match="no column 'insults' .*mean 'insult'"):
        read("1")


@pytest.mark.parametrize("quote", ["'", '"'])
def test_cells_with_lists_as_pandas_writes_them(tmp_path, quote):
    table = "text\tlabels\na\t['x', 'z, w']\nb\t[]\nc\t['y', 'x']\nd\t[e],y\n"
    task = task_of(tmp_path, table.replace("'", quote), "train.tsv")
    assert task.labels == ("[e]", "x", "y", "z, w")
    assert rows(task)[1] == ("b", [0, 0, 0, 0])


def test_a_file_without_any_label_is_an_error(tmp_path):
    with pytest.raises(DataError, match="train.tsv: no row has a label"):
        task_of(tmp_path, "text\tlabels\na\t\nb\t,\n", "train.tsv")


def test_a_label_that_may_be_misspelt_is_told(tmp_path):
    content = "text\tlabels\n" + "a\tbug,login\nb\tlogin\n" * 60
    task = task_of(tmp_path, content + "c\tlogin,bgu\n", "train.tsv")
    assert task.labels == ("bgu", "bug", "login")
    (warning,) = task.source.warnings
    assert "'bgu' (line 122; did you mean 'bug'?)" in warning


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ('{"text": "a", "labels": 3}', DataError, "'labels' must be a list of"),
        ('{"text": "a", "labels": [true]}', DataError, "must be a list of"),
        ('{"text": "a", "labels": ["x", "w"]}', DataError, "unknown label 'w'"),
        ('{"text": "a"}', DataError, "no key 'labels'"),
        (
            r'{"text": "a", "labels": ["x", "w\ud800"]}',
            DataError,
            r"in the label 'w\\ud800', half of a surrogate pair \(\\ud800\)",
        ),
    ],
)
def test_wrong_lines(tmp_path, line, error, message):
    good = '{"text": "b", "labels": ["x"]}\n'
    with pytest.raises(error, match=message) as caught:
        task = task_of(tmp_path, good + line, labels=["x", "y"])
        rows(task)
    assert "train.jsonl:2" in str(caught.value)


def test_wrong_fields(tmp_path):
    with pytest.raises(ConfigError, match="separator must not be empty"):
        task_of(tmp_path, '{"text": "b", "labels": []}\n', separator="")
    with pytest.raises(ConfigError, match="unknown metric of multi_label"):
        task_of(
            tmp_path, '{"text": "b", "labels": ["x"]}\n', metrics=["accuracy"]
        )


def test_a_sequence_of_class_labels():
    feature = tfds.features.Sequence(tfds.features.ClassLabel(names="pqr"))
    target = LabelSet()
    assert target.names_of(feature) == ("p", "q", "r")
    convert = target.converter(feature, ("r", "q", "p"), "dataset x")
    assert convert(tf.constant([0, 2], tf.int64)).numpy().tolist() == [1, 0, 1]
    assert convert(tf.zeros([0], tf.int64)).numpy().tolist() == [0, 0, 0]
    with pytest.raises(ConfigError, match="labels lacks r, which the data"):
        target.converter(feature, ("p", "q"), "dataset x")


def head_inputs(groups=2, batch=3, units=4):
    draw = np.random.default_rng(0)
    summary = tf.constant(draw.normal(size=(groups, batch, units)), tf.float32)
    labels = tf.constant(draw.integers(0, 2, (groups, batch, 3)), tf.int32)
    batch = {"task": tf.constant([1, 0][:groups]), "labels": labels}
    return {"summary": summary}, batch


def test_head():
    encoded, batch = head_inputs()
    run_layer_test(
        lambda: MultiLabelHead([3, 2]),
        [encoded, batch],
        parameters=2 * (4 * 3 + 3),
        output_shapes={
            "logits": (2, 3, 3),
            "scores": (2, 3, 3),
            "prediction": (2, 3, 3),
            "loss": (2, 3),
        },
        symbolic=(),
    )


def test_loss_is_the_mean_over_the_tasks_own_labels():
    encoded, batch = head_inputs()
    head = MultiLabelHead([3, 2])
    output = head(encoded, batch)
    dense = head.dense
    kernel, bias = (np.array(w) for w in dense.get_weights())
    for group, (task, count) in enumerate(((1, 2), (0, 3))):
        x = encoded["summary"][group].numpy()
        logits = (x @ kernel[task] + bias[task])[:, :count]
        p = 1 / (1 + np.exp(-logits))
        y = batch["labels"][group].numpy()[:, :count]
        losses = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(1)
        np.testing.assert_allclose(output["loss"][group], losses, 1e-5)
        np.testing.assert_allclose(output["scores"][group][:, :count], p, 1e-5)
        assert not output["scores"][group].numpy()[:, count:].any()


def test_scores_are_scikit_learns():
    draw = np.random.default_rng(1)
    labels = draw.random((200, 5)) < [0.5, 0.1, 0.9, 0.3, 0.0]
    # Of few values, so that there are ties.
    scores = np.round(draw.random((200, 5)) * 0.6 + 0.4 * labels, 1)
    said = scores > 0.6
    names = ("micro_f1", "macro_f1", "average_precision", "subset_accuracy")
    task = TaskPredictions(
        "topics",
        labels.astype(int),
        said.astype(int),
        list("abcde"),
        type="multi_label",
        metrics=names,
        scores=scores,
    )
    found = evaluator.evaluate([task], "test")["tasks"]["topics"]
    options = {"zero_division": 0}
    expected = {
        "micro_f1": reference.f1_score(labels, said, average="micro"),
        "macro_f1": reference.f1_score(
            labels, said, average="macro", **options
        ),
        # The last label has no example.
        "average_precision": reference.average_precision_score(
            labels[:, :4], scores[:, :4]
        ),
        "subset_accuracy": reference.accuracy_score(labels, said),
    }
    for name in names:
        np.testing.assert_allclose(found[name], 100 * expected[name])
    rows = reference.precision_recall_fscore_support(labels, said, **options)
    for place, row in enumerate(zip(*rows)):
        own = found["types"]["abcde"[place]]
        got = [own[k] for k in ("precision", "recall", "f1", "support")]
        np.testing.assert_allclose(got, [100, 100, 100, 1] * np.array(row))


def test_thresholds_are_the_best_of_all():
    draw = np.random.default_rng(2)
    for _ in range(50):
        labels = draw.random(30) < draw.random()
        scores = np.round(draw.random(30), 1)
        chosen = thresholds.best_threshold(labels, scores)

        def f1(limit, labels=labels, scores=scores):
            said = scores >= limit
            return (
                2 * (said & labels).sum() / max((said.sum() + labels.sum()), 1)
            )

        every = np.linspace(-0.05, 1.05, 23)
        assert f1(chosen) >= max(map(f1, every)) - 1e-12
    assert thresholds.best_threshold(np.zeros(3, bool), np.ones(3)) == 0.5


def test_thresholds_of_all_labels_have_the_best_micro_f1():
    draw = np.random.default_rng(3)
    for _ in range(30):
        labels = draw.random((12, 2)) < draw.random(2)
        scores = np.round(draw.random((12, 2)), 1)  # Also of 0 and 1.
        chosen = np.array(thresholds.micro_thresholds(labels, scores))

        def f1(limits, labels=labels, scores=scores):
            said = scores >= limits
            total = said.sum() + labels.sum()
            return 2 * (said & labels).sum() / max(total, 1)

        known = labels.any(0)
        share = (known & (labels.sum(0) < 3)).all()
        np.testing.assert_array_equal(chosen[~known], 0.5)
        every = [
            np.where(known, [one, other], 0.5)
            for one in np.linspace(-0.05, 1.05, 23)
            for other in np.linspace(-0.05, 1.05, 23)
            if one == other or not share
        ]
        assert f1(chosen) == pytest.approx(max(map(f1, every)))


def test_rare_labels_share_a_threshold():
    """Alone, each has the best F1 at its one example's score, by chance."""
    draw = np.random.default_rng(4)
    labels = np.zeros([60, 81], bool)
    labels[draw.integers(60, size=80), np.arange(80)] = True
    labels[:30, 80] = True
    scores = draw.random(labels.shape) * 0.5
    scores[:, 80] = 0.2 + 0.6 * labels[:, 80]
    *rare, frequent = thresholds.micro_thresholds(labels, scores)
    assert len(set(rare)) == 1
    assert frequent == pytest.approx(0.5)
    given = (draw.random([1000, 80]) * 0.5 >= rare).mean()
    assert given < 0.02


@pytest.mark.parametrize("metric, least", [("micro_f1", 0.5), ("macro_f1", 0)])
def test_a_label_that_is_not_known_is_given_where_macro_f1_counts(
    metric, least
):
    """Its own F1 is best where most examples get it: micro F1 loses by that."""
    labels = np.zeros([20, 2], int)
    labels[:10, 0] = labels[-1, 1] = 1
    scores = np.stack([labels[:, 0] * 0.8 + 0.1, np.linspace(0.3, 0.2, 20)], 1)
    task = {"labels": ["x", "y"], "type": "multi_label", "metrics": [metric]}
    found = predictions.TYPE.fit(task, labels, {"scores": scores})["thresholds"]
    assert found["x"] == pytest.approx(0.5)
    assert (found["y"] > 0.3) == (metric == "micro_f1")
    assert found["y"] > least


def test_what_is_settled_decides():
    task = {"labels": ["x", "y"], "type": "multi_label"}
    outputs = {"scores": np.array([[0.3, 0.6, 0.9], [0.7, 0.4, 0.9]])}
    assert predictions.TYPE.decided(task, outputs)["prediction"].tolist() == [
        [0, 1],
        [1, 0],
    ]
    fitted = predictions.TYPE.fit(task, [[1, 0], [1, 0]], outputs)
    assert fitted["thresholds"] == {"x": pytest.approx(0.15), "y": 0.5}
    decided = predictions.TYPE.decided(task | fitted, outputs)
    assert decided["prediction"].tolist() == [[1, 1], [1, 0]]
