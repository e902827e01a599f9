"""Every model computes in half precision close to what float32 gives."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.special_ids import EOS
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models import registry
from mtl_tf.models.answering.question_answering import (
    MODELS,
    build_question_model,
)
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.scheme import SharingScheme
from mtl_tf.models.translation.multi_target import build_translation_model
from tests.models.model_testing import make_batch, make_tasks

SEED = tf.constant([1, 2])
HALF = ("mixed_bfloat16", "mixed_float16")
WIDE_STEP = {"mixed_bfloat16": 2.0**-8, "mixed_float16": 2.0**-11}
# Weights of this size make a model's outputs depend on its inputs.
INIT = {"name": "uniform", "range": 0.5}
TRANSFORMER = {"layers": 1, "units": 8, "heads": 2, "feed_forward": 6}
OPTIONS = {
    "direct": {},
    "mt_cnn": {"filters": 4, "widths": [2]},
    "mt_dnn": {"units": 6},
    "nbow": {},
    "asp": {"adversarial_start": 0},
    **{
        name: TRANSFORMER | {"dropout": 0.0, "input_dropout": 0.0}
        for name in ("s_p", "s_c", "l_i", "l_e")
    },
}


@pytest.fixture(autouse=True)
def not_compiled():
    with recurrence.options(jit=False):
        yield


def make_classifier(name, dtype):
    options = OPTIONS.get(name, {"units": 6})
    config = {
        "embedding_dim": 8,
        "scheme": {"name": name, **options},
        "init": INIT,
        "dropout": {"embedding": 0.0, "head": 0.0},
    }
    return build_model(config, 20, make_tasks(2, 2, 2), seed=1, dtype=dtype)


def make_question_model(name, dtype):
    config = {
        "name": name,
        "embedding_dim": 10,
        "ngram_dim": 6,
        "units": 8,
        "feed_forward": 7,
        "heads": 2,
        "dropout": 0.0,
        "init": INIT,
    }
    ngrams = (9, np.arange(80).reshape(40, 2) % 9)
    return build_question_model(
        config, 40, 20, seed=3, ngrams=ngrams, dtype=dtype
    )


def make_translator(dtype):
    config = {"embedding_dim": 8, "units": 8, "init": INIT}
    sizes = {"de": 9, "fr": 7}
    return build_translation_model(
        config, 20, sizes, ["en-de", "en-fr"], dtype=dtype
    )


def question_batch():
    draw, batch = np.random.default_rng(1), {}
    for name, size in {"context": 6, "question": 4, "answer": 3}.items():
        batch[name] = draw.integers(4, 44, [3, size])
    batch["answer"][:, 0] = batch["context"][:, 1]
    batch["answer"][:, -1] = EOS
    batch["own_words"] = draw.integers(1, 9, [3, 4, 2])
    return {k: tf.constant(v[None], tf.int32) for k, v in batch.items()}


def losses_and_gradients(model, batch, **options):
    """The losses, and the gradients that are not 0 in every place."""
    with tf.GradientTape() as tape:
        outputs = model(batch, training=True, seed=SEED, **options)
        total = tf.reduce_sum(outputs["loss"])
        for loss in outputs["losses"].values():
            total += tf.reduce_sum(loss)
    variables = model.trainable_variables
    gradients = tape.gradient(total, variables)
    return outputs["loss"], {
        variable.path: tf.convert_to_tensor(gradient)
        for variable, gradient in zip(variables, gradients)
        if gradient is not None
    }


def check_close(make, batch, dtype, **options):
    """Losses and gradients are float32 and near those of float32 layers."""
    expected, exact = losses_and_gradients(make("float32"), batch, **options)
    model = make(dtype)
    losses, gradients = losses_and_gradients(model, batch, **options)
    assert losses.dtype == tf.float32
    # Half precision was used.
    assert np.any(np.array(losses) != expected)
    step = WIDE_STEP[dtype]
    np.testing.assert_allclose(losses, expected, rtol=20 * step)
    assert gradients.keys() == exact.keys()
    assert {g.dtype for g in gradients.values()} == {tf.float32}
    assert {v.dtype for v in model.weights} <= {"float32", "int32"}
    largest = max(np.linalg.norm(g) for g in exact.values())
    for path, gradient in gradients.items():
        difference = np.linalg.norm(gradient - exact[path])
        # A gradient that is next to nothing may be all rounding.
        size = max(np.linalg.norm(exact[path]), 0.05 * largest)
        assert difference < 40 * step * size, path


@pytest.mark.by_default("meta_lstm-mixed_bfloat16", "mt_cnn-mixed_bfloat16")
@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("name", registry.SCHEMES)
def test_schemes(name, dtype):
    batch = make_batch(groups=3, length=5) | {"step": tf.constant(5)}
    check_close(lambda d: make_classifier(name, d), batch, dtype)


@pytest.mark.by_default("s2s-mixed_bfloat16")
@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("name", MODELS)
def test_question_answering(name, dtype):
    check_close(lambda d: make_question_model(name, d), question_batch(), dtype)


@pytest.mark.extended
@pytest.mark.parametrize("dtype", HALF)
def test_translation(dtype):
    draw = np.random.default_rng(0)
    batch = {
        "tokens": tf.constant(draw.integers(4, 20, [1, 3, 5]), tf.int32),
        "target": tf.constant(draw.integers(4, 7, [1, 3, 4]), tf.int32),
    }
    check_close(make_translator, batch, dtype, key=1)


@pytest.mark.extended
@pytest.mark.parametrize("beam", [1, 3])
def test_answers_are_scored_as_they_were_made(beam):
    """The decoder's cache and the scores of given answers agree."""
    model = make_question_model("mqan", "mixed_bfloat16")
    texts = {k: v[0] for k, v in question_batch().items()}
    reading = texts["context"], texts["question"]
    own_words = texts["own_words"]
    made = model.answer(*reading, max_length=4, beam=beam, own_words=own_words)
    words = tf.pad(made["tokens"][:, 0], [[0, 0], [0, 1]])
    end = tf.one_hot(made["length"][:, 0], words.shape[1], dtype=tf.int32)
    is_whole = made["length"][:, 0] < 4
    words += EOS * end * tf.cast(is_whole, tf.int32)[:, None]
    scores, _ = model.log_likelihoods(*reading, words, own_words)
    assert made["log_probability"].dtype == tf.float32
    np.testing.assert_allclose(
        made["log_probability"][:, 0], tf.reduce_sum(scores, -1), rtol=0.03
    )


class Plain(SharingScheme):
    """A scheme that says nothing of precision."""

    def __init__(self, tasks, **kwargs):
        super().__init__(**kwargs)


def test_own_schemes_say_that_they_can(monkeypatch):
    monkeypatch.setitem(registry.SCHEMES, "plain", Plain)
    registry.make_scheme({"name": "plain"}, 2)
    told = "training.mixed_precision is 'mixed_bfloat16', but the scheme plain"
    with pytest.raises(ConfigError, match=told):
        registry.make_scheme({"name": "plain"}, 2, dtype="mixed_bfloat16")
    monkeypatch.setattr(Plain, "half_precision", True)
    registry.make_scheme({"name": "plain"}, 2, dtype="mixed_bfloat16")
