"""PCGrad against the paper's algorithm in NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.training.balancing.gradient_surgery import (
    pcgrad_weights,
    projection_order,
)
from mtl_tf.training.balancing.group_gradients import GroupedGradients
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.pieces import Piece
from tests.training import toy
from tests.training.balancing_references import projected_sum
from tests.training.toy import assert_same, trained

GROUPS, WORDS, WIDTH = 4, 9, 3


def test_the_combination_is_the_sum_of_the_projected_gradients():
    rng = np.random.default_rng(0)
    for step in range(20):
        gradients = rng.normal(size=(6, 4))
        order = projection_order(6, tf.constant([7, step])).numpy()
        expected, projections = projected_sum(gradients, order)
        assert projections > 3
        products = tf.constant(gradients @ gradients.T)
        weights = pcgrad_weights(products, tf.constant(order)).numpy()
        np.testing.assert_allclose(weights @ gradients, expected, atol=1e-9)


def test_gradients_without_conflict_are_only_added():
    gradients = np.abs(np.random.default_rng(1).normal(size=(5, 3)))
    gradients[2] = 0.0
    order = projection_order(5, tf.constant([0, 0]))
    products = tf.constant(gradients @ gradients.T, tf.float32)
    np.testing.assert_array_equal(pcgrad_weights(products, order), np.ones(5))


def test_a_task_without_gradient_divides_nothing():
    products = tf.constant([[1.0, -1e-20], [-1e-20, 0.0]])
    order = tf.constant([[1, 0], [0, 1]])
    weights = pcgrad_weights(products, order).numpy()
    np.testing.assert_allclose(weights, [1.0, 1.0])


def test_the_order_is_random_and_a_function_of_seed_and_step():
    order = projection_order(8, tf.constant([3, 5])).numpy()
    np.testing.assert_array_equal(np.sort(order), [range(8)] * 8)
    assert len({tuple(row) for row in order}) > 6
    again = projection_order(8, tf.constant([3, 5])).numpy()
    np.testing.assert_array_equal(order, again)
    for seed in ([3, 6], [4, 5]):
        assert (projection_order(8, tf.constant(seed)).numpy() != order).any()


class Conflicting(keras.Model):
    """Shared words and kernel, and an output row of each task's own."""

    def __init__(self, extra=0.0):
        super().__init__()
        draw = keras.initializers.RandomNormal(seed=3)
        self.table = self.add_weight(
            shape=(WORDS, WIDTH), initializer=draw, name="table"
        )
        self.kernel = self.add_weight(
            shape=(WIDTH, WIDTH), initializer=draw, name="kernel"
        )
        self.stack = self.add_weight(
            shape=(GROUPS, WIDTH), initializer=draw, name="stack"
        )
        self.unused = self.add_weight(shape=(2,), name="unused")
        self.extra = extra
        self.built = True

    def call(self, batch, training=False, seed=None):
        x = tf.gather(self.table.value, batch["tokens"])
        x = tf.tanh(tf.reduce_sum(x @ self.kernel.value, 2))
        row = tf.gather(self.stack.value, batch["task"])
        logit = tf.reduce_sum(x * row[:, None], -1)
        label = tf.cast(batch["label"], tf.float32)
        loss = tf.nn.sigmoid_cross_entropy_with_logits(label, logit)
        losses = {}
        if self.extra:
            losses["size"] = self.extra * tf.reduce_sum(self.table.value**2)
            losses["zero"] = 0.0 * loss * tf.cast(batch["step"], tf.float32)
        return {"loss": loss, "losses": losses}


def batch():
    """Labels by task: what helps one task harms another."""
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, WORDS, (GROUPS, 6, 5)).astype("i")
    labels = (tokens[..., 0] + np.arange(GROUPS)[:, None]) % 2
    return {
        "task": tf.constant([2, 0, 3, 1]),
        "tokens": tf.constant(tokens),
        "label": tf.constant(labels.astype("i")),
        "weight": tf.ones([GROUPS, 6]),
        "normalizer": tf.fill([GROUPS], 6.0),
        "step": tf.constant(11, tf.int64),
    }


def one_by_one(model, full, names):
    """Each group's dense gradients, [G, n], by a tape of its own."""
    rows = []
    for group in range(GROUPS):
        piece = {
            k: v[group : group + 1] for k, v in full.items() if k != "step"
        }
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(piece)["loss"])
        gradients = tape.gradient(
            loss, [getattr(model, n).value for n in names]
        )
        dense = [tf.convert_to_tensor(g).numpy().ravel() for g in gradients]
        rows.append(np.concatenate(dense).astype(np.float64))
    return np.stack(rows)


