"""The decoder, its attention and the encoder against NumPy references."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.translation.attention_decoder import AttentionDecoder
from mtl_tf.layers.translation.gru_encoder import GRUEncoder
from tests.layers import translation_reference as reference
from tests.layers.layer_testing import assert_gradient, run_layer_test

pytestmark = pytest.mark.usefixtures("without_jit")

WORDS, EMBEDDING, UNITS, ALIGNMENT, READOUT, DEPTH = 7, 3, 4, 5, 2, 6
UNIFORM = {"name": "uniform", "range": 0.7}
TARGET = np.array([[4, 1, 3], [6, 3, 0], [3, 0, 0], [5, 4, 3]], np.int32)
LENGTHS = [3, 5, 0, 1]


def make_decoder(**options):
    decoder = AttentionDecoder(
        WORDS,
        EMBEDDING,
        UNITS,
        ALIGNMENT,
        READOUT,
        init=UNIFORM,
        name="own",
        **options,
    )
    first = (None, None, UNITS)
    decoder.build(None, {"annotations": (1, 4, 5, DEPTH), "first": first})
    return decoder


def make_encoded(seed=0):
    draw = np.random.default_rng(seed)
    annotations = draw.normal(size=(1, 4, 5, DEPTH)).astype("float32")
    mask = np.arange(5) < np.array(LENGTHS)[:, None]
    return {
        "annotations": tf.constant(annotations * mask[None, ..., None]),
        "mask": tf.constant(mask[None]),
        "first": tf.constant(draw.normal(size=(1, 4, UNITS)).astype("float32")),
    }


def expected(values):
    """Losses `[B, U]`, log probabilities and attention of the sources."""
    w = reference.of_decoder(values)
    losses, tables, looks = np.zeros(TARGET.shape), [], []
    for b, length in enumerate(LENGTHS):
        target = TARGET[b][TARGET[b] > 0]
        table, look = reference.decode(
            target,
            values["annotations"][0, b, :length],
            values["first"][0, b],
            w,
        )
        losses[b, : len(target)] = -table[range(len(target)), target]
        tables.append(table)
        looks.append(look)
    return losses, tables, looks


@pytest.mark.by_default("False")
@pytest.mark.parametrize("bias", [True, False])
def test_losses_attention_and_gradients_are_the_papers(bias):
    decoder, encoded = make_decoder(bias=bias), make_encoded()
    variables = reference.variables_of(decoder)
    scale = np.random.default_rng(1).normal(size=TARGET.shape)
    read = {n: encoded[n] for n in ("annotations", "first")}
    with tf.GradientTape() as tape:
        tape.watch(read)
        found = decoder(
            TARGET[None], encoded | read, training=True, inspect=True
        )
        total = tf.reduce_sum(found["losses"][0] * scale)
    gradients = tape.gradient(total, read | variables)
    values = {n: np.array(x, np.float64) for n, x in read.items()}
    values |= reference.values_of(decoder)
    losses, _, looks = expected(values)
    np.testing.assert_allclose(found["losses"][0], losses, atol=1e-5)
    for b, look in enumerate(looks):
        got = found["attention"][0, b].numpy()
        rows, columns = look.shape
        np.testing.assert_allclose(got[:rows, :columns], look, atol=1e-5)
        assert not got[:, columns:].any()  # no weight on padding

    def weighted():
        return np.sum(expected(values)[0] * scale)

    assert set(gradients) == set(values)
    for name, gradient in gradients.items():
        assert_gradient(gradient, weighted, values[name], name)


def test_step_by_step_is_teacher_forcing():
    decoder, encoded = make_decoder(), make_encoded()
    values = {n: np.array(encoded[n], np.float64) for n in encoded}
    _, tables, looks = expected(values | reference.values_of(decoder))
    memory = decoder.memory(encoded)
    hidden = tf.repeat(decoder.start(encoded)["hidden"][0][:, None], 2, 1)
    last = np.array([[2, 2]] * 4)
    for t in range(TARGET.shape[1]):
        hidden, features, attention = decoder.advance(last, hidden, memory)
        logits = decoder.output_layer.logits(
            tf.reshape(features, [-1, READOUT])
        )
        logs = tf.reshape(tf.nn.log_softmax(logits), [4, 2, WORDS])
        for b, (table, look) in enumerate(zip(tables, looks)):
            for k in range(2) if t < len(table) else ():
                np.testing.assert_allclose(logs[b, k], table[t], atol=1e-5)
                got = attention[b, k, : LENGTHS[b]]
                np.testing.assert_allclose(got, look[t], atol=1e-5)
        last = np.repeat(TARGET[:, t : t + 1], 2, 1)


@pytest.mark.extended
def test_compiled_shards_give_the_same():
    decoder, encoded = make_decoder(), make_encoded()

    def run():
        with tf.GradientTape() as tape:
            found = decoder(TARGET[None], encoded, training=True)
        losses = found["losses"]
        slopes = tape.gradient(losses, decoder.trainable_variables)
        return losses, [tf.convert_to_tensor(g) for g in slopes]

    with recurrence.options(jit=True, shards=2):
        fast = tf.function(run, autograph=False)()
    plain = run()
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), fast, plain
    )


def test_padding_of_source_and_target_changes_nothing():
    encoder = GRUEncoder(9, EMBEDDING, UNITS, init=UNIFORM, name="e")
    encoder.build()
    decoder = AttentionDecoder(
        WORDS, EMBEDDING, UNITS, init=UNIFORM, name="own"
    )
    tokens = np.array([[[4, 5, 6], [7, 0, 0], [0, 0, 0]]], np.int32)

    def losses(source, target):
        encoded = encoder(np.pad(tokens, [[0, 0], [0, 0], [0, source]]))
        given = np.pad(TARGET[None, :3], [[0, 0], [0, 0], [0, target]])
        return decoder(given, encoded)["losses"].numpy()

    short, long = losses(0, 0), losses(4, 3)
    np.testing.assert_allclose(long[..., :3], short, atol=1e-6)
    assert not long[..., 3:].any()
    encoded = encoder(tokens)
    values = {n: np.array(encoded[n][0], np.float64) for n in encoded}
    assert not values["annotations"][2].any() and not values["first"][2].any()


def test_the_encoder_has_both_directions_side_by_side():
    encoder = GRUEncoder(9, EMBEDDING, UNITS, init=UNIFORM, name="e")
    tokens = np.array([[[4, 5, 6], [7, 0, 0]]], np.int32)
    encoded = encoder(tokens)
    vectors = encoder.embedding.vectors.numpy().astype(np.float64)
    for b, length in enumerate((3, 1)):
        sides = []
        for layer, reverse in (
            (encoder.forward, False),
            (encoder.backward, True),
        ):
            w = {v.name: np.array(v, np.float64) for v in layer.weights}
            mask = tokens[0, b] > 0
            states, last = reference.gru(
                vectors[tokens[0, b]], mask, reference.of_gru(w), reverse
            )
            sides.append(states[:length])
        got = encoded["annotations"][0, b, :length]
        np.testing.assert_allclose(got, np.concatenate(sides, 1), atol=1e-6)
        np.testing.assert_allclose(encoded["first"][0, b], last, atol=1e-6)


@pytest.mark.extended
def test_encoder_and_decoder_pass_the_test_of_layers():
    encoded = make_encoded()
    run_layer_test(
        lambda: AttentionDecoder(WORDS, EMBEDDING, UNITS, name="own"),
        [tf.constant(TARGET[None]), encoded],
        parameters=_parameters_of_decoder(),
        output_shapes={"losses": (1, 4, 3)},
        symbolic=(),
    )
    tokens = tf.constant([[[4, 5, 6], [7, 0, 0]]])
    run_layer_test(
        lambda: GRUEncoder(9, EMBEDDING, UNITS, name="e"),
        [tokens],
        parameters=9 * EMBEDDING + 6 * UNITS * (EMBEDDING + UNITS + 1),
        output_shapes={
            "annotations": (1, 2, 3, 2 * UNITS),
            "first": (1, 2, UNITS),
            "mask": (1, 2, 3),
        },
        symbolic=(),
    )


def _parameters_of_decoder():
    read = EMBEDDING + DEPTH
    unit = 3 * UNITS * (read + UNITS + 1)
    alignment = UNITS * (UNITS + DEPTH + 1) + UNITS
    readout = UNITS * (UNITS + read + 1)
    start = UNITS * (UNITS + 1)
    words = WORDS * (EMBEDDING + UNITS + 1)
    return unit + alignment + readout + start + words


def test_dropout_depends_on_the_seed_and_on_training_only():
    decoder = make_decoder(dropout={"embedding": 0.5, "readout": 0.5})
    encoded = make_encoded()

    def losses(**call):
        return decoder(TARGET[None], encoded, **call)["losses"].numpy()

    first = losses(training=True, seed=[0, 1])
    np.testing.assert_array_equal(first, losses(training=True, seed=[0, 1]))
    assert np.abs(first - losses(training=True, seed=[0, 2])).max() > 1e-3
    plain = make_decoder()(TARGET[None], encoded)["losses"]
    np.testing.assert_allclose(losses(), plain, atol=1e-6)
