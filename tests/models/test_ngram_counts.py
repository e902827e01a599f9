"""Document frequencies of n-grams, counted in texts to train on."""

import numpy as np
import pytest

from mtl_tf.models.multi_task import build_model
from mtl_tf.models.protocol import count_all_parameters
from tests.models.model_testing import make_tasks, small

BUCKETS = 50
WIDE = {"buckets": BUCKETS, "dimension": 4, "word_ngrams": 1, "idf": True}


def made(types, **wide):
    about = {"pairs": "apart"}
    tasks = [
        task | about | {"type": kind}
        for task, kind in zip(make_tasks(*[3] * len(types)), types)
    ]
    return build_model(small(wide=WIDE | wide), 20, tasks)


def texts(*rows):
    longest = max(map(len, rows))
    padded = [row + [0] * (longest - len(row)) for row in rows]
    return np.array([padded], np.int32)


def buckets(model, words):
    numbers, _ = model.wide.ngrams(texts(words))
    return numbers.numpy()[0, 0]


def test_texts_are_counted():
    model = made(["classification", "tagging", "pair_classification"])
    first = {"task": np.array([0]), "tokens": texts([5, 5, 6], [5], [])}
    tagged = {"task": np.array([1]), "tokens": texts([7, 8])}
    pairs = {
        "task": np.array([2]),
        "tokens": texts([6, 9]),
        "text_pair_tokens": texts([9, 1]),
    }
    model.adapt(iter([first, tagged, pairs]))
    # 5 is in two of the four texts, 6 and 9 in two, an empty text is none.
    # Texts whose words get tags have no n-grams, nor has an unknown word any.
    expected = np.zeros([BUCKETS])
    for word in (5, 6, 9):
        expected[buckets(model, [word])] = np.log(5 / 3) + 1
    assert len({*buckets(model, [5, 6, 9])}) == 3
    np.testing.assert_allclose(
        model.wide.weights_of_ngrams.numpy(), expected, rtol=1e-6
    )


def test_without_weights_no_text_is_read():
    def refused():
        raise AssertionError("it read a batch")
        yield

    made(["classification"], idf=False).adapt(refused())
    made(["classification"], buckets=0).adapt(refused())


@pytest.mark.parametrize("idf", [False, True])
def test_weights_are_no_parameters(idf):
    counted = count_all_parameters(made(["classification"], idf=idf))
    assert counted == count_all_parameters(made(["classification"], idf=False))
