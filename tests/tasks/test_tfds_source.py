import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.sources.tfds_source import TextDatasetSource
from mtl_tf.tasks.task_types.classification import ClassTarget
from tests.tasks.fakes import ROWS


def source_of(directories=("", ""), labels=None, name="reviews", **columns):
    columns = {"text": "text", "label": "label", **columns}
    target = ClassTarget(labels)
    return TextDatasetSource(name, *directories, columns, target)


def examples(source, split):
    return [
        (example["text"].decode(), int(example["label"]))
        for example in source.dataset(split).as_numpy_iterator()
    ]


def test_class_labels(prepared):
    source = source_of(("data", "manual"), name="reviews/x")
    assert source.labels == ("good", "bad")
    assert examples(source, "test") == [("a", 0), ("", 1), ("c", 1), ("d", 0)]
    assert [text for text, _ in examples(source, "train")] == [
        text for text, _ in ROWS["train"]
    ]
    assert source.split_names == ("train", "test")
    assert source.warnings == ["one odd thing"]
    assert prepared == [("reviews/x", "data", "manual")]


def test_nothing_is_prepared_before_it_is_needed(prepared):
    source = source_of(labels=["good", "bad"])
    assert source.labels == ("good", "bad")
    assert prepared == []


def test_slices(prepared):
    source = source_of()
    assert source.size("train[:25%]") == 10
    assert examples(source, "test[1:3]") == [("", 1), ("c", 1)]
    assert source.size("train+test") == 44


def test_given_labels_order_the_class_labels(prepared):
    source = source_of(labels=["bad", "good"])
    assert examples(source, "test") == [("a", 1), ("", 0), ("c", 0), ("d", 1)]


def test_other_labels_than_the_class_labels(prepared):
    source = source_of(labels=["bad", "fine"])
    with pytest.raises(ConfigError, match=r"'fine'\] are not those of"):
        source.dataset("test")


@pytest.mark.by_default("word-labels1")
@pytest.mark.parametrize(
    ("column", "labels"), [("stars", ("9", "10")), ("word", ("no", "yes"))]
)
def test_integers_and_strings_as_labels(prepared, column, labels):
    source = source_of(label=column)
    assert source.labels == labels
    assert examples(source, "test") == [("a", 0), ("", 1), ("c", 1), ("d", 0)]
    spec = source.dataset("test").element_spec
    assert spec["label"].dtype == "int64"


def test_unknown_labels(prepared):
    source = source_of(label="word", labels=["yes", "nope"])
    with pytest.raises(DataError, match="split test, example 0: unknown") as e:
        source.dataset("test")
    assert "did you mean 'nope'" in str(e.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": "txt"}, "no feature 'txt' for columns.text; did you mean"),
        ({"label": "lable"}, "for columns.label; did you mean 'label'"),
        ({"text": "label"}, "'label' of dataset reviews cannot be text"),
        ({"label": "bytes"}, "'bytes' of dataset reviews cannot be a label"),
    ],
)
def test_wrong_features(prepared, columns, message):
    with pytest.raises(ConfigError, match=message):
        source_of(**columns).size("train")


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("tset", "has no split 'tset'; did you mean 'test'"),
        ("tset[:3]", "did you mean 'test'"),
        ("test[:3", "has no split 'test"),
        ("test[:300%]", "has no split 'test"),
        ("test[50%:][:3]", "has no split 'test"),
    ],
)
def test_wrong_splits(prepared, split, message):
    with pytest.raises(ConfigError, match=message) as error:
        source_of().dataset(split)
    assert "\n" not in str(error.value)
