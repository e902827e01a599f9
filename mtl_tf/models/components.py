"""Makes the parts of a multi-task model from its config."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import completed, hint
from mtl_tf.layers import base
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.pretrained.encoder_adapters import Adapting
from mtl_tf.layers.pretrained.pretrained_encoder import PretrainedEncoder
from mtl_tf.layers.task_dense import TaskDense
from mtl_tf.models import task_types
from mtl_tf.models.scheme import SharingScheme

_FIELDS = (
    "embedding_dim",
    "embedding_private_dim",
    "embedding_trainable",
    "dropout",
    "head",
    "encoder",
    "init",
    "scheme",
    "characters",
    "casing_dim",
    "word_dropout",
    "rare_word_dropout",
    "wide",
)

_ENCODER = {
    "preset": "",
    "trainable": True,
    "frozen_layers": 0,
    "layer_decay": 1.0,
    "window": 0,
    "overlap": 64,
    **Adapting().to_dict(),
}

# Number of casing kinds in a batch, including 0 for padding.
_CASINGS = 16


def make_embedding(
    config: Mapping, vocabulary_size: int, tasks: int, options: Mapping
) -> Embedding:
    """Makes the word vectors from `embedding_dim` and related fields."""
    private = config.get("embedding_private_dim", 0)
    trainable = bool(config.get("embedding_trainable", True))
    if private and not trainable:
        raise ConfigError(
            "embedding_private_dim must be 0 where embedding_trainable is "
            f"False, got {private}: tables of the tasks' own are drawn at "
            "random and would never learn"
        )
    return Embedding(
        vocabulary_size,
        config.get("embedding_dim", 200),
        private_dimension=private,
        tasks=tasks,
        trainable=trainable,
        name="embedding",
        **options,
    )


def make_reader(
    config: Mapping,
    vocabulary_size: int,
    tasks: int,
    options: Mapping,
    backbone: Mapping | None = None,
) -> Embedding | PretrainedEncoder:
    """Makes the input layer: a pretrained encoder, or word vectors.

    Args:
        config: the model's config.
        vocabulary_size, tasks: see `build_model`.
        options: "init" and "dtype".
        backbone: "config" and "specials" of `PretrainedEncoder`, or None.

    Raises:
        ConfigError: an option is wrong.
    """
    if backbone is None:
        return make_embedding(config, vocabulary_size, tasks, options)
    fields = completed("model.encoder", config.get("encoder"), _ENCODER)
    del fields["preset"]
    return PretrainedEncoder(
        backbone["config"],
        backbone["specials"],
        tasks=tasks,
        name="encoder",
        **fields,
        **options,
    )


def make_casing(dimension: int, options: Mapping) -> Embedding | None:
    """Makes vectors for the casing of words, if `casing_dim` is not 0."""
    checks.not_negative_integer("casing_dim", dimension)
    if not dimension:
        return None
    return Embedding(_CASINGS, dimension, name="casing", **options)


def make_hidden(
    head: Mapping, tasks: int, options: Mapping
) -> TaskDense | None:
    """Makes the hidden layer below the heads, if there is one."""
    if not head["hidden_units"]:
        return None
    count = 0 if head["sharing"] == "shared" else tasks
    return TaskDense(head["hidden_units"], count, name="hidden", **options)


def check_reading(heads: Mapping, scheme: SharingScheme, name: str) -> None:
    """Refuses heads that read a sequence if the scheme has none."""
    for task_type, head in heads.items():
        if head.reads == "sequence" and not scheme.has_sequence:
            raise ConfigError(
                f"the scheme {name!r} has no sequence, which tasks of the "
                f"type {task_type!r} need: choose another model.scheme"
            )


def units_of(scheme: SharingScheme) -> int:
    """The output size of a built scheme.

    Raises:
        ConfigError: the scheme does not say, or its answer is not a size.
    """
    name = type(scheme).__name__
    if not hasattr(type(scheme), "output_units") and (
        "output_units" not in vars(scheme)
    ):
        raise ConfigError(
            f"the scheme {name} has no output_units: it must tell H, the size "
            "of the summary, as an attribute or a property"
        )
    return checks.positive_integer(
        f"output_units of the scheme {name}", scheme.output_units
    )


def check_encoded(encoded: Any, scheme: SharingScheme, reads: str) -> None:
    """Refuses a scheme's outputs if a head could not read them.

    It checks shapes only, while a graph is traced, so steps are not slower.

    Args:
        encoded: the outputs of the scheme, see `SharingScheme`.
        scheme: the scheme.
        reads: "summary" or "sequence", whichever the head reads.

    Raises:
        ConfigError: an entry is missing, or its shape does not match
            `output_units`.
    """
    if problem := _not_readable(encoded, scheme.output_units, reads):
        error = ConfigError(f"the scheme {type(scheme).__name__} {problem}")
        # Otherwise Keras would append all arguments of the call to the message.
        error._keras_call_info_injected = True
        raise error


def check_scored(output: Any, head: keras.layers.Layer, training: bool) -> None:
    """Refuses unusable outputs of a head.

    Like `check_encoded` it checks shapes only.

    Args:
        output: the outputs of the head, see `HeadType.make`.
        head: the head.
        training: whether a loss is required.

    Raises:
        ConfigError: "prediction" or "loss" is missing, or the loss is not one
            number per example.
    """
    if problem := _not_usable(output, training):
        error = ConfigError(f"the head {type(head).__name__} {problem}")
        error._keras_call_info_injected = True
        raise error


def _not_usable(output: Any, training: bool) -> str:
    """What is wrong with the outputs of a head; "" if nothing."""
    if not isinstance(output, Mapping):
        kind = type(output).__name__
        return f"must return a dict with 'prediction', got {kind}"
    for entry in ("prediction", "loss") if training else ("prediction",):
        if entry not in output:
            has = ", ".join(sorted(output))
            return f"must return {entry!r}, got only {has or 'an empty dict'}"
    shape = getattr(output.get("loss"), "shape", None)
    if shape is None or tf.TensorShape(shape).rank in (None, 2):
        return ""
    return (
        "must return a 'loss' of shape [G, B], a number for each example, got "
        f"{list(shape)}"
    )


def _not_readable(encoded: Any, units: int, reads: str) -> str:
    """What is wrong with the outputs of a scheme; "" if nothing."""
    if not isinstance(encoded, Mapping):
        kind = type(encoded).__name__
        return f"must return a dict with {reads!r}, got {kind}"
    for entry in (reads, "losses", "inspect"):
        if entry not in encoded:
            has = ", ".join(sorted(encoded))
            return f"must return {entry!r}, got only {has or 'an empty dict'}"
    axes = {"summary": "[G, B, H]", "sequence": "[G, B, T, H]"}[reads]
    shape = getattr(encoded[reads], "shape", None)
    if shape is None:
        return f"must return a tensor as {reads!r}, got {encoded[reads]!r:.60}"
    shape = tf.TensorShape(shape)
    ranks = (None, axes.count(",") + 1)
    if shape.rank not in ranks or (
        shape.rank and shape[-1] not in (None, units)
    ):
        return (
            f"must return {reads!r} of shape {axes} with H = {units}, its "
            f"output_units, got {list(shape)}"
        )
    return _not_named(encoded, "losses", {0: "[]", 2: "[G, B]"}) or _not_named(
        encoded, "diagnostics", {2: "[G, B]"}
    )


def _not_named(encoded: Mapping, entry: str, shapes: Mapping[int, str]) -> str:
    """What is wrong with numbers by name in an entry; "" if nothing.

    Args:
        encoded: the outputs of a scheme.
        entry: the entry, which may be missing.
        shapes: the possible shapes, by rank.
    """
    named = encoded.get(entry, {})
    if not isinstance(named, Mapping):
        kind = type(named).__name__
        return f"must return a dict of tensors by name as {entry!r}, got {kind}"
    for name, value in named.items():
        shape = tf.TensorShape(getattr(value, "shape", ()))
        if shape.rank is not None and shape.rank not in shapes:
            right = " or ".join(shapes.values())
            return (
                f"must return {entry!r} of shape {right}, got {list(shape)} "
                f"for {name!r}"
            )
    return ""


def checked(config: Mapping) -> dict:
    """A copy of `model`, after a check that all its fields are known."""
    known = (*_FIELDS, *task_types.fields())
    for field in config:
        if field not in known:
            raise ConfigError(
                f"model has no field {field!r}; {hint(field, known)}"
            )
    if "scheme" not in config:
        raise ConfigError("model.scheme must name a sharing scheme")
    return dict(config)


def checked_dropout(dropout: Mapping | None) -> dict:
    """The field `model.dropout` with its defaults."""
    return completed("model.dropout", dropout, {"embedding": 0.0, "head": 0.0})


def checked_head(head: Mapping | None) -> dict:
    """The field `model.head` with its defaults."""
    default = {"hidden_units": 0, "sharing": "private", "label_smoothing": 0.0}
    head = completed("model.head", head, default)
    checks.not_negative_integer("head.hidden_units", head["hidden_units"])
    return head


def means(texts: Sequence[Mapping[str, tf.Tensor]]) -> dict[str, tf.Tensor]:
    """The mean over several texts of each of their entries, by name."""
    if len(texts) == 1:
        return dict(texts[0])
    return {
        name: tf.add_n([text[name] for text in texts]) / len(texts)
        for name in texts[0]
    }


def at_least_one_step(batch: Mapping[str, tf.Tensor]) -> dict:
    """Pads a batch of no time steps to one; time, if any, is the third axis."""
    return {
        name: base.at_least_one_step(value, 2)
        if value.shape.rank > 2
        else value
        for name, value in batch.items()
    }


def by_choice(scored: Callable[[Any], dict], choices: Sequence[Any]) -> dict:
    """What examples get for each choice; see `TaskModel.choices`.

    Args:
        scored: returns the outputs of a head for one choice.
        choices: the choices, at least one.
    """
    outputs = [scored(choice) for choice in choices]
    return {
        f"choice_{name}": tf.stack([output[name] for output in outputs], 2)
        for name in ("loss", "scores")
        if name in outputs[0]
    }
