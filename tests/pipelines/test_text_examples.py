"""What sharing schemes read of declared features: texts on their axes."""

import itertools
import types

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.text_examples import TextExamples, time_axes
from mtl_tf.tasks import task_types
from mtl_tf.tasks.features import (
    INPUT,
    LABELS,
    NUMBERS,
    TARGET,
    TEXT,
    WORDS,
    Feature,
)
from mtl_tf.text.encoding.encoder import SEPARATOR, TextEncoder

CONFIG = {
    "tokenizer": {"name": "whitespace", "lowercase": True},
    "max_length": 6,
    "min_count": 1,
    "max_size": 0,
    "characters": {"max_word_length": 0, "min_count": 1},
    "casing": False,
}
READ = {"characters": {"max_word_length": 4, "min_count": 1}, "casing": True}
FIRST = ["a Cat SAW it", "", "the dog"]
SECOND = ["It ran and ran and RAN", "cat", ""]
LABEL = Feature("label", TARGET, LABELS)
ONE_AXIS = (
    Feature("text", INPUT, TEXT, ("text",)),
    Feature("text_pair", INPUT, TEXT, ("text",)),
    LABEL,
)
TWO_AXES = (
    Feature("text", INPUT, TEXT, ("text",)),
    Feature("text_pair", INPUT, TEXT, ("text_pair",)),
    LABEL,
)


def pairs():
    examples = {"text": FIRST, "text_pair": SECOND, "label": [1, 0, 2]}
    examples["label"] = np.array(examples["label"], np.int64)
    return tf.data.Dataset.from_tensor_slices(examples)


def task_of(features, dataset=pairs):
    return types.SimpleNamespace(
        name="pairs", dataset=lambda split: dataset(), features=features
    )


def encoder_of(features, **config):
    return encoding.build_encoder([task_of(features)], CONFIG | config)


def encode(encoder, features):
    return encoding.encode(pairs(), TextExamples(encoder, features), "t")


def words_of(encoder, column):
    tokens = encoder.vocabulary.tokens
    return [
        " ".join(tokens[token] for token in column[row])
        for row in range(len(column))
    ]


def test_two_texts_on_one_axis_share_its_room():
    encoder = encoder_of(ONE_AXIS)
    split = encode(encoder, ONE_AXIS)
    assert list(split.columns) == ["tokens", "label"]
    assert split.axes == ("text",)
    # Of six tokens one is the separator; the longer text is cut first.
    assert words_of(encoder, split.columns["tokens"]) == [
        "a cat saw \\<sep> it ran",
        "\\<sep> cat",
        "the dog \\<sep>",
    ]
    assert encoder.vocabulary.tokens[encoder.separator] == "\\<sep>"
    assert split.columns["label"].values.tolist() == [1, 0, 2]
    np.testing.assert_array_equal(split.lengths, [6, 2, 3])


def test_two_texts_on_two_axes_stand_apart():
    encoder = encoder_of(TWO_AXES)
    split = encode(encoder, TWO_AXES)
    assert {k: c.axis for k, c in split.columns.items()} == {
        "tokens": "text",
        "text_pair_tokens": "text_pair",
        "label": "",
    }
    assert split.axes == ("text", "text_pair")
    assert words_of(encoder, split.columns["tokens"]) == [
        "a cat saw it",
        "",
        "the dog",
    ]
    # Each axis is cut by itself.
    assert words_of(encoder, split.columns["text_pair_tokens"]) == [
        "it ran and ran and ran",
        "cat",
        "",
    ]
    assert split.lengths.tolist() == [[4, 6], [0, 1], [2, 0]]


@pytest.mark.parametrize("features", [ONE_AXIS, TWO_AXES])
def test_characters_and_casing_of_two_texts(features):
    encoder = encoder_of(features, **READ)
    split = encode(encoder, features)
    parts = ("tokens", "characters", "casing")
    examples = TextExamples(encoder, features)
    assert list(split.columns) == list(examples.axes)
    assert {k: c.axis for k, c in split.columns.items()} == examples.axes
    first = encoder.of_texts(tf.constant(FIRST))
    second = encoder.of_texts(tf.constant(SECOND))
    # Where the second text begins, behind its separator.
    places = [3, 0, 2]
    for row, part in itertools.product(range(3), parts):
        column = split.columns[part][row].tolist()
        texts = [one[part][row].numpy().tolist() for one in (first, second)]
        if features is TWO_AXES:
            other = split.columns[f"text_pair_{part}"][row].tolist()
            assert [column, other] == texts
            continue
        place = places[row]
        between = {"tokens": encoder.separator, "characters": [0] * 4}
        behind = column[place + 1 :]
        assert column[:place] == texts[0][:place]
        assert column[place] == between.get(part, 0)
        assert behind == texts[1][: len(behind)]
        assert len(column) == [6, 2, 3][row]
    for part in parts[1:]:
        assert split.columns[part].values.dtype == np.uint8
    assert split.columns["characters"].values.shape[1:] == (4,)


