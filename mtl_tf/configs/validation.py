"""Checks of a whole config before anything is read or built."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mtl_tf.configs import base
from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint

Check = Callable[[str, Any], Any]


def _boolean(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, got {value!r}")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a string, got {value!r}")


def _name(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{name} must be a name, got {value!r}")


def _integer(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{name} must be an integer, got {value!r}")


def _mapping(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} must be a dict, got {value!r}")


def _names(name: str, value: Any) -> None:
    if not isinstance(value, (tuple, list)):
        raise ConfigError(f"{name} must be a tuple of names, got {value!r}")
    for item in value:
        _name(f"every item of {name}", item)


def _some_names(name: str, value: Any) -> None:
    _names(name, value)
    if not value:
        raise ConfigError(f"{name} must name at least one, got {value!r}")


def _tasks(name: str, value: Any) -> None:
    """Names, and dicts that describe tasks on the user's own files."""
    if not isinstance(value, (tuple, list)) or not value:
        raise ConfigError(
            f"{name} must be a tuple of at least one task, got {value!r}"
        )
    for index, entry in enumerate(value):
        where = f"{name}[{index}]"
        if isinstance(entry, Mapping):
            _task(where, entry)
        elif not isinstance(entry, str) or not entry:
            raise ConfigError(
                f"{where} must be a task's name or a dict that describes a "
                f"task, got {entry!r}"
            )


def _group(name: str, value: Any) -> None:
    if value:
        _tasks(name, value)


def _task(where: str, entry: Mapping) -> None:
    _name(f"{where}['name']", entry.get("name"))
    if "files" not in entry and "dataset" not in entry:
        raise ConfigError(
            f"{where} ({entry['name']}) needs 'files' or 'dataset'"
        )
    if "loss_weight" in entry:
        checks.positive(f"{where}['loss_weight']", entry["loss_weight"])


def _sharing(name: str, value: Any) -> None:
    checks.one_of(name, value, ["private", "shared"])


CHECKS: dict[str, Check] = {
    "name": _text,
    "seed": _integer,
    "tasks": _tasks,
    "train_separately": _boolean,
    "text.tokenizer.name": _name,
    "text.tokenizer.lowercase": _boolean,
    "text.max_length": checks.not_negative_integer,
    "text.min_count": checks.positive_integer,
    "text.max_size": checks.not_negative_integer,
    "text.vectors": _text,
    "text.vocabulary_tasks": _group,
    "text.characters.max_word_length": checks.not_negative_integer,
    "text.characters.min_count": checks.positive_integer,
    "text.casing": _boolean,
    "text.target_max_length": checks.not_negative_integer,
    "text.max_ratio": checks.not_negative,
    "pipeline.batch_size": checks.positive_integer,
    "pipeline.tokens_per_batch": checks.not_negative_integer,
    "pipeline.static_shapes": _boolean,
    "pipeline.buckets": checks.positive_integer,
    "pipeline.bucket_multiple": checks.not_negative_integer,
    "pipeline.schedule.name": _name,
    "model.embedding_dim": checks.positive_integer,
    "model.embedding_private_dim": checks.not_negative_integer,
    "model.embedding_trainable": _boolean,
    "model.dropout.embedding": checks.fraction,
    "model.dropout.head": checks.fraction,
    "model.head.hidden_units": checks.not_negative_integer,
    "model.head.sharing": _sharing,
    "model.scheme.name": _name,
    "model.scheme.units": checks.positive_integer,
    "model.scheme.meta_units": checks.positive_integer,
    "model.scheme.meta_vector": checks.positive_integer,
    "model.scheme.bidirectional": _boolean,
    "model.translation.embedding_dim": checks.positive_integer,
    "model.translation.units": checks.positive_integer,
    "model.translation.attention_units": checks.not_negative_integer,
    "model.translation.readout_units": checks.not_negative_integer,
    "model.translation.bias": _boolean,
    "model.translation.dropout.embedding": checks.fraction,
    "model.translation.dropout.encoding": checks.fraction,
    "model.translation.dropout.readout": checks.fraction,
    "model.translation.label_smoothing": checks.fraction,
    "model.translation.output.name": _name,
    "model.translation.output.samples": checks.not_negative_integer,
    "model.tagging.decoder": _name,
    "model.tagging.constraints": _boolean,
    "model.characters.name": _name,
    "model.casing_dim": checks.not_negative_integer,
    "model.word_dropout": checks.fraction,
    "training.epochs": checks.positive_integer,
    "training.steps": checks.not_negative_integer,
    "training.steps_per_epoch": checks.not_negative_integer,
    "training.optimizer.name": _name,
    "training.optimizer.learning_rate": checks.positive,
    "training.optimizer.embedding_learning_rate": checks.not_negative,
    "training.optimizer.lazy": _boolean,
    "training.optimizer.schedule": _name,
    "training.optimizer.warmup_steps": checks.not_negative_integer,
    "training.l2": checks.not_negative,
    "training.l2_embeddings": _boolean,
    "training.clip_norm": checks.not_negative,
    "training.loss_weighting": _name,
    "training.gradnorm.alpha": checks.not_negative,
    "training.gradnorm.learning_rate": checks.positive,
    "training.gradient_surgery": _name,
    "training.initialize_from": _text,
    "training.freeze": _names,
    "training.evaluate_every": checks.not_negative_integer,
    "training.patience": checks.not_negative_integer,
    "training.fine_tune.epochs": checks.not_negative_integer,
    "training.fine_tune.scope": _name,
    "training.fine_tune.learning_rate": checks.not_negative,
    "training.checkpoint_seconds": checks.positive,
    "training.steps_per_call": checks.not_negative_integer,
    "training.jit": _boolean,
    "training.mixed_precision": _name,
    "evaluation.splits": _some_names,
    "evaluation.batch_size": checks.positive_integer,
    "evaluation.group": _group,
    "evaluation.paper_scoring": _boolean,
    "evaluation.decoding.beam": checks.positive_integer,
    "evaluation.decoding.length_penalty": checks.not_negative,
    "evaluation.decoding.replace_unknown": _boolean,
    "evaluation.decoding.n_best": checks.positive_integer,
    "evaluation.decoding.max_length": checks.not_negative_integer,
    "cross_validation.folds": checks.not_negative_integer,
    "cross_validation.fold": checks.not_negative_integer,
    "sweep.grid": _text,
    "sweep.folds": checks.not_negative_integer,
    "sweep.seeds": checks.positive_integer,
}
# Sub-configs whose fields depend on the named choice: the room that makes
# the choice checks that it has such an option.
OPEN = (
    "text.tokenizer",
    "text.tokenizers",
    "pipeline.schedule",
    "pipeline.fractions",
    "model.init",
    "model.scheme",
    "model.characters",
    "model.translation",
    "evaluation.decoding",
    "training.optimizer.options",
)


