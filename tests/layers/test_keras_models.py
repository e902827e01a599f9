"""Recurrent layers, CRFs and Transformers in models of plain Keras."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers import (
    CRF,
    GRU,
    LSTM,
    MELSTM,
    CRFLoss,
    HyperLSTM,
    LocalGlobalLSTM,
    MetaLSTM,
    ParallelSharedPrivate,
    SerialSharedPrivate,
    TransformerEncoder,
    best_tags,
)
from mtl_tf.layers.crf.constraints import Constraints

pytestmark = pytest.mark.usefixtures("without_jit")

WORDS, UNITS, TASKS = 9, 3, 3
# By name: makes a layer of one set of weights, and one of several tasks.
LAYERS = {
    "lstm": (lambda **k: LSTM(UNITS, **k), {"tasks": TASKS}),
    "gru": (lambda **k: GRU(UNITS, **k), None),
    "me_lstm": (lambda **k: MELSTM(UNITS, 3, 2, **k), {"tasks": TASKS}),
    "arc_ii": (
        lambda tasks=1, **k: LocalGlobalLSTM(UNITS, 3, 2, tasks=tasks, **k),
        {"tasks": TASKS},
    ),
    "meta_lstm": (lambda **k: MetaLSTM(UNITS, 3, 4, **k), {"tasks": TASKS}),
    "hyper_lstm": (lambda **k: HyperLSTM(UNITS, 3, 4, **k), {"tasks": TASKS}),
    "parallel": (
        lambda tasks=1, **k: ParallelSharedPrivate(UNITS, tasks, **k),
        {"tasks": TASKS},
    ),
    "serial": (
        lambda tasks=1, **k: SerialSharedPrivate(UNITS, tasks, **k),
        {"tasks": TASKS},
    ),
}
CROSS_ENTROPY = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def mostly_slow(names):
    """The first, and the others as slow: each takes 0.3 GB for its traces."""
    first, *others = names
    return [first, *(pytest.param(n, marks=pytest.mark.slow) for n in others)]


def make_ids(rows=6, length=5):
    """Texts whose last two places are padding in the first half."""
    draw = np.random.default_rng(0)
    ids = draw.integers(1, WORDS, (rows, length))
    ids[: rows // 2, -2:] = 0
    return ids, (ids == 3).any(1).astype("int32")


def embedding():
    return keras.layers.Embedding(WORDS, 4, mask_zero=True)


def assert_trains_and_saves(model, inputs, labels, tmp_path, more_padding):
    """It fits, ignores padding, and goes on after a round trip."""
    model.compile(keras.optimizers.Adam(0.05), CROSS_ENTROPY)
    history = model.fit(inputs, labels, epochs=4, verbose=0).history["loss"]
    assert history[-1] < history[0]
    expected = model.predict(inputs, verbose=0)
    padded = model.predict(more_padding, verbose=0)
    np.testing.assert_allclose(padded, expected, atol=1e-6)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    again = loaded.predict(inputs, verbose=0)
    np.testing.assert_allclose(again, expected, atol=1e-6)
    more = [m.fit(inputs, labels, verbose=0) for m in (model, loaded)]
    losses = [each.history["loss"][0] for each in more]
    np.testing.assert_allclose(losses[1], losses[0], 1e-4)


@pytest.mark.extended
@pytest.mark.parametrize("name", mostly_slow(LAYERS))
def test_layers_stand_in_sequential_models(name, tmp_path):
    make, _ = LAYERS[name]
    ids, labels = make_ids()
    model = keras.Sequential(
        [
            embedding(),
            make(return_sequences=True),
            make(reverse=True),
            keras.layers.Dense(2),
        ]
    )
    wide = np.pad(ids, [[0, 0], [0, 3]])
    assert_trains_and_saves(model, ids, labels, tmp_path, wide)


@pytest.mark.extended
@pytest.mark.parametrize("name", mostly_slow(n for n in LAYERS if LAYERS[n][1]))
def test_layers_of_tasks_stand_in_functional_models(name, tmp_path):
    make, options = LAYERS[name]
    ids, labels = make_ids()
    task = np.arange(len(ids), dtype="int32") % TASKS
    tokens = keras.Input([None], dtype="int32")
    tasks = keras.Input([], dtype="int32")
    states = make(**options)(embedding()(tokens), task=tasks)
    model = keras.Model([tokens, tasks], keras.layers.Dense(2)(states))
    wide = [np.pad(ids, [[0, 0], [0, 3]]), task]
    assert_trains_and_saves(model, [ids, task], labels, tmp_path, wide)
    other = model.predict([ids, (task + 1) % TASKS], verbose=0)
    assert np.all(other != model.predict([ids, task], verbose=0))


@pytest.mark.extended
@pytest.mark.parametrize("name", mostly_slow(["parallel", "lstm", "gru"]))
@pytest.mark.parametrize("return_sequences", mostly_slow([True, False]))
def test_bidirectional_of_keras_takes_the_layers(
    name, return_sequences, tmp_path
):
    make, _ = LAYERS[name]
    ids, labels = make_ids()
    layer = make(return_sequences=return_sequences)
    parts = [embedding(), keras.layers.Bidirectional(layer)]
    if return_sequences:
        parts.append(keras.layers.GlobalAveragePooling1D())
    model = keras.Sequential([*parts, keras.layers.Dense(2)])
    wide = np.pad(ids, [[0, 0], [0, 3]])
    assert_trains_and_saves(model, ids, labels, tmp_path, wide)


def test_layers_of_tasks_read_in_both_directions():
    """As the docs say; Keras's `Bidirectional` passes no `task` on."""
    ids, _ = make_ids()
    task = np.arange(len(ids), dtype="int32") % TASKS
    tokens, tasks = (
        keras.Input([None], dtype="int32"),
        keras.Input([], dtype="int32"),
    )
    hidden = keras.layers.Embedding(WORDS, 4, mask_zero=True)(tokens)
    with pytest.raises(TypeError, match="task"):
        both = keras.layers.Bidirectional(LSTM(UNITS, tasks=TASKS))
        both(hidden, task=tasks)
    states = [
        LSTM(UNITS, tasks=TASKS, reverse=reverse)(hidden, task=tasks)
        for reverse in (False, True)
    ]
    model = keras.Model([tokens, tasks], keras.layers.Concatenate()(states))
    first = model([ids, task]).numpy()
    assert first.shape == (len(ids), 2 * UNITS)
    other = model([ids, (task + 1) % TASKS]).numpy()
    assert (first != other).any(1).all()


