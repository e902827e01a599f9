"""The runs of a sweep: settings of config fields, seeds and folds."""

import ast
import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.config_fields import changing
from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

Settings = dict[str, Any]

# The semicolons that are in no quotes.
_BETWEEN_FIELDS = re.compile(r""";(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""")

# How a trained model writes texts. Checkpoints and settings are chosen with
# greedy search: see `System.quick_decoding`.
_SEARCHES = ("evaluation.decoding", "evaluation.answering")
_SEARCH = ("beam", "n_best", "length_penalty", "replace_unknown")


@dataclasses.dataclass(frozen=True)
class Cell:
    """One training run of a sweep.

    Attributes:
        settings: values by config field.
        seed: the run's seed.
        fold: the tested fold of the cross-validation, or None.
        folder: its folder in the sweep's directory.
        config: the run's config.
    """

    settings: Settings
    seed: int
    fold: int | None
    folder: str
    config: dict[str, Any]

    def __str__(self) -> str:
        settings = [f"{k}={v}" for k, v in self.settings.items()]
        fold = [] if self.fold is None else [f"fold={self.fold}"]
        return ", ".join([*settings, f"seed={self.seed}", *fold])


def parse(text: str) -> dict[str, list]:
    """Parses a grid.

    Args:
        text: `field=value,value;field=value,value`, such as
            "training.l2=0,1e-5;training.optimizer.name=adam,adagrad". Values
            are Python literals, or names; those with commas are lists, tuples
            or dicts: "tasks=('a', 'b'),('c',)".

    Returns:
        The values of each field; {} for an empty text.

    Raises:
        ConfigError: a part has no field or no values, or names a field twice.
    """
    grid: dict[str, list] = {}
    for part in filter(None, map(str.strip, _BETWEEN_FIELDS.split(text))):
        field, equals, values = part.partition("=")
        field = field.strip().removeprefix("config.")
        if not equals or not field or not values.strip():
            raise ConfigError(
                "a grid is written field=value,value;field=value,value, got "
                f"{part!r}"
            )
        if field in grid:
            raise ConfigError(f"the grid names {field} twice")
        grid[field] = _values(values)
        if len({_key(v) for v in grid[field]}) < len(grid[field]):
            raise ConfigError(f"the grid has a value of {field} twice: {part}")
    return grid


def _key(value: Any) -> str:
    """A key that equal values share: 0 and 0.0 are one setting."""
    is_whole = isinstance(value, float) and value.is_integer()
    return repr(int(value) if is_whole else value)


def _values(text: str) -> list:
    try:
        return list(ast.literal_eval(f"[{text}]"))
    except (SyntaxError, ValueError):
        return [changing.literal(value.strip()) for value in _split(text)]


def _split(text: str) -> list[str]:
    """The parts between the commas that are in no bracket."""
    parts: list[str] = []
    for part in text.split(","):
        before = parts[-1] if parts else ""
        if sum(map(before.count, "([{")) > sum(map(before.count, ")]}")):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def cells(
    config: Mapping[str, Any],
    grid: Mapping[str, Sequence],
    folds: int = 0,
    seeds: int = 1,
) -> list[Cell]:
    """All runs of a sweep, setting by setting.

    Args:
        config: the base config of all cells.
        grid: see `parse`.
        folds: the folds of cross-validation; 0 for none.
        seeds: the number of seeds, from the config's `seed` on.

    Raises:
        ConfigError: the config lacks a field.
    """
    checks.not_negative_integer("folds", folds)
    checks.positive_integer("seeds", seeds)
    if folds == 1:
        raise ConfigError("folds must be 0 or at least 2, got 1")
    if folds and "cross_validation" not in config:
        raise ConfigError(
            f"{folds} folds need the config field cross_validation, which "
            "this config does not have"
        )
    planned = []
    for values in itertools.product(*grid.values()):
        settings = dict(zip(grid, values))
        for seed in range(seeds):
            for fold in range(folds) if folds else [None]:
                place = (config["seed"] + seed, fold, folds)
                planned.append(_cell(config, settings, *place))
    return planned


def _cell(
    config: Mapping[str, Any],
    settings: Settings,
    seed: int,
    fold: int | None,
    folds: int,
) -> Cell:
    cell_config = json.loads(json.dumps(config))
    cell_config.pop("sweep", None)
    if "sweep" in config:
        # A run's config does not depend on the sweep that it belongs to.
        cell_config["sweep"] = {"grid": "", "folds": 0, "seeds": 1}
    cell_config["seed"] = seed
    if fold is not None:
        cell_config["cross_validation"] = {"folds": folds, "fold": fold}
    _change(cell_config, json.loads(json.dumps(settings)))
    run = f"seed={seed}" + ("" if fold is None else f",fold={fold}of{folds}")
    folder = f"cells/{setting_name(settings)}/{run}"
    return Cell(dict(settings), seed, fold, folder, cell_config)


def setting_name(settings: Settings) -> str:
    """The folder name of settings, which does not depend on the grid."""
    if not settings:
        return "as_configured"
    written = ",".join(f"{k}={v}" for k, v in settings.items())
    name = re.sub(r"[^A-Za-z0-9_.,=+-]+", "_", written)
    if name == written and len(name) <= 120:
        return name
    digest = hashlib.blake2b(json.dumps(settings).encode(), digest_size=4)
    return f"{name[:100]}_{digest.hexdigest()}"


def _change(config: dict[str, Any], settings: Settings) -> None:
    try:
        singles = [
            single
            for field, value in settings.items()
            for single in changing.single_fields(config, field, value)
        ]
        for field in singles:
            _check_field(field)
        changing.change(config, settings, new_options=True)
    except ConfigError as error:
        raise ConfigError(f"the grid: {error}")


def _check_field(field: str) -> None:
    """Refuses fields that cannot differ within a sweep."""
    if field in ("seed", "name") or field.split(".")[0] in (
        "sweep",
        "cross_validation",
    ):
        raise ConfigError(
            f"it cannot hold {field}: give seeds and folds by themselves"
        )
    group, _, option = field.rpartition(".")
    if group in _SEARCHES and option in _SEARCH:
        raise ConfigError(
            f"it cannot hold {field}: it changes neither a training nor "
            "its validation scores, which choose among settings; train one run "
            f"and try values with launch.evaluate --split=validation --{option}"
        )
    if field == "training.main_tasks":
        raise ConfigError(
            f"it cannot hold {field}: they are the tasks whose "
            "validation scores choose among settings, so they must be the same "
            f"for all; take --config.{field}=..."
        )
