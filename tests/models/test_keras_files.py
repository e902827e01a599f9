"""Models are saved as `.keras` files and loaded by Keras."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from ml_collections import config_dict

from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models import multi_task
from mtl_tf.models.answering import question_answering
from mtl_tf.models.protocol import TaskModel
from mtl_tf.models.translation import multi_target

TASKS = [
    {"name": "a", "type": "classification", "labels": ["no", "yes"]},
    {"name": "b", "type": "classification", "labels": ["x", "y", "z"]},
]
SCHEME = {"name": "lstm", "units": 3}


def make_multi_task():
    config = {"scheme": SCHEME, "embedding_dim": 4}
    return multi_task.build_model(
        config_dict.ConfigDict(config),
        7,
        TASKS,
        np.arange(28, dtype=np.float32).reshape(7, 4) / 10,
        seed=3,
    )


def make_multi_target():
    sizes = {"embedding_dim": 4, "units": 3}
    pairs = ("en-de", "en-fr")
    return multi_target.build_translation_model(
        sizes, 7, {"de": 6, "fr": 8}, pairs, seed=3
    )


def make_question_answering():
    sizes = {"embedding_dim": 4, "ngram_dim": 4, "units": 4, "heads": 2}
    ngrams = 5, np.arange(14, dtype=np.int32).reshape(7, 2) % 5
    return question_answering.build_question_model(
        sizes | {"feed_forward": 5}, 7, 6, seed=3, ngrams=ngrams
    )


def make_on_encoder():
    import keras_nlp

    backbone = keras_nlp.models.BertBackbone(
        vocabulary_size=9,
        num_layers=1,
        num_heads=2,
        hidden_dim=4,
        intermediate_dim=6,
        max_sequence_length=8,
    )
    scheme = {"name": "direct", "pooling": "mean"}
    return multi_task.build_model(
        {"scheme": scheme, "embedding_dim": 4, "encoder": {"lora_rank": 1}},
        9,
        TASKS,
        seed=3,
        backbone={
            "config": keras.saving.serialize_keras_object(backbone),
            "specials": {"start": [2], "separator": [3], "end": [3], "pad": 0},
        },
    )


@pytest.mark.by_default("make_multi_target", "make_multi_task")
@pytest.mark.parametrize(
    "make",
    [
        make_multi_task,
        make_multi_target,
        make_question_answering,
        make_on_encoder,
    ],
)
def test_a_loaded_model_has_the_weights(make, tmp_path):
    model = make()
    draw = np.random.default_rng(0)
    for weight in model.trainable_weights:
        weight.assign(draw.normal(size=weight.shape))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(model)
    assert loaded.get_config() == model.get_config()
    got = {weight.path: np.array(weight) for weight in loaded.weights}
    assert set(got) == {weight.path for weight in model.weights}
    for weight in model.weights:
        np.testing.assert_array_equal(got[weight.path], weight, weight.path)


def test_a_loaded_model_predicts_the_same(tmp_path):
    with recurrence.options(jit=False, shards=1):
        model = make_multi_task()
        batch = {
            "task": tf.constant([1, 0]),
            "tokens": tf.constant([[[1, 2, 3], [4, 5, 0]], [[6, 1, 2]] * 2]),
        }
        expected = model(batch)["scores"]
        model.save(tmp_path / "model.keras")
        loaded = keras.models.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(loaded(batch)["scores"], expected)


def test_models_put_together_by_hand_are_refused():
    with pytest.raises(NotImplementedError, match="put together by hand"):
        TaskModel().get_config()