def test_go_backwards_reverses_what_reverse_returns():
    x = tf.constant(np.random.default_rng(1).normal(size=(2, 5, 4)), tf.float32)
    mask = tf.constant([[True] * 5, [True, True, True, False, False]])
    forward = LSTM(UNITS, reverse=True, return_sequences=True, name="l")
    keras_like = LSTM(UNITS, go_backwards=True, return_sequences=True, name="l")
    expected = tf.reverse(forward(x, mask=mask), [1])
    got = keras_like(x, mask=mask)
    np.testing.assert_allclose(got, expected, atol=1e-6)
    assert np.any(np.abs(got - forward(x, mask=mask)) > 1e-3)
    passed_on = keras_like.compute_mask(x, mask)
    np.testing.assert_array_equal(passed_on, mask.numpy()[:, ::-1])
    with pytest.raises(ValueError, match="of groups use reverse"):
        keras_like(x[None])


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_are_known_before_there_are_weights(name):
    make, _ = LAYERS[name]
    units = 2 * UNITS if name == "parallel" else UNITS
    assert make().compute_output_shape((2, 5, 4)) == (2, units)
    sequences = make(return_sequences=True, dtype="mixed_bfloat16")
    found = sequences.compute_output_shape((None, None, 4))
    assert found == (None, None, units)
    spec = sequences.compute_output_spec(keras.KerasTensor((2, None, 4)))
    assert (spec.shape, spec.dtype) == ((2, None, units), "bfloat16")
    both = keras.layers.Bidirectional(sequences)
    assert both.compute_output_shape((2, 5, 4)) == (2, 5, 2 * units)
    with pytest.raises(ValueError, match="must be that of texts"):
        make().compute_output_shape((2, 4))


def test_inputs_of_unknown_size_are_refused():
    with pytest.raises(ValueError, match="known size .* 'kernel', got None"):
        LSTM(UNITS)(keras.Input([None, None]))


def test_initial_states_are_refused():
    x = tf.zeros([2, 5, 4])
    with pytest.raises(ValueError, match="takes no initial_state"):
        LSTM(UNITS)(x, initial_state=tf.zeros([2, UNITS]))


def make_tagger():
    model = keras.Sequential(
        [embedding(), LSTM(4, return_sequences=True), keras.layers.Dense(3)]
    )
    model.add(CRF(3))
    model.compile(keras.optimizers.Adam(0.05), loss={"potentials": CRFLoss()})
    return model


