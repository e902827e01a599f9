"""The case of the benchmark about the MQAN; no test looks at a clock."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.benchmarks import memory, mqan
from mtl_tf.benchmarks.reference_question_model import KerasQuestionModel
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.core import random
from mtl_tf.core.errors import RunError
from mtl_tf.core.special_ids import EOS
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.answering.question_answering import build_question_model
from tests.benchmarks.benchmark_testing import SMALL, check_form, column

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def models():
    """Ours with weights that differ, without dropout, and Keras's."""
    config = {
        "embedding_dim": SMALL.mqan_embedding,
        "units": SMALL.mqan_units,
        "feed_forward": SMALL.mqan_feed_forward,
        "heads": SMALL.mqan_heads,
        "dropout": 0.0,
        "per_word": False,
    }
    words = SMALL.mqan_vocabulary, SMALL.mqan_generative
    model = build_question_model(config, *words)
    for weight in model.trainable_variables:
        draw = random.generator(1, weight.path)
        weight.assign(draw.normal(0, 0.5, weight.shape))
    return model, KerasQuestionModel(model)


@pytest.fixture
def batch():
    """Two of four examples have padding in their texts."""
    batch = dict(next(iter(mqan.batches(SMALL))))
    context = batch["context"].numpy()
    context[0, 1, 5:] = 0
    question = batch["question"].numpy()
    question[0, 2, 1:] = 0
    answer = [[7, EOS, 0, 0], [*context[0, 1, :2], 9, EOS]]
    answer += [[*question[0, 2, :1], EOS, 0, 0], [*context[0, 3, :3], EOS]]
    batch |= {"context": context, "question": question, "answer": [answer]}
    return {name: tf.constant(value) for name, value in batch.items()}


def test_keras_model_has_our_parameters_and_our_losses(models, batch):
    ours, other = models
    counts = [
        sum(np.prod(v.shape) for v in model.trainable_variables)
        for model in models
    ]
    assert counts[0] == counts[1]
    with recurrence.options(jit=False):
        expected = ours(batch)["loss"][0]
    np.testing.assert_allclose(other(batch), expected, rtol=1e-4)
    assert np.std(expected) > 0.1


def test_gradients_are_ours(models, batch):
    norms = []
    for model in models:
        with recurrence.options(jit=False), tf.GradientTape() as tape:
            loss = model(batch)
            loss = tf.reduce_sum(loss["loss"] if model is models[0] else loss)
        values = [v.value for v in model.trainable_variables]
        found = tape.gradient(loss, values)
        assert all(gradient is not None for gradient in found)
        norms.append(
            sum(
                np.sum(np.square(tf.convert_to_tensor(gradient)))
                for gradient in found
            )
        )
    np.testing.assert_allclose(norms[1], norms[0], rtol=1e-3)


def test_both_write_the_same_answers(models, batch):
    ours, other = models
    read = batch["context"][0], batch["question"][0]
    expected = ours.answer(*read, max_length=4)
    found = other.answer(*read, max_length=4)
    np.testing.assert_allclose(
        found["score"], expected["score"][:, 0], rtol=1e-4
    )
    for row, length in enumerate(expected["length"][:, 0].numpy()):
        np.testing.assert_array_equal(
            found["tokens"][row, :length], expected["tokens"][row, 0, :length]
        )


def test_a_batch_has_ten_thousand_tokens():
    assert mqan.tokens_of_a_batch(Sizes()) == 10_000


def test_answers_consist_of_what_can_be_written_and_an_end():
    for batch in mqan.batches(SMALL).take(8):
        context, question, answer = (
            batch[name][0].numpy() for name in ("context", "question", "answer")
        )
        assert np.all((answer == EOS).sum(-1) == 1)
        for row in range(SMALL.mqan_batch):
            texts = [*context[row], *question[row]]
            words = [w for w in answer[row] if w >= SMALL.mqan_generative]
            assert set(words) <= set(texts)
            end = list(answer[row]).index(EOS)
            assert end > 0
            assert not answer[row, end + 1 :].any()
            assert answer[row, :end].all()


def test_other_weights_are_refused_before_anything_is_timed(monkeypatch):
    class Other(KerasQuestionModel):
        def call(self, batch, training=False):
            return 2.0 * super().call(batch, training=training)

    monkeypatch.setattr(mqan, "KerasQuestionModel", Other)
    monkeypatch.setattr(mqan, "compete", None)
    with recurrence.options(jit=False):
        with pytest.raises(RunError, match="did not do the same work"):
            mqan.mqan(SMALL, 1)


@pytest.mark.slow
def test_steps_and_decoding_are_timed_beside_keras(monkeypatch):
    alone = []

    def peak_mb_of(function, *arguments):
        assert function is mqan.run_alone
        alone.append(arguments[1:])
        return 100.0 * len(alone)

    monkeypatch.setattr(memory, "peak_mb_of", peak_mb_of)
    result = mqan.mqan(SMALL, 2)
    check_form(result)
    assert column(result, "work") == ["training step"] * 2 + ["decoding"] * 2
    assert column(result, "contestant") == ["mtl_tf", "keras"] * 2
    assert column(result, "peak_mb") == [100.0, 200.0, 300.0, 400.0]
    pairs = zip(column(result, "work"), column(result, "contestant"))
    assert alone == list(pairs)
    training, decoding, peak = result["targets"]
    assert training["value"] == result["rows"][1]["times_ours"]
    assert decoding["value"] == result["rows"][3]["times_ours"]
    assert [t["limit"] for t in result["targets"]] == [2.0, 2.0, 8000.0]
    assert (peak["value"], peak["rule"]) == (100.0, "at most")


@pytest.mark.extended
def test_a_process_of_its_own_says_nothing_of_tensorflow(capfd, monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    # Of a module that imports TensorFlow.
    found = memory.result_of(mqan.tokens_of_a_batch, SMALL)
    assert found == mqan.tokens_of_a_batch(SMALL)
    assert "log messages" not in capfd.readouterr().err


@pytest.mark.slow
def test_memory_is_that_of_a_process_of_its_own():
    held = np.ones(40_000_000)
    small = memory.peak_mb_of(np.ones, 1)
    large = memory.peak_mb_of(np.ones, 25_000_000)
    assert held[0] == 1
    assert 180 < large - small < 220


@pytest.mark.slow
@pytest.mark.parametrize("work", mqan._WORK)
@pytest.mark.parametrize("name", ["mtl_tf", "keras"])
def test_a_contestant_runs_alone(work, name):
    mqan.run_alone(SMALL, work, name)
