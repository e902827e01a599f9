"""Layers pass the test that Keras has for its own."""

import keras
import pytest
from keras.src import testing

from mtl_tf.layers.attention.transformer_encoder import TransformerEncoder
from mtl_tf.layers.crf.crf import CRF
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.recurrent.arc_ii import LocalGlobalLSTM
from mtl_tf.layers.recurrent.gru import GRU
from mtl_tf.layers.recurrent.hyper_lstm import HyperLSTM
from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.layers.recurrent.me_lstm import MELSTM
from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM
from mtl_tf.layers.recurrent.shared_private import (
    ParallelSharedPrivate,
    SerialSharedPrivate,
)

MEMORY = {"units": 4, "memory_slots": 3, "memory_width": 2}
# Class, arguments, and the last axis of the output of texts; None for others.
LAYERS = [
    (LSTM, {"units": 4}, 4),
    (GRU, {"units": 4}, 4),
    (MetaLSTM, {"units": 4, "meta_units": 3, "meta_vector": 2}, 4),
    (HyperLSTM, {"units": 4, "hyper_units": 3, "hyper_vector": 2}, 4),
    (MELSTM, MEMORY, 4),
    (LocalGlobalLSTM, MEMORY, None),
    (ParallelSharedPrivate, {"units": 4, "tasks": 1}, None),
    (SerialSharedPrivate, {"units": 4, "tasks": 1}, None),
    (Dropout, {"rate": 0.3}, None),
    (CRF, {"units": 3}, None),
    (CRF, {"units": 3, "returns": "potentials"}, None),
]


class LayerCase(testing.TestCase):
    """Keras's test case, to be run by hand."""

    def runTest(self):
        """Nothing: `run_layer_test` is called."""


@pytest.fixture
def case():
    with recurrence.options(jit=False, shards=1):
        made = LayerCase()
        made.setUp()
        yield made
        keras.utils.clear_session(free_memory=False)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore:.*shuffle=True")
@pytest.mark.parametrize(
    ("layer", "arguments", "units"),
    [
        LAYERS[0],
        *(pytest.param(*one, marks=pytest.mark.slow) for one in LAYERS[1:]),
    ],
)
def test_keras_tests_the_layer_as_its_own(case, layer, arguments, units):
    case.run_layer_test(
        layer,
        arguments,
        input_shape=(2, 5, 3),
        expected_output_shape=(2, units) if units else None,
    )


@pytest.mark.slow
def test_keras_tests_a_transformer_as_its_own(case):
    sizes = {"layers": 1, "units": 4, "heads": 2, "feed_forward": 8}
    case.run_layer_test(
        TransformerEncoder,
        sizes,
        input_shape=(2, 5, 4),
        # Of lists of outputs Keras's test makes no targets.
        run_training_check=False,
    )
