"""Texts one after the other, against the same in plain Python."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mtl_tf.text.tokenizers.joining import joined

SEPARATOR = 7
WIDTH = 3


def kept_lengths(lengths, max_length):
    """Takes tokens one by one from the longest text, the last of those."""
    lengths = list(lengths)
    room = max(max_length - len(lengths) + 1, 0)
    while max_length and sum(lengths) > room:
        longest = max(lengths)
        last = len(lengths) - 1 - lengths[::-1].index(longest)
        lengths[last] -= 1
    return lengths


def reference(texts, max_length, between):
    """One text of several, each a list."""
    if len(texts) == 1:
        return texts[0]
    found = []
    for text, kept in zip(texts, kept_lengths(map(len, texts), max_length)):
        found += [between] * (text is not texts[0]) + text[:kept]
    return found


def rows_of(lengths, first):
    """Texts of rows, whose tokens tell where they come from."""
    return [
        [first + 100 * row + place for place in range(length)]
        for row, length in enumerate(lengths)
    ]


def parts_of(rows):
    """Tokens, and features of tokens with and without a fixed axis."""
    tokens = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    flat = tokens.flat_values
    return {
        "tokens": tokens,
        "characters": tokens.with_flat_values(
            tf.stack([flat + n for n in range(WIDTH)], axis=1)
        ),
        "casing": tokens.with_flat_values(tf.cast(flat % 5 + 1, tf.uint8)),
    }


def check(texts, max_length, join=joined):
    """Compares one call on texts [[rows of the first ones], ...]."""
    parts = [parts_of(rows) for rows in texts]
    found = join(parts, SEPARATOR, max_length)
    assert list(found) == ["tokens", "characters", "casing"]
    for row, together in enumerate(zip(*texts)):
        expected = reference(list(together), max_length, SEPARATOR)
        assert found["tokens"][row].numpy().tolist() == expected
        characters = reference(
            [
                [[t + n for n in range(WIDTH)] for t in text]
                for text in together
            ],
            max_length,
            [0] * WIDTH,
        )
        assert found["characters"][row].numpy().tolist() == characters
        casing = reference(
            [[t % 5 + 1 for t in text] for text in together], max_length, 0
        )
        assert found["casing"][row].numpy().tolist() == casing
    assert found["tokens"].dtype == tf.int32
    assert found["casing"].dtype == tf.uint8
    assert found["characters"].shape.as_list() == [len(texts[0]), None, WIDTH]


@st.composite
def cases(draw):
    number, rows = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    lengths = st.lists(st.integers(0, 9), min_size=rows, max_size=rows)
    texts = [rows_of(draw(lengths), 1000 * (n + 1)) for n in range(number)]
    limits = st.integers(max(number - 1, 1), 40)
    return texts, draw(st.one_of(st.just(0), limits))


def of_lengths(*lengths):
    return [rows_of([n], 1000 * (i + 1)) for i, n in enumerate(lengths)]


@pytest.mark.by_default("5")
@pytest.mark.parametrize("count", [5, 30])
def test_agreement_with_plain_python(count):
    @settings(deadline=None, max_examples=count)
    @given(cases())
    @example((of_lengths(10, 10, 10), 10))
    @example((of_lengths(10, 3, 10, 1), 12))
    def agrees(case):
        check(*case)

    agrees()


@pytest.mark.by_default("10")
@pytest.mark.parametrize("count", [10, 40])
def test_the_longest_text_is_cut_first(count):
    settings(deadline=None, max_examples=count)(longest_is_cut_first)()


@given(st.lists(st.integers(0, 30), min_size=2, max_size=5), st.data())
def longest_is_cut_first(lengths, data):
    limit = data.draw(st.integers(len(lengths) - 1, 80))
    parts = [
        {"tokens": parts_of(rows)["tokens"]} for rows in of_lengths(*lengths)
    ]
    tokens = joined(parts, SEPARATOR, limit)["tokens"][0].numpy()
    assert len(tokens) == min(sum(lengths) + len(lengths) - 1, limit)
    assert np.sum(tokens == SEPARATOR) == len(lengths) - 1
    # From every text its first tokens stay.
    kept = [np.sum(tokens // 1000 == n + 1) for n in range(len(lengths))]
    for number, length in enumerate(kept):
        own = tokens[tokens // 1000 == number + 1]
        first = 1000 * (number + 1)
        assert own.tolist() == list(range(first, first + length))
    # None is shorter than another that was cut, but for a token.
    cut = [k for k, length in zip(kept, lengths) if k < length]
    if cut:
        assert max(kept) - min(cut) <= 1


@pytest.mark.by_default("8")
@pytest.mark.parametrize("max_length", [0, 5, 8])
def test_in_a_graph_of_any_number_of_rows(max_length):
    spec = {
        "tokens": tf.RaggedTensorSpec([None, None], tf.int32),
        "characters": tf.RaggedTensorSpec([None, None, WIDTH], tf.int32, 1),
        "casing": tf.RaggedTensorSpec([None, None], tf.uint8),
    }

    @tf.function(input_signature=[spec, spec])
    def together(first, second):
        return joined([first, second], SEPARATOR, max_length)

    def join(parts, separator, limit):
        assert (separator, limit) == (SEPARATOR, max_length)
        return together(*parts)

    for lengths in (([3, 0, 9], [4, 0, 1]), ([1], [20])):
        texts = [rows_of(n, 1000 * (i + 1)) for i, n in enumerate(lengths)]
        check(texts, max_length, join)
    # Its widths are known, as a model that is exported needs them.
    outputs = together.get_concrete_function().structured_outputs
    assert outputs["characters"].shape.as_list() == [None, None, WIDTH]
    assert together.experimental_get_tracing_count() == 1


def test_in_tf_data():
    first, second = tf.ragged.constant([[1], [], [2, 3]]), [[4, 5], [6], []]
    rows = {"a": first, "b": tf.ragged.constant(second)}
    dataset = tf.data.Dataset.from_tensor_slices(rows).ragged_batch(2)
    found = dataset.map(
        lambda batch: joined(
            [{"tokens": batch["a"]}, {"tokens": batch["b"]}], SEPARATOR, 3
        )["tokens"]
    )
    assert [row for batch in found for row in batch.to_list()] == [
        [1, SEPARATOR, 4],
        [SEPARATOR, 6],
        [2, 3, SEPARATOR],
    ]


def test_no_rows():
    empty = tf.RaggedTensor.from_row_lengths(
        tf.zeros([0], tf.int32), tf.zeros([0], tf.int64)
    )
    found = joined([{"tokens": empty}] * 2, SEPARATOR, 4)
    assert found["tokens"].to_list() == []


def test_one_text_is_as_it_was():
    parts = parts_of([[1, 2, 3], []])
    found = joined([parts], SEPARATOR, 1)
    assert found == parts and found is not parts
