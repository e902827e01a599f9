"""Optimizers and learning rate schedules of the user's own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.optimizers import learning_rates
from mtl_tf.training.optimizers.exact_sparse import VariableOptions
from mtl_tf.training.optimizers.learning_rates import WarmupThen
from mtl_tf.training.optimizers.optimizers import make_optimizer
from tests.training import toy
from tests.training.killing import run_killed

CODE = """
import tensorflow as tf

def stairs(progress, step, warmup):
    return tf.pow(0.5, tf.floor(4.0 * progress))

def wide(progress, step, warmup):
    return tf.stack([progress, step])

def fails(progress, step, warmup):
    return progress.nothing()
"""


STAGE = """
from tests.training import toy
toy.Stage(arguments[0], optimizer="keras.optimizers:Lion", steps_per_call=1,
          checkpoint_seconds=0.0).run()
"""


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)


def test_an_optimizer_of_keras_moves_the_rows_of_a_steps_task_alone():
    name = "keras.optimizers:Lion"
    optimizer = make_optimizer({"name": name, "options": {"beta_1": 0.5}}, 0.1)
    table = keras.Variable(np.ones([4, 2], "float32"))
    dense = keras.Variable(np.ones([2], "float32"))
    optimizer.configure(
        [table, dense], [VariableOptions(parts=2), VariableOptions()]
    )

    def step(rows):
        values = tf.ones([len(rows), 2])
        slices = tf.IndexedSlices(values, tf.constant(rows), [4, 2])
        optimizer.apply([slices, tf.ones([2])], [table, dense])

    step([0, 1])
    np.testing.assert_allclose(table[:, 0], [0.9, 0.9, 1, 1], atol=1e-6)
    step([2])  # The other row of the task moves, too, by its momentum.
    np.testing.assert_allclose(table[:2, 0], [0.9, 0.9], atol=1e-6)
    assert float(table[2, 0]) < 1
    np.testing.assert_allclose(dense, [0.8, 0.8], atol=1e-6)
    moments = [v for v in optimizer.variables if v.shape == (2, 2, 2)]
    before = [np.array(v) for v in moments]
    step([3])
    assert moments
    for moment, old in zip(moments, before):
        np.testing.assert_array_equal(moment[0], old[0])
        assert not np.array_equal(moment[1], old[1])


def test_it_moves_the_word_vectors_of_a_step_alone_if_lazy():
    name = "keras.optimizers:Lion"
    optimizer = make_optimizer({"name": name, "options": {}}, 0.1)
    words = keras.Variable(np.ones([4, 2], "float32"))
    optimizer.configure([words], [VariableOptions(parts=4, lazy=True)])
    [moments] = [v for v in optimizer.variables if v.shape == words.shape]

    def step(rows):
        values = tf.ones([len(rows), 2])
        slices = tf.IndexedSlices(values, tf.constant(rows), [4, 2])
        optimizer.apply([slices], [words])

    step([0, 2])
    before = np.array(words), np.array(moments)
    assert before[0][[0, 2]].max() < 1 and before[1][[0, 2]].min() > 0
    step([1])
    for value, old in zip((words, moments), before):
        np.testing.assert_array_equal(value[0], old[0])
        np.testing.assert_array_equal(value[2:], old[2:])
        assert not np.array_equal(value[1], old[1])


def test_its_weight_decay_leaves_the_rows_of_other_tasks():
    config = {"name": "keras.optimizers:AdamW", "options": {"weight_decay": 1}}
    optimizer = make_optimizer(config, 0.1)
    table = keras.Variable(np.ones([4, 1], "float32"))
    dense = keras.Variable(np.ones([1], "float32"))
    optimizer.configure(
        [table, dense],
        [VariableOptions(parts=2), VariableOptions(rate_factor=0.5)],
    )
    slices = tf.IndexedSlices(tf.zeros([2, 1]), tf.constant([0, 1]), [4, 1])
    optimizer.apply([slices, tf.zeros([1])], [table, dense])
    np.testing.assert_allclose(table[:, 0], [0.9, 0.9, 1, 1], atol=1e-6)
    # Its learning rate is half as high.
    np.testing.assert_allclose(dense, [0.95], atol=1e-6)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"name": "keras.optimizers:Lion", "options": {"beta": 0.5}},
            "no option 'beta'; did you mean 'beta_",
        ),
        (
            {"name": "keras.optimizers:Lion", "options": {"beta_1": 2.0}},
            "keras.optimizers:Lion cannot be made: .*beta_1",
        ),
        (
            {"name": "keras.optimizers:Lion", "options": {"clipnorm": 1.0}},
            "no option 'clipnorm'",
        ),
        ({"name": "mine.py:stairs"}, "must be a class of .*Optimizer"),
        ({"name": "keras.optimizers:Optimizer"}, "needs a method update_step"),
    ],
)
def test_wrong_optimizers(config, message):
    with pytest.raises(ConfigError, match=message):
        make_optimizer(config, 0.1)


def test_a_schedule_is_a_function_of_progress():
    rates = WarmupThen(0.8, "mine.py:stairs", 2, 10)
    found = [float(rates(tf.constant(step))) for step in range(10)]
    expected = [0.4, 0.8, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert learning_rates.decays("mine.py:stairs")
    assert not learning_rates.decays("constant")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wide", "must return a scalar"),
        ("fails", "mine.py:11: in fails: AttributeError"),
        ("nothing", "has no function 'nothing'"),
    ],
)
def test_wrong_schedules(name, message):
    with pytest.raises(ConfigError, match=message):
        WarmupThen(0.8, f"mine.py:{name}", 0, 10)


@pytest.mark.extended
def test_kill_9_resumes_bit_equal(tmp_path, monkeypatch):
    monkeypatch.undo()  # The program finds the tests from where pytest began.
    run_killed(STAGE, 6, tmp_path / "a")
    settings = {"optimizer": "keras.optimizers:Lion"}
    resumed = toy.Stage(tmp_path / "a", **settings)
    assert resumed.checkpoints.restore() == 6
    resumed.run()
    whole = toy.Stage(tmp_path / "b", **settings).run()
    toy.assert_same(resumed, whole)
