import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.optimizers import optimizers
from mtl_tf.training.optimizers.exact_sparse import VariableOptions

STOCK = {
    "sgd": (keras.optimizers.SGD, 0.3, {}),
    "sgd_momentum": (keras.optimizers.SGD, 0.3, {"momentum": 0.9}),
    "sgd_nesterov": (
        keras.optimizers.SGD,
        0.3,
        {"momentum": 0.9, "nesterov": True},
    ),
    "adagrad": (keras.optimizers.Adagrad, 0.3, {}),
    "adam": (keras.optimizers.Adam, 0.1, {}),
    "adamw": (keras.optimizers.AdamW, 0.1, {"weight_decay": 0.5}),
    "adadelta": (keras.optimizers.Adadelta, 1.0, {}),
}
# TensorFlow's Adam rounds 1 - 0.999 to float32, Keras's does not.
TOLERANCE = {name: 1e-5 if name.startswith("adam") else 1e-6 for name in STOCK}
WORDS = np.array([[1, 1, 3], [3, 1, 1], [0, 4, 4], [2, 2, 2]])


def table(seed=0):
    return np.random.default_rng(seed).normal(size=(6, 3)).astype("f")


def slopes(step):
    # The slices of a repeated row disagree in sign, which is where squaring
    # each slice by itself goes furthest astray.
    return np.random.default_rng(9 + step).normal(size=(3, 3)).astype("f")


def ours(name, **more):
    _, rate, options = STOCK[name]
    return optimizers.make_optimizer(
        {"name": name.split("_")[0], "options": {**options, **more}}, rate
    )


def dense_path(name, l2=0.0, words=WORDS):
    """The stock Keras optimizer on gradients that were made dense."""
    cls, rate, options = STOCK[name]
    variable = keras.Variable(table())
    optimizer = cls(learning_rate=rate, **options)
    for step, row in enumerate(words):
        gradient = np.zeros((6, 3), "f")
        np.add.at(gradient, row, slopes(step))
        if l2:
            gradient[row] += l2 * variable.numpy()[row]
        optimizer.apply([tf.constant(gradient)], [variable])
    return variable.numpy()


def sparse_path(name, l2=0.0, lazy=False, words=WORDS, factor=1.0):
    variable = keras.Variable(table())
    optimizer = ours(name)
    parts = len(table()) if lazy else 0
    optimizer.configure([variable], [VariableOptions(l2, factor, parts)])

    @tf.function
    def update(row, slope):
        with tf.GradientTape() as tape:
            picked = tf.gather(variable.value, row)
            loss = tf.reduce_sum(picked * slope)
        optimizer.apply(tape.gradient(loss, [variable.value]), [variable])

    for step, row in enumerate(words):
        update(tf.constant(row), slopes(step))
    return variable.numpy()


@pytest.mark.by_default("adagrad", "adamw", "sgd_momentum", "sgd_nesterov")
@pytest.mark.parametrize("name", STOCK)
def test_repeated_words_give_the_update_of_the_dense_gradient(name):
    np.testing.assert_allclose(
        sparse_path(name), dense_path(name), atol=TOLERANCE[name], rtol=0
    )


@pytest.mark.by_default("adagrad")
@pytest.mark.parametrize("name", STOCK)
def test_a_step_that_xla_compiles_gives_the_same_update(name):
    variable = keras.Variable(table())
    optimizer = ours(name)
    optimizer.configure([variable], [VariableOptions(l2=0.01)], compiled=True)

    @tf.function(jit_compile=True)
    def update(row, slope):
        with tf.GradientTape() as tape:
            picked = tf.gather(variable.value, row)
            loss = tf.reduce_sum(picked * slope)
        optimizer.apply(tape.gradient(loss, [variable.value]), [variable])

    for step, row in enumerate(WORDS):
        update(tf.constant(row), slopes(step))
    np.testing.assert_allclose(
        variable.numpy(), sparse_path(name, l2=0.01), atol=1e-6, rtol=0
    )


def of_parts(name, compiled):
    """A variable of three parts after steps of one or two of them."""
    variable = keras.Variable(table())
    optimizer = ours(name)
    optimizer.configure(
        [variable], [VariableOptions(parts=3)], compiled=compiled
    )

    @tf.function(jit_compile=compiled)
    def update(row):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(variable.value, row) ** 2)
        gradients = tape.gradient(loss, [variable.value])
        optimizer.apply(gradients, [variable])

    for row in ([1, 1], [2, 3], [3, 2], [0, 3]):
        update(tf.constant(row))
    return variable.numpy()


@pytest.mark.by_default("adam", "sgd_momentum")
@pytest.mark.parametrize("name", STOCK)
def test_a_step_that_xla_compiles_moves_the_parts_alike(name):
    """As on a TPU: without tensors whose size depends on the gradient."""
    found = of_parts(name, compiled=True)
    np.testing.assert_allclose(
        found, of_parts(name, compiled=False), atol=1e-6, rtol=0
    )
    np.testing.assert_array_equal(found[4:], table()[4:])
    assert np.abs(found[:4] - table()[:4]).max(axis=1).min() > 0


