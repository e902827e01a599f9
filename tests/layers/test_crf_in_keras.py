"""The CRF as a layer of Keras models that are compiled, fitted and saved."""

import functools
import pathlib
import subprocess
import sys
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers import CRF, CRFLoss
from mtl_tf.layers.crf.constraints import allowed_transitions
from mtl_tf.layers.recurrent import recurrence
from tests.layers.crf_reference import Reference

pytestmark = pytest.mark.usefixtures("without_jit")

ROOT = pathlib.Path(__file__).parent.parent.parent
LABELS, WORDS, ROWS = 3, 7, 4
BIO = allowed_transitions(["O", "B-X", "I-X"], "bio")
# As many tokens as sentences, whose axes can be mistaken for each other; and
# not as many.
LENGTHS = [ROWS, ROWS + 2]


def randomize(layer):
    draw = np.random.default_rng(3)
    for weight in layer.weights:
        weight.assign(draw.normal(size=weight.shape))


def reference(layer, constraints=None):
    parts = [np.array(w, dtype=np.float64) for w in layer.weights]
    return Reference(*parts, LABELS, constraints)


def losses_of(known, logits, tags, mask):
    """The sentences' losses, by enumeration."""
    return -np.array(
        [
            known.log_likelihood(x[real].astype(np.float64), y[real])
            for x, y, real in zip(logits, tags, mask)
        ]
    )


def make_data(length):
    """Word ids, 0 behind the sentences; tags, which are a label there."""
    draw = np.random.default_rng(length)
    ids = draw.integers(1, WORDS, [ROWS, length])
    ids[np.arange(length) >= np.array([[length], [1], [3], [2]])] = 0
    return ids, draw.integers(0, LABELS, ids.shape)


