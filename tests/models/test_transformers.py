"""S-P, S-C, L-I and L-E: read-outs, masks, counts, learning, saving."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.config_fields import model_fields
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.attention import self_attention
from mtl_tf.layers.dropout import Dropout
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.protocol import count_parameters
from mtl_tf.models.registry import SCHEMES, make_scheme
from mtl_tf.models.schemes.transformer import TransformerScheme
from tests.layers import transformer_reference as reference
from tests.models.model_testing import (
    check_restored,
    make_batch,
    make_tasks,
    two_task_problem,
)

NAMES = model_fields.TRANSFORMERS
SIZES = {"layers": 2, "units": 12, "heads": 3, "feed_forward": 10}
TASK = tf.constant([2, 0])
LENGTHS = np.array([[5, 2, 0], [3, 5, 1]])
MASK = tf.sequence_mask(LENGTHS, 5)
EMBEDDED = np.random.default_rng(0).normal(size=(2, 3, 5, 8)).astype("float32")
SEED = tf.constant([1, 2])


def small(name, **changes):
    scheme = {"name": name, **SIZES, **changes.pop("scheme", {})}
    return {"embedding_dim": 8, "scheme": scheme} | changes


@functools.cache
def made(name, **options):
    """A scheme of three tasks whose weights, all of them, are random."""
    scheme = make_scheme({"name": name, **SIZES, **options}, tasks=3)
    scheme.build((None, None, None, 8))
    draw = np.random.default_rng(5)
    for weight in scheme.weights:
        weight.assign(0.5 * draw.normal(size=weight.shape))
    return scheme


@functools.cache
def model_of(name):
    return build_model(small(name), 20, make_tasks(2, 2, 2), seed=1)


def rows_of(name, scheme, task):
    """The rows in front of the words of a text of `task`, `[R, D]`."""
    if name == "s_p":
        return np.zeros((0, 8))
    if name == "l_i":
        return np.array(scheme.task_embedding)[task]
    return np.array(scheme.cls)


def expected_summary(name, states, task):
    """What each structure reads of a text's states `[R + T, H]`."""
    if name == "s_p":
        return states.mean(0) if len(states) else np.zeros(12)
    return states[task if name == "l_e" else 0]


@pytest.mark.by_default("l_e", "s_p")
@pytest.mark.parametrize("name", NAMES)
def test_long_texts_are_attended_to_in_parts(name, monkeypatch):
    scheme = made(name)
    expected = scheme(EMBEDDED, MASK, TASK)["summary"]
    held = []
    softmax = tf.nn.softmax

    def noting(scores):
        held.append(scores.shape[2])
        return softmax(scores)

    monkeypatch.setattr(tf.nn, "softmax", noting)
    monkeypatch.setattr(self_attention, "_SCORES_AT_ONCE", 1)
    got = scheme(EMBEDDED, MASK, TASK)["summary"]
    assert set(held) == {1}
    np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.by_default("{}-*", "*post*-s_p", "*max_positions*-l_e")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "post", "positions": "sinusoidal"}, {"max_positions": 3}],
    ids=str,
)
def test_outputs_are_numpys(name, options):
    scheme = made(name, **options)
    output = scheme(EMBEDDED, MASK, TASK, inspect=True)
    fast = scheme(EMBEDDED, MASK, TASK, sequence=False)
    assert "sequence" not in fast and fast["inspect"] == {}
    assert sorted(output["inspect"]) == ["attention_0", "attention_1"]
    for (group, text), length in np.ndenumerate(LENGTHS):
        task = TASK.numpy()[group]
        rows = rows_of(name, scheme, task)
        words = EMBEDDED[group, text, :length].astype(np.float64)
        if len(rows) + length:
            states, maps = reference.scheme(scheme, words, rows)
        else:
            states, maps = np.zeros((0, 12)), [np.zeros((3, 0, 0))] * 2
        wanted = expected_summary(name, states, task)
        for got in (output, fast):
            np.testing.assert_allclose(
                got["summary"][group, text], wanted, atol=1e-5
            )
        sequence = np.zeros((5, 12))
        sequence[:length] = states[len(rows) :]
        np.testing.assert_allclose(
            output["sequence"][group, text], sequence, atol=1e-5
        )
        whole = len(rows) + length
        for block, expected in enumerate(maps):
            got = np.array(output["inspect"][f"attention_{block}"])[group, text]
            padded = np.zeros((3, len(rows) + 5, len(rows) + 5))
            padded[:, :whole, :whole] = expected
            np.testing.assert_allclose(got, padded, atol=1e-5)


