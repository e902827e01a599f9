"""Steps of several batches: tasks that have no graph in common."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.training.balancing.gradient_surgery import projection_order
from mtl_tf.training.balancing.group_gradients import GroupedGradients
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.pieces import Piece
from tests.training import toy
from tests.training.balancing_references import grad_norm_step, projected_sum
from tests.training.toy import assert_same, trained

TASKS, WORDS, WIDTH = 3, 9, 3
SHARED = ("table", "kernel", "other", "tagger")
STEP = 11


class TwoKinds(keras.Model):
    """Tasks of one kind label texts, those of the other every word.

    Both share the word vectors and a kernel, and `other`, which one looks up
    and the other multiplies; `tagger` is of all tasks of one kind.
    """

    def __init__(self, extra=0.0):
        super().__init__()
        shapes = {
            "table": (WORDS, WIDTH),
            "kernel": (WIDTH, WIDTH),
            "other": (WORDS, WIDTH),
            "tagger": (WIDTH,),
            "stack": (TASKS, WIDTH),
        }
        draw = keras.initializers.RandomNormal(stddev=0.5, seed=3)
        for name, shape in shapes.items():
            weight = self.add_weight(shape=shape, initializer=draw, name=name)
            setattr(self, name, weight)
        self.names, self.extra, self.seeds = tuple(shapes), extra, []
        self.built = True

    def call(self, batch, training=False, seed=None, key=None):
        if seed is not None:
            tf.py_function(
                lambda s: self.seeds.append(tuple(s.numpy())), [seed], []
            )
        tokens = batch["tokens"]
        x = tf.gather(self.table.value, tokens) @ self.kernel.value
        if key == "tags":
            x += tf.gather(self.other.value, tokens) * self.tagger.value
        else:
            x += tf.one_hot(tokens, WORDS) @ self.other.value
            x = tf.reduce_sum(x, 2, keepdims=True)
        row = tf.gather(self.stack.value, batch["task"])[:, None, None]
        logit = tf.reduce_sum(tf.tanh(x) * row, -1)
        target = tf.cast(batch["target"], tf.float32)
        each = tf.nn.sigmoid_cross_entropy_with_logits(target, logit)
        loss = tf.reduce_mean(each, -1)
        losses = {}
        if self.extra:
            losses["size"] = self.extra * tf.reduce_sum(self.kernel.value**2)
        return {"loss": loss, "losses": losses}


def batch(tasks, rows, length, targets):
    """A batch with a padding row; what helps one task harms another."""
    draw = np.random.default_rng(rows)
    tokens = draw.integers(0, WORDS, (len(tasks), rows, length)).astype("i")
    target = (tokens[..., :targets] + np.array(tasks)[:, None, None]) % 2
    weight = np.ones((len(tasks), rows), "f")
    weight[:, -1] = 0.0
    return {
        "task": tf.constant(tasks),
        "tokens": tf.constant(tokens),
        "target": tf.constant(target.astype("i")),
        "weight": tf.constant(weight),
        "normalizer": tf.constant(weight.sum(1)),
        "step": tf.constant(STEP, tf.int64),
    }


def step_of():
    """Two tasks of one kind and one of the other, of other rows and lengths."""
    return [
        Piece(batch([2, 0], 6, 5, 1), "label"),
        Piece(batch([1], 4, 7, 7), "tags"),
    ]


def one_by_one(model, names):
    """Each task's loss and dense gradients, [tasks, n], in a step's order."""
    losses, rows = [], []
    for full, key in step_of():
        for group in range(len(full["task"])):
            own = {
                name: value[group : group + 1]
                for name, value in full.items()
                if name != "step"
            }
            with tf.GradientTape() as tape:
                loss = model(own, key=key)["loss"] * own["weight"]
                loss = tf.reduce_sum(loss) / own["normalizer"][0]
            values = [getattr(model, name).value for name in names]
            rows.append(
                flat(tape.gradient(loss, values, unconnected_gradients="zero"))
            )
            losses.append(float(loss))
    return np.array(losses), np.stack(rows)


def flat(gradients):
    dense = [tf.convert_to_tensor(g).numpy().ravel() for g in gradients]
    return np.concatenate(dense).astype(np.float64)


def computed(model, weighting, surgery="none"):
    """What a step computes: gradients by name, losses, and what did it."""
    variables = [getattr(model, name) for name in model.names]
    shared = [getattr(model, name) for name in SHARED]
    grouped = GroupedGradients(
        model, weighting, variables, shared, shared, surgery, seed=1
    )
    step = tf.function(
        lambda: grouped(step_of(), tf.constant([1, 2]), 1.0), autograph=False
    )
    gradients, loss = step()
    return dict(zip(model.names, gradients)), loss.numpy(), grouped


def static():
    return make_loss_weighting("static", [1.0] * TASKS)


@pytest.mark.extended
def test_surgery_projects_the_gradients_of_all_kinds():
    model = TwoKinds()
    got, loss, grouped = computed(model, static(), "pcgrad")
    losses, shared = one_by_one(model, SHARED)
    order = projection_order(TASKS, tf.constant([grouped.seed, STEP])).numpy()
    expected, projections = projected_sum(shared, order)
    # Two tasks of one kind have two at most: also of different kinds.
    assert projections > 2
    found = flat(got[name] for name in SHARED)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - shared.sum(0)).max() > 1e-3
    private = one_by_one(model, ["stack"])[1].sum(0)
    np.testing.assert_allclose(flat([got["stack"]]), private, atol=1e-6)
    np.testing.assert_allclose(loss, losses, rtol=1e-6)


@pytest.mark.extended
def test_gradnorm_moves_the_factors_of_all_kinds():
    """By the norms on what all tasks share; `tagger` is of one kind."""
    model = TwoKinds()
    options = {"alpha": 0.7, "learning_rate": 1.0}
    weighting = make_loss_weighting("gradnorm", [1.0] * TASKS, **options)
    weighting.factors.assign([0.6, 1.7, 0.7])
    first = np.array([0.9, 0.4, 0.8])
    weighting.first_losses.assign(first)
    got, _, _ = computed(model, weighting)
    losses, gradients = one_by_one(model, ["table", "kernel", "other"])
    task, factors = np.array([2, 0, 1]), np.array([0.6, 1.7, 0.7])
    norms = np.linalg.norm(gradients, axis=1)
    expected = grad_norm_step(factors, first, task, losses, norms, 0.7, 1.0)
    np.testing.assert_allclose(weighting.factors.numpy(), expected, rtol=1e-4)
    assert np.abs(expected - factors).max() > 1e-3
    # The step itself has the factors from before.
    _, every = one_by_one(model, model.names)
    found = flat(got[name] for name in model.names)
    np.testing.assert_allclose(found, factors[task] @ every, atol=1e-6)


@pytest.mark.extended
def test_losses_of_the_scheme_are_added_for_every_kind():
    plain, _, _ = computed(TwoKinds(), static(), "pcgrad")
    model = TwoKinds(extra=0.5)
    got, _, _ = computed(model, static(), "pcgrad")
    # Each piece has it once, as a step of its own would have.
    expected = flat([plain["kernel"]]) + 2 * model.kernel.numpy().ravel()
    np.testing.assert_allclose(flat([got["kernel"]]), expected, atol=1e-6)


@pytest.mark.extended
def test_all_groups_of_a_step_drop_different_words():
    model = TwoKinds()
    computed(model, static())
    assert len(set(model.seeds)) == len(model.seeds) == TASKS


@pytest.mark.extended
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            {"weighting": "uncertainty", "clip_norm": 0.05},
            marks=pytest.mark.extended,
        ),
        {"weighting": "gradnorm", "surgery": "pcgrad"},
    ],
)
def test_two_replicas_take_the_step_of_one_device(
    tmp_path, two_replicas, no_dropout, method
):
    settings = {"optimizer": "sgd", "data": toy.pieces, "key": toy.KEYS}
    settings |= method
    one, first = trained(tmp_path / "a", **settings)
    two, second = trained(tmp_path / "b", strategy=two_replicas, **settings)
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    np.testing.assert_array_equal(second.loss_count, [6, 6])
    assert_same(one, two, 2e-6)


@pytest.mark.extended
def test_the_parts_of_a_step_give_the_gradients_of_the_whole(
    tmp_path, no_dropout
):
    settings = {"optimizer": "adam", "data": toy.pieces, "key": toy.KEYS}
    one, first = trained(tmp_path / "a", **settings)
    two, second = trained(tmp_path / "b", **settings, accumulate=2, shards=2)
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    assert_same(one, two, 2e-6)


@pytest.mark.extended
def test_a_step_has_the_sum_of_its_pieces_gradients(tmp_path, no_dropout):
    settings = {"optimizer": "sgd", "data": toy.pieces, "key": toy.KEYS}
    stage, report = trained(tmp_path / "a", steps=1, **settings)
    start = toy.Stage(tmp_path / "b", optimizer="sgd").model
    batches = next(iter(toy.pieces(0)))
    with tf.GradientTape() as tape:
        losses = [
            tf.reduce_sum(start(full, key=key)["loss"] * full["weight"])
            / full["normalizer"][0]
            for full, key in zip(batches, toy.KEYS)
        ]
        # Task 1 has the loss weight 2.
        total = losses[0] + 2.0 * losses[1]
    values = [variable.value for variable in start.variables]
    gradients = tape.gradient(total, values)
    np.testing.assert_allclose(report.loss_sum, losses, rtol=1e-6)
    for value, gradient, got in zip(values, gradients, stage.model.variables):
        expected = value - 0.1 * tf.convert_to_tensor(gradient)
        np.testing.assert_allclose(got.numpy(), expected, atol=1e-6)


@pytest.mark.extended
def test_a_continued_training_ends_with_the_same_weights(tmp_path):
    settings = {"weighting": "gradnorm", "surgery": "pcgrad"}
    settings |= {"data": toy.pieces, "key": toy.KEYS}
    toy.Stage(tmp_path / "a", total_steps=5, **settings).run()
    continued = toy.Stage(tmp_path / "a", total_steps=10, **settings).run()
    whole = toy.Stage(tmp_path / "b", total_steps=10, **settings).run()
    assert continued.weights.values() != [1.0, 2.0]
    assert_same(continued, whole)