@pytest.mark.parametrize("name", ["adagrad", "adam"])
def test_stock_keras_differs_so_that_the_test_above_can_fail(name):
    cls, rate, options = STOCK[name]
    variable = keras.Variable(table())
    optimizer = cls(learning_rate=rate, **options)
    for step, row in enumerate(WORDS):
        slices = tf.IndexedSlices(
            tf.constant(slopes(step)), tf.constant(row), tf.constant([6, 3])
        )
        optimizer.apply([slices], [variable])
    assert np.abs(variable.numpy() - dense_path(name)).max() > 1e-3


@pytest.mark.by_default("adadelta")
@pytest.mark.parametrize("name", STOCK)
def test_two_replicas_give_the_update_of_the_whole_batch(name, two_replicas):
    halves = {"row": np.repeat(WORDS, 2, 0), "slope": []}
    for step in range(len(WORDS)):
        first = slopes(step) * [[1], [1], [0]]
        halves["slope"] += [first, slopes(step) - first]
    with two_replicas.scope():
        variable = keras.Variable(table())
        stack = keras.Variable(table(1)[:2])
        optimizer = ours(name)
        optimizer.configure(
            [variable, stack], [VariableOptions(), VariableOptions(parts=2)]
        )

    def replica(row, slope):
        with tf.GradientTape() as tape:
            picked = tf.gather(variable.value, row)
            # Both replicas name row 1 of a stack of tasks.
            task = tf.gather(stack.value, [1])
            loss = tf.reduce_sum(picked * slope) + tf.reduce_sum(
                task * slope[:1]
            )
        variables = [variable, stack]
        gradients = tape.gradient(loss, [v.value for v in variables])
        optimizer.apply(gradients, variables)

    @tf.function
    def update(rows, slopes_):
        two_replicas.run(replica, (rows, slopes_))

    def pieces(values):
        return two_replicas.experimental_distribute_values_from_function(
            lambda c: tf.constant(values[c.replica_id_in_sync_group])
        )

    for step in range(len(WORDS)):
        pair = slice(2 * step, 2 * step + 2)
        update(
            pieces(halves["row"][pair]),
            pieces(np.asarray(halves["slope"][pair], "f")),
        )
    np.testing.assert_allclose(
        variable.numpy(), dense_path(name), atol=TOLERANCE[name], rtol=0
    )
    components = two_replicas.experimental_local_results(variable.value)
    np.testing.assert_array_equal(components[0], components[1])
    assert not np.array_equal(stack.numpy()[1], table(1)[1])
    np.testing.assert_array_equal(stack.numpy()[0], table(1)[0])


@pytest.mark.parametrize("name", STOCK)
def test_lazy_equals_dense_while_every_step_names_every_row(name):
    words = np.array([[0, 1, 2], [2, 1, 0]])
    variable = table()[:3]
    dense = dense_path(name, words=words)[:3]
    lazy = sparse_path(name, lazy=True, words=words)[:3]
    np.testing.assert_allclose(lazy, dense, atol=TOLERANCE[name], rtol=0)
    assert np.abs(lazy - variable).max() > 1e-4


@pytest.mark.parametrize("name", ["adam", "adadelta", "sgd_momentum"])
def test_lazy_leaves_unnamed_rows_alone_where_dense_moves_them(name):
    words = np.array([[0, 1, 2], [3, 3, 3]])
    after_one = sparse_path(name, lazy=True, words=words[:1])
    lazy = sparse_path(name, lazy=True, words=words)
    np.testing.assert_array_equal(lazy[:3], after_one[:3])
    if name != "adadelta":
        moved = np.abs(dense_path(name, words=words)[:3] - after_one[:3])
        assert moved.max() > 1e-4


def alone(name, start, gradients, l2=0.0):
    """The stock Keras optimizer of a variable that only some steps use."""
    cls, rate, options = STOCK[name]
    variable = keras.Variable(start)
    optimizer = cls(learning_rate=rate, **options)
    for gradient in gradients:
        used = np.any(gradient, axis=-1, keepdims=True)
        gradient = gradient + l2 * used * variable.numpy()
        optimizer.apply([tf.constant(gradient, tf.float32)], [variable])
    return variable.numpy()


# By step the tasks whose slices it uses.
STEPS = ([0], [1], [1], [2, 0], [1], [1], [0, 1], [2])


