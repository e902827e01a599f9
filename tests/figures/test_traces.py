"""Scores after each token agree with predictions of cut texts."""

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import traces
from mtl_tf.figures.traces import Reading
from mtl_tf.models.multi_task import build_model

TEXT = "the yes tree of zzz no stone this river"
TASKS = [
    {"name": name, "type": "classification", "labels": ["0", "1", "2"][:count]}
    for name, count in (("a", 2), ("b", 3))
]
TAGS = {"name": "c", "type": "tagging", "labels": ["O", "X"]}

pytestmark = pytest.mark.usefixtures("without_jit")


@pytest.fixture(scope="module")
def run(toy_run):
    return mtl_tf.load(toy_run)


def reading(ids):
    """A text of ids alone."""
    size = ids.shape[-1]
    return Reading(("x",) * size, np.ones(size, bool), {"tokens": ids})


@pytest.mark.by_default("mirror")
@pytest.mark.parametrize("task", ["plain", "mirror"])
def test_scores_are_predictions_of_the_prefixes(run, task):
    trace = traces.trace(run, task, TEXT, "toy")
    words = TEXT.split()
    prefixes = [" ".join(words[: n + 1]) for n in range(len(words))]
    answers = [a["scores"] for a in run.predict(task, prefixes)]
    expected = [scores["1"] - scores["0"] for scores in answers]
    np.testing.assert_allclose(trace.scores, expected, atol=1e-5)
    # The text turns on its first "yes": a trace that stands still is wrong.
    assert np.ptp(trace.scores) > 0.5


def test_a_trace_says_what_it_is_of(run):
    trace = traces.trace(run, "plain", TEXT, "toy")
    assert trace.tokens == tuple(TEXT.split())
    assert trace.known.tolist() == [word != "zzz" for word in TEXT.split()]
    assert trace.poles == ("0", "1")
    assert trace.label == "toy"
    assert trace.inspect["forward/meta_vector"].shape == (9, 8)


def test_what_the_run_cuts_off_is_not_shown(run, monkeypatch):
    limit = 12
    monkeypatch.setattr(run.encoder, "max_length", limit)
    trace = traces.trace(run, "plain", "yes " * (limit + 5))
    assert len(trace.tokens) == len(trace.scores) == limit


def test_a_text_without_tokens_is_refused(run):
    with pytest.raises(DataError, match="no tokens"):
        traces.trace(run, "plain", "  ")


def test_a_task_that_tags_words_is_refused(run, monkeypatch):
    monkeypatch.setitem(run.tasks[0], "type", "tagging")
    with pytest.raises(ConfigError, match="'plain' is of the type 'tagging'"):
        traces.trace(run, "plain", TEXT)


@pytest.mark.by_default("0-False", "1-False")
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("task", [0, 1])
def test_prefix_scores_of_both_kinds_of_model(bidirectional, task):
    scheme = {"name": "lstm", "units": 5, "bidirectional": bidirectional}
    config = {"embedding_dim": 4, "init": {"range": 2.0}, "scheme": scheme}
    config["embedding_private_dim"] = 2
    model = build_model(config, 20, [*TASKS, TAGS], seed=4)
    ids = tf.constant([[[3, 7, 1, 12, 19, 5, 3]]])
    scores = traces.prefix_scores(model, reading(ids), task)
    for length in range(1, 8):
        batch = {"task": tf.constant([task]), "tokens": ids[..., :length]}
        expected = model(batch, key="classification")["scores"].numpy()[0, 0]
        np.testing.assert_allclose(scores[length - 1], expected, atol=1e-5)


@pytest.mark.extended
def test_a_long_text_of_a_bidirectional_model_goes_in_parts():
    scheme = {"name": "lstm", "units": 2, "bidirectional": True}
    config = {"embedding_dim": 2, "scheme": scheme}
    model = build_model(config, 9, TASKS, seed=4)
    ids = tf.constant(np.arange(66)[None, None] % 8 + 1, tf.int32)
    scores = traces.prefix_scores(model, reading(ids), 0)
    batch = {"task": tf.constant([0]), "tokens": ids[..., :65]}
    expected = model(batch)["scores"].numpy()[0, 0]
    np.testing.assert_allclose(scores[64], expected, atol=1e-5)


def test_polarity_lies_between_the_first_and_the_last_label():
    two = np.array([[0.8, 0.2], [0.0, 1.0]])
    np.testing.assert_allclose(traces.polarity(two), [-0.6, 1.0])
    five = np.array([[0.1, 0.2, 0.3, 0.0, 0.4]])
    expected = -0.1 - 0.5 * 0.2 + 0.4
    np.testing.assert_allclose(traces.polarity(five), [expected])


def test_runs_that_split_a_text_differently_do_not_share_an_axis(run):
    one = traces.trace(run, "plain", "yes no", "one")
    two = traces.trace(run, "plain", "yes , no", "two")
    assert traces.same_tokens([one, one]) == ("yes", "no")
    with pytest.raises(ConfigError, match="one and two split the text"):
        traces.same_tokens([one, two])


@pytest.mark.parametrize("ends", [(), (9,), (9, 8)])
def test_prefixes_end_as_texts_do(ends):
    ids = tf.constant([[[3, 5, 6, 7, *ends]]])
    size = 4 + len(ends)
    letters = tf.reshape(tf.range(1, 2 * size + 1), [1, 1, size, 2])
    columns = {"tokens": ids}
    if not ends:
        columns["characters"] = letters
    one = Reading(("x",) * size, np.ones(size, bool), columns, ends)
    rows = one.prefixes()["tokens"].numpy()[0]
    assert rows.shape == (size, size)
    for row in range(4):
        read = [n for n in rows[row] if n]
        assert read == [*[3, 5, 6, 7][: row + 1], *ends]
    for row in range(4, size):
        assert rows[row].tolist() == ids.numpy()[0, 0].tolist()
    if not ends:
        cut = one.prefixes()["characters"].numpy()[0]
        assert cut[1].tolist() == [[1, 2], [3, 4], [0, 0], [0, 0]]
