import types

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.batches import (
    BatchPlan,
    evaluation_batches,
    training_dataset,
)
from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.encoded_split import alike
from mtl_tf.pipelines.examples.text_examples import TextExamples
from mtl_tf.tasks import task_types

SENTENCES = [["The", "Cat", "saw", "New York"], [], ["SAW", "it"]]
TAGS = [[1, 2, 3, 4], [], [5, 6]]
TEXT = {
    "tokenizer": {"name": "whitespace", "lowercase": True},
    "max_length": 3,
    "min_count": 1,
    "max_size": 0,
    "characters": {"max_word_length": 5, "min_count": 1},
    "casing": True,
}


def tagging_dataset():
    tags = tf.ragged.constant(TAGS, tf.int64)
    tokens = tf.ragged.constant(SENTENCES)
    return tf.data.Dataset.from_tensor_slices({"tokens": tokens, "tags": tags})


def text_dataset():
    return tf.data.Dataset.from_tensor_slices(
        {"text": ["the dog saw", "cats"], "label": np.array([1, 0])}
    )


def task_of(dataset, task_type):
    features = task_types.of(task_type).features((), {})
    return types.SimpleNamespace(
        name="tags", dataset=lambda split: dataset, features=features
    )


TASKS = [
    task_of(tagging_dataset(), "tagging"),
    task_of(text_dataset(), "classification"),
]


def encoded(dataset, encoder, task, name=""):
    return encoding.encode(dataset, TextExamples(encoder, task.features), name)


@pytest.fixture(scope="module")
def encoder():
    return encoding.build_encoder(TASKS, TEXT)


@pytest.fixture(scope="module")
def splits(encoder):
    return [
        encoded(tagging_dataset(), encoder, TASKS[0], "tags"),
        encoded(text_dataset(), encoder, TASKS[1], "books"),
    ]


def test_vocabularies_of_both_kinds(encoder):
    # "New York" is behind the cut, "the dog saw" is split.
    words = encoder.vocabulary.tokens[2:]
    assert sorted(words) == ["cat", "cats", "dog", "it", "saw", "the"]
    assert words[0] == "saw"
    characters = encoder.characters.vocabulary.tokens
    assert {"T", "S", "\\s", "y"} - set(characters) == {"y"}


def test_given_tokens_are_encoded_as_they_are(encoder, splits):
    columns = splits[0].columns
    ids = [encoder.vocabulary.tokens.index(w) for w in ("the", "cat", "saw")]
    assert columns["tokens"][0].tolist() == ids
    assert [columns["tags"][i].tolist() for i in range(3)] == [
        [1, 2, 3],
        [],
        [5, 6],
    ]
    assert columns["tags"].values.dtype == np.int32
    np.testing.assert_array_equal(
        columns["tags"].offsets, columns["tokens"].offsets
    )
    assert columns["casing"][0].tolist() == [4, 4, 2]
    assert columns["characters"][0].shape == (3, 5)
    assert columns["characters"].values.dtype == np.uint8
    np.testing.assert_array_equal(splits[0].lengths, [3, 0, 2])


def test_an_empty_split_has_all_columns(encoder):
    split = encoded(tagging_dataset().take(0), encoder, TASKS[0])
    assert len(split) == 0
    assert split.columns["characters"].values.shape == (0, 5)
    assert split.columns["tags"].values.dtype == np.int32


def test_batches_of_a_tagging_task(splits):
    (batch,) = evaluation_batches(splits[0], 0, 4, [4])
    rows = batch["row"].numpy()[0].tolist()
    first = rows.index(0)
    assert batch["tags"].shape == (1, 4, 4)
    assert batch["tags"].numpy()[0, first].tolist() == [1, 2, 3, 0]
    assert batch["characters"].shape == (1, 4, 4, 5)
    assert batch["characters"].dtype == batch["casing"].dtype == tf.int32
    np.testing.assert_array_equal(
        batch["characters"].numpy()[0, first, :3],
        splits[0].columns["characters"][0],
    )
    filler = batch["characters"].numpy()[0, rows.index(-1)]
    assert not filler.any() and not batch["tags"].numpy()[0, :, 3].any()
    assert "label" not in batch


def test_batches_of_both_kinds_are_alike(splits):
    plan = BatchPlan(alike(splits), 2, [4], {"name": "uniform"}, 0)
    seen = set()
    for batch in training_dataset(plan, stop_step=12):
        (task,) = batch["task"].numpy()
        seen.add(int(task))
        other = batch["label" if task == 0 else "tags"].numpy()
        assert not other.any()
        assert batch["tags"].shape == batch["tokens"].shape == (1, 2, 4)
        assert batch["label"].shape == (1, 2)
    assert seen == {0, 1}
    # Splits of one kind stay as they are.
    alone = alike(splits[:1])
    assert set(alone[0].columns) == set(splits[0].columns)


def test_tokens_with_spaces_cannot_be_tagged():
    config = TEXT | {"tokenizer": {"name": "reversible"}}
    with pytest.raises(ConfigError, match="whitespace or the regex"):
        encoding.build_encoder(TASKS, config)
    with pytest.raises(ConfigError, match="whitespace or the regex"):
        encoding.build_encoder(
            TASKS[:1],
            config | {"characters": {"max_word_length": 0}, "casing": False},
        )