def make_model(recurrent=False, **options):
    """What the layer's docstring shows, with random transitions.

    Args:
        recurrent: whether there are LSTMs, which take seconds to trace.
        **options: of `compile`.
    """
    layers = keras.layers
    tokens = keras.Input([None], dtype="int32")
    hidden = layers.Embedding(WORDS, 4, mask_zero=True)(tokens)
    if recurrent:
        lstm = layers.LSTM(3, return_sequences=True)
        hidden = layers.Bidirectional(lstm)(hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = CRF(LABELS, name="crf")(layers.Dense(LABELS)(hidden))
    model = keras.Model(tokens, output)
    randomize(model.get_layer("crf"))
    model.compile(
        keras.optimizers.Adam(0.02),
        loss={"potentials": CRFLoss()},
        jit_compile=False,
        **options,
    )
    return model


@functools.cache
def shared_model(recurrent=False):
    metrics = {"prediction": keras.metrics.Accuracy()}
    return make_model(recurrent, metrics=metrics)


def batches(*arrays):
    """One batch, of a shape that is not known: all lengths share a trace."""
    signature = tf.nest.map_structure(
        lambda a: tf.TensorSpec([None] * a.ndim, tf.int32), arrays
    )
    dataset = tf.data.Dataset.from_generator(
        lambda: iter([arrays]), output_signature=signature
    )
    return dataset.apply(tf.data.experimental.assert_cardinality(1))


@pytest.mark.extended
@pytest.mark.parametrize("length", LENGTHS)
def test_the_loss_is_that_of_all_paths_under_a_mask(length):
    draw = np.random.default_rng(length)
    layer = CRF(LABELS, constraints=BIO, name="crf")
    layer.build()
    randomize(layer)
    logits = 5 * draw.normal(size=(ROWS, length, LABELS)).astype(np.float32)
    mask = draw.uniform(size=(ROWS, length)) < 0.7
    mask[0], mask[1] = True, False
    logits[~mask] = np.nan
    known, tags = reference(layer, BIO), np.zeros([ROWS, length], np.int32)
    for row in range(ROWS):
        tags[row, mask[row]] = known.likely_tags(logits[row][mask[row]], draw)
    with tf.GradientTape(persistent=True) as tape:
        x = tf.constant(logits)
        tape.watch(x)
        potentials = layer(x, mask=mask)["potentials"]
        found = CRFLoss(reduction=None)(tags, potentials)
        direct = -layer.log_likelihood(x, tags, mask)
    expected = losses_of(known, logits, tags, mask)
    assert found.shape == (ROWS,) and found[1] == 0
    np.testing.assert_allclose(found, expected, 1e-5, 1e-5)
    sources = [x, *(w.value for w in layer.weights)]
    for got, wanted in zip(
        tape.gradient(found, sources), tape.gradient(direct, sources)
    ):
        np.testing.assert_allclose(got, wanted, atol=1e-6)
    # Tags below 0 leave tokens out as the mask does.
    x = tf.where(tf.math.is_nan(x), 0.0, x)
    unmasked = layer(x)["potentials"]
    absent = np.where(mask, tags, -100)
    again = CRFLoss(reduction=None)(absent, unmasked)
    np.testing.assert_allclose(again, expected, 1e-5, 1e-5)
    for real in (None, np.ones_like(mask)):
        direct = -layer.log_likelihood(x, absent, real)
        np.testing.assert_allclose(direct, expected, 1e-5, 1e-5)
    # Keras's weights and reductions are those of sentences.
    weights = np.arange(ROWS, dtype=np.float32)
    mean = CRFLoss()(tags, potentials, weights)
    np.testing.assert_allclose(mean, np.mean(weights * expected), 1e-5)
    nothing = CRFLoss(reduction=None)(tags[:0], potentials[:0])
    assert nothing.shape == (0,)
    assert np.isnan(CRFLoss()(np.zeros_like(tags), layer(logits)["potentials"]))


def evaluated(model, ids, tags):
    """Keras's losses and metrics of a batch."""
    targets = dict.fromkeys(model.output, tags)
    return model.evaluate(batches(ids, targets), verbose=0, return_dict=True)


@pytest.mark.extended
@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
def test_models_honour_the_mask_of_keras(length, recurrent):
    model, (ids, tags) = shared_model(recurrent), make_data(length)
    known, mask = reference(model.get_layer("crf")), ids > 0
    output = model.predict(batches(ids), verbose=0)
    expected = losses_of(known, output["logits"], tags, mask).mean()
    found = evaluated(model, ids, tags)
    np.testing.assert_allclose(found["loss"], expected, 1e-5)
    # The metric counts tokens only.
    right = (output["prediction"] == tags)[mask].mean()
    np.testing.assert_allclose(found["prediction_accuracy"], right, 1e-6)
    for row, real in enumerate(mask):
        logits = output["logits"][row, real].astype(np.float64)
        path, _, margin = known.viterbi(logits)
        assert margin > 1e-3
        np.testing.assert_array_equal(output["prediction"][row, real], path)
        np.testing.assert_allclose(
            output["scores"][row, real], known.marginals(logits), atol=1e-5
        )
    for name in ("prediction", "confidence", "scores"):
        assert not np.any(output[name][~mask])


@pytest.mark.extended
@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
def test_more_padding_changes_nothing_in_keras(length, recurrent):
    """Whatever tags stand there."""
    model, (ids, tags) = shared_model(recurrent), make_data(length)
    wide = np.pad(ids, [[0, 0], [0, 3]])
    wide_tags = np.pad(tags, [[0, 0], [0, 3]], constant_values=LABELS - 1)
    found = evaluated(model, wide, wide_tags)
    for name, value in evaluated(model, ids, tags).items():
        np.testing.assert_allclose(found[name], value, 1e-5, err_msg=name)
    output = model.predict(batches(ids), verbose=0)
    again = model.predict(batches(wide), verbose=0)
    for name in ("prediction", "confidence", "scores"):
        short = again[name][:, :length]
        np.testing.assert_allclose(short, output[name], atol=1e-6)


@pytest.mark.extended
def test_the_mask_is_found_beside_other_tensors():
    ids, tags = make_data(ROWS)
    tokens = keras.Input([None], dtype="int32")
    given = keras.Input([None], dtype="int32")
    hidden = keras.layers.Embedding(WORDS, LABELS, mask_zero=True)(tokens)
    layer = CRF(LABELS, name="crf")
    model = keras.Model([tokens, given], layer(hidden, tags=given))
    randomize(layer)
    output = model([ids, tags])
    expected = losses_of(
        reference(layer), output["logits"].numpy(), tags, ids > 0
    )
    np.testing.assert_allclose(output["loss"], expected, 1e-5)


def test_minus_infinity_forbids_a_label():
    draw = np.random.default_rng(5)
    layer = CRF(LABELS, name="crf")
    layer.build()
    randomize(layer)
    logits = draw.normal(size=(1, 5, LABELS)).astype(np.float32)
    logits[0, [1, 3], [0, 2]] = -np.inf
    known = reference(layer)
    low = np.maximum(logits[0].astype(np.float64), -1e9)
    output = layer(logits)
    np.testing.assert_allclose(
        output["scores"][0], known.marginals(low), atol=1e-5
    )
    assert not np.any(np.asarray(output["scores"])[np.isinf(logits)])
    path, _, _ = known.viterbi(low)
    np.testing.assert_array_equal(output["prediction"][0], path)
    with tf.GradientTape() as tape:
        x = tf.constant(logits)
        tape.watch(x)
        loss = CRFLoss()(path[None], layer(x)["potentials"])
    np.testing.assert_allclose(loss, -known.log_likelihood(low, path), 1e-5)
    assert np.isfinite(tape.gradient(loss, x)).all()


def test_keras_does_not_compile_the_step_as_a_whole():
    # It would where there is a GPU, and XLA does not know the loops' lengths.
    flags = {type(x).__name__: x.supports_jit for x in shared_model().layers}
    assert flags["CRF"] is False
    assert flags["Embedding"] is True


@pytest.mark.slow
def test_exports_without_xla(tmp_path):
    model, (ids, _) = make_model(), make_data(ROWS)
    expected = model(ids)
    with recurrence.options(jit=True):
        # What it traced is not taken again.
        tf.function(model).get_concrete_function(tf.constant(ids))
        with recurrence.options(jit=False):
            model.export(tmp_path, verbose=False)
    content = (tmp_path / "saved_model.pb").read_bytes()
    graph = saved_model_pb2.SavedModel.FromString(content)
    for function in graph.meta_graphs[0].graph_def.library.function:
        assert not function.attr["_XlaMustCompile"].b
    loaded = tf.saved_model.load(tmp_path)
    served = loaded.serve(tf.constant(ids, tf.int32))
    for name in ("prediction", "scores"):
        np.testing.assert_allclose(served[name], expected[name], atol=1e-5)


FRESH = """
import sys

import keras
import numpy as np

import mtl_tf.layers.crf.crf
from mtl_tf.layers.recurrent import recurrence

folder = sys.argv[1]
data = np.load(f"{folder}/data.npz")
ids, y = data["ids"], {"potentials": data["tags"]}
with recurrence.options(jit=False, shards=1):
    model = keras.models.load_model(f"{folder}/model.keras")
    found = model.predict(ids, verbose=0)
    fit = model.fit(ids, y, epochs=3, shuffle=False, verbose=0)
np.savez(f"{folder}/found.npz", fit=fit.history["loss"], **found)
"""


@pytest.mark.slow
def test_saved_models_go_on_in_a_fresh_process(tmp_path):
    # Eagerly, a few steps take less time than tracing one.
    model = make_model(run_eagerly=True)
    ids, tags = make_data(ROWS)
    y = {"potentials": tags}
    model.fit(ids, y, epochs=2, verbose=0)
    model.save(tmp_path / "model.keras")
    np.savez(tmp_path / "data.npz", ids=ids, tags=tags)
    expected = model.predict(ids, verbose=0)
    fit = model.fit(ids, y, epochs=3, shuffle=False, verbose=0)
    expected["fit"] = fit.history["loss"]
    subprocess.run(
        [sys.executable, "-c", FRESH, str(tmp_path)], check=True, cwd=ROOT
    )
    found = np.load(tmp_path / "found.npz")
    assert set(found) == set(expected)
    assert expected["fit"][-1] < expected["fit"][0]
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, 1e-5, err_msg=name)


def test_another_backend_is_refused(monkeypatch):
    monkeypatch.setattr(keras.config, "backend", lambda: "jax")
    with pytest.raises(ConfigError, match="TensorFlow backend .* got 'jax'"):
        CRF(LABELS)


@pytest.mark.parametrize(
    "tags, potentials, weights, message",
    [
        ([2, 4, 1], [2, 11, 3], None, r"tags \[batch, time\]"),
        ([2, 4], [2, 3], None, r"shapes \(2, 4\) and \(2, 3\)"),
        ([2, 4], [2, 4, 3], None, "compile it with loss={.potentials.: CRFL"),
        ([2, 5], [2, 11, 3], None, "tags of 5 tokens"),
        ([4, 4], [4, 11, 3], [4, 4], r"one weight, \[batch\], got .* \(4, 4\)"),
    ],
)
def test_wrong_shapes(tags, potentials, weights, message):
    tags = np.zeros(tags, np.int32)
    potentials = np.zeros(potentials, np.float32)
    if weights:
        weights = np.ones(weights, np.float32)
    with pytest.raises(ValueError, match=message):
        CRFLoss()(tags, potentials, weights)
