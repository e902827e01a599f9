"""Checks of a whole config before anything is read or built."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from mtl_tf.config_fields import (
    choices,
    fields,
    idle_fields,
    model_fields,
    phases,
    plain_values,
    rules,
)
from mtl_tf.config_fields.field import Field
from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import RESERVED_TASKS, hint, look_up


def validate(config: Mapping[str, Any]) -> dict[str, Any]:
    """Checks every field of a config.

    Args:
        config: what `default_config()` has, as plain values.

    Returns:
        The config as a dict of what JSON has; numbers of NumPy are Python's,
        and phases of a mixing have steps in place of fractions.

    Raises:
        ConfigError: a field is missing, unknown or has a wrong value; the
            message names the field, the rule and the value.
    """
    return phases.with_steps(checked(config))


def checked(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config as `validate` returns it, with phases as they were given.

    A sweep may change the steps that they are fractions of.

    Raises:
        ConfigError: as of `validate`.
    """
    if isinstance(config, Mapping):
        config = plain_values.plain("", config)
    _check_fields("", config, fields.defaults())
    for path, value in _leaves("", config):
        if _is_field(path):
            _check_field(path, value)
        else:
            _option(path, value)
    choices.check(config)
    _task_names(config["tasks"])
    _optimizer_options(config["training"]["optimizer"])
    _loss_weighting_options(config["training"])
    checks.folds("cross_validation", **config["cross_validation"])
    _averages(config["training"])
    _own_weights(config["training"])
    _embedding(config["model"])
    alone = ("model.wide.alone", "model.wide.encoder_alone")
    checks.leave_some(
        {path: idle_fields.value_of(config, path) for path in alone}
    )
    _positions(config["model"]["scheme"], config["text"]["max_length"])
    _all_used(config)
    if config["model"]["encoder"]["preset"]:
        # Before what is read of words: an encoder has no use for that.
        _no_word_vectors(config, fields.defaults())
    _written_words(config["text"], config["model"])
    _buckets(config["pipeline"])
    _balancing(config["training"], config["pipeline"]["mixing"]["name"])
    return config


def check_used(
    config: Mapping[str, Any],
    paths: Iterable[str],
    types: Collection[str] = (),
) -> None:
    """Refuses what a user sets by hand and nothing reads.

    A config file may have such values, for what overrides turn on or off.

    Args:
        config: what `validate` returned.
        paths: dotted paths of the fields that were set by hand.
        types: the types of the config's tasks; () if they are not known.

    Raises:
        ConfigError: one of them does nothing; the message says what it needs.
    """
    check_used_by_some([(config, paths, types)])


def check_used_by_some(
    runs: Iterable[tuple[Mapping[str, Any], Iterable[str], Collection[str]]],
) -> None:
    """Refuses what is set by hand in some runs and read by none of them.

    Args:
        runs: of each run the arguments of `check_used`.

    Raises:
        ConfigError: a value does nothing in any run that has it; the message
            says what it needs in the first.
    """
    problems: dict[tuple[str, str], list[str]] = {}
    for config, paths, types in runs:
        for path in paths:
            value = repr(idle_fields.value_of(config, path))
            problem = idle_fields.reason(config, path, types)
            problems.setdefault((path, value), []).append(problem)
    for each in problems.values():
        if all(each):
            raise ConfigError(each[0])


# Whose fields no config file leaves for an override to turn on.
_NEVER_IDLE = ("model.encoder.", "training.distillation.")


def _all_used(config: Mapping[str, Any]) -> None:
    for path in fields.every():
        if path.startswith(_NEVER_IDLE):
            check_used(config, [path])


def _check_field(path: str, value: Any) -> None:
    field = fields.every()[path]
    try:
        field.rule.check(path, value)
    except ConfigError:
        if value is None:  # What a config leaves to its user is a placeholder.
            raise ConfigError(
                f"{path} is missing: give --config.{path}=... ({field.doc})"
            )
        raise


def _task_names(tasks: Iterable[Any]) -> None:
    """Refuses names that an export could not give to its signatures."""
    for index, entry in enumerate(tasks):
        if isinstance(entry, Mapping) and entry["name"] in RESERVED_TASKS:
            raise ConfigError(
                f"tasks[{index}]['name'] must be another name: "
                f"{', '.join(RESERVED_TASKS)} are reserved in exports, got "
                f"{entry['name']!r}"
            )


def _optimizer_options(optimizer: Mapping[str, Any]) -> None:
    """Options of another optimizer than the one that is named."""
    name = optimizer["name"]
    known = choices.optimizer_options(name)
    for option in optimizer["options"] if known else ():
        look_up(option, known, f"option of the optimizer {name}")


def _loss_weighting_options(training: Mapping[str, Any]) -> None:
    """Options where no class of the user's own takes them; wrong weights."""
    name, options = (
        training["loss_weighting"],
        training["loss_weighting_options"],
    )
    if options and not own_functions.is_own(name):
        raise ConfigError(
            f"training.loss_weighting_options are for a class of your own, "
            f"such as my_parts.py:Name; of {name!r} there are none, got "
            f"{dict(options)}"
        )
    for task, weight in training["loss_weights"].items():
        checks.positive(f"training.loss_weights.{task}", weight)


def _averages(training: Mapping[str, Any]) -> None:
    """Refuses two averages of the weights at once."""
    if training["average"] and training["average_last"]:
        raise ConfigError(
            f"training.average is {training['average']:g} and "
            f"training.average_last {training['average_last']}: take one of "
            "them, and 0 for the other"
        )


