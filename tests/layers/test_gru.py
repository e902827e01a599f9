"""The gated recurrent unit against a NumPy float64 reference."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.recurrent.gru import GRU
from tests.layers import translation_reference as reference
from tests.layers.layer_testing import (
    assert_gradient,
    run_layer_test,
    weights_of,
)
from tests.layers.recurrent_testing import FEATURES, UNIFORM, make_data

pytestmark = pytest.mark.usefixtures("without_jit")

UNITS = 3


def make_layer(**options):
    layer = GRU(UNITS, init=UNIFORM, name="g", **options)
    layer.build((None, None, None, FEATURES))
    return layer


@pytest.mark.parametrize(
    "options", [{}, {"reverse": True}, {"reverse": True, "bias": False}]
)
def test_outputs_and_gradients_are_the_papers(options):
    layer = make_layer(**options)
    x, mask = make_data(1, 4)
    draw = np.random.default_rng(1)
    d_last = draw.normal(size=(4, UNITS))
    d_all = draw.normal(size=(4, len(x[0, 0]), UNITS))
    given = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(given)
        result = layer(given, tf.constant(mask), training=True, sequence=True)
        last, found = result.state["hidden"], result.sequences["hidden"]
        seen = tf.where(mask[..., None], found, 0.0)
        total = tf.reduce_sum(last * d_last) + tf.reduce_sum(seen * d_all)
    gradients = tape.gradient(total, [given, *layer.trainable_variables])
    values = {"x": x.astype(np.float64)} | weights_of(layer)

    def expected():
        w = reference.of_gru(values)
        reverse = options.get("reverse", False)
        rows = zip(values["x"][0], mask[0])
        found = [reference.gru(*row, w, reverse) for row in rows]
        return [np.array(part) for part in zip(*found)]

    sequence, state = expected()
    np.testing.assert_allclose(last[0], state, atol=1e-6)
    np.testing.assert_allclose(
        np.array(found)[0][mask[0]], sequence[mask[0]], atol=1e-6
    )

    def weighted():
        sequence, state = expected()
        return np.sum(state * d_last) + np.nansum(sequence * d_all)

    names = ["x", *(v.name for v in layer.trainable_variables)]
    for name, gradient in zip(names, gradients):
        assert_gradient(gradient, weighted, values[name], name)


def test_keras_has_the_same_unit_with_z_swapped():
    layer = make_layer()
    x, _ = make_data(1)
    other = keras.layers.GRU(UNITS, reset_after=False)
    other.build((None, None, FEATURES))
    sign = np.repeat([-1.0, 1.0, 1.0], UNITS)
    recurrent = tf.concat([layer.recurrent, layer.candidate], 1)
    other.set_weights([w * sign for w in (layer.kernel, recurrent, layer.bias)])
    ours = layer(x, tf.ones(x.shape[:3], tf.bool)).state["hidden"]
    np.testing.assert_allclose(other(x[0]), ours[0], atol=1e-6)


def test_a_gru_passes_the_test_of_layers():
    x, mask = make_data(1)
    run_layer_test(
        lambda: GRU(UNITS, name="g"),
        [tf.constant(x), tf.constant(mask)],
        parameters=3 * UNITS * (FEATURES + UNITS + 1),
        output_shapes=[(1, 4, UNITS), (1, 4, 5, UNITS)],
        call={"sequence": True},
        symbolic=(),
    )
    with pytest.raises(ConfigError, match="units must be a positive integer"):
        GRU(0)
