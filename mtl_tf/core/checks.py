"""Checks of hyperparameters that name the field, the rule and the value."""

import contextlib
import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtl_tf.core.errors import ConfigError


def _number(name: str, value: float, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"{name} must be {rule}, got {value!r}")
    if not math.isfinite(value):
        raise ConfigError(f"{name} must be {rule}, got {value}")
    return value


def boolean(name: str, value: bool) -> bool:
    """Returns `value`; raises `ConfigError` unless it is True or False."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, got {value!r}")
    return value


def positive(name: str, value: float) -> float:
    """Returns `value`; raises `ConfigError` unless it is finite and > 0."""
    if _number(name, value, "positive") <= 0:
        raise ConfigError(f"{name} must be positive, got {value}")
    return value


def not_negative(name: str, value: float) -> float:
    """Returns `value`; raises `ConfigError` unless it is finite and >= 0."""
    if _number(name, value, "zero or positive") < 0:
        raise ConfigError(f"{name} must be zero or positive, got {value}")
    return value


def positive_integer(name: str, value: int) -> int:
    """Returns `value`; raises `ConfigError` unless it is an integer >= 1."""
    if not _is_integer(value) or value < 1:
        raise ConfigError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


def not_negative_integer(name: str, value: int) -> int:
    """Returns `value`; raises `ConfigError` unless it is an integer >= 0."""
    if not _is_integer(value) or value < 0:
        raise ConfigError(
            f"{name} must be zero or a positive integer, got {value!r}"
        )
    return int(value)


def _is_integer(value: Any) -> bool:
    """Also of NumPy's types."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def fraction(name: str, value: float) -> float:
    """Returns `value`; raises `ConfigError` unless 0 <= value < 1."""
    if not 0 <= _number(name, value, "at least 0 and below 1") < 1:
        raise ConfigError(f"{name} must be at least 0 and below 1, got {value}")
    return value


def folds(name: str, folds: int, fold: int) -> tuple[int, int]:
    """Returns the number of folds, 0 for none, and the tested fold.

    Raises:
        ConfigError: `name`.folds is 1 or negative, or `name`.fold is not below
            it.
    """
    not_negative_integer(f"{name}.folds", folds)
    not_negative_integer(f"{name}.fold", fold)
    if folds == 1:
        raise ConfigError(f"{name}.folds must be 0 (off) or at least 2, got 1")
    if fold >= max(folds, 1):
        raise ConfigError(
            f"{name}.fold must be less than {name}.folds ({folds}), got {fold}"
        )
    return folds, fold


def one_of(name: str, value: str, options: Sequence[str]) -> str:
    """Returns `value`; raises `ConfigError` unless it is among `options`."""
    from mtl_tf.core.names import look_up

    return look_up(value, {option: option for option in options}, name)


@contextlib.contextmanager
def options_of(field: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Names the field where a check names one of its options alone.

    Layers check their options and know no config.

    Args:
        field: the field of the config, such as "model.scheme".
        options: its options.
    """
    try:
        yield
    except ConfigError as error:
        if str(error).partition(" ")[0] in options:
            raise ConfigError(f"{field}.{error}")
        raise


def leave_some(fractions: Mapping[str, float]) -> None:
    """Refuses fractions of one whole that leave nothing of it.

    Args:
        fractions: the fractions by the name of their field.

    Raises:
        ConfigError: they are 1 or more together.
    """
    if sum(fractions.values()) >= 1:
        names = " and ".join(fractions)
        values = " and ".join(map(str, fractions.values()))
        raise ConfigError(f"{names} must be less than 1 together, got {values}")