def _own_weights(training: Mapping[str, Any]) -> None:
    """Refuses weights of their own for tasks that fine-tuning also gives."""
    if training["best_per_task"] and training["fine_tune"]["epochs"]:
        raise ConfigError(
            "training.best_per_task is True and training.fine_tune.epochs "
            f"{training['fine_tune']['epochs']}: each gives tasks weights of "
            "their own; take one of them"
        )


def _embedding(model: Mapping[str, Any]) -> None:
    dimension, private = model["embedding_dim"], model["embedding_private_dim"]
    if private >= dimension:
        raise ConfigError(
            "model.embedding_private_dim must be below model.embedding_dim "
            f"({dimension}), since some of it is shared, got {private}"
        )
    if private and not model["embedding_trainable"]:
        raise ConfigError(
            "model.embedding_private_dim must be 0 where "
            f"model.embedding_trainable is False, got {private}: the tasks' "
            "own vectors are drawn at random and would never learn"
        )


def _written_words(text: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """What is read of words needs a layer, and the layer what it reads."""
    for is_read, setting, has_layer, layer in (
        (
            text["characters"]["max_word_length"] > 0,
            "text.characters.max_word_length above 0",
            model["characters"]["name"] != "none"
            or model["wide"]["character_ngrams"] > 0,
            "model.characters, such as {'name': 'cnn'}, or "
            "model.wide.character_ngrams",
        ),
        (
            text["casing"],
            "text.casing=True",
            model["casing_dim"] > 0,
            "model.casing_dim above 0",
        ),
    ):
        if is_read != has_layer:
            idle, missing = (setting, layer) if is_read else (layer, setting)
            raise ConfigError(
                f"the config has {idle}, which does nothing without {missing}"
            )


# What word vectors have and a pretrained encoder has not.
_OF_WORD_VECTORS = (
    "text.vectors",
    "text.min_count",
    "text.max_size",
    "text.casing",
    "text.characters.max_word_length",
    "text.vocabulary_tasks",
    "model.embedding_private_dim",
    "model.word_dropout",
    "model.characters.name",
    "model.casing_dim",
    "model.wide.character_ngrams",
)


def _no_word_vectors(
    config: Mapping[str, Any], default: Mapping[str, Any]
) -> None:
    """Names all at once: configs of words, such as starter, have several."""
    values = {
        path: idle_fields.value_of(config, path) for path in _OF_WORD_VECTORS
    }
    idle = {
        path: value
        for path, value in values.items()
        if value and value != idle_fields.value_of(default, path)
    }
    if not idle:
        return
    *others, last = idle
    names = f"{', '.join(others)} and {last} have" if others else f"{last} has"
    advice = "; a config for an encoder is --config=encoder" * bool(others)
    raise ConfigError(
        f"{names} no use with model.encoder, which has pieces and vectors of "
        f"its own, got {', '.join(map(repr, idle.values()))}{advice}"
    )


def _buckets(pipeline: Mapping[str, Any]) -> None:
    if pipeline["buckets_per_task"] and pipeline["mixing"]["name"] == "joint":
        raise ConfigError(
            "pipeline.buckets_per_task must be False with joint steps, whose "
            "batches of all tasks are of one bucket, got True"
        )
    weights = pipeline["token_weights"]
    # A weight of 1 takes back that of a config.
    weighted = any(weight != 1 for weight in weights.values())
    if weighted and not pipeline["tokens_per_batch"]:
        raise ConfigError(
            f"pipeline.token_weights ({weights}) do nothing without a budget: "
            "set pipeline.tokens_per_batch, or the weights to 1"
        )


def _balancing(training: Mapping[str, Any], mixing: str) -> None:
    """Methods that compare the tasks' gradients need all at every step."""
    methods = {"loss_weighting": "gradnorm", "gradient_surgery": "pcgrad"}
    for field, method in methods.items():
        if training[field] == method and mixing != "joint":
            raise ConfigError(
                f"training.{field} {method!r} compares the tasks' gradients "
                "at every step: it needs pipeline.mixing {'name': 'joint'}, "
                f"got {mixing!r}"
            )


def _positions(scheme: Mapping[str, Any], max_length: int) -> None:
    """A text may have no more words than there are learned positions."""
    if scheme["name"] not in model_fields.TRANSFORMERS:
        return
    if scheme.get("positions", "learned") != "learned":
        return
    places = scheme.get("max_positions", model_fields.MAX_POSITIONS)
    checks.positive_integer("model.scheme.max_positions", places)
    if not 0 < max_length <= places:
        raise ConfigError(
            "text.max_length must be from 1 to model.scheme.max_positions "
            f"({places}), where learned positions end, got {max_length}"
        )


def _check_fields(path: str, config: Any, default: Mapping[str, Any]) -> None:
    """Checks that `config` has the fields of `default`, and no others."""
    rules.mapping(path or "the config", config)
    for key in config:
        if key not in default and not fields.is_open(path):
            field = f"{path}.{key}" if path else key
            fields.check_renamed(field)
            others = fields.namesakes(field)
            raise ConfigError(
                f"unknown config field {field}; {hint(key, default, others)}"
            )
    for key, value in default.items():
        field = f"{path}.{key}" if path else key
        if fields.is_open(path) and key != "name":
            continue
        if key not in config:
            raise ConfigError(
                f"the config field {field} is missing: start from "
                "mtl_tf.configs.base.default_config()"
            )
        if isinstance(value, Mapping):
            _check_fields(field, config[key], value)


def _leaves(path: str, config: Mapping) -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        field = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and not _is_field(field):
            yield from _leaves(field, value)
        else:
            yield field, value


def _is_field(path: str) -> bool:
    return isinstance(fields.every().get(path), Field)


def _option(path: str, value: Any) -> None:
    """The least that holds for an option that is no field of its own."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{path} must be a finite number, got {value}")