@pytest.mark.by_default("l_i")
@pytest.mark.parametrize("name", NAMES)
def test_a_longer_bucket_changes_nothing(name):
    model, batch = model_of(name), make_batch(2, 3, 7)
    longer = batch | {
        "tokens": tf.pad(batch["tokens"], [[0, 0], [0, 0], [0, 9]])
    }
    np.testing.assert_allclose(
        model(longer)["scores"], model(batch)["scores"], atol=1e-5
    )
    # Neither what stands at padding nor with which texts one is batched.
    scheme = made(name)
    expected = scheme(EMBEDDED, MASK, TASK)["summary"]
    other = np.where(MASK[..., None], EMBEDDED, 1e3)
    np.testing.assert_allclose(
        scheme(other, MASK, TASK)["summary"], expected, atol=1e-5
    )
    padded = (slice(1), slice(1, 2))
    alone = scheme(other[padded], MASK[padded], TASK[:1])
    np.testing.assert_allclose(alone["summary"], expected[padded], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_rows_get_the_input_dropout_of_the_words(name, monkeypatch):
    """Where it drops all, only the bias of the linear map is left."""
    monkeypatch.setattr(
        Dropout, "call", lambda self, x, **_: x * (self.salt != "input")
    )
    scheme = made(name)
    output = scheme(EMBEDDED[:1, :1], MASK[:1, :1], TASK[:1])
    places = scheme.rows + LENGTHS[0, 0]
    biases = np.tile(np.array(scheme.bias, np.float64), [places, 1])
    states, _ = reference.encoder(scheme.encoder, biases)
    for got, wanted in (
        (output["sequence"][0, 0], states[scheme.rows :]),
        (output["summary"][0, 0], expected_summary(name, states, TASK[0])),
    ):
        np.testing.assert_allclose(got, wanted, atol=1e-5)


@pytest.mark.extended
@pytest.mark.parametrize("name", ["s_p", "l_e"])
def test_texts_without_words_train(name):
    """Finite scores and gradients in a traced step of any length."""
    model = model_of(name)

    @tf.function(
        autograph=False,
        input_signature=[
            {
                "task": tf.TensorSpec([None], tf.int32),
                "tokens": tf.TensorSpec([None, None, None], tf.int32),
                "label": tf.TensorSpec([None, None], tf.int32),
            }
        ],
    )
    def step(batch):
        with tf.GradientTape() as tape:
            loss = model(batch, training=True, seed=SEED)["loss"]
        return loss, tape.gradient(loss, model.trainable_variables)

    for length in (0, 4):
        batch = {
            "task": tf.constant([1]),
            "tokens": tf.zeros([1, 3, length], tf.int32),
            "label": tf.constant([[0, 1, 1]]),
        }
        loss, gradients = step(batch)
        assert np.all(np.isfinite(loss))
        for gradient in gradients:
            assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))


def test_permuting_the_rows_of_l_e_permutes_its_outputs():
    scheme = make_scheme({"name": "l_e", **SIZES}, tasks=3)
    before = [
        scheme(EMBEDDED[:1], MASK[:1], tf.constant([task]), sequence=False)
        for task in range(3)
    ]
    order = [2, 0, 1]
    scheme.cls.assign(scheme.cls.numpy()[order])
    for place, task in enumerate(order):
        got = scheme(
            EMBEDDED[:1], MASK[:1], tf.constant([place]), sequence=False
        )
        np.testing.assert_allclose(
            got["summary"], before[task]["summary"], atol=1e-5
        )
    assert np.any(np.abs(before[0]["summary"] - before[1]["summary"]) > 1e-3)


def test_what_is_private():
    """L-I's rows are; those of L-E stand in every text."""
    for name in NAMES:
        model = model_of(name)
        paths = {v.path for v in model.private_variables()}
        own = {path for path in paths if "/scheme/" in path}
        rows = {"multi_task_model/scheme/task_embedding"}
        assert own == (rows if name == "l_i" else set())
        assert len(paths) == len(own) + 2
    with tf.GradientTape() as tape:
        batch = make_batch(1, 4, 7)
        loss = tf.reduce_sum(model_of("l_e")(batch, training=False)["loss"])
    gradient = tape.gradient(loss, model_of("l_e").scheme.cls.value)
    assert np.all(np.any(gradient, axis=1))


@pytest.mark.parametrize("name", NAMES)
def test_parameter_count(name):
    d, f, tasks, words = 300, 512, 16, 200
    block = 4 * (d * d + d) + 2 * d * f + f + d + 4 * d
    count = (
        4 * block + 2 * d + words * d + d + 512 * words + tasks * (2 * d + 2)
    )
    count += {"s_p": 0, "s_c": 1, "l_i": tasks, "l_e": tasks}[name] * words
    config = {"embedding_dim": words, "scheme": {"name": name}}
    model = build_model(config, 11, make_tasks(*[2] * tasks))
    assert count_parameters(model) == count


