import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.training.losses import auxiliary_loss
from mtl_tf.training.optimizers import optimizers
from mtl_tf.training.optimizers.accumulating import split_rows
from mtl_tf.training.pieces import Piece
from tests.training import toy
from tests.training.toy import assert_same, run, trained


@pytest.mark.extended
def test_loss_and_update_follow_the_definition_for_one_step(tmp_path):
    batch = toy.batch(1)
    stage = toy.Stage(tmp_path, optimizer="sgd")
    seed = tf.constant([stage.trainer.seed, 1])
    before = [v.numpy() for v in stage.model.trainable_variables]
    with tf.GradientTape() as tape:
        outputs = stage.model(batch, training=True, seed=seed)
        mean = tf.reduce_mean(outputs["loss"])
    gradients = tape.gradient(
        mean, [v.value for v in stage.model.trainable_variables]
    )
    iterator = stage.trainer.iterate(lambda r, part: toy.dataset(1, r))
    report = run(stage, iterator, 1)
    np.testing.assert_allclose(report.loss_sum, [0, float(mean)], rtol=1e-6)
    np.testing.assert_array_equal(report.loss_count, [0, 1])
    # Task 1 has the loss weight 2.
    for start, gradient, variable in zip(
        before, gradients, stage.model.trainable_variables
    ):
        expected = start - 0.1 * 2.0 * tf.convert_to_tensor(gradient)
        np.testing.assert_allclose(variable.numpy(), expected, atol=1e-6)


@pytest.mark.extended
def test_filler_rows_change_nothing(tmp_path):
    def other_filler(step, full):
        row = -1 if step % 2 == 0 else slice(0, 0)
        full["tokens"][:, row] = 7
        full["label"][:, row] = 1
        return full

    plain = toy.Stage(tmp_path / "a", total_steps=4).run()
    other = toy.Stage(tmp_path / "b", total_steps=4, change=other_filler).run()
    assert_same(plain, other)


@pytest.mark.extended
def test_steps_per_call_do_not_change_the_result(tmp_path):
    one = toy.Stage(tmp_path / "a", steps_per_call=1).run()
    many = toy.Stage(tmp_path / "b", steps_per_call=4).run()
    assert_same(one, many)


@pytest.mark.extended
@pytest.mark.parametrize(
    "weighting, clip_norm", [("static", 0.0), ("uncertainty", 0.05)]
)
def test_two_replicas_take_the_step_of_one_device(
    tmp_path, two_replicas, weighting, clip_norm, no_dropout
):
    settings = {
        "optimizer": "adam",
        "weighting": weighting,
        "clip_norm": clip_norm,
        "groups": 2,
    }
    one, first = trained(tmp_path / "a", **settings)
    two, second = trained(tmp_path / "b", strategy=two_replicas, **settings)
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    np.testing.assert_array_equal(second.loss_count, [6, 6])
    assert_same(one, two, 2e-6)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("shards", "weighting"), [(2, "static"), (5, "uncertainty")]
)
def test_shards_take_the_step_of_the_whole(
    tmp_path, shards, weighting, no_dropout
):
    """Also uneven ones, and empty ones: the batches have four rows."""
    settings = {"optimizer": "adam", "weighting": weighting, "groups": 2}
    one, first = trained(tmp_path / "a", **settings)
    many, second = trained(tmp_path / "b", shards=shards, **settings)
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    np.testing.assert_array_equal(second.loss_count, [6, 6])
    assert_same(one, many, 2e-6)


@pytest.mark.extended
@pytest.mark.parametrize(
    "optimizer",
    [
        "adam",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in sorted(set(optimizers.OPTIMIZERS) - {"adam"})
        ),
    ],
)
def test_accumulated_steps_are_those_of_the_whole_batch(
    tmp_path, optimizer, no_dropout
):
    """Also of filler rows, repeated words, and a norm over the whole."""
    settings = {"optimizer": optimizer, "clip_norm": 0.05, "groups": 2}
    one, first = trained(tmp_path / "a", **settings)
    many, second = trained(tmp_path / "b", accumulate=4, **settings)
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    np.testing.assert_array_equal(second.loss_count, [6, 6])
    assert_same(one, many, 3e-6)


