"""Presets of pretrained encoders, read through keras_hub.

A preset is a folder that keras_hub's `save_to_preset` wrote, a folder in
Hugging Face's format (`config.json`, `model.safetensors` and the tokenizer's
files), or a name that keras_hub can download. keras_hub recognises the format
by `config.json`.
"""

import dataclasses
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint

FIELD = "model.encoder.preset"
CONFIG_FILE = "config.json"
# If both are missing, keras_hub's message names the second.
_WEIGHTS_FILE, _SHARDS_FILE = "model.weights.h5", "model.weights.json"
# Keras's message for a weight that does not fit.
_SHAPES = re.compile(
    r"variable\.shape=(?P<config>\([\d, ]*\)), "
    r"Received: value\.shape=(?P<found>\([\d, ]*\))"
)
# The same for files that Keras has saved.
_UNFIT = re.compile(r"A total of (\d+) objects could not be loaded")
# safetensors's message for a foreign or incomplete file.
_NO_TENSORS = "Error while deserializing header: "
# The usual minimum of a tokenizer's pieces per vector.
_USUAL_SHARE = 0.9
# The sources that keras_hub can download from.
_SCHEMES = ("kaggle://", "hf://", "modelscope://", "gs://")


@dataclasses.dataclass(frozen=True)
class Specials:
    """Ids of a preset's special pieces, in its own numbering.

    Attributes:
        start: pieces before a text.
        separator: pieces between two texts.
        end: pieces after the last text.
        pad: the padding.
        unknown: the piece for a word without any piece.
    """

    start: tuple[int, ...]
    separator: tuple[int, ...]
    end: tuple[int, ...]
    pad: int
    unknown: int

    def to_json(self) -> dict[str, Any]:
        """The ids as plain values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "Specials":
        """Restores the result of `to_json`."""
        return cls(
            **{
                k: tuple(v) if isinstance(v, list) else v
                for k, v in value.items()
            }
        )


def check(preset: str) -> None:
    """Raises `ConfigError` if there cannot be such a preset.

    Args:
        preset: a folder, or a name that keras_hub knows.
    """
    if preset.startswith(_SCHEMES):
        return
    if os.path.isdir(preset):
        if not os.path.isfile(os.path.join(preset, CONFIG_FILE)):
            raise ConfigError(
                f"{FIELD}: the folder {preset!r} is no preset: it has no "
                f"{CONFIG_FILE}"
            )
        _check_config(preset)
        return
    if os.path.exists(preset) or os.sep in preset:
        kind = "is a file" if os.path.exists(preset) else "is not there"
        raise ConfigError(f"{FIELD}: {preset!r} must be a folder, it {kind}")
    import keras_nlp

    names = keras_nlp.models.Backbone.presets
    if preset not in names:
        raise ConfigError(
            f"{FIELD}: {preset!r} is no folder, and keras_hub has no such "
            f"preset; {hint(preset, names)}"
        )


def _check_config(folder: str) -> None:
    """Raises `DataError` if a preset's config has neither format."""
    path = os.path.join(folder, CONFIG_FILE)
    config = files.read_json(path)
    is_mapping = isinstance(config, Mapping)
    if is_mapping and "model_type" in config:
        return  # Hugging Face's format
    needed = ("registered_name", "class_name", "config")
    if not is_mapping or any(name not in config for name in needed):
        raise DataError(
            f"{FIELD}: {path} must be of Hugging Face, with a model_type, or "
            f"of keras_hub, with {', '.join(needed)}"
        )


def load_tokenizer(preset: str) -> Any:
    """The preset's tokenizer, a `keras_nlp.tokenizers.Tokenizer`.

    Raises:
        MtlError: there is no such preset, or it cannot be read.
    """
    check(preset)
    import keras_nlp

    try:
        tokenizer = keras_nlp.tokenizers.Tokenizer.from_preset(preset)
    except Exception as error:  # keras_hub raises many kinds
        raise _unreadable(preset, "tokenizer", error)
    # The tokenizer's Python path fails if strings are tensors.
    tokenizer._allow_python_workflow = False
    return tokenizer


def load_backbone(preset: str, weights: bool = True) -> Any:
    """The preset's `keras_nlp.models.Backbone`.

    Args:
        preset: see the module.
        weights: whether to read the weights; otherwise they are random.

    Raises:
        MtlError: there is no such preset, it cannot be read, or it has Hugging
            Face's format and the package safetensors is missing.
    """
    check(preset)
    import keras_nlp

    try:
        return keras_nlp.models.Backbone.from_preset(
            preset, load_weights=weights
        )
    except ImportError as error:
        if "safetensors" not in str(error):
            raise
        raise ConfigError(
            f"{FIELD}: {preset!r} is in the form of Hugging Face, which needs "
            "the package safetensors: pip install 'mtl_tf[encoders]'"
        )
    except Exception as error:  # keras_hub raises many kinds
        raise _unreadable(preset, "weights" if weights else "config", error)


def specials_of(preset: str, tokenizer: Any) -> Specials:
    """The special pieces, placed as the preset's preprocessor does.

    Presets without a preprocessor have one separator between two texts.

    Raises:
        ConfigError: the tokenizer has no such pieces.
    """
    specials = specials_of_tokenizer(tokenizer, preset)
    packer = _packer(preset)
    if packer is None:
        return specials
    separator = tuple(map(int, packer.sep_value))
    return dataclasses.replace(specials, separator=separator)


