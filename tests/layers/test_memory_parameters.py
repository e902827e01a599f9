"""What layers with external memories consist of."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.recurrent.arc_ii import LocalGlobalLSTM
from mtl_tf.layers.recurrent.external_memory import ExternalMemory
from mtl_tf.layers.recurrent.me_lstm import MELSTM
from tests.layers.layer_testing import run_layer_test
from tests.layers.memory_testing import (
    FEATURES,
    LENGTH,
    MODELS,
    SLOTS,
    UNIFORM,
    UNITS,
    WIDTH,
    made,
    make_data,
)

pytestmark = pytest.mark.usefixtures("without_jit")


def owners(layer):
    """Names of the weights that are stacks of the tasks' own."""
    return {w.name for w in layer.weights if marks_of(w).is_private}


def test_what_is_private_and_what_is_shared():
    lstm = {"kernel", "recurrent", "bias", "fusion_read", "fusion_memory"}
    memory = {"initial", "keys", "keys_bias", "align", "align_score"}
    expected = {
        "me_lstm": set(),
        "private": lstm | {f"external_{name}" for name in memory},
        "arc_i": lstm,
        "arc_ii": lstm | {f"local_{name}" for name in memory},
    }
    for model, private in expected.items():
        # No other size is 7.
        tasks = 7 if MODELS[model][1]["tasks"] else 0
        layer = made(model, align="mlp", tasks=tasks)
        assert owners(layer) == private, model
        for weight in layer.weights:
            assert (weight.shape[0] == 7) == marks_of(weight).is_private, (
                weight.name
            )


def _arguments():
    x, mask = make_data(2)
    return tf.constant(x), tf.constant(mask), tf.constant([2, 0])


def lstm_parameters(d, h, read):
    return 4 * h * (d + h + 1) + 2 * read * h + h * h


def memory_parameters(k, m, source, align):
    mlp = 2 * m * m + m if align == "mlp" else 0
    return k * m + 3 * m * (source + 1) + mlp


@pytest.mark.extended
@pytest.mark.parametrize(
    "model, align",
    [("private", "mlp"), ("arc_i", "cosine"), ("arc_ii", "mlp")],
)
def test_as_layers(model, align):
    d, h, k, m = FEATURES, UNITS, SLOTS, WIDTH
    kind, options = MODELS[model]
    own, shared = memory_parameters(k, m, h, align), 0
    lstm = lstm_parameters(d, h, m)
    if model == "arc_i":
        own, shared = 0, own
    if model == "arc_ii":
        lstm = lstm_parameters(d, h, 2 * m)
        shared = memory_parameters(k, m, m, align)
    state = {"hidden": (2, 4, h), "memory": (2, 4, h)}
    for role in ("local", "global") if model == "arc_ii" else ("external",):
        state |= {role: (2, 4, k, m), f"{role}_key": (2, 4, m)}
    if model == "arc_ii":
        state |= {"global_alpha": (2, 4, k)}
    run_layer_test(
        lambda: kind(h, k, m, align=align, name="l", init=UNIFORM, **options),
        _arguments(),
        parameters=max(options["tasks"], 1) * (lstm + own) + shared,
        output_shapes=(state, {"hidden": (2, 4, LENGTH, h)}, {}),
        call={"training": True, "sequence": True},
    )


def test_parameter_counts_of_the_papers_sizes():
    """d = h = 100, memory 50 x 20, four tasks."""
    lstm, memory = lstm_parameters(100, 100, 20), 50 * 20 + 60 * 101
    assert (lstm, memory) == (94_400, 7_060)
    counts = {
        "me_lstm": 101_460,
        "arc_i": 4 * 94_400 + 7_060,
        "arc_ii": 4 * (98_400 + 7_060) + 1_000 + 60 * 21,
    }
    for model, count in counts.items():
        kind, options = MODELS[model]
        options = options | ({"tasks": 4} if options["tasks"] else {})
        layer = kind(100, 50, 20, **options)
        layer.build((None, None, None, 100))
        assert layer.count_params() == count, model


def test_two_layers_begin_with_unlike_memories():
    """Initial values depend on the direction's name."""
    one, other = made("arc_ii"), made("arc_ii", name="backward")
    for a, b in zip(one.weights, other.weights):
        assert np.any(np.array(a) != np.array(b)), a.path
    assert np.any(np.array(one.local.initial[0]) != one.shared.initial)


@pytest.mark.parametrize("kind", [MELSTM, LocalGlobalLSTM])
def test_wrong_options_are_errors(kind):
    sizes = {"units": 3, "memory_slots": 3, "memory_width": 3}
    for field in sizes:
        with pytest.raises(ConfigError, match=f"^{field} must be a positive"):
            kind(**(sizes | {field: 0}))
    with pytest.raises(ConfigError, match="unknown align 'cosin'; did you"):
        kind(**sizes, align="cosin")
    with pytest.raises(ConfigError, match="source must be a positive"):
        ExternalMemory(3, 3, 0)