@pytest.mark.by_default("adagrad-1", "adagrad-2", "sgd-2", "sgd_nesterov-2")
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", STOCK)
def test_a_slice_moves_as_if_its_task_were_alone(name, size):
    """Its moments and Adam's step count, too, whatever other tasks do.

    Slices are of one row, as of a stacked weight, or of several, as of a
    task's own word vectors, of which a step may name some.
    """
    draw = np.random.default_rng(2)
    start = draw.normal(size=(3 * size, 4)).astype("f")
    variable, other = keras.Variable(start), keras.Variable(start[:1])
    optimizer = ours(name)
    optimizer.configure(
        [variable, other], [VariableOptions(l2=0.1, parts=3), VariableOptions()]
    )
    gradients = {task: [] for task in range(3)}
    for tasks in STEPS:
        values = draw.normal(size=(len(tasks), 4)).astype("f")
        named = [task * size for task in tasks]  # the first row of each
        for task, value in zip(tasks, values):
            dense = np.zeros((size, 4))
            dense[0] = value
            gradients[task].append(dense)
        slices = tf.IndexedSlices(
            tf.constant(values),
            tf.constant(named),
            tf.constant([3 * size, 4]),
        )
        optimizer.apply([slices, tf.ones([1, 4])], [variable, other])
    for task, own in gradients.items():
        rows = slice(task * size, (task + 1) * size)
        expected = alone(name, start[rows], own, l2=0.1)
        np.testing.assert_allclose(
            variable.numpy()[rows],
            expected,
            atol=2 * TOLERANCE[name],
            err_msg=str(task),
        )
    # What all tasks share is updated by every step.
    shared = alone(name, start[:1], [np.ones((1, 4))] * len(STEPS))
    np.testing.assert_allclose(other.numpy(), shared, atol=2 * TOLERANCE[name])


@pytest.mark.by_default(
    "adadelta-True",
    "adagrad-False",
    "adagrad-True",
    "adam-False",
    "sgd-False",
    "sgd-True",
    "sgd_momentum-False",
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", STOCK)
def test_a_variable_of_one_task_counts_its_own_steps(name, sparse):
    """Such as a decoder's: other tasks' steps do not mention it."""
    start = table()
    variable, other = keras.Variable(start), keras.Variable(start)
    optimizer = ours(name)
    optimizer.configure(
        [variable, other], [VariableOptions(parts=1), VariableOptions()]
    )
    own = []
    for step in range(6):
        gradients, variables = [tf.ones([6, 3])], [other]
        if step % 3 == 2:
            dense = np.zeros((6, 3), "f")
            dense[step - 2] = slopes(step)[0]
            own.append(dense)
            gradient = tf.constant(dense)
            if sparse:
                gradient = tf.IndexedSlices(
                    gradient[step - 2 : step - 1],
                    tf.constant([step - 2]),
                    tf.constant([6, 3]),
                )
            gradients, variables = [gradient, *gradients], [variable, other]
        optimizer.apply(gradients, variables)
    np.testing.assert_allclose(
        variable.numpy(), alone(name, start, own), atol=2e-6
    )


def test_word_vectors_have_step_counts_of_their_own_if_lazy():
    """Else a word that comes late would be taken for one that was there."""
    start, variable = table(), keras.Variable(table())
    optimizer = ours("adam")
    optimizer.configure([variable], [VariableOptions(parts=6)])
    steps = ([5], [5], [5, 2], [0], [2])
    own = {row: [] for row in range(6)}
    for step, rows in enumerate(steps):
        values = slopes(step)[: len(rows)]
        for row, value in zip(rows, values):
            own[row].append(value[None])
        slices = tf.IndexedSlices(
            tf.constant(values), tf.constant(rows), tf.constant([6, 3])
        )
        optimizer.apply([slices], [variable])
    for row, gradients in own.items():
        expected = alone("adam", start[row : row + 1], gradients)
        np.testing.assert_allclose(
            variable.numpy()[row], expected[0], atol=2e-6
        )


@pytest.mark.parametrize("name", ["sgd", "adagrad", "adam"])
def test_l2_is_added_once_to_the_rows_in_use(name):
    np.testing.assert_allclose(
        sparse_path(name, l2=0.05),
        dense_path(name, l2=0.05),
        atol=TOLERANCE[name],
    )


def test_rate_factor_scales_the_update():
    start = table()
    full = sparse_path("sgd") - start
    np.testing.assert_allclose(
        sparse_path("sgd", factor=0.25) - start, full / 4, atol=1e-6
    )


def test_clipping_uses_the_norm_of_the_summed_gradient():
    variable = keras.Variable(np.zeros((3, 1), "f"))
    optimizer = optimizers.make_optimizer({"name": "sgd"}, 1.0)
    optimizer.configure([variable], clip_norm=5.0)
    values = tf.constant([[3.0], [3.0], [8.0]])
    rows = tf.constant([0, 0, 2])
    optimizer.apply([tf.IndexedSlices(values, rows, [3, 1])], [variable])
    # Rows 6 and 8: norm 10, not the 9.06 of three separate slices.
    np.testing.assert_allclose(variable.numpy()[:, 0], [-3.0, 0.0, -4.0])


@pytest.mark.parametrize(
    "config, message",
    [
        ({"name": "adagad"}, "unknown optimizer 'adagad'; did you mean 'ada"),
        ({"name": "adam", "options": {"beta1": 0.9}}, "did you mean 'beta_1'"),
        ({"name": "adam", "options": {"epsilon": float("nan")}}, "got nan"),
    ],
)
def test_wrong_options_are_named(config, message):
    with pytest.raises(ConfigError, match=message):
        optimizers.make_optimizer(config, 0.1)