def validate(config: Mapping[str, Any]) -> dict[str, Any]:
    """Checks every field of a config.

    Args:
        config: what `default_config()` has, as plain values.

    Returns:
        The config as a dict.

    Raises:
        ConfigError: a field is missing, unknown or has a wrong value; the
            message names the field, the rule and the value.
    """
    _mapping("the config", config)
    _fields("", config, base.default_config().to_dict())
    values = dict(_leaves("", config))
    for path, value in values.items():
        if path in CHECKS:
            CHECKS[path](path, value)
        else:
            _option(path, value)
    checks.folds("cross_validation", **config["cross_validation"])
    _embedding(config["model"])
    _positions(config["model"]["scheme"], config["text"]["max_length"])
    _written_words(config["text"], config["model"])
    return dict(config)


def _embedding(model: Mapping[str, Any]) -> None:
    whole, private = model["embedding_dim"], model["embedding_private_dim"]
    if private >= whole:
        raise ConfigError(
            "model.embedding_private_dim must be below model.embedding_dim "
            f"({whole}), since some of it is shared, got {private}"
        )
    if private and not model["embedding_trainable"]:
        raise ConfigError(
            "model.embedding_private_dim must be 0 where "
            f"model.embedding_trainable is False, got {private}: the tasks' "
            "own vectors are drawn at random and would never learn"
        )


def _written_words(text: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """What is read of words needs a layer, and the layer what it reads."""
    for read, name, layer, wanted in (
        (
            text["characters"]["max_word_length"] > 0,
            "text.characters.max_word_length above 0",
            model["characters"]["name"] != "none",
            "model.characters, such as {'name': 'cnn'}",
        ),
        (
            text["casing"],
            "text.casing=True",
            model["casing_dim"] > 0,
            "model.casing_dim above 0",
        ),
    ):
        if read != layer:
            there, missing = (name, wanted) if read else (wanted, name)
            raise ConfigError(
                f"the config has {there}, which does nothing without {missing}"
            )


def _positions(scheme: Mapping[str, Any], max_length: int) -> None:
    """A text may have no more words than there are learned positions."""
    if scheme["name"] not in base.TRANSFORMERS:
        return
    if scheme.get("positions", "learned") != "learned":
        return
    places = scheme.get("max_positions", base.MAX_POSITIONS)
    checks.positive_integer("model.scheme.max_positions", places)
    if not 0 < max_length <= places:
        raise ConfigError(
            "text.max_length must be from 1 to model.scheme.max_positions "
            f"({places}), where learned positions end, got {max_length}"
        )


def _fields(path: str, config: Any, default: Mapping[str, Any]) -> None:
    """Checks that `config` has the fields of `default`, and no others."""
    _mapping(path or "the config", config)
    for key in config:
        if key not in default and path not in OPEN:
            where = f"{path}.{key}" if path else key
            raise ConfigError(
                f"unknown config field {where}; {hint(key, default)}"
            )
    for key, value in default.items():
        where = f"{path}.{key}" if path else key
        if path in OPEN and key != "name":
            continue
        if key not in config:
            raise ConfigError(
                f"the config field {where} is missing: start from "
                "mtl_tf.configs.base.default_config()"
            )
        if isinstance(value, Mapping):
            _fields(where, config[key], value)


def _leaves(path: str, config: Mapping) -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        where = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            yield from _leaves(where, value)
        else:
            yield where, value


def _option(path: str, value: Any) -> None:
    """The least that holds for an option this file does not know."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{path} must be a finite number, got {value}")