@pytest.mark.extended
def test_a_sequential_model_may_end_in_a_crf(tmp_path):
    ids, _ = make_ids()
    tags, model = ids % 3, make_tagger()
    losses = model.fit(ids, tags, epochs=60, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]
    named = model.evaluate(ids, {"potentials": tags}, verbose=0)
    assert named == pytest.approx(model.evaluate(ids, tags, verbose=0))
    found = model.predict(ids, verbose=0)["prediction"]
    model.save(tmp_path / "tagger.keras")
    loaded = keras.models.load_model(tmp_path / "tagger.keras")
    again = loaded.predict(ids, verbose=0)["prediction"]
    np.testing.assert_array_equal(again, found)
    assert (found == tags)[ids > 0].mean() > 0.8


@pytest.mark.extended
@pytest.mark.parametrize(
    ("constrained", "eagerly"),
    [pytest.param(False, False, marks=pytest.mark.extended), (True, True)],
)
def test_a_crf_of_one_output_is_compiled_with_its_loss_alone(
    tmp_path, constrained, eagerly
):
    """Eagerly, a few steps take less time than tracing one."""
    ids, _ = make_ids()
    tags = ids % 3
    allowed = None
    if constrained:
        allowed = Constraints(
            start=np.array([True, True, False]),
            transitions=~np.eye(3, dtype=bool),
            end=np.ones(3, bool),
        )
    models, start = [], None
    for returns in ("all", "potentials"):
        crf = CRF(3, constraints=allowed, returns=returns)
        model = keras.Sequential([embedding(), keras.layers.Dense(3), crf])
        loss = (
            CRFLoss() if returns == "potentials" else {"potentials": CRFLoss()}
        )
        model.compile(
            keras.optimizers.Adam(0.05), loss=loss, run_eagerly=eagerly
        )
        model.build(ids.shape)
        if start is None:
            start = model.get_weights()
        model.set_weights(start)
        fitted = model.fit(ids, tags, epochs=3, shuffle=False, verbose=0)
        models.append((model, fitted))
    (every, one), (alone, other) = models
    assert other.history["loss"] == pytest.approx(one.history["loss"])
    expected = every.predict(ids, verbose=0)["prediction"]
    found = best_tags(alone.predict(ids, verbose=0))
    np.testing.assert_array_equal(found, expected)
    alone.save(tmp_path / "tagger.keras")
    loaded = keras.models.load_model(tmp_path / "tagger.keras")
    again = best_tags(loaded.predict(ids, verbose=0))
    np.testing.assert_array_equal(again, expected)
    assert loaded.evaluate(ids, tags, verbose=0) == pytest.approx(
        every.evaluate(ids, tags, verbose=0)
    )


def test_potentials_alone_are_of_one_task():
    with pytest.raises(ConfigError, match="needs tasks=0"):
        CRF(3, tasks=2, returns="potentials")
    with pytest.raises(ConfigError, match="did you mean 'potentials'"):
        CRF(3, returns="potential")
    with pytest.raises(ValueError, match="needs logits .batch, time, labels"):
        CRF(3, returns="potentials")(tf.zeros([1, 2, 5, 3]))


def test_the_loss_of_a_crf_says_that_there_is_none():
    ids, _ = make_ids()
    model = keras.Sequential([embedding(), keras.layers.Dense(3)])
    model.compile("adam", CRFLoss())
    with pytest.raises(ValueError, match="let the model end in a CRF layer"):
        model.fit(ids, ids % 3, verbose=0)


@pytest.mark.extended
def test_transformers_train_with_dropout(tmp_path):
    ids, labels = make_ids()
    tokens = keras.Input([None], dtype="int32")
    encoder = TransformerEncoder(1, 4, heads=2, feed_forward=8, dropout=0.3)
    states, _ = encoder(embedding()(tokens))
    pooled = keras.layers.GlobalAveragePooling1D()(states)
    model = keras.Model(tokens, keras.layers.Dense(2)(pooled))
    model.compile(keras.optimizers.Adam(0.05), CROSS_ENTROPY)
    history = model.fit(ids, labels, epochs=15, verbose=0).history["loss"]
    assert history[-1] < history[0]
    # Dropout draws anew at each call, and only in training.
    drawn = [model(ids, training=True).numpy() for _ in range(2)]
    assert np.any(drawn[0] != drawn[1])
    expected = model.predict(ids, verbose=0)
    wide = model.predict(np.pad(ids, [[0, 0], [0, 3]]), verbose=0)
    np.testing.assert_allclose(wide, expected, atol=1e-6)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    again = loaded.predict(ids, verbose=0)
    np.testing.assert_allclose(again, expected, atol=1e-6)
    loaded.fit(ids, labels, verbose=0)
