"""What is chosen on validation examples: shares beside n-grams."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.models.multi_task import build_model
from mtl_tf.models.protocol import count_all_parameters, count_parameters
from mtl_tf.models.text_pairs import PairHeadType
from tests.models.model_testing import make_batch, make_tasks, small

WIDE = {"buckets": 50, "dimension": 4, "alone": 0.25}

pytestmark = pytest.mark.usefixtures("without_jit")


def made(task_type, **changes):
    about = {"type": task_type, "pairs": "apart", "range": []}
    about |= {"offset": 0.0, "scale": 1.0}
    tasks = [task | about for task in make_tasks(2, 3)]
    model = build_model(small(wide=WIDE | changes), 20, tasks)
    draw = np.random.default_rng(1)
    for weight in model.wide.trainable_weights:
        weight.assign(draw.normal(size=weight.shape))
    return model


def batch_of(task_type):
    batch = make_batch()
    if task_type.startswith("pair"):
        batch["text_pair_tokens"] = make_batch(seed=1)["tokens"]
    if task_type.endswith("regression"):
        batch["value"] = tf.cast(batch["label"], tf.float32)
    if task_type == "multi_label":
        batch["labels"] = tf.one_hot(batch["label"], 3)
    return batch


@pytest.mark.by_default("classification")
@pytest.mark.parametrize(
    "task_type",
    [
        "classification",
        "multi_label",
        "regression",
        "pair_classification",
        "pair_regression",
    ],
)
def test_outputs_by_choice_are_those_of_models_with_it(task_type):
    model, batch = made(task_type), batch_of(task_type)
    output = model(batch)
    assert model.choices[0] == 1.0 and model.choices[-1] == 0.0
    assert ("choice_scores" in output) == ("scores" in output)
    for number in range(len(model.choices)):
        for task in range(2):
            model.choose(task, number)
        one = model(batch)
        for name in {"loss", "scores"} & set(one):
            np.testing.assert_allclose(
                output[f"choice_{name}"][:, :, number], one[name], rtol=1e-5
            )
    assert np.any(one["loss"] != output["loss"])


def test_texts_of_a_pair_are_dropped_differently(monkeypatch):
    model, batch = made("pair_classification"), batch_of("pair_classification")
    batch["text_pair_tokens"] = batch["tokens"]
    read, combined = [], PairHeadType.combined

    def seen(self, texts):
        read.extend(texts)
        return combined(self, texts)

    monkeypatch.setattr(PairHeadType, "combined", seen)
    model(batch)
    np.testing.assert_array_equal(read[0], read[1])
    read.clear()
    model(batch, training=True, seed=tf.constant([1, 2]))
    assert np.any(read[0] != read[1])


def test_a_choice_is_of_one_task():
    model, batch = made("classification"), make_batch()
    before = model(batch)["scores"]
    assert not model.choose(1, 0)
    assert model.choose(1, 3)
    assert not model.choose(1, 3)
    np.testing.assert_allclose(model.wide.shares, [1.0, 0.4])
    after = model(batch)["scores"]
    np.testing.assert_array_equal(after[0], before[0])
    assert np.any(after[1] != before[1])


def test_choices_are_no_parameters():
    model = made("classification")
    assert count_all_parameters(model) == count_parameters(model, True)


@pytest.mark.by_default("wide1")
@pytest.mark.parametrize("wide", [{"alone": 0.0}, {"choose_shares": False}])
def test_where_nothing_is_chosen_there_are_no_choices(wide):
    model, batch = made("classification", **wide), make_batch()
    assert not [v.path for v in model.variables if "shares" in v.path]
    assert model.choices == ()
    assert "choice_loss" not in model(batch)


def test_training_and_texts_without_labels_have_no_outputs_by_choice():
    model, batch = made("classification"), make_batch()
    output = model(batch, training=True, seed=tf.constant([1, 2]))
    assert "choice_loss" not in output
    del batch["label"]
    assert not [name for name in model(batch) if name.startswith("choice")]
