"""The number of layers of a preset, from its config and its weights."""

import contextlib
import json
import os
import re
from collections.abc import Iterable
from typing import Any

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, MtlError
from mtl_tf.text.pretrained import presets

# Names of the number of layers in configs: of keras_hub, of Hugging Face's BERT
# and similar models, and of its DistilBERT.
_NUMBERS = ("num_layers", "num_hidden_layers", "n_layers")
# ALBERT runs few layers many times. The product of these is their number.
_GROUPS = (
    ("num_groups", "num_inner_repetitions"),
    ("num_hidden_groups", "inner_group_num"),
)
_KERAS_FILE = "model.weights.h5"
_TENSORS_FILE = "model.safetensors"
_SHARDS_FILE = "model.safetensors.index.json"
# Hugging Face's names for the weights of BERT, DistilBERT and similar models.
_NUMBERED = re.compile(r"(?:^|\.)layer\.(\d+)\.")
# Boundaries between the words of a class name, as Keras splits it into group
# names in its files: `f_net_encoder`, `xl_net_encoder`.
_WORDS = re.compile(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])")


def check_frozen(preset: str, frozen: int) -> None:
    """Refuses to freeze more layers than the config of a preset names.

    This reads only a small file. Nothing is checked for names that keras_hub
    knows, or if the config does not say. The encoder checks it again when it is
    made.

    Args:
        preset: see `mtl_tf.text.pretrained.presets`.
        frozen: how many of the lowest layers to freeze.

    Raises:
        ConfigError: there are fewer.
    """
    layers = layers_of(preset)
    if layers is not None and frozen > layers:
        raise ConfigError(
            f"model.encoder.frozen_layers must be at most {layers}, the "
            f"layers of {preset!r} with weights of their own, got {frozen}"
        )


def warn_of_unread(
    preset: str, backbone: Any, field: str = presets.FIELD
) -> None:
    """Logs a warning if the weights file has more layers than are read.

    Args:
        preset: see `mtl_tf.text.pretrained.presets`.
        backbone: the backbone that `presets.load_backbone` returned for it.
        field: the config field that named the preset.
    """
    blocks = blocks_of(backbone)
    stored = layers_stored(preset, type(blocks[0]).__name__) if blocks else 0
    if stored > len(blocks):
        logging.warning(
            "%s: the weights of %r are of %d layers, its %s says %d: the "
            "lowest %d are read, those above them are left out",
            field,
            preset,
            stored,
            presets.CONFIG_FILE,
            len(blocks),
            len(blocks),
        )


def blocks_of(backbone: Any) -> list[Any]:
    """The Transformer layers with different weights, if there are any."""
    import keras

    layers = getattr(backbone, "transformer_layers", None)
    # ALBERT has groups of layers, each of which is run several times.
    return keras.tree.flatten(layers or [])


def layers_of(preset: str) -> int | None:
    """The number of layers with different weights, if the config names it."""
    try:
        config = files.read_json(os.path.join(preset, presets.CONFIG_FILE))
    except MtlError:  # reported where the whole preset is read
        return None
    if not isinstance(config, dict):
        return None
    sizes = config if "model_type" in config else config.get("config")
    if not isinstance(sizes, dict):
        return None
    for groups, layers in _GROUPS:
        if groups in sizes:
            return _whole(sizes[groups], sizes.get(layers, 1))
    numbers = [sizes[name] for name in _NUMBERS if name in sizes]
    return _whole(numbers[0]) if numbers else None


def _whole(*factors: Any) -> int | None:
    """The product of whole numbers; None if one is not a whole number."""
    product = 1
    for factor in factors:
        if not isinstance(factor, int):
            return None
        product *= factor
    return product


def layers_stored(preset: str, block: str) -> int:
    """The number of layers in a preset's weights file; 0 if unknown.

    Args:
        preset: the folder, or a name.
        block: the class name of a layer.
    """
    if os.path.isfile(os.path.join(preset, _KERAS_FILE)):
        name = _WORDS.sub("_", block).lower()
        pattern = re.compile(rf"{name}(?:_\d+)?")
        groups = _groups(os.path.join(preset, _KERAS_FILE))
        return sum(bool(pattern.fullmatch(group)) for group in groups)
    matches = [_NUMBERED.search(name) for name in _tensors(preset)]
    return max((int(match[1]) + 1 for match in matches if match), default=0)


def _groups(path: str) -> list[str]:
    """The names of the layers that Keras wrote into a file."""
    import h5py

    with contextlib.suppress(OSError), h5py.File(path, "r") as file:
        return list(file.get("layers", ()))
    return []


def _tensors(preset: str) -> Iterable[str]:
    """The names of the weights in a folder of Hugging Face's format."""
    shards = os.path.join(preset, _SHARDS_FILE)
    if os.path.isfile(shards):
        return files.read_json(shards)["weight_map"]
    path = os.path.join(preset, _TENSORS_FILE)
    if not os.path.isfile(path):
        return ()
    # Eight bytes give the length of the JSON with the names.
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(size))
