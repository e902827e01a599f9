"""Texts without labels become like the labelled ones."""

import numpy as np

from mtl_tf.pipelines.unlabelled import unlabelled_texts
from tests.pipelines.texts import task


def read(**splits):
    one = task(**splits)
    held_back = unlabelled_texts.held_back([one])
    return unlabelled_texts.read(one, "unlabelled", held_back)


def decoded(found):
    return [text.decode() for text in found.texts["text"]]


def test_raw_texts_are_spaced_and_tested_ones_left_out():
    found = read()
    assert [" ".join(t.split()) for t in decoded(found)] == [
        "It 's raw , too ."
    ]
    assert found.left_out == 2 and found.spaced == ("text",)


def test_raw_texts_stay_raw_where_the_training_texts_are():
    found = read(train=["It's good, so."])
    assert decoded(found) == ["It's raw, too."]
    assert found.spaced == ()


def test_tokens_stay_as_they_are():
    found = read(unlabelled=["it's , so ."] * 2)
    assert decoded(found) == ["it's , so ."] * 2


def test_texts_that_another_task_is_tested_on_are_left_out():
    one, other = task("books"), task("films", test=["it's RAW too"])
    held_back = unlabelled_texts.held_back([one, other])
    found = unlabelled_texts.read(one, "unlabelled", held_back)
    assert decoded(found) == [] and found.left_out == 3
    assert len(decoded(unlabelled_texts.read(one, "unlabelled"))) == 3


def test_texts_of_test_alone_leave_nothing():
    found = read(unlabelled=["A held-out text!"])
    assert decoded(found) == [] and found.left_out == 1
    assert list(unlabelled_texts.dataset(found.texts)) == []


def test_the_dataset_has_the_texts():
    texts = {"text": np.array([b"a", "é".encode()], object)}
    examples = list(unlabelled_texts.dataset(texts).as_numpy_iterator())
    assert [one["text"] for one in examples] == [b"a", "é".encode()]