@pytest.mark.extended
@pytest.mark.parametrize(
    "options",
    [
        {"accumulate": 3, "shards": 2},  # uneven and empty parts
        {"accumulate": 2, "weighting": "uncertainty"},
        {"accumulate": 2, "replicas": True},
        {"accumulate": 2, "precision": "mixed_float16"},
    ],
)
def test_parts_of_steps_are_split_further(
    tmp_path, two_replicas, options, no_dropout
):
    settings = dict(options)
    if settings.pop("replicas", False):
        settings["strategy"] = two_replicas
    plain = {k: v for k, v in options.items() if k == "weighting"}
    one, first = trained(tmp_path / "a", optimizer="adam", groups=2, **plain)
    many, second = trained(
        tmp_path / "b", optimizer="adam", groups=2, **settings
    )
    np.testing.assert_allclose(first.loss_sum, second.loss_sum, rtol=1e-5)
    for a, b in zip(one.model.variables, many.model.variables):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=3e-6)


def test_parts_of_a_step_drop_different_inputs(tmp_path):
    def repeated(step, full):
        full["tokens"][:] = full["tokens"][:, :1]
        full["weight"][:] = 1
        return full

    stage = toy.Stage(tmp_path, accumulate=2)
    batch = tf.nest.map_structure(tf.constant, repeated(0, toy.batch(0)))
    seed = tf.constant([stage.trainer.seed, 0])
    both, _ = stage.trainer._in_parts(Piece(batch), seed, 1.0)
    part = Piece(split_rows(batch, 2)[0])
    half = stage.trainer._together(part, seed, 0.5)[0][1]
    # With one seed both parts would drop the same.
    same = 2 * tf.convert_to_tensor(half)
    assert np.abs(tf.convert_to_tensor(both[1]) - same).max() > 1e-4


def test_no_gradient_is_computed_below_what_is_trained(tmp_path):
    """A frozen table is not even looked up in backwards."""
    stage = toy.Stage(tmp_path)
    asked = []

    @tf.custom_gradient
    def seen(x):
        def backward(slope):
            asked.append(slope.shape)
            return slope

        return tf.identity(x), backward

    plain = tf.gather

    class Below(toy.Toy):
        def call(self, batch, training=False, seed=None):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(
                    tf,
                    "gather",
                    lambda table, *rest: (
                        seen(plain(table, *rest))
                        if table is self.table.value
                        else plain(table, *rest)
                    ),
                )
                return super().call(batch, training, seed)

    model = Below()
    stage.trainer.model = model
    for variables, count in (([model.stack], 0), ([*model.variables], 1)):
        asked.clear()
        stage.trainer.variables = variables
        seed = tf.constant([1, 2])
        batch = tf.nest.map_structure(tf.constant, toy.batch(0))
        found, _ = stage.trainer._together(Piece(batch), seed, 1.0)
        assert len(found) == len(variables) and len(asked) == count


def test_shards_drop_different_inputs(tmp_path):
    def repeated(step, full):
        full["tokens"][:] = full["tokens"][:, :1]
        full["weight"][:] = 1
        return full

    stage = toy.Stage(tmp_path, change=repeated, shards=2)
    batch = repeated(0, toy.batch(0))
    seed = tf.constant([stage.trainer.seed, 0])
    both, _ = stage.trainer._in_shards(Piece(batch), seed, 1.0)
    halves = [
        stage.trainer._together(Piece(part), seed, 0.5)[0]
        for part in split_rows(tf.nest.map_structure(tf.constant, batch), 2)
    ]
    # With one seed both halves would drop the same.
    same = tf.convert_to_tensor(halves[0][1]) + halves[1][1]
    assert np.abs(tf.convert_to_tensor(both[1]) - same).max() > 1e-4


@pytest.mark.extended
def test_a_scaled_loss_takes_the_step_of_the_plain_one(tmp_path):
    plain, _ = trained(tmp_path / "a", clip_norm=0.05)
    scaled, report = trained(
        tmp_path / "b", clip_norm=0.05, precision="mixed_float16"
    )
    assert float(scaled.optimizer.dynamic_scale.numpy()) == 2.0**15
    assert int(report.bad_step) == -1
    for a, b in zip(plain.model.variables, scaled.model.variables):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-6)


