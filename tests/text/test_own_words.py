"""Ids of the words that an example has for itself."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.text.tokenizers.own_words import number_own_words

FIRST, UNKNOWN = 100, 1


def ragged(rows, dtype):
    return tf.ragged.constant(rows, dtype, ragged_rank=1)


def number(*texts, known=()):
    """Numbers texts, lists of examples; known words have 10, 11, ..."""
    ids = {word: 10 + n for n, word in enumerate(known)}
    tokens = [ragged(text, tf.string) for text in texts]
    numbers = [
        ragged(
            [[ids.get(word, UNKNOWN) for word in row] for row in text],
            tf.int32,
        )
        for text in texts
    ]
    found, own = number_own_words(tokens, numbers, UNKNOWN, FIRST)
    return [part.to_list() for part in found], own.to_list()


def test_equal_words_of_an_example_have_equal_ids():
    context = [["zig", "the", "zag", "zig"], ["zag"], []]
    question = [["zag", "the"], ["zig", "zog", "zag"], ["the"]]
    found, own = number(context, question, known=["the"])
    assert found == [
        [[100, 10, 101, 100], [100], []],
        [[101, 10], [101, 102, 100], [10]],
    ]
    assert own == [[b"zig", b"zag"], [b"zag", b"zig", b"zog"], []]


def test_words_with_digits_and_line_feeds_are_told_apart():
    found, own = number([["1\nx", "x"], ["x"], ["\nx", "1\nx", "\nx"]])
    assert found == [[[100, 101], [100], [100, 101, 100]]]
    assert own == [[b"1\nx", b"x"], [b"x"], [b"\nx", b"1\nx"]]


@pytest.mark.parametrize("texts", [([],), ([], []), ([[]],), ([[], []],) * 1])
def test_nothing(texts):
    found, own = number(*texts)
    assert found == list(texts)
    assert own == [[] for _ in texts[0]]


def test_many_examples_in_a_graph():
    draw = np.random.default_rng(3)
    words = [f"w{n}" for n in range(30)]
    texts = [
        [
            list(draw.choice(words, draw.integers(0, 9)).astype(str))
            for _ in range(40)
        ]
        for _ in range(3)
    ]
    known = words[:10]
    signature = tf.RaggedTensorSpec([None, None], tf.string, 1)
    numbers = tf.RaggedTensorSpec([None, None], tf.int32, 1)
    graph = tf.function(
        lambda tokens, ids: number_own_words(tokens, ids, UNKNOWN, FIRST),
        input_signature=[[signature] * 3, [numbers] * 3],
    )
    tokens = [ragged(text, tf.string) for text in texts]
    ids = [
        ragged(
            [
                [known.index(w) + 10 if w in known else UNKNOWN for w in row]
                for row in text
            ],
            tf.int32,
        )
        for text in texts
    ]
    found, own = graph(tokens, ids)
    for row in range(40):
        seen = []
        for text, part in zip(texts, found):
            expected = []
            for word in text[row]:
                if word in known:
                    expected.append(known.index(word) + 10)
                    continue
                if word not in seen:
                    seen.append(word)
                expected.append(FIRST + seen.index(word))
            assert part[row].numpy().tolist() == expected
        assert [word.decode() for word in own[row].numpy()] == seen
