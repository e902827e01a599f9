"""Overrides that mean more than a field and its value."""

import pytest
from absl import flags

from mtl_tf.config_fields import validation
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import config_argument
from tests.programs.own_config import OWN


def parse(specified, *overrides):
    """The config, and what is told of the overrides."""
    values = flags.FlagValues()
    argv = config_argument.define(specified, ["toy", *overrides], values)
    values(argv)
    return values.config.to_dict(), values["config"].messages


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return str(path)


def names(config):
    return [e if isinstance(e, str) else e["name"] for e in config["tasks"]]


@pytest.mark.parametrize(
    ("override", "chosen"),
    [
        (["--config.tasks=subj"], ["subj"]),
        (["--config.tasks=subj,stars"], ["subj", "stars"]),
        (["--config.tasks", "stars"], ["stars"]),
        (["--config.tasks=stars", "--config.tasks=subj"], ["stars", "subj"]),
        (["--config.tasks=('stars',)"], ["stars"]),
        (
            ["--config.tasks=stars,sample_reviews/books,fdu_mtl"],
            ["stars", "sample_reviews/books", "fdu_mtl"],
        ),
    ],
)
def test_entries_of_the_config_are_chosen_by_name(own, override, chosen):
    config, _ = parse(own, *override)
    assert names(config) == chosen
    entries = {e["name"]: e for e in config["tasks"] if not isinstance(e, str)}
    for name, entry in entries.items():
        assert entry["files"] == {"train": f"{name}.csv"}
    validation.validate(config)


def test_an_unknown_name_offers_those_of_the_config(own):
    with pytest.raises(ConfigError, match="'strs'; did you mean 'stars'"):
        parse(own, "--config.tasks=strs")
    with pytest.raises(ConfigError, match="'zzz'; known: stars, subj"):
        parse(own, "--config.tasks=zzz")


def test_another_optimizer_drops_the_options_of_the_former():
    config, told = parse(
        "fdu_mtl_lstm", "--config.training.optimizer.name=adam"
    )
    assert config["training"]["optimizer"]["name"] == "adam"
    assert config["training"]["optimizer"]["options"] == {}
    assert told == [
        "training.optimizer.name=adam drops the options of adagrad "
        "(initial_accumulator_value=0.001); "
        "training.optimizer.learning_rate stays 0.1"
    ]
    validation.validate(config)


def test_options_of_the_new_optimizer_can_be_given_with_it():
    config, told = parse(
        "fdu_mtl_lstm",
        "--config.training.optimizer.options.weight_decay=0.2",
        "--config.training.optimizer.learning_rate=0.001",
        "--config.training.optimizer.name",
        "adamw",
    )
    assert config["training"]["optimizer"]["options"] == {"weight_decay": 0.2}
    assert "stays" not in told[0]


def test_the_same_optimizer_keeps_its_options():
    config, told = parse(
        "fdu_mtl_lstm", "--config.training.optimizer.name=adagrad"
    )
    options = config["training"]["optimizer"]["options"]
    assert options == {"initial_accumulator_value": 0.001} and told == []


def test_an_option_of_the_former_one_is_unknown():
    with pytest.raises(ConfigError, match="initial_accumulator_value"):
        parse(
            "fdu_mtl_lstm",
            "--config.training.optimizer.name=adam",
            "--config.training.optimizer.options.initial_accumulator_value=1.0",
        )