def computed(model, full, surgery="pcgrad", shared=("table", "kernel")):
    """Gradients by name as a step computes them, dense."""
    names = ["table", "kernel", "stack", "unused"]
    grouped = GroupedGradients(
        model,
        make_loss_weighting("static", [1.0] * GROUPS),
        [getattr(model, name) for name in names],
        [getattr(model, name) for name in shared],
        surgery=surgery,
        seed=1,
    )
    step = tf.function(lambda b: grouped([Piece(b)], tf.constant([1, 2]), 1.0))
    gradients, _ = step(full)
    return grouped, dict(zip(names, gradients))


def flat(*gradients):
    dense = [tf.convert_to_tensor(g).numpy().ravel() for g in gradients]
    return np.concatenate(dense)


@pytest.mark.extended
def test_a_step_projects_the_shared_gradients_and_only_those():
    model, full = Conflicting(), batch()
    grouped, got = computed(model, full)
    assert isinstance(got["table"], tf.IndexedSlices)
    assert got["unused"] is None
    shared = one_by_one(model, full, ["table", "kernel"])
    order = projection_order(GROUPS, tf.constant([grouped.seed, 11])).numpy()
    expected, projections = projected_sum(shared, order)
    assert projections > 2
    np.testing.assert_allclose(
        flat(got["table"], got["kernel"]), expected, atol=1e-6
    )
    private = one_by_one(model, full, ["stack"]).sum(0)
    np.testing.assert_allclose(flat(got["stack"]), private, atol=1e-6)


@pytest.mark.extended
def test_without_surgery_the_gradients_are_those_of_the_sum():
    model, full = Conflicting(), batch()
    _, plain = computed(model, full, surgery="none")
    names = ["table", "kernel", "stack"]
    expected = one_by_one(model, full, names).sum(0)
    summed = flat(*(plain[name] for name in names))
    np.testing.assert_allclose(summed, expected, atol=1e-6)
    # Nor are they others with surgery on weights that have no gradient.
    _, got = computed(model, full, shared=("unused",))
    np.testing.assert_array_equal(flat(*(got[name] for name in names)), summed)


@pytest.mark.extended
def test_losses_of_the_scheme_are_added_whole_and_once():
    full = batch()
    _, plain = computed(Conflicting(), full)
    model = Conflicting(extra=0.5)
    _, got = computed(model, full)
    np.testing.assert_allclose(
        flat(got["table"]),
        flat(plain["table"]) + model.table.numpy().ravel(),
        atol=1e-6,
    )
    np.testing.assert_allclose(flat(got["stack"]), flat(plain["stack"]))


@pytest.mark.extended
def test_groups_drop_different_words():
    seeds = []

    class Watching(Conflicting):
        def call(self, batch, training=False, seed=None):
            tf.py_function(lambda s: seeds.append(tuple(s.numpy())), [seed], [])
            return super().call(batch, training, seed)

    computed(Watching(), batch())
    assert len(set(seeds)) == GROUPS


def opposed(step, full):
    """The second task's labels are the opposite of the first's."""
    full["tokens"][1] = full["tokens"][0]
    full["label"][1] = 1 - full["label"][0]
    return full


@pytest.mark.extended
@pytest.mark.parametrize(
    "weighting",
    [
        # The others do all that it does, and move weights besides.
        pytest.param("static", marks=pytest.mark.slow),
        pytest.param("uncertainty", marks=pytest.mark.extended),
        "gradnorm",
    ],
)
def test_two_replicas_take_the_step_of_one_device(
    tmp_path, two_replicas, no_dropout, monkeypatch, weighting
):
    dataset = toy.dataset
    monkeypatch.setattr(
        toy,
        "dataset",
        lambda start, replicas=1, change=None, groups=1, part=None: dataset(
            start, replicas, opposed, groups, part
        ),
    )
    settings = {"groups": 2, "weighting": weighting, "optimizer": "sgd"}
    surgery = {**settings, "surgery": "pcgrad"}
    one, first = trained(tmp_path / "a", **surgery)
    two, second = trained(tmp_path / "b", strategy=two_replicas, **surgery)
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    assert_same(one, two, 2e-6)
    # There are conflicts, whatever the weights: without surgery the words end
    # elsewhere.
    if weighting == "uncertainty":
        plain, _ = trained(tmp_path / "c", **settings)
        moved = plain.model.table.numpy() - one.model.table.numpy()
        assert np.abs(moved).max() > 1e-4


@pytest.mark.extended
def test_a_continued_training_ends_with_the_same_weights(tmp_path):
    settings = {"groups": 2, "weighting": "gradnorm", "surgery": "pcgrad"}
    toy.Stage(tmp_path / "a", total_steps=5, **settings).run()
    continued = toy.Stage(tmp_path / "a", total_steps=10, **settings).run()
    whole = toy.Stage(tmp_path / "b", total_steps=10, **settings).run()
    assert continued.weights.values() != [1.0, 2.0]
    assert_same(continued, whole)
