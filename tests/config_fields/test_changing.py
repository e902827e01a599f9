"""Changes of a config in Python."""

import pytest

from mtl_tf.config_fields import changing
from mtl_tf.configs import fdu_mtl_lstm, starter
from mtl_tf.core.errors import ConfigError


def test_a_config_knows_what_was_changed_in_it():
    config = starter.get_config()
    assert changing.changed(config) == ()
    changing.change(config, {"training": {"epochs": 3, "patience": 2}})
    changing.change(config, {"seed": 3})
    assert changing.changed(config) == (
        "training.epochs",
        "training.patience",
        "seed",
    )
    assert changing.changed(config.to_dict()) == ()


@pytest.mark.parametrize("as_dict", [False, True])
def test_a_dict_for_a_group_changes_the_fields_that_it_names(as_dict):
    config = fdu_mtl_lstm.get_config()
    config = config.to_dict() if as_dict else config
    before = config["training"]["optimizer"]["schedule"]
    optimizer = {"name": "adam", "learning_rate": 1}
    changing.change(config, {"training.optimizer": optimizer})
    found = config["training"]["optimizer"]
    assert found["learning_rate"] == 1.0
    assert type(found["learning_rate"]) is float
    assert found["schedule"] == before
    assert dict(found["options"]) == {}


def test_the_dict_of_a_choice_replaces_it():
    config = starter.get_config()
    changing.change(config, {"model.scheme": {"name": "nbow"}})
    assert dict(config.model.scheme) == {"name": "nbow"}
    weights = {"name": "weighted", "weights": {"a": 1.0}}
    changing.change(config, {"pipeline.mixing": weights})
    changing.change(config, {"pipeline.mixing.weights": {"b": 2.0}})
    assert dict(config.pipeline.mixing.weights) == {"b": 2.0}


def test_a_choice_gets_new_options_where_that_is_allowed():
    config = starter.get_config()
    field = {"pipeline.mixing.temperature": 2.0}
    with pytest.raises(ConfigError, match="has no 'temperature'"):
        changing.change(config, field)
    config = config.to_dict()
    changing.change(config, field, new_options=True)
    assert config["pipeline"]["mixing"]["temperature"] == 2.0


def test_one_name_is_a_list_where_a_field_is_a_list():
    config = starter.get_config()
    changing.change(config, {"tasks": "subj"})
    assert config.tasks == ("subj",)


def test_another_optimizer_drops_the_options_of_the_former():
    config = fdu_mtl_lstm.get_config()
    (told,) = changing.change(config, {"training.optimizer.name": "adam"})
    assert config.training.optimizer.options.to_dict() == {}
    assert "drops the options of adagrad" in told


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": 3}, "training must be a dict .* \\{'accumul.* got 3"),
        ({"training": {"epoch": 3}}, "has no 'epoch'; did you mean 'epochs'"),
        ({"epochs": 3}, "did you mean 'training.epochs'"),
        ({"seed.x": 3}, "config.seed has no fields"),
        (["seed"], "changes must be a dict .* got \\['seed'\\]"),
    ],
)
def test_wrong_changes(changes, message):
    with pytest.raises(ConfigError, match=message):
        changing.change(starter.get_config(), changes)
