import numpy as np
import pytest

from mtl_tf.config_fields import plain_values
from mtl_tf.config_fields.validation import validate
from mtl_tf.core.errors import ConfigError
from tests.config_fields.changed import config_with


@pytest.mark.parametrize(
    "value",
    [b"bytes", {1, 2}, len, 1j, range(3), ("a", b"b"), {"a": {3}}],
    ids=repr,
)
def test_what_json_cannot_hold_is_named(value):
    where = r"training\.optimizer\.options"
    with pytest.raises(ConfigError, match=f"{where}.* that JSON can hold"):
        validate(config_with("training.optimizer.options", {"beta_1": value}))


def test_numbers_of_numpy_become_pythons():
    config = config_with("training.epochs", np.int64(3))
    config["training"]["l2"] = np.float32(0.5)
    config["train_separately"] = np.bool_(True)
    config["model"]["scheme"] = {"name": "mt_cnn", "widths": np.array([2, 3])}
    found = validate(config)
    assert type(found["training"]["epochs"]) is int
    assert found["training"]["l2"] == 0.5
    assert found["train_separately"] is True
    assert found["model"]["scheme"]["widths"] == [2, 3]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**40])
def test_integers_have_64_bits(value):
    with pytest.raises(ConfigError, match="seed must be an integer of 64 bits"):
        validate(config_with("seed", value))
    assert validate(config_with("seed", 2**63 - 1))["seed"] == 2**63 - 1


@pytest.mark.parametrize(
    "config, where",
    [
        (config_with("name", "a\ud800"), "name"),
        (config_with("text.vectors", "/data/\udcff.txt"), r"text\.vectors"),
        (
            config_with("tasks", ({"name": "a", "labels": ["x", "\udc00y"]},)),
            r"tasks\[0\]\.labels\[1\]",
        ),
        (config_with("pipeline.fractions", {"\ud800": 0.5}), "fractions"),
    ],
)
def test_halves_of_surrogate_pairs_are_no_text(config, where):
    with pytest.raises(ConfigError, match=f"{where} must be text that UTF-8"):
        validate(config)


@pytest.mark.parametrize(
    "config",
    [
        config_with("text.vectors", "a\0b"),
        config_with("tasks", ({"name": "a", "files": {"train": "a\0b"}},)),
    ],
)
def test_the_character_nul_is_refused(config):
    with pytest.raises(ConfigError, match="without the character NUL, which"):
        validate(config)


def test_names_of_fields_are_strings():
    with pytest.raises(ConfigError, match="must be strings, got 3"):
        plain_values.plain("", {"a": {3: 1}})


def test_lists_and_tuples_stay_what_they_are():
    value = {"a": (1, [2, (3.5, None, True)]), "b": "é"}
    assert plain_values.plain("", value) == value


def test_code_in_place_of_its_name_is_told():
    class Mine:
        pass

    with pytest.raises(ConfigError, match="scheme.* such as 'my_file.py:Mine'"):
        plain_values.plain("scheme", {"name": Mine})
