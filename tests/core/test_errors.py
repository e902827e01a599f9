"""Tests of mtl_tf.core.errors."""

import pytest

from mtl_tf.core import errors


@pytest.mark.parametrize(
    "kind", [errors.ConfigError, errors.DataError, errors.RunError]
)
def test_every_user_error_is_caught_as_one_family(kind):
    with pytest.raises(errors.MtlError, match="units must be positive"):
        raise kind("units must be positive, got -3")


def test_errors_are_also_what_python_calls_them():
    assert issubclass(errors.ConfigError, ValueError)
    assert issubclass(errors.DataError, ValueError)
    assert issubclass(errors.RunError, RuntimeError)


def test_defects_are_not_user_errors():
    assert not issubclass(ValueError, errors.MtlError)
    assert not issubclass(errors.RunError, ValueError)