def test_the_separator_is_a_word_only_where_it_is_needed():
    for features, specials in ((ONE_AXIS, (SEPARATOR,)), (TWO_AXES, ())):
        vocabulary = encoder_of(features).vocabulary
        assert vocabulary.specials == specials
        assert ("\\<sep>" in vocabulary.tokens) == bool(specials)
    for name in ("classification", "tagging"):
        features = task_types.of(name).features(("a", "b"), {})
        assert all(len(one) == 1 for one in time_axes(features).values())
    # One task of two texts is enough, wherever it stands.
    one_text = (ONE_AXIS[0], LABEL)
    tasks = [task_of(one_text), task_of(ONE_AXIS)]
    assert encoding.build_encoder(tasks, CONFIG).vocabulary.specials
    encoder = encoding.build_encoder(tasks[:1], CONFIG)
    assert encoder.vocabulary.specials == ()
    # A vocabulary from elsewhere may lack it: it is a word like no other.
    assert encoder.separator == encoder.vocabulary.OOV


def test_the_separator_survives_a_run(tmp_path):
    encoder = encoder_of(ONE_AXIS)
    encoder.save(str(tmp_path))
    loaded = TextEncoder.load(str(tmp_path), CONFIG["max_length"])
    assert loaded.separator == encoder.separator == 2
    # No text spells it.
    ids = encoder(tf.constant(["<sep> \\<sep> \\\\<sep>"]))
    assert 2 not in ids.flat_values.numpy()
    again = encode(loaded, ONE_AXIS).columns["tokens"]
    known = encode(encoder, ONE_AXIS).columns["tokens"]
    np.testing.assert_array_equal(again.values, known.values)


def test_the_separator_and_learnt_pieces():
    subwords = {"name": "sentencepiece"}
    encoder = encoder_of(ONE_AXIS, tokenizer=subwords, max_size=40)
    assert encoder.tokenizer.pieces
    assert encoder.vocabulary.specials == (SEPARATOR,)
    assert len(encoder.vocabulary) <= 40
    tokens = encode(encoder, ONE_AXIS).columns["tokens"]
    for row in range(3):
        assert np.sum(tokens[row] == encoder.separator) == 1


def test_numbers_on_a_time_axis_are_cut_as_its_texts_are():
    features = (
        Feature("words", INPUT, WORDS, ("text",)),
        Feature("weights", TARGET, NUMBERS, ("text",)),
        Feature("shares", TARGET, NUMBERS, (2,)),
    )

    def dataset():
        words = tf.ragged.constant([["a", "b"], [], list("abcdefgh")])
        weights = tf.ragged.constant(
            [[1.0, 2.0], [], list(range(8))], tf.float32
        )
        shares = np.arange(6, dtype=np.float32).reshape(3, 2)
        return tf.data.Dataset.from_tensor_slices(
            {"words": words, "weights": weights, "shares": shares}
        )

    task = task_of(features, dataset)
    encoder = encoding.build_encoder([task], CONFIG)
    split = encoding.encode(dataset(), TextExamples(encoder, features))
    assert {k: c.axis for k, c in split.columns.items()} == {
        **{"tokens": "text", "weights": "text", "shares": ""}
    }
    np.testing.assert_array_equal(split.lengths, [2, 0, 6])
    np.testing.assert_array_equal(
        split.columns["weights"].offsets, split.columns["tokens"].offsets
    )
    assert split.columns["weights"].values.dtype == np.float32
    assert split.columns["weights"][2].tolist() == [0, 1, 2, 3, 4, 5]
    assert split.columns["shares"].values.shape == (3, 2)


def test_texts_without_their_targets():
    encoder = encoder_of(ONE_AXIS)
    examples = TextExamples(encoder, ONE_AXIS)
    texts = {"text": tf.constant(["a"]), "text_pair": tf.constant(["cat"])}
    assert list(examples(texts)) == ["tokens"]
