"""Tests of mtl_tf.core.checks."""

import math

import numpy as np
import pytest

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

NOT_NUMBERS = [math.nan, math.inf, -math.inf, True, "1", None, [1]]


def assert_refused(check, value, *expected):
    with pytest.raises(ConfigError) as caught:
        check("model.units", value)
    message = str(caught.value)
    assert message.startswith("model.units must be ")
    for part in expected:
        assert part in message


@pytest.mark.parametrize(
    "check", [checks.positive, checks.not_negative, checks.fraction]
)
@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_numbers_refuse_what_is_not_finite_or_no_number(check, value):
    assert_refused(check, value, "got ")


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (checks.boolean, [True, False]),
        (checks.positive, [1, 0.5, 1e-12]),
        (checks.not_negative, [0, 0.0, 3, 1e-12]),
        (checks.fraction, [0, 0.0, 0.5, 0.999]),
        (checks.positive_integer, [1, 10**9]),
        (checks.not_negative_integer, [0, 1, 10**9]),
    ],
)
def test_checks_return_the_good_value(check, good):
    for value in good:
        assert check("field", value) is value


def test_integers_of_numpy_become_pythons():
    for check in (checks.positive_integer, checks.not_negative_integer):
        assert type(check("field", np.int32(3))) is int
        assert_refused(check, np.int64(-1), "a positive integer, got ")
        assert_refused(check, np.bool_(True), "a positive integer, got ")


@pytest.mark.parametrize(
    ("check", "bad", "rule"),
    [
        (checks.boolean, "false", "True or False, got 'false'"),
        (checks.boolean, 1, "True or False, got 1"),
        (checks.positive, 0, "positive, got 0"),
        (checks.positive, -0.5, "positive, got -0.5"),
        (checks.not_negative, -1e-9, "zero or positive, got -1e-09"),
        (checks.fraction, 1, "at least 0 and below 1, got 1"),
        (checks.fraction, -0.1, "at least 0 and below 1, got -0.1"),
        (checks.positive_integer, 0, "a positive integer, got 0"),
        (checks.positive_integer, 1.0, "a positive integer, got 1.0"),
        (checks.positive_integer, True, "a positive integer, got True"),
        (checks.positive_integer, "3", "a positive integer, got '3'"),
        (checks.not_negative_integer, -1, "zero or a positive integer, got -1"),
        (checks.not_negative_integer, False, "got False"),
    ],
)
def test_checks_name_field_rule_and_value(check, bad, rule):
    assert_refused(check, bad, rule)


def test_one_of_returns_a_known_option():
    assert checks.one_of("optimizer", "adam", ["sgd", "adam"]) == "adam"


def test_one_of_offers_the_nearest_option():
    with pytest.raises(ConfigError) as caught:
        checks.one_of("optimizer", "adm", ["sgd", "adam"])
    message = str(caught.value)
    assert "unknown optimizer 'adm'" in message
    assert "did you mean 'adam'?" in message
