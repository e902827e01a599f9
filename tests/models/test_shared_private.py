"""HyperLSTM, PSP, SSP and ASP as schemes: counts, losses, learning."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.protocol import count_parameters
from tests.models.model_testing import (
    check_checkpoint,
    check_padding,
    make_batch,
    make_tasks,
    small,
)

HYPER = {"hyper_units": 4, "hyper_vector": 3}
SCHEMES = [
    small("hyper_lstm", scheme=HYPER),
    small("hyper_lstm", scheme=HYPER | {"sharing": "shared"}),
    small("hyper_lstm", scheme=HYPER | {"bidirectional": True}),
    small("psp"),
    small("psp", scheme={"bidirectional": True}),
    small("ssp"),
    small("ssp", scheme={"private_input": "both", "bidirectional": True}),
    small("asp"),
    small("asp", scheme={"bidirectional": True}),
]

pytestmark = pytest.mark.usefixtures("without_jit")


def asp(**options):
    return small("asp", scheme=options)


PSP = 17 * 4 * 100 * 301 + 16 * 402
DISCRIMINATOR = 100 * 16 + 16


@pytest.mark.parametrize(
    "scheme, tasks, count",
    [
        ({"name": "hyper_lstm"}, 1, 319_530),
        ({"name": "hyper_lstm", "sharing": "shared"}, 1, 319_530),
        ({"name": "hyper_lstm"}, 3, 3 * 319_530),
        ({"name": "hyper_lstm", "sharing": "shared"}, 3, 319_328 + 3 * 202),
        ({"name": "hyper_lstm", "bidirectional": True}, 1, 2 * 319_328 + 402),
        ({"name": "psp"}, 16, 2_053_232),
        ({"name": "psp", "bidirectional": True}, 16, 2 * PSP - 16 * 2),
        ({"name": "ssp"}, 16, 1_410_032),
        (
            {"name": "ssp", "private_input": "both"},
            16,
            1_410_032 + 16 * 4 * 100 * 200,
        ),
        (
            {"name": "ssp", "bidirectional": True},
            16,
            2 * 1_410_032 - 16 * 2,
        ),
        ({"name": "asp"}, 16, PSP + DISCRIMINATOR),
        (
            {"name": "asp", "bidirectional": True},
            16,
            2 * (PSP + DISCRIMINATOR) - 16 * 2 - 16,
        ),
    ],
)
def test_parameter_counts_are_the_notes(scheme, tasks, count):
    config = {"embedding_dim": 200, "scheme": {"units": 100} | scheme}
    model = build_model(config, 11, make_tasks(*[2] * tasks))
    assert count_parameters(model) == count


@pytest.mark.by_default("config0", "config5", "config8")
@pytest.mark.parametrize("config", SCHEMES)
def test_outputs_which_padding_does_not_change(config):
    model = build_model(config, 20, make_tasks(2, 4))
    batch = make_batch()
    output = model(batch, inspect=True)
    assert output["scores"].shape == (2, 3, 4)
    both = config["scheme"].get("bidirectional", False)
    name = config["scheme"]["name"]
    width = 12 if name in ("psp", "asp") else 6
    assert output["inspect"]["forward/hidden"].shape == (2, 3, 7, width)
    assert ("backward/hidden" in output["inspect"]) == both
    assert model.scheme.output_units == width * (2 if both else 1)
    assert set(output["losses"]) == (
        {"adversarial", "orthogonality"} if name == "asp" else set()
    )
    check_padding(model, batch, output["scores"])


@pytest.mark.by_default("config1")
@pytest.mark.parametrize("config", [SCHEMES[0], *SCHEMES[4::2]])
def test_checkpoint_restores_a_fresh_model(config, tmp_path):
    check_checkpoint(config, tmp_path)


@pytest.mark.parametrize("config", SCHEMES[3:])
def test_tasks_share_one_half_and_own_the_other(config):
    model = build_model(config, 20, make_tasks(2, 2))
    private = {id(v) for v in model.private_variables()}
    for variable in model.scheme.trainable_variables:
        assert (id(variable) in private) == ("private" in variable.path)


def test_hyper_lstm_is_private_or_shared():
    for sharing in ("private", "shared"):
        config = small("hyper_lstm", scheme=HYPER | {"sharing": sharing})
        scheme = build_model(config, 20, make_tasks(2, 2)).scheme
        flags = {marks_of(v).is_private for v in scheme.trainable_variables}
        assert flags == {sharing == "private"}


@pytest.mark.parametrize(
    "config, message",
    [
        (small("hyper_lstm", scheme={"sharing": "own"}), "sharing"),
        (small("hyper_lstm", scheme={"hyper_unit": 3}), "'hyper_units'"),
        (small("ssp", scheme={"private_input": "bth"}), "did you mean 'both'"),
        (small("psp", scheme={"units": 0}), "units must be a positive"),
        (asp(adversarial_weight=-1), "adversarial_weight must be zero or"),
        (asp(orthogonality_weight=-1), "orthogonality_weight must be zero"),
        (asp(orthogonality_mean="false"), "orthogonality_mean must be True"),
        (asp(adversarial_schedule="linear"), "adversarial_steps must be pos"),
        (asp(adversarial_shedule="linear"), "mean 'adversarial_schedule'"),
    ],
)
def test_wrong_configs(config, message):
    with pytest.raises(ConfigError, match=message):
        build_model(config, 20, make_tasks(2))


def gradients(config, batch, loss, seed=0):
    """Gradients by path of one of the auxiliary losses."""
    model = build_model(config, 20, make_tasks(2, 2), seed=seed)
    with tf.GradientTape() as tape:
        losses = model(batch, training=True)["losses"]
        total = tf.reduce_sum(losses[loss])
    found = tape.gradient(total, model.trainable_variables)
    return {
        v.path.partition("/")[2]: np.array(tf.convert_to_tensor(g))
        for v, g in zip(model.trainable_variables, found)
        if g is not None
    }


def test_the_adversary_reverses_the_gradient_of_the_shared_lstm_alone():
    batch = make_batch()
    once = gradients(asp(adversarial_weight=0.1), batch, "adversarial")
    none = gradients(asp(adversarial_weight=0.0), batch, "adversarial")
    more = gradients(asp(adversarial_weight=0.3), batch, "adversarial")
    assert not [path for path in once if "private" in path]
    for path, gradient in once.items():
        if "discriminator" in path:
            np.testing.assert_array_equal(gradient, none[path])
            np.testing.assert_array_equal(gradient, more[path])
            assert np.any(gradient)
        else:
            assert np.any(gradient) and not np.any(none[path])
            np.testing.assert_allclose(more[path], 3 * gradient, atol=1e-7)


def test_a_step_against_the_adversary_raises_its_loss():
    batch = make_batch(batch=8)
    config = asp(adversarial_weight=1.0)
    model = build_model(config, 20, make_tasks(2, 2))

    def loss(training=True):
        output = model(batch, training=training)
        return tf.reduce_sum(output["losses"]["adversarial"])

    encoder = [
        v
        for v in model.scheme.trainable_variables
        if "shared" in v.path and "discriminator" not in v.path
    ]
    with tf.GradientTape() as tape:
        before = loss()
    for v, g in zip(encoder, tape.gradient(before, encoder)):
        v.assign_sub(0.1 * g)
    assert loss() > before


@pytest.mark.extended
def test_the_weight_follows_the_step():
    config = asp(
        adversarial_weight=0.2,
        adversarial_schedule="linear",
        adversarial_start=10,
        adversarial_steps=20,
    )
    full = gradients(asp(adversarial_weight=0.2), make_batch(), "adversarial")
    for step, part in [(0, 0), (10, 0), (15, 0.25), (30, 1), (900, 1)]:
        batch = make_batch() | {"step": tf.constant(step, tf.int64)}
        got = gradients(config, batch, "adversarial")
        for path, gradient in got.items():
            factor = 1 if "discriminator" in path else part
            np.testing.assert_allclose(gradient, factor * full[path], atol=1e-7)
    with pytest.raises(ValueError, match="training needs a step, got None"):
        gradients(config, make_batch(), "adversarial")


def test_filler_rows_and_empty_texts_do_not_enter_the_penalty():
    batch = make_batch(batch=5)
    weight = np.ones([2, 5], "float32")
    weight[:, 3:] = 0
    cut = {
        name: value[:, :3] if value.shape.rank > 1 else value
        for name, value in batch.items()
    }
    config = asp(orthogonality_weight=0.5)
    filled = gradients(
        config, batch | {"weight": tf.constant(weight)}, "orthogonality"
    )
    whole = gradients(config, cut, "orthogonality")
    assert not [path for path in whole if "discriminator" in path]
    for path, gradient in whole.items():
        np.testing.assert_allclose(filled[path], gradient, atol=1e-7)


@pytest.mark.by_default("False")
@pytest.mark.parametrize("mean", [False, True])
def test_penalty_is_that_of_the_summaries(mean):
    config = asp(
        orthogonality_weight=0.5, orthogonality_mean=mean, bidirectional=True
    )
    model, batch = build_model(config, 20, make_tasks(2, 2)), make_batch()
    output = model(batch, inspect=True)
    shared, private = (
        np.array(output["inspect"][half]) for half in ("shared", "private")
    )
    assert shared.shape == private.shape == (2, 3, 12)
    expected = sum(
        np.sum((s.T @ p / (len(s) if mean else 1)) ** 2)
        for s, p in zip(shared, private)
    )
    np.testing.assert_allclose(
        output["losses"]["orthogonality"], 0.5 * expected, rtol=1e-5
    )
    none = build_model(asp(orthogonality_weight=0.0), 20, make_tasks(2, 2))
    assert set(none(batch)["losses"]) == {"adversarial"}


def test_diagnostics_say_whether_the_task_was_guessed():
    model, batch = build_model(asp(), 20, make_tasks(2, 2)), make_batch()
    model.scheme.discriminator.bias.assign([0.0, 50.0])
    got = model(batch)["diagnostics"]["discriminator_accuracy"]
    np.testing.assert_array_equal(got, [[0] * 3, [100] * 3])


WORDS, SEEN, SIZE = 100, 20, 64


def one_word_problem(draw, labels, task, words, batch=32):
    """Texts of fillers and one word, whose label is the same for all tasks."""
    chosen = draw.choice(words, batch)
    tokens = draw.integers(1 + WORDS, 5 + WORDS, (1, batch, 4))
    tokens[0, np.arange(batch), draw.integers(0, 4, batch)] = 1 + chosen
    return {
        "task": tf.constant([task]),
        "tokens": tf.constant(tokens, tf.int32),
        "label": tf.constant(labels[chosen][None], tf.int32),
        "step": tf.constant(0, tf.int64),
    }


def accuracy_on_words_of_another_task(scheme, seed, steps=250):
    """Task 1 comes late, sees a fifth of the words, is asked for the rest."""
    draw = np.random.default_rng(seed)
    labels = draw.permutation(np.arange(WORDS) % 2)
    config = {
        "embedding_dim": SIZE,
        "embedding_trainable": False,
        "init": {"name": "uniform", "range": 0.3},
        "scheme": {"units": 24} | scheme,
    }
    model = build_model(
        config,
        WORDS + 5,
        make_tasks(2, 2),
        vectors=draw.normal(size=(WORDS + 5, SIZE)).astype("float32"),
        seed=seed,
    )
    optimizer = keras.optimizers.Adam(0.01)

    @tf.function(reduce_retracing=True, autograph=False)
    def step(batch):
        with (
            recurrence.options(jit=True, shards=1),
            tf.GradientTape() as tape,
        ):
            output = model(batch, training=True)
            loss = tf.reduce_mean(output["loss"])
            for extra in output["losses"].values():
                loss += tf.reduce_mean(extra)
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)

    for n in range(steps):
        task = n % 2 if n > steps // 2 else 0
        words = np.arange(SEEN if task else WORDS)
        step(one_word_problem(draw, labels, task, words))
    test = one_word_problem(draw, labels, 1, np.arange(SEEN, WORDS), 400)
    return float(np.mean(model(test)["prediction"] == test["label"]))


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.extended
@pytest.mark.parametrize(
    "scheme, shares",
    [
        ({"name": "lstm", "sharing": "private"}, False),
        slow({"name": "hyper_lstm", "sharing": "private"}, False),
        slow({"name": "hyper_lstm", "sharing": "shared"}, True),
        slow({"name": "psp"}, True),
        ({"name": "ssp"}, True),
        slow({"name": "ssp", "private_input": "both"}, True),
        # Tasks whose words differ are told apart by what has to be shared: a
        # strong adversary (0.05) takes it away.
        slow({"name": "asp", "adversarial_weight": 0.005}, True),
    ],
    ids=str,
)
def test_what_one_task_saw_helps_another_only_where_they_share(scheme, shares):
    """A fresh seed every time: printed, so that a failure can be repeated."""
    seed = int(np.random.SeedSequence().generate_state(1)[0]) >> 1
    if scheme["name"] == "hyper_lstm":
        scheme = scheme | {"hyper_units": 8, "hyper_vector": 4}
    # What is shared only in part is not found from every start.
    for start in range(seed, seed + 8 if shares else seed + 1):
        accuracy = accuracy_on_words_of_another_task(scheme, start)
        print(f"seed {start}: {accuracy}")
        if accuracy > 0.75:
            break
    assert accuracy > 0.75 if shares else accuracy < 0.7
