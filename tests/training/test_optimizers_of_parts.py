"""Keras's optimizers on stacks of tasks equal an optimizer for each task."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.training.optimizers.exact_sparse import VariableOptions
from mtl_tf.training.optimizers.optimizers import make_optimizer

TASKS, RATE = 3, 0.05
#: Adafactor has slots of other shapes, Lamb a norm of the whole variable, and
#: all of these but Lion count their steps.
OPTIONS = {
    "Adafactor": {},
    "Adam": {"amsgrad": True},
    "Adamax": {},
    "AdamW": {"weight_decay": 0.1},
    "Lamb": {"weight_decay": 0.1},
    "Lion": {},
    "Nadam": {},
    "RMSprop": {"centered": True, "momentum": 0.9},
}
#: Tasks of the steps: rare, alone, and together as in joint steps.
STEPS = [(1,), (1,), (0, 1), (2, 0), (0,), (1,), (0, 1, 2), (2,)]
#: A stack of matrices, one of vectors, and a table with rows of each task.
SHAPES = {"stack": (TASKS, 4, 5), "bias": (TASKS, 5), "table": (TASKS * 2, 5)}


def initial(name):
    draw = np.random.default_rng(len(name))
    return draw.normal(size=SHAPES[name]).astype("float32")


def of_task(value, task):
    """A task's rows of an array."""
    return value.reshape(TASKS, -1, *value.shape[1:])[task]


def gradient(name, step, task):
    draw = np.random.default_rng([len(name), step, task])
    return draw.normal(size=of_task(initial(name), task).shape).astype("f")


def an_optimizer_for_each_task(optimizer):
    """The variables after all steps, by task, and the shared one."""
    cls = getattr(keras.optimizers, optimizer)
    found = {name: [] for name in SHAPES}
    for task in range(TASKS):
        own = [keras.Variable(of_task(initial(name), task)) for name in SHAPES]
        alone = cls(RATE, **OPTIONS[optimizer])
        for step, tasks in enumerate(STEPS):
            if task in tasks:
                alone.apply([gradient(n, step, task) for n in SHAPES], own)
        for name, variable in zip(SHAPES, own):
            found[name].append(variable.numpy())
    shared = keras.Variable(initial("bias"))
    of_all = cls(RATE, **OPTIONS[optimizer])
    for step in range(len(STEPS)):
        of_all.apply([gradient_of_shared(step)], [shared])
    return {name: np.stack(parts) for name, parts in found.items()} | {
        "shared": shared.numpy()
    }


def gradient_of_shared(step):
    return tf.constant(np.random.default_rng(step).normal(size=(3, 5)), "float")


def ours(optimizer):
    name = f"keras.optimizers:{optimizer}"
    return make_optimizer({"name": name, "options": OPTIONS[optimizer]}, RATE)


def sparse_gradient(name, step, tasks):
    """The rows of a step's tasks alone, as the models' gradients name them."""
    shape = SHAPES[name]
    rows = shape[0] // TASKS
    values = np.concatenate([gradient(name, step, task) for task in tasks])
    indices = np.concatenate([np.arange(rows) + t * rows for t in tasks])
    return tf.IndexedSlices(
        tf.constant(values),
        tf.constant(indices, tf.int32),
        tf.constant(shape),
    )


def variables_and_optimizer(optimizer, compiled=False):
    variables = [keras.Variable(initial(name)) for name in SHAPES]
    variables.append(keras.Variable(initial("bias")))
    made = ours(optimizer)
    options = [VariableOptions(parts=TASKS) for _ in SHAPES]
    made.configure(variables, [*options, VariableOptions()], compiled=compiled)
    return variables, made


def check(variables, optimizer):
    expected = an_optimizer_for_each_task(optimizer)
    for name, variable in zip([*SHAPES, "shared"], variables, strict=True):
        found = variable.numpy().reshape(expected[name].shape)
        np.testing.assert_allclose(found, expected[name], atol=2e-6)


@pytest.mark.by_default("False-Adafactor", "False-Lamb", "False-Nadam")
@pytest.mark.parametrize("optimizer", OPTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_parts_move_as_with_an_optimizer_for_each_task(optimizer, compiled):
    variables, made = variables_and_optimizer(optimizer, compiled)
    update = tf.function(
        lambda g: made.apply(g, variables), jit_compile=compiled
    )
    for step, tasks in enumerate(STEPS):
        gradients = [sparse_gradient(n, step, tasks) for n in SHAPES]
        update([*gradients, gradient_of_shared(step)])
    check(variables, optimizer)


@pytest.mark.extended
@pytest.mark.parametrize("optimizer", ["Adafactor", "Nadam"])
def test_the_same_on_two_replicas(optimizer, two_replicas):
    with two_replicas.scope():
        variables, made = variables_and_optimizer(optimizer)

    def replica(gradients):
        # Each of the two replicas has half of the gradient.
        halves = tf.nest.map_structure(
            lambda g: g * 0.5 if g.dtype == tf.float32 else g,
            gradients,
            expand_composites=True,
        )
        made.apply(halves, variables)

    @tf.function
    def update(gradients):
        two_replicas.run(replica, (gradients,))

    for step, tasks in enumerate(STEPS):
        gradients = [sparse_gradient(n, step, tasks) for n in SHAPES]
        update([*gradients, gradient_of_shared(step)])
    check(variables, optimizer)
    for variable in variables:
        first, second = two_replicas.experimental_local_results(variable.value)
        np.testing.assert_array_equal(first, second)


def test_a_variable_of_one_task_counts_its_own_steps():
    alone, shared = (keras.Variable(np.ones([1, 3], "f")) for _ in range(2))
    expected = keras.Variable(np.ones([1, 3], "f"))
    stock = keras.optimizers.Adamax(RATE)
    made = ours("Adamax")
    made.configure(
        [alone, shared], [VariableOptions(parts=1), VariableOptions()]
    )
    for step in range(6):
        gradient = tf.constant([[1.0, step, -1.0]])
        if step % 3 == 2:  # Its task is in two of the steps.
            stock.apply([gradient], [expected])
            made.apply([gradient, gradient], [alone, shared])
        else:
            made.apply([None, gradient], [alone, shared])
    np.testing.assert_allclose(alone, expected, atol=1e-6)


def test_dense_gradients_update_all_parts():
    variables, made = variables_and_optimizer("Lamb")
    stack = variables[0]
    expected = [keras.Variable(rows) for rows in initial("stack")[:, None]]
    stock = [keras.optimizers.Lamb(RATE, **OPTIONS["Lamb"]) for _ in expected]
    for step in range(3):
        parts = [gradient("stack", step, task) for task in range(TASKS)]
        for optimizer, part, variable in zip(stock, parts, expected):
            optimizer.apply([part], [variable])
        made.apply([tf.concat(parts, 0), None, None, None], variables)
    np.testing.assert_allclose(stack, np.concatenate(expected), atol=2e-6)
