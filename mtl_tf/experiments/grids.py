"""The runs of a sweep: settings of config fields, seeds and folds."""

import ast
import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.configs import choices, fields
from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint

Settings = dict[str, Any]

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
    for part in filter(None, (part.strip() for part in text.split(";"))):
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
        return [_literal(value.strip()) for value in text.split(",")]


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


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
    _drop_optimizer_options(cell_config, settings)
    for field, value in settings.items():
        _set(cell_config, field, value)
    run = f"seed={seed}" + ("" if fold is None else f",fold={fold}of{folds}")
    folder = f"cells/{setting_name(settings)}/{run}"
    return Cell(dict(settings), seed, fold, folder, cell_config)


def _drop_optimizer_options(
    config: dict[str, Any], settings: Mapping[str, Any]
) -> None:
    """Drops the options of the config's optimizer if a setting names another.

    As on the command line; options in the settings can still be set.
    """
    optimizer = config.get("training", {}).get("optimizer", {})
    former = optimizer.get("name")
    name = settings.get("training.optimizer.name", former)
    if name != former:
        known = choices.optimizer_options(name)
        optimizer["options"] = {
            option: value
            for option, value in known.items()
            if f"training.optimizer.options.{option}" in settings
        }


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


def _set(config: dict[str, Any], field: str, value: Any) -> None:
    if field in ("seed", "name") or field.split(".")[0] in (
        "sweep",
        "cross_validation",
    ):
        raise ConfigError(
            f"the grid cannot hold {field}: give seeds and folds by themselves"
        )
    group, _, option = field.rpartition(".")
    if group in _SEARCHES and option in _SEARCH:
        raise ConfigError(
            f"the grid cannot hold {field}: it changes neither a training nor "
            "its validation scores, which choose among settings; train one run "
            f"and try values with launch.evaluate --split=validation --{option}"
        )
    if field == "training.main_tasks":
        raise ConfigError(
            f"the grid cannot hold {field}: they are the tasks whose "
            "validation scores choose among settings, so they must be the same "
            f"for all; take --config.{field}=..."
        )
    fields.check_renamed(field)
    elsewhere = fields.namesakes(field, config)
    *parents, last = fields.names_of(field)
    group: Any = config
    for depth, name in enumerate(parents):
        known = list(group)
        group = group.get(name)
        if not isinstance(group, dict):
            raise ConfigError(
                f"the grid's field {field}: the config has no group "
                f"{'.'.join(parents[: depth + 1])}; "
                f"{hint(name, known, elsewhere)}"
            )
    # A named choice has options that the config may leave out.
    is_open = "name" in group or ".".join(parents) in fields.BY_TASK
    if last not in group and not (last and is_open):
        raise ConfigError(
            f"the grid's field {field} is unknown; "
            f"{hint(last, group, elsewhere)}"
        )
    old = group.get(last)
    if isinstance(old, float) and type(value) is int:
        value = float(value)
    if isinstance(old, (list, tuple)) and isinstance(value, str):
        value = [value]  # As on the command line.
    group[last] = json.loads(json.dumps(value))
