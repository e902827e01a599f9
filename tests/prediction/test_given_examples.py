"""Datasets of Keras as examples for prediction."""

import pandas as pd
import pytest
import tensorflow as tf

from mtl_tf.prediction.given_examples import (
    index_told,
    listed,
    parsed,
    single_inputs,
    single_texts,
)

TEXTS, OTHERS = ["a", "b", "c"], ["x", "y", "z"]
WORDS = tf.ragged.constant([["a", "b"], ["c"], []])
ONE, PAIR = [["text"]], [["text"], ["text_pair", "second"]]
LABELS = [0, 1, 0]


def named(key):
    return {"text": TEXTS, key: OTHERS}


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize(
    "given, ranks, names, expected",
    [
        (TEXTS, [0], ONE, TEXTS),
        ((TEXTS, LABELS), [0], ONE, TEXTS),
        ((TEXTS, LABELS, LABELS), [0], ONE, TEXTS),
        ({"text": TEXTS}, [0], ONE, [{"text": t} for t in TEXTS]),
        (({"text": TEXTS}, LABELS), [0], ONE, [{"text": t} for t in TEXTS]),
        ((TEXTS, OTHERS), [0, 0], PAIR, [list(p) for p in zip(TEXTS, OTHERS)]),
        (
            ((TEXTS, OTHERS), LABELS),
            [0, 0],
            PAIR,
            [list(p) for p in zip(TEXTS, OTHERS)],
        ),
        (
            (named("second"), LABELS),
            [0, 0],
            PAIR,
            [{"text": t, "second": o} for t, o in zip(TEXTS, OTHERS)],
        ),
        (WORDS, [1], [["tokens"]], [["a", "b"], ["c"], []]),
        ((WORDS, LABELS), [1], [["tokens"]], [["a", "b"], ["c"], []]),
        (
            {"tokens": WORDS},
            [1],
            [["tokens"]],
            [{"tokens": t} for t in (["a", "b"], ["c"], [])],
        ),
    ],
    ids=str,
)
def test_batches_and_targets(given, ranks, names, expected, size):
    dataset = tf.data.Dataset.from_tensor_slices(given)
    dataset = dataset.batch(size) if size else dataset
    assert listed(single_inputs(dataset, ranks, names)) == expected


def test_what_is_no_dataset_stays():
    assert single_inputs(TEXTS, [0], ONE) is TEXTS


ASKED = [["question"], ["context", "passage"], ["answer"]]
BOTH = {"question": TEXTS, "passage": OTHERS}
ALL = {**BOTH, "answer": TEXTS}


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize(
    "given, keys",
    [
        (ALL, [*ALL]),
        ((BOTH, TEXTS), [*ALL]),
        ((BOTH, TEXTS, LABELS), [*ALL]),
        ((TEXTS, OTHERS, TEXTS), None),
        (((TEXTS, OTHERS), TEXTS), None),
    ],
    ids=str,
)
def test_batches_of_texts_to_score(given, keys, size):
    dataset = tf.data.Dataset.from_tensor_slices(given)
    dataset = dataset.batch(size) if size else dataset
    rows = [list(row) for row in zip(TEXTS, OTHERS, TEXTS)]
    expected = [dict(zip(keys, row)) for row in rows] if keys else rows
    assert listed(single_texts(dataset, ASKED)) == expected
    assert single_texts(TEXTS, ASKED) is TEXTS


def test_an_index_is_told_not_to_be_read():
    def parse(row):
        raise TypeError("no text")

    frame = pd.DataFrame({"label": [1]}, index=pd.Index(["a"], name="text"))
    for given, end in ((frame, "; 'text' is the index .* column$"), ([1], "$")):
        with (
            pytest.raises(TypeError, match=rf"^examples\[0\]: no text{end}"),
            index_told(given, ONE),
        ):
            parsed(given, parse)
