"""Models that tag: heads by kind, features of words, what they learn."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.registry import SCHEMES

CHUNKS = ["O", "B-X", "I-X"]
TASKS = [
    {"name": "chunks", "type": "tagging", "labels": CHUNKS},
    {"name": "mood", "type": "classification", "labels": ["bad", "good"]},
    {"name": "words", "type": "tagging", "labels": ["A", "B", "C", "D"]},
]
FEATURES = {
    "characters": {"name": "cnn", "filters": 3, "dimension": 4},
    "casing_dim": 2,
    "word_dropout": 0.5,
}


@pytest.fixture(autouse=True)
def without_compiling():
    with recurrence.options(jit=False, shards=1):
        yield


def make_config(**changes):
    scheme = {"name": "lstm", "units": 6, "bidirectional": True}
    return {"embedding_dim": 5, "scheme": scheme} | changes


def make_batch(tasks, length=6):
    draw = np.random.default_rng(0)
    shape = (len(tasks), 3, length)
    lengths = np.array([length, min(length, 2), 0])[:, None]
    real = np.arange(length) < lengths
    characters = draw.integers(1, 20, (*shape, 4)) * real[..., None]
    arrays = {
        "task": tasks,
        "tokens": draw.integers(1, 20, shape) * real,
        "tags": draw.integers(0, 2, shape) * real,
        "label": draw.integers(0, 2, shape[:2]),
        "characters": characters,
        "casing": draw.integers(1, 8, shape) * real,
    }
    return {name: tf.constant(a, tf.int32) for name, a in arrays.items()}


@pytest.mark.extended
def test_several_kinds_in_one_model():
    model = build_model(make_config(), 20, TASKS)
    assert list(model.heads) == ["classification", "tagging"]
    output = model(make_batch([2, 0]), key="tagging")
    assert output["scores"].shape == (2, 3, 6, 4)
    # The chunks' three labels, in the order of BIO.
    assert not np.any(output["scores"][1, ..., 3])
    paths = output["prediction"].numpy()[1]
    begin = np.pad(paths, [(0, 0), (1, 0)])[:, :-1]
    assert not np.any((paths == 2) & (begin == 0))
    output = model(make_batch([1]), key="classification")
    assert output["prediction"].shape == (1, 3)
    with pytest.raises(ValueError, match="one of classification, tagging"):
        model(make_batch([1]))


def test_options_of_tagging():
    soft = make_config(tagging={"decoder": "softmax"})
    names = {v.path for v in build_model(soft, 20, TASKS).variables}
    assert not any("crf" in name for name in names)
    free = make_config(tagging={"constraints": False})
    head = build_model(free, 20, TASKS).heads["tagging"]
    assert head.crf.constraints == [None] * 3
    head = build_model(make_config(), 20, TASKS).heads["tagging"]
    bound, *others = head.crf.constraints
    assert others == [None, None] and not bound.transitions[0, 2]
    iob1 = [TASKS[0] | {"scheme": "iob1"}]
    head = build_model(make_config(), 20, iob1).heads["tagging"]
    assert head.crf.constraints[0].transitions[0, 2]
    for tagging, message in (
        ({"decode": "crf"}, "did you mean 'decoder'"),
        ({"decoder": "crff"}, "did you mean 'crf'"),
    ):
        with pytest.raises(ConfigError, match=message):
            build_model(make_config(tagging=tagging), 20, TASKS)


@pytest.mark.by_default("direct", "mt_cnn", "ssp")
@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_every_scheme_with_a_sequence_tags(scheme):
    config = make_config(scheme={"name": scheme})
    tasks = [TASKS[0], TASKS[2]]
    if not SCHEMES[scheme](tasks=2).has_sequence:
        with pytest.raises(ConfigError, match="has no sequence"):
            build_model(config, 20, tasks)
        return
    model = build_model(config, 20, tasks)
    loss = model(make_batch([1]))["loss"]
    assert loss.shape == (1, 3) and np.all(np.isfinite(loss))


@pytest.mark.extended
def test_features_of_words():
    model = build_model(make_config(**FEATURES), 20, TASKS[:1])
    batch, seed = make_batch([0]), tf.constant([1, 2])
    output = model(batch)
    for name in ("characters", "casing"):
        other = batch[name] + tf.cast(batch[name] > 0, tf.int32)
        changed = batch | {name: other}
        assert np.any(model(changed)["scores"] != output["scores"])
        missing = {key: x for key, x in batch.items() if key != name}
        with pytest.raises(ValueError, match=f"reads '{name}', but"):
            model(missing)
    with tf.GradientTape() as tape:
        trained = model(batch, training=True, seed=seed)
        loss = tf.reduce_sum(trained["loss"])
    values = [v.value for v in model.trainable_variables]
    assert all(g is not None for g in tape.gradient(loss, values))
    assert np.any(trained["loss"] != output["loss"])
    # Padding changes nothing.
    wide = {
        name: tf.pad(x, [[0, 2 if a == 2 else 0] for a in range(len(x.shape))])
        for name, x in batch.items()
    }
    np.testing.assert_allclose(model(wide)["loss"], output["loss"], rtol=1e-5)


def test_nothing_to_tag():
    model = build_model(make_config(**FEATURES), 20, TASKS[:1])
    np.testing.assert_array_equal(model(make_batch([0], 0))["loss"], 0)


def test_wrong_features():
    for changes, message in (
        ({"characters": {"name": "cnm"}}, "did you mean 'cnn'"),
        ({"characters": {"name": "lstm", "filters": 3}}, "no option 'filters'"),
        ({"casing_dim": -1}, "casing_dim must be"),
        ({"word_dropout": 1.0}, "must be at least 0 and below 1"),
    ):
        with pytest.raises(ConfigError, match=message):
            build_model(make_config(**changes), 20, TASKS)


@pytest.mark.slow
def test_learns_transitions_that_tokens_do_not_show():
    """Tags alternate from either one; the words are all the same."""
    draw = np.random.default_rng(0)
    tags = (draw.integers(0, 2, (1, 32, 1)) + np.arange(8)) % 2
    tasks = [{"name": "turns", "type": "tagging", "labels": ["A", "B"]}]
    batch = {"task": [0], "tokens": np.ones(tags.shape), "tags": tags}
    batch = {name: tf.constant(a, tf.int32) for name, a in batch.items()}
    output = trained(build_model(make_config(), 6, tasks), batch, steps=40)
    assert np.all(np.diff(output["prediction"]) != 0)
    # One bit is unknown, once for a sentence. (At every token, without a CRF:
    # see tests/layers/test_tagging_head.py.)
    assert np.mean(output["loss"]) < np.log(2) + 0.2


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param("s_p", marks=pytest.mark.slow),
        pytest.param("l_e", marks=pytest.mark.slow),
    ],
)
def test_a_crf_trains_the_transformer_below_it(scheme):
    """Tags alternate; a word anywhere in the text says from which one."""
    draw = np.random.default_rng(0)
    first = draw.integers(0, 2, (1, 32, 1))
    tokens = draw.integers(3, 20, (1, 32, 8))
    np.put_along_axis(tokens, draw.integers(0, 8, first.shape), 1 + first, 2)
    arrays = {"task": [1], "tokens": tokens, "tags": (first + np.arange(8)) % 2}
    batch = {name: tf.constant(a, tf.int32) for name, a in arrays.items()}
    tasks = [
        {"name": name, "type": "tagging", "labels": ["A", "B"]}
        for name in ("one", "other")
    ]
    sizes = {"layers": 2, "units": 16, "heads": 2, "feed_forward": 16}
    still = {"dropout": 0.0, "input_dropout": 0.0}
    config = make_config(scheme={"name": scheme, **sizes, **still})
    model = build_model(config, 20, tasks)
    assert model.heads["tagging"].decoder == "crf"
    output = trained(model, batch, steps=150, rate=0.01)
    # Who knows the transitions only has one bit a text to guess.
    assert np.mean(output["loss"]) < 0.1 * np.log(2)
    np.testing.assert_array_equal(output["prediction"], batch["tags"])


def trained(model, batch, steps, rate=0.1):
    """The outputs after some steps."""
    optimizer = keras.optimizers.Adam(rate)
    optimizer.build(model.trainable_variables)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch, training=True)["loss"])
        variables = model.trainable_variables
        gradients = tape.gradient(loss, [v.value for v in variables])
        gradients = [tf.convert_to_tensor(g) for g in gradients]
        optimizer.apply(gradients, variables)

    for _ in range(steps):
        step()
    return model(batch)
