"""Options of translation, and what becomes of them."""

import dataclasses
import types

import keras
import pytest

from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError
from mtl_tf.models.translation import options as translation_options
from mtl_tf.models.translation.multi_target import build_translation_model
from mtl_tf.prediction import translating
from mtl_tf.runs import building, systems, training_run
from mtl_tf.runs.stages import stage_gradients
from mtl_tf.runs.stages.stage_plan import Stage
from tests.system.toy_languages import make_config, write


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    sizes = {"train": 64, "validation": 8, "test": 8}
    return write(str(tmp_path_factory.mktemp("toy")), 1, sizes)


def test_keras_policy_of_other_models_changes_no_run():
    text = types.SimpleNamespace(
        source=types.SimpleNamespace(vocabulary=range(9)),
        target_sizes={"aa": 7},
    )
    config = {
        "model": {"translation": {"units": 4, "embedding_dim": 4}},
        "training": {"mixed_precision": "float32"},
    }
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = building.build(
            config, text, [{"name": "xx-aa", "type": "translation"}]
        )
        assert keras.config.dtype_policy().name == "mixed_bfloat16"
    finally:
        keras.config.set_dtype_policy("float32")
    computed_in = {
        layer.name: layer.compute_dtype for layer in model._flatten_layers()
    }
    assert set(computed_in.values()) == {"float32"}, computed_in


def test_options_without_a_use_are_refused(entries, tmp_path):
    config = make_config(entries[:1], steps=1)
    config["text"]["vectors"] = "glove.txt"
    with pytest.raises(ConfigError, match="text.vectors.*starter:translation"):
        training_run.train(config, str(tmp_path / "run"))


def test_the_base_config_names_every_option():
    config = base.paper_config()
    options = {
        **translation_options.DEFAULTS,
        "dropout": translation_options.DROPOUT,
    }
    del options["name"]
    options["output"] = translation_options.OUTPUT
    assert config.model.translation.to_dict() == options
    decoding = dataclasses.asdict(translating.Decoding())
    assert config.evaluation.decoding.to_dict() == decoding


@pytest.mark.parametrize(
    "decoding, message",
    [
        ({"beams": 3}, "did you mean 'beam'"),
        ({"beam": 2, "n_best": 3}, "n_best must be at most beam"),
    ],
)
def test_wrong_decoding(entries, tmp_path, decoding, message):
    config = make_config(entries[:1], steps=1)
    config["evaluation"]["decoding"] = decoding
    with pytest.raises(ConfigError, match=message):
        training_run.train(config, str(tmp_path / "run"))


@pytest.mark.parametrize(
    "group, changes, message",
    [
        ("text", {"max_ratio": 0.5}, "max_ratio must be at least 1"),
        ("decoding", {"beam": 2, "n_best": 3}, "n_best must be at most beam"),
        (
            "translation",
            {
                "label_smoothing": 0.1,
                "output": {"name": "sampled", "samples": 4},
            },
            "label_smoothing must be 0 with a sampled output",
        ),
    ],
)
def test_wrong_values_are_told_before_data_are_read(group, changes, message):
    config = make_config([], steps=1)
    places = {
        "text": config["text"],
        "decoding": config["evaluation"]["decoding"],
        "translation": config["model"]["translation"],
    }
    places[group].update(changes)
    with pytest.raises(ConfigError, match=message):
        systems.of_type("translation").check(config)


def test_decoders_are_no_part_of_what_surgery_acts_on():
    sizes = {"de": 9, "fr": 9}
    options = {"embedding_dim": 4, "units": 4}
    model = build_translation_model(options, 9, sizes, ["en-de", "en-fr"])
    weights = model.trainable_variables
    stage = Stage("joint", "", (0, 1), (0, 1), False, 1, 0, 0, 0.1)
    shared = stage_gradients.shared(model, stage, weights)
    encoder = model.encoder.trainable_variables
    assert {id(v) for v in shared} == {id(v) for v in encoder}
    assert len(shared) < len(weights)
