import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.text_examples import TextExamples
from mtl_tf.pipelines.examples.vocabulary_building import learnt_tokenizer
from mtl_tf.tasks import task_types
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.subwords import SentencePieceTokenizer
from tests import traces

TEXTS = ["good film", "", "bad", "a good good film"]
LABELS = [1, 0, 0, 1]


class LettersOfWords:
    """An encoder: the length of each word, and features as they are."""

    def __init__(self, **axes):
        self.axes = {"tokens": "text", **(axes or {"label": ""})}

    def __call__(self, batch):
        lengths = tf.ragged.map_flat_values(
            tf.strings.length, tf.strings.split(batch["text"])
        )
        others = {key: batch[key] for key in self.axes if key in batch}
        return {"tokens": tf.cast(lengths, tf.int32), **others}


letters_of_words = LettersOfWords()


def make_dataset(texts=TEXTS, labels=LABELS):
    labels = np.asarray(labels, np.int64)
    texts = tf.constant(texts, tf.string, shape=[len(labels)])
    return tf.data.Dataset.from_tensor_slices({"text": texts, "label": labels})


def test_encode_keeps_rows_in_order():
    split = encoding.encode(make_dataset(), letters_of_words, "films")
    assert split.name == "films" and len(split) == 4
    tokens = split.columns["tokens"]
    assert [list(tokens[i]) for i in range(4)] == [
        [4, 4],
        [],
        [3],
        [1, 4, 4, 4],
    ]
    assert tokens.values.dtype == np.int32
    assert tokens.offsets.dtype == np.int64
    assert split.columns["label"].values.dtype == np.int32
    np.testing.assert_array_equal(split.columns["label"].values, LABELS)
    np.testing.assert_array_equal(split.lengths, [2, 0, 1, 4])


def test_encode_goes_in_large_batches():
    sizes = []

    class Counting(LettersOfWords):
        def __call__(self, batch):
            size = tf.size(batch["text"])
            tf.py_function(lambda n: sizes.append(int(n)), [size], [])
            return super().__call__(batch)

    number = 2500
    dataset = make_dataset(
        ["ab " * (i % 7) for i in range(number)], [0] * number
    )
    split = encoding.encode(dataset, Counting())
    assert sorted(sizes) == [number - 2048, 1024, 1024]
    np.testing.assert_array_equal(split.lengths, np.arange(number) % 7)


def test_one_batch_is_encoded_as_several_are(monkeypatch):
    one = list(encoding.encoded_parts(make_dataset(), letters_of_words))
    whole = encoding.encode(make_dataset(), letters_of_words)
    monkeypatch.setattr(encoding, "_TEXTS_AT_ONCE", 3)
    several = list(encoding.encoded_parts(make_dataset(), letters_of_words))
    parts = encoding.encode(make_dataset(), letters_of_words)
    assert (len(one), len(several)) == (2, 3)
    # First the columns of no example.
    assert str(one[0]) == str(several[0])
    for name, column in whole.columns.items():
        assert column.values.dtype == parts.columns[name].values.dtype
        assert str(column) == str(parts.columns[name])


def test_one_batch_traces_nothing():
    with traces.counted() as names:
        encoding.encode(make_dataset(), letters_of_words)
    assert names == []


def test_encode_an_empty_split():
    split = encoding.encode(make_dataset([], []), letters_of_words)
    assert len(split) == 0
    assert split.lengths.shape == (0,)
    assert split.columns["label"].values.shape == (0,)
    assert split.columns["label"].values.dtype == np.int32


def test_examples_at_hand_are_encoded_as_those_of_a_dataset():
    texts = [*TEXTS, *("ab " * (i % 7) for i in range(2500))]
    read = encoding.TensorEncoder(letters_of_words)
    for some in (texts, TEXTS[:1], []):
        labels = np.arange(len(some))
        dataset = make_dataset(some, labels)
        expected = encoding.encode(dataset, letters_of_words, "films")
        column = {
            "text": tf.constant(some, tf.string, shape=[len(some)]),
            "label": tf.constant(labels, tf.int64, shape=[len(some)]),
        }
        with traces.counted() as names:
            found = read(column, "films")
        # Whatever their number, they go through one trace.
        assert bool(names) == (some is texts)
        assert found.name == expected.name
        assert list(found.columns) == list(expected.columns)
        for name, one in expected.columns.items():
            other = found.columns[name]
            assert other.axis == one.axis
            assert other.values.dtype == one.values.dtype
            np.testing.assert_array_equal(other.values, one.values)
            if one.offsets is not None:
                np.testing.assert_array_equal(other.offsets, one.offsets)


def test_encode_texts_without_labels():
    dataset = tf.data.Dataset.from_tensor_slices({"text": TEXTS})
    split = encoding.encode(dataset, letters_of_words)
    assert set(split.columns) == {"tokens"}


