"""Declared features of each type, and a type of several texts a row."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.task_types import NAMES
from mtl_tf.tasks import task_types
from mtl_tf.tasks.features import (
    INPUT,
    LABELS,
    NUMBERS,
    TARGET,
    TEXT,
    WORDS,
    Feature,
    inputs,
    targets,
    text_of,
)
from mtl_tf.tasks.task import Task
from mtl_tf.tasks.task_types.classification import Classification, ClassTarget
from mtl_tf.tasks.text_targets import TextTarget


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        (
            "classification",
            {},
            (
                Feature("text", INPUT, TEXT, ("text",)),
                Feature("label", TARGET, LABELS, ()),
            ),
        ),
        (
            "tagging",
            {"scheme": "iob2"},
            (
                Feature("tokens", INPUT, WORDS, ("text",)),
                Feature("tags", TARGET, LABELS, ("text",)),
            ),
        ),
        (
            "translation",
            {"bleu_tokenizer": ""},
            (
                Feature("source", INPUT, TEXT, ("source",)),
                Feature("target", TARGET, TEXT, ("target",)),
            ),
        ),
    ],
)
def test_features_of_each_type(name, settings, expected):
    task_type = task_types.of(name)
    assert task_type.name == name
    assert task_type.features(("a", "b"), settings) == expected
    task = Task("en-de", name, None, ("a", "b"), settings=settings)
    assert task.features == expected
    assert task.metrics == task_type.default_metrics(settings)
    assert set(task.metrics) <= set(task_type.metrics)


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_features_of_all_types(name):
    features = task_types.of(name).features(("a", "b"), {"scheme": "iob2"})
    assert len({feature.name for feature in features}) == len(features)
    assert inputs(features) and targets(features)
    assert inputs(features) + targets(features) == list(features)
    assert all(feature.is_string for feature in inputs(features))
    # Columns of the first axis stand first: it is that of the first input.
    assert all(feature.time for feature in inputs(features))


def test_properties_of_features():
    label = Feature("label", TARGET, LABELS)
    tags = Feature("tags", TARGET, LABELS, ("text",))
    boxes = Feature("boxes", TARGET, NUMBERS, (4, "text", 2))
    assert (label.time, tags.time, boxes.time) == ("", "text", "text")
    assert (label.is_class, tags.is_class, boxes.is_class) == (1, 0, 0)
    assert not Feature("scores", TARGET, NUMBERS).is_class
    assert not Feature("labels", TARGET, LABELS, (3,)).is_class
    strings = [Feature("x", INPUT, e).is_string for e in (TEXT, WORDS)]
    assert strings == [True, True]
    assert not tags.is_string and not boxes.is_string


def test_the_text_of_several_inputs():
    text = Feature("text", INPUT, TEXT, ("text",))
    words = Feature("tokens", INPUT, WORDS, ("text",))
    pair = Feature("text_pair", INPUT, TEXT, ("text_pair",))
    target = Feature("target", TARGET, TEXT, ("target",))
    batch = {
        "text": tf.constant(["a b", ""]),
        "tokens": tf.ragged.constant([["c", "d"], []]),
        "text_pair": tf.constant(["e", "f"]),
        "target": tf.constant(["g", "h"]),
    }

    def found(*features, examples=batch):
        return np.array(text_of(features, examples)).tolist()

    assert found(text, target) == [b"a b", b""]
    assert found(words, target) == [b"c d", b""]
    assert found(text, pair) == [b"a b e", b" f"]
    assert found(text, words, pair) == [b"a b c d e", b"  f"]
    one = {key: value[0] for key, value in batch.items()}
    assert found(text, words, pair, examples=one) == b"a b c d e"
    assert text_of([text], {"text": np.array("x")}) == "x"
    graph = tf.function(lambda examples: text_of([text, words], examples))
    assert graph(batch).numpy().tolist() == [b"a b c d", b" "]


class Pairs(Classification):
    """A type of two texts with a label."""

    texts = {"text": "text", "text_pair": "text"}


class Shares(TextTarget):
    """Two numbers, as "0.25 0.75" or a list."""

    name = "shares"
    needs_labels = False
    dtype = np.float32

    def parse(self, value, column):
        if isinstance(value, str):
            value = value.split()
        if len(value) != 2:
            raise ValueError(f"{column!r} must hold two numbers")
        return tuple(map(float, value))

    def collect(self, values):
        return ()

    def encode(self, value, ids):
        return value

    def request(self, column):
        raise NotImplementedError


class Splits(Pairs):
    """A type of two texts on two axes with numbers."""

    texts = {"text": "text", "text_pair": "text_pair"}
    element = NUMBERS

    def target(self, entry):
        return Shares()

    def target_axes(self, labels):
        return (2,)


def source_of(task_type, tmp_path, ending, content, **fields):
    path = tmp_path / f"train.{ending}"
    path.write_text(content, "utf-8")
    entry = {"name": "t", "files": {"train": str(path)}, **fields}
    return task_type.file_source(entry)


def rows_of(source, target):
    return [
        (row["text"], row["text_pair"], np.asarray(row[target]).tolist())
        for row in source.dataset("train").as_numpy_iterator()
    ]


def test_features_follow_from_texts_and_target():
    assert Pairs().features(("a", "b"), {}) == (
        Feature("text", INPUT, TEXT, ("text",)),
        Feature("text_pair", INPUT, TEXT, ("text",)),
        Feature("label", TARGET, LABELS),
    )
    assert Splits().features((), {})[1:] == (
        Feature("text_pair", INPUT, TEXT, ("text_pair",)),
        Feature("shares", TARGET, NUMBERS, (2,)),
    )


def test_rows_of_two_texts(tmp_path):
    table = "text_pair\tlabel\ttext\nb\tyes\ta\nd\tno\tc\n"
    source = source_of(Pairs(), tmp_path, "tsv", table)
    assert rows_of(source, "label") == [(b"a", b"b", 1), (b"c", b"d", 0)]
    lines = [
        {"one": "a", "two": "", "shares": [0.25, 0.75]},
        {"one": "c", "two": "d", "shares": "1 0"},
    ]
    content = "\n".join(map(json.dumps, lines))
    columns = {"text": "one", "text_pair": "two"}
    source = source_of(Splits(), tmp_path, "jsonl", content, columns=columns)
    assert rows_of(source, "shares") == [
        (b"a", b"", [0.25, 0.75]),
        (b"c", b"d", [1, 0]),
    ]
    assert source.labels == ()
    spec = source.dataset("train").element_spec["shares"]
    assert (spec.dtype, spec.shape.as_list()) == (tf.float32, [2])
    (warning,) = source.warnings
    assert "1 row with an empty text (first: line 1)" in warning


@pytest.mark.parametrize(
    ("fields", "content", "message"),
    [
        (
            {"columns": {"text": 0, "text_pair": 1, "shares": 1}},
            "a\tb\n",
            "columns.text_pair and columns.shares are both 1",
        ),
        ({"columns": {"label": 1}}, "a\tb\n", "unknown columns.label"),
        (
            {"columns": {"text": 0, "text_pair": 1, "shares": 3}},
            "a\tb\t1 0\n",
            "train.tsv:1: 3 columns, but the text is wanted in column 0 and "
            "the text pair is wanted in column 1 and the shares is wanted",
        ),
        (
            {"columns": {"text": 0, "text_pair": 1, "shares": 2}},
            "a\tb\t1 0\nc\td\t1\n",
            "train.tsv:2: 'shares' must hold two numbers",
        ),
        (
            {},
            "text\tshares\na\t1 0\n",
            "train.tsv:1: no column 'text_pair' in the header",
        ),
    ],
)
def test_wrong_rows_of_two_texts(tmp_path, fields, content, message):
    with pytest.raises((ConfigError, DataError), match=message):
        source_of(Splits(), tmp_path, "tsv", content, **fields).size("train")


def test_datasets_of_two_texts(prepared):
    entry = {
        "name": "t",
        "dataset": "reviews",
        "columns": {"text_pair": "word"},
    }
    source = Pairs().dataset_source(entry, "", "")
    rows = list(source.dataset("test").as_numpy_iterator())
    assert [row["text_pair"] for row in rows] == [b"no", b"yes", b"yes", b"no"]
    assert [row["label"] for row in rows] == [0, 1, 1, 0]
    assert source.labels == ("good", "bad")
    wrong = entry | {"columns": {"text_pair": "stars"}}
    with pytest.raises(ConfigError, match="'stars' of dataset .* be text"):
        Pairs().dataset_source(wrong, "", "").size("test")


def test_labels_of_targets():
    target = ClassTarget()
    assert target.collect(["10", "9", "9"]) == ("9", "10")
    assert target.collect(["b", "9"]) == ("9", "b")
    assert target.parse(True, "label") == "true"
    assert target.doubts(["a", "a"]) == ["all 2 rows are of one class, 'a'"]
    assert target.doubts(["a", "b"]) == []


def test_numbers_as_labels():
    labels = [str(number / 4) for number in range(21)]
    (told,) = ClassTarget().label_doubts(labels, 9 * labels)
    assert told.startswith("21 labels, and all are numbers such as 0.0: each ")
    assert told.endswith("set type to 'regression'")
    whole = [str(number) for number in range(21)]
    for plausible in (labels[:20], whole, [*labels, "1.x"]):
        told = ClassTarget().label_doubts(plausible, 9 * plausible)
        assert told == []


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("classification", {}, {"labels": ["x", "y"]}),
        ("multi_label", {}, {"labels": ["x", "y"]}),
        (
            "tagging",
            {"scheme": "iobes"},
            {"labels": ["x", "y"], "train_scheme": "iobes"},
        ),
        ("tagging", {"scheme": ""}, {"labels": ["x", "y"]}),
        ("translation", {"bleu_tokenizer": ""}, {}),
        ("regression", {"range": [0, 5]}, {"range": [0, 5]}),
        ("regression", {"range": []}, {}),
        (
            "pair_regression",
            {"range": [], "pairs": "apart"},
            {"pairs": "apart"},
        ),
    ],
)
def test_fields_that_number_labels_as_in_a_run(name, settings, expected):
    found = task_types.of(name).fixed_fields(("x", "y"), settings)
    assert found == expected


@pytest.mark.parametrize(
    ("role", "element", "message"),
    [
        ("goal", TEXT, "role of the feature 'places' 'goal'"),
        (TARGET, "label", "element of the feature 'places' 'label'"),
    ],
)
def test_unknown_roles_and_elements_are_refused(role, element, message):
    with pytest.raises(ConfigError, match=message):
        Feature("places", role, element)