def test_dropout_is_of_the_seed_and_in_training_only():
    for options in ({"dropout": 0.0}, {"input_dropout": 0.0}):
        config = small("l_i", scheme=options)
        model, batch = build_model(config, 20, make_tasks(2, 2)), make_batch()
        one = model(batch, training=True, seed=SEED)["loss"]
        again = model(batch, training=True, seed=SEED)["loss"]
        np.testing.assert_array_equal(one, again)
        other = model(batch, training=True, seed=SEED + 1)["loss"]
        assert np.any(one != other) and np.any(one != model(batch)["loss"])


@pytest.mark.by_default("l_e")
@pytest.mark.parametrize("name", NAMES)
def test_checkpoint_and_config_make_the_model_again(name, tmp_path):
    model = model_of(name)
    fresh = build_model(small(name), 20, make_tasks(2, 2, 2), seed=2)
    check_restored(model, fresh, make_batch(), tmp_path)
    config = keras.saving.serialize_keras_object(model.scheme)
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.scheme.get_config()


def test_half_precision_is_a_policy():
    batch, expected = make_batch(), model_of("l_e")(make_batch())["scores"]
    model = build_model(
        small("l_e"), 20, make_tasks(2, 2, 2), seed=1, dtype="mixed_bfloat16"
    )
    output = model(batch, training=True, seed=SEED)
    scores = model(batch)["scores"]
    assert model.scheme.compute_dtype == "bfloat16"
    assert output["loss"].dtype == tf.float32
    assert np.all(np.isfinite(output["loss"]))
    np.testing.assert_allclose(scores, expected, atol=0.05)


def test_the_configs_know_the_transformers():
    found = {n for n, s in SCHEMES.items() if issubclass(s, TransformerScheme)}
    assert found == set(model_fields.TRANSFORMERS)
    scheme = make_scheme({"name": "s_p"}, tasks=1)
    assert scheme.get_config()["max_positions"] == model_fields.MAX_POSITIONS


@pytest.mark.parametrize(
    "options, message",
    [
        ({"heads": 5}, r"units must be a multiple of heads \(5\), got 12"),
        ({"layers": 0}, "layers must be a positive integer"),
        ({"norm": "prenorm"}, "unknown norm 'prenorm'"),
        ({"positions": "sine"}, "unknown positions 'sine'"),
        ({"input_dropout": 1.0}, "dropout rate must be"),
        ({"head": 3}, "no option 'head'; did you mean 'heads'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigError, match=message):
        build_model(small("s_p", scheme=options), 20, make_tasks(2))


def learned(config, seed, steps=600):
    """Accuracy on `two_task_problem`, after at most `steps` steps."""
    draw = np.random.default_rng(seed)
    model = build_model(config, 20, make_tasks(2, 2), seed=seed)
    optimizer = keras.optimizers.Adam(0.003)
    optimizer.build(model.trainable_variables)

    @tf.function(reduce_retracing=True, autograph=False)
    def step(batch):
        with tf.GradientTape() as tape:
            output = model(batch, training=True, seed=SEED)
            loss = tf.reduce_mean(output["loss"])
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)

    accuracy = 0.0
    for number in range(1, steps + 1):
        step(two_task_problem(draw, 32))
        if number % 50 == 0:
            test = [two_task_problem(draw, 200) for _ in range(4)]
            accuracy = float(
                np.mean([model(b)["prediction"] == b["label"] for b in test])
            )
            if accuracy > 0.98:
                break
    print(f"seed {seed}: {accuracy} after {number} steps")
    return accuracy


LEARNING = {
    "layers": 2,
    "units": 32,
    "heads": 4,
    "feed_forward": 32,
    "dropout": 0.0,
    "input_dropout": 0.0,
}


@pytest.mark.extended
@pytest.mark.parametrize(
    "name, head",
    [
        ("s_p", {"hidden_units": 16}),
        pytest.param("s_c", {}, marks=pytest.mark.slow),
        pytest.param("l_i", {"sharing": "shared"}, marks=pytest.mark.slow),
        ("l_e", {}),
    ],
)
def test_learns_what_depends_on_order_and_task(name, head):
    """A fresh seed every time: printed, so that a failure can be repeated."""
    seed = int(np.random.SeedSequence().generate_state(1)[0]) >> 1
    config = {
        "embedding_dim": 16,
        "head": head,
        "scheme": {"name": name, **LEARNING},
    }
    assert learned(config, seed) > 0.98


def test_a_shared_head_of_s_c_cannot_tell_tasks_apart():
    """L-I above learns it with a shared head: its row is what tells them."""
    config = small("s_c", head={"sharing": "shared"})
    model, batch = build_model(config, 20, make_tasks(2, 2)), make_batch(1)
    one, two = (
        model(batch | {"task": tf.constant([task])})["scores"]
        for task in range(2)
    )
    np.testing.assert_array_equal(one, two)
