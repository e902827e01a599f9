"""Fields that do nothing alone, or not with one another."""

import pytest

from mtl_tf.config_fields import validation
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError
from tests.config_fields.changed import config_with, error


@pytest.mark.parametrize(
    ("path", "value", "missing"),
    [
        ("text.characters.max_word_length", 9, "model.characters"),
        ("model.characters.name", "cnn", "text.characters.max_word_length"),
        ("text.casing", True, "model.casing_dim"),
        ("model.casing_dim", 3, "text.casing"),
    ],
)
def test_what_is_read_of_words_has_a_layer(path, value, missing):
    assert f"which does nothing without {missing}" in error(path, value)


def test_what_is_set_by_hand_and_read_by_nothing():
    field = "model.wide.word_ngrams"
    config = config_with(field, 3)
    validation.check_used(config, [])  # A config file may have it.
    message = f"{field} does nothing without model.wide.buckets, got 3"
    with pytest.raises(ConfigError, match=message):
        validation.check_used(config, ["seed", field])
    config["model"]["wide"]["buckets"] = 8
    validation.check_used(config, [field])
    validation.check_used(config_with(field, 2), [field])  # The default.


def test_what_is_set_by_hand_for_another_choice():
    field = "training.gradnorm.alpha"
    config = config_with(field, 2.0)
    message = "without training.loss_weighting=gradnorm, got 2.0"
    with pytest.raises(ConfigError, match=message):
        validation.check_used(config, [field])
    config["training"]["loss_weighting"] = "gradnorm"
    validation.check_used(config, [field])


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"trainable": False, "layer_decay": 0.9}, "layer_decay .*trainable"),
        ({"trainable": False, "frozen_layers": 1}, "frozen_layers .*trainab"),
        ({"lora_alpha": 32.0}, "lora_alpha .* without model.encoder.lora_rank"),
        ({"lora_targets": ("key",)}, "lora_targets .*lora_rank, got"),
        ({"projected_attention_heads": 6}, "heads .*projected_attention_units"),
        ({"adapter_sharing": "shared"}, "adapter_units or .* or .*units, got"),
    ],
)
def test_fields_of_an_encoder_that_would_do_nothing(changed, missing):
    config = base.default_config().to_dict()
    config["model"]["encoder"] |= {"preset": "a folder", **changed}
    with pytest.raises(ConfigError, match=missing):
        validation.validate(config)
    config["model"]["encoder"] |= {
        "trainable": True,
        "lora_rank": 2,
        "projected_attention_units": 12,
    }
    validation.validate(config)


def test_texts_end_before_learned_positions_do():
    config = config_with("model.scheme", {"name": "l_i"})
    assert validation.validate(config) == config
    message = r"must be from 1 to model.scheme.max_positions \(512\).*got"
    for length in (0, 513):
        config["text"]["max_length"] = length
        with pytest.raises(ConfigError, match=f"{message} {length}"):
            validation.validate(config)
    for option in ({"max_positions": 513}, {"positions": "sinusoidal"}):
        config["model"]["scheme"] = {"name": "l_i"} | option
        assert validation.validate(config) == config
    config["model"]["scheme"] = {"name": "l_i", "max_positions": 0}
    with pytest.raises(ConfigError, match="max_positions must be a positive"):
        validation.validate(config)


def test_private_vectors_are_not_frozen():
    config = config_with("model.embedding_private_dim", 20)
    assert validation.validate(config) == config
    config["model"]["embedding_trainable"] = False
    with pytest.raises(ConfigError, match="private_dim must be 0 where"):
        validation.validate(config)


def test_tokens_are_weighed_within_a_budget_only():
    message = error("pipeline.token_weights", {"answer": 5})
    assert message == (
        "pipeline.token_weights ({'answer': 5}) do nothing without a budget: "
        "set pipeline.tokens_per_batch, or the weights to 1"
    )
    for weights, budget in (({"answer": 5}, 900), ({"answer": 1}, 0), ({}, 0)):
        config = config_with("pipeline.token_weights", weights)
        config["pipeline"]["tokens_per_batch"] = budget
        assert validation.validate(config) == config


def test_joint_steps_have_buckets_of_all_tasks():
    config = config_with("pipeline.buckets_per_task", True)
    assert validation.validate(config) == config
    config["pipeline"]["mixing"] = {"name": "joint"}
    with pytest.raises(ConfigError, match="buckets_per_task must be False"):
        validation.validate(config)


@pytest.mark.parametrize(
    ("field", "value"),
    [("gradient_surgery", "pcgrad"), ("loss_weighting", "gradnorm")],
)
def test_methods_that_compare_gradients_need_joint_steps(field, value):
    assert error(f"training.{field}", value) == (
        f"training.{field} {value!r} compares the tasks' gradients at every "
        "step: it needs pipeline.mixing {'name': 'joint'}, got 'uniform'"
    )
    config = config_with(f"training.{field}", value)
    config["pipeline"]["mixing"] = {"name": "joint"}
    assert validation.validate(config) == config


def test_two_averages_at_once_are_refused():
    config = config_with("training.average", 0.99)
    config["training"]["average_last"] = 3
    with pytest.raises(ConfigError, match="take one of them"):
        validation.validate(config)


def test_some_texts_are_read_by_both_parts():
    config = config_with("model.wide.buckets", 8)
    config["model"]["wide"] |= {"alone": 0.2, "encoder_alone": 0.8}
    message = r"alone and model.wide.encoder_alone must be less than 1 .* 0.8"
    with pytest.raises(ConfigError, match=message):
        validation.validate(config)
