"""One test that every layer passes."""

import keras
import numpy as np
import tensorflow as tf


def _symbolic(x):
    """A Keras input with the batch and time axes of a tensor left open."""
    last = x.shape.rank - (1 if x.dtype.is_floating else 0)
    shape = [
        None if axis in (1, 2) and axis < last else size
        for axis, size in enumerate(x.shape)
    ]
    return keras.KerasTensor(shape, dtype=x.dtype.name)


def run_layer_test(
    make,
    arguments,
    *,
    parameters,
    output_shapes,
    call=None,
    symbolic=None,
):
    """Builds, counts, calls, trains a step and round-trips a layer.

    Args:
        make: makes the layer.
        arguments: what it is called with.
        parameters: the expected number of trainable parameters.
        output_shapes: the expected shapes, nested like the outputs.
        call: keyword arguments of the call.
        symbolic: arguments of the symbolic call, instead of symbols for all
            `arguments`; () to leave it out.
    """
    call = call or {}
    layer = make()
    output = layer(*arguments, **call)
    got = tf.nest.map_structure(lambda t: tuple(t.shape), output)
    assert tf.nest.flatten(got) == tf.nest.flatten(output_shapes), got
    assert layer.count_params() == parameters
    assert len({w.path for w in layer.weights}) == len(layer.weights)
    _symbolic_call(make(), arguments, call, symbolic)
    _gradient_step(layer, arguments, call)
    _round_trip(layer, arguments, call)
    return layer


def _symbolic_call(layer, arguments, call, symbolic):
    if symbolic == ():
        return
    if symbolic is None:
        symbolic = tf.nest.map_structure(_symbolic, arguments)
    found = layer(*symbolic, **call)
    for tensor in tf.nest.flatten(found):
        assert isinstance(tensor, keras.KerasTensor)


def _floats(output):
    return [t for t in tf.nest.flatten(output) if t.dtype.is_floating]


def _gradient_step(layer, arguments, call):
    """A step of gradient descent lowers a loss and moves every weight."""
    if not layer.trainable_variables:
        return
    optimizer = keras.optimizers.SGD(0.01)

    def loss():
        outputs = _floats(layer(*arguments, **call))
        # -1e9 stands for "no label": leave it out.
        return sum(
            tf.reduce_sum(tf.where(t > -1e8, t - 1.0, 0.0) ** 2)
            for t in outputs
        )

    with tf.GradientTape() as tape:
        before = loss()
    gradients = tape.gradient(before, layer.trainable_variables)
    assert all(g is not None for g in gradients)
    old = [np.array(v) for v in layer.trainable_variables]
    optimizer.apply(gradients, layer.trainable_variables)
    assert loss() < before
    for variable, value in zip(layer.trainable_variables, old):
        assert np.any(np.array(variable) != value), variable.path


def _round_trip(layer, arguments, call):
    """Its config makes the same layer; its weights give the same outputs."""
    config = keras.saving.serialize_keras_object(layer)
    assert config["registered_name"].startswith("mtl_tf>")
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == layer.get_config()
    again(*arguments, **call)
    again.set_weights(layer.get_weights())
    expected = tf.nest.flatten(layer(*arguments, **call))
    got = tf.nest.flatten(again(*arguments, **call))
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, atol=1e-6)


def weights_of(layer):
    return {w.name: np.array(w, np.float64) for w in layer.weights}


def finite_differences(function, value, step=1e-5):
    """Gradient of a float64 function of an array by central differences."""
    gradient = np.zeros_like(value)
    for index in np.ndindex(value.shape):
        old = value[index]
        value[index] = old + step
        high = function()
        value[index] = old - step
        low = function()
        value[index] = old
        gradient[index] = (high - low) / (2 * step)
    return gradient


def assert_gradient(gradient, function, value, name, step=1e-5):
    """Checks a gradient by central differences along random directions.

    Every entry has a part in each of them, so that one wrong entry shows; for
    all entries one by one, a reference would run a hundred times.

    Args:
        gradient: the gradient to check, shaped like `value`.
        function: a float64 function of no arguments that reads `value`.
        value: a float64 array, changed and put back.
        name: what a failure is about.
        step: how far to go.
    """
    gradient = np.array(tf.convert_to_tensor(gradient), np.float64)
    assert gradient.shape == value.shape, name
    draw, old = np.random.default_rng(0), value.copy()
    for _ in range(4):
        direction = draw.normal(size=value.shape)
        sides = []
        for side in (step, -step):
            value[...] = old + side * direction
            sides.append(function())
        value[...] = old
        np.testing.assert_allclose(
            np.sum(gradient * direction),
            (sides[0] - sides[1]) / (2 * step),
            atol=1e-5 * np.sqrt(value.size),
            rtol=1e-6,
            err_msg=name,
        )