def test_other_features_become_columns():
    dataset = tf.data.Dataset.from_generator(
        lambda: iter(
            [
                {"text": "a b", "tags": [5, 6], "score": [0.5, 1.0]},
                {"text": "c", "tags": [7], "score": [2.0, 3.0]},
            ]
        ),
        output_signature={
            "text": tf.TensorSpec([], tf.string),
            "tags": tf.TensorSpec([None], tf.int64),
            "score": tf.TensorSpec([2], tf.float32),
        },
    )
    encoder = LettersOfWords(tags="text", score="")
    columns = encoding.encode(dataset, encoder).columns
    assert [columns[key].axis for key in ("tokens", "tags", "score")] == [
        "text",
        "text",
        "",
    ]
    assert [list(columns["tags"][i]) for i in range(2)] == [[5, 6], [7]]
    assert columns["tags"].values.dtype == np.int32
    np.testing.assert_array_equal(columns["score"].values, [[0.5, 1], [2, 3]])


@dataclasses.dataclass
class FakeTask:
    """The part of a Task that this room reads."""

    texts: dict[str, list[str]]
    name: str = "books"
    read: list[str] = dataclasses.field(default_factory=list)

    @property
    def features(self):
        return task_types.of("classification").features(("a", "b"), {})

    @property
    def splits(self):
        return {split: split for split in self.texts}

    def dataset(self, split):
        self.read.append(split)
        texts = self.texts[split]
        return make_dataset(texts, [0] * len(texts))


TEXT_CONFIG = {
    "tokenizer": {"name": "whitespace", "lowercase": True},
    "max_length": 3,
    "min_count": 2,
    "max_size": 0,
    "characters": {"max_word_length": 0, "min_count": 1},
    "casing": False,
}


def test_build_encoder_counts_training_texts_of_all_tasks():
    tasks = [
        FakeTask({"train": ["the Plot the end end"], "test": ["leak leak"]}),
        FakeTask({"train": ["plot twist", "twist"], "test": ["leak"]}),
    ]
    encoder = encoding.build_encoder(tasks, TEXT_CONFIG)
    # "end" stands twice, but behind the cut at 3 tokens.
    assert set(encoder.vocabulary.tokens[2:]) == {"the", "plot", "twist"}
    assert [task.read for task in tasks] == [["train"], ["train"]]
    split = encoding.encode(
        make_dataset(["plot leak a b", ""], [0, 1]),
        TextExamples(encoder, tasks[0].features),
    )
    np.testing.assert_array_equal(split.columns["label"].values, [0, 1])
    plot = encoder.vocabulary.tokens.index("plot")
    np.testing.assert_array_equal(split.columns["tokens"][0], [plot, 1, 1])
    np.testing.assert_array_equal(split.lengths, [3, 0])


def test_build_encoder_limits_the_vocabulary():
    tasks = [FakeTask({"train": ["a a a b b c"] * 2})]
    config = TEXT_CONFIG | {"max_length": 0, "max_size": 4}
    encoder = encoding.build_encoder(tasks, config)
    assert encoder.vocabulary.tokens[2:] == ["a", "b"]


def test_words_with_pretrained_vectors_are_known_from_all_splits():
    """In place of a model that has a vector and does not look it up."""
    tasks = [
        FakeTask({"train": ["a a b c"], "test": ["far fetched"]}),
        FakeTask({"train": ["a"], "validation": ["near miss"]}),
    ]
    config = TEXT_CONFIG | {"max_length": 0}
    asked = []

    def pretrained(words):
        asked.extend(words)
        return {"fetched", "near", "c", "a"}

    encoder = encoding.build_encoder(tasks, config, pretrained)
    assert encoder.vocabulary.tokens[2:] == ["a", "c", "fetched", "near"]
    everything = ["a", "b", "c", "far", "fetched", "miss", "near"]
    assert sorted(asked) == everything
    # What training never shows, or shows once, is rare.
    assert encoder.rare_from == 3


@pytest.mark.parametrize(
    "texts, least, first",
    [
        (["a a b", "c b"], 1, 4),
        (["a b"], 1, 2),
        (["a a b b"], 1, None),
        (["a a b"], 2, None),
    ],
)
def test_rare_words_are_the_last(texts, least, first, tmp_path):
    config = TEXT_CONFIG | {"max_length": 0, "min_count": least}
    encoder = encoding.build_encoder([FakeTask({"train": texts})], config)
    assert encoder.rare_from == first
    encoder.save(str(tmp_path))
    assert TextEncoder.load(str(tmp_path)).rare_from == first


@pytest.mark.parametrize("content", ['{"first": 99}', "[1]", '{"first": "x"}'])
def test_damaged_rare_words_are_named(tmp_path, content):
    config = TEXT_CONFIG | {"min_count": 1}
    task = FakeTask({"train": ["a a b"]})
    encoding.build_encoder([task], config).save(str(tmp_path))
    (tmp_path / "rare_words.json").write_text(content)
    with pytest.raises(RunError, match="rare_words.json must hold the id"):
        TextEncoder.load(str(tmp_path))


@pytest.mark.parametrize(
    "field, value",
    [("max_length", -1), ("min_count", 0), ("max_size", 1.5)],
)
def test_wrong_text_config(field, value):
    tasks = [FakeTask({"train": ["a"]})]
    with pytest.raises(ConfigError, match=f"text.{field} must be"):
        encoding.build_encoder(tasks, TEXT_CONFIG | {field: value})


@pytest.mark.parametrize("size", [1, 2])
def test_subwords_need_a_place_in_the_vocabulary(size):
    texts = [tf.constant(["a good book", "a bad one"])]
    with pytest.raises(ConfigError, match="max_size must be 0 or above 2"):
        learnt_tokenizer(SentencePieceTokenizer(), texts, size)