def test_a_step_that_overflows_is_left_out(tmp_path):
    stage = toy.Stage(tmp_path, precision="mixed_float16")
    stage.optimizer.dynamic_scale.assign(1e38)  # twice the loss is inf
    before = [v.numpy() for v in stage.model.variables]

    def large(step, full):
        full["weight"][:] *= 100 if step == 0 else 1
        return full

    iterator = stage.trainer.iterate(lambda r, part: toy.dataset(0, r, large))
    run(stage, iterator, 1)
    for old, new in zip(before, stage.model.variables):
        np.testing.assert_array_equal(old, new.numpy())
    assert float(stage.optimizer.dynamic_scale.numpy()) == pytest.approx(5e37)
    stage.optimizer.dynamic_scale.assign(2.0**10)
    run(stage, iterator, 1)
    assert np.any(before[0] != stage.model.variables[0].numpy())


def test_clipping_bounds_the_whole_step(tmp_path):
    start = toy.Stage(tmp_path / "c", optimizer="sgd").values()
    stage, _ = trained(tmp_path / "a", steps=1, optimizer="sgd", clip_norm=0.01)
    moved = [a - b for a, b in zip(stage.values(), start)][:2]
    norm = np.sqrt(sum(np.sum(m**2) for m in moved))
    np.testing.assert_allclose(norm, 0.1 * 0.01, rtol=1e-4)


@pytest.mark.extended
def test_uncertainty_learns_a_weight_per_task(tmp_path):
    stage = toy.Stage(
        tmp_path, optimizer="sgd", weighting="uncertainty", total_steps=3
    )
    stage.run()
    first, second = stage.weights.values()
    assert first != 1.0 and second != 2.0


@pytest.mark.extended
def test_dropout_is_a_function_of_seed_and_step(tmp_path):
    one, _ = trained(tmp_path / "a")
    again, _ = trained(tmp_path / "b")
    assert_same(one, again)
    other = toy.Stage(tmp_path / "c")
    other.trainer.seed += 1
    iterator = other.trainer.iterate(lambda r, part: toy.dataset(0, r))
    run(other, iterator, 6)
    assert np.abs(other.values()[0] - one.values()[0]).max() > 1e-4


@pytest.mark.extended
def test_the_first_bad_loss_is_named(tmp_path):
    def poison(step, full):
        if step == 3:
            full["weight"][0, 0] = np.nan
        return full

    stage = toy.Stage(tmp_path)
    iterator = stage.trainer.iterate(lambda r, part: toy.dataset(0, r, poison))
    report = run(stage, iterator, 8)
    assert (int(report.bad_step), int(report.bad_task)) == (3, 1)


def test_a_loss_of_each_example_is_averaged_over_the_global_batch():
    losses = np.array([[1.0, 2.0, 4.0, 9.0], [3.0, 5.0, 9.0, 9.0]], "f")
    weight = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], "f")
    # By hand: filler rows do not count, each group has its own mean.
    expected = (1 + 2 + 4) / 3 + (3 + 5) / 2

    def loss(cut, shared):
        outputs = {"losses": {"a": losses[:, cut], "b": tf.constant(0.5)}}
        outputs = tf.nest.map_structure(tf.constant, outputs)
        batch = {"weight": weight[:, cut], "normalizer": weight.sum(1)}
        return auxiliary_loss(outputs, batch, shared)

    np.testing.assert_allclose(loss(slice(4), 1.0), expected + 0.5)
    halves = loss(slice(2), 0.5) + loss(slice(2, 4), 0.5)
    np.testing.assert_allclose(halves, expected + 0.5)


@pytest.mark.extended
def test_the_time_of_replicas_is_limited(tmp_path, two_replicas):
    """Their variables are no numbers to Python's `float`."""
    timed = {"total_steps": 60, "max_seconds": 1e-6}
    stage = toy.Stage(tmp_path, two_replicas, **timed).run()
    assert [entry["step"] for entry in stage.records] == [1]
    assert toy.Stage(tmp_path, two_replicas, **timed).run().records == []