def specials_of_tokenizer(tokenizer: Any, preset: str = "") -> Specials:
    """The special pieces, with one separator between two texts.

    Args:
        tokenizer: the preset's tokenizer.
        preset: the preset's name, for errors.

    Raises:
        ConfigError: the tokenizer has no such pieces.
    """
    start = _id(preset, tokenizer, "cls_token_id", "start_token_id")
    end = _id(preset, tokenizer, "sep_token_id", "end_token_id")
    pad = _id(preset, tokenizer, "pad_token_id")
    return Specials((start,), (end,), (end,), pad, _unknown(tokenizer, end))


def check_pieces(preset: str, backbone: Mapping[str, Any], pieces: int) -> None:
    """Compares a tokenizer with the vectors of its pieces.

    A few more vectors than pieces are normal, because presets pad their number
    to a round one. Far fewer pieces are logged: an incomplete vocabulary would
    have unknown pieces for most words.

    Args:
        preset: the preset, for messages.
        backbone: its config, as `serialized` returns it.
        pieces: number of the tokenizer's pieces.

    Raises:
        DataError: the tokenizer has more pieces than there are vectors.
    """
    sizes = backbone["config"]
    vectors = sizes.get("vocabulary_size") or sizes.get("vocab_size")
    if not vectors:
        return
    counts = (
        f"{FIELD}: the tokenizer of {preset!r} has {pieces:,} pieces and its "
        f"encoder vectors for {vectors:,}"
    )
    if pieces > vectors:
        raise DataError(f"{counts}: the two do not belong together")
    if pieces < _USUAL_SHARE * vectors:
        logging.warning(
            "%s: words without a piece are unknown to it. Are the tokenizer's "
            "files whole, and the encoder's own?",
            counts,
        )


def serialized(backbone: Any) -> dict[str, Any]:
    """The config of a backbone that computes in float32."""
    import keras

    # The precision must not depend on where the preset came from.
    backbone.dtype_policy = keras.dtype_policies.get("float32")
    return keras.saving.serialize_keras_object(backbone)


def save(directory: str, backbone: Mapping[str, Any], tokenizer: Any) -> None:
    """Writes a preset without weights, which `load_tokenizer` can read.

    Args:
        directory: an existing, empty directory.
        backbone: the config of a backbone.
        tokenizer: the preset's tokenizer.
    """
    files.write_json(os.path.join(directory, CONFIG_FILE), dict(backbone))
    tokenizer.save_to_preset(directory)


def read_config(directory: str) -> dict[str, Any]:
    """The config of the backbone that `save` wrote.

    Raises:
        MtlError: it is missing or damaged.
    """
    path = os.path.join(directory, CONFIG_FILE)
    config = files.read_json(path)
    if not isinstance(config, dict) or "class_name" not in config:
        raise DataError(f"{path} is no config of a backbone")
    return config


def _packer(preset: str) -> Any:
    """The layer that joins the pieces of two texts; None if there is none."""
    import keras_nlp

    try:
        preprocessor = keras_nlp.models.TextClassifierPreprocessor.from_preset(
            preset
        )
    except ValueError:  # this kind of backbone has none
        return None
    if not preprocessor.built:
        preprocessor.build(None)
    return preprocessor.packer


def _id(preset: str, tokenizer: Any, *names: str) -> int:
    for name in names:
        value = getattr(tokenizer, name, None)
        if value is not None:
            return int(value)
    raise ConfigError(
        f"{FIELD}: the tokenizer of {preset!r}, a "
        f"{type(tokenizer).__name__}, has no {' or '.join(names)}: an encoder "
        "such as BERT is needed"
    )


def _unknown(tokenizer: Any, default: int) -> int:
    piece = getattr(tokenizer, "oov_token", None)
    if piece is not None:
        return int(tokenizer.token_to_id(piece))
    vocabulary = getattr(tokenizer, "vocabulary", None)
    if isinstance(vocabulary, Mapping) and "<unk>" in vocabulary:
        return int(vocabulary["<unk>"])
    for name in ("unk_token_id", "mask_token_id"):
        value = getattr(tokenizer, name, None)
        if value is not None:
            return int(value)
    return default


def _unreadable(preset: str, part: str, error: Exception) -> DataError:
    reason = _reason(preset, error)
    return DataError(f"{FIELD}: cannot read the {part} of {preset!r}: {reason}")


def _reason(preset: str, error: Exception) -> str:
    """An error of keras_hub in one line, with what its message leaves out."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, json.JSONDecodeError):
        return f"a file of it is no JSON: {lines[0]}"
    if isinstance(error, KeyError):
        return f"{CONFIG_FILE} has no field {lines[0]}"
    if isinstance(error, UnicodeDecodeError):
        return f"a file of it is not UTF-8: {lines[0]}"
    if f"`{_SHARDS_FILE}` doesn't exist" in lines[0]:
        return f"{_WEIGHTS_FILE} doesn't exist in {preset}"
    if lines[0].startswith(_NO_TENSORS):
        return (
            "its safetensors file is damaged, or not all of it is there "
            f"({lines[0].removeprefix(_NO_TENSORS)}): fetch it again (in a "
            "clone of a Git repository by git lfs pull)"
        )
    shapes = _SHAPES.search(str(error))
    if shapes:
        return (
            f"weights of the shape {shapes['found']} stand where those of "
            f"{CONFIG_FILE} have the shape {shapes['config']}"
        )
    unfit = _UNFIT.match(lines[0])
    if unfit:
        return (
            f"{unfit[1]} of its layers find no weights that fit {CONFIG_FILE}"
        )
    return lines[0]
