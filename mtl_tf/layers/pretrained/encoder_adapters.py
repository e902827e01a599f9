"""Inserts adapters into a pretrained encoder, per task or shared.

Each kind is inserted into layers of a built backbone, which are found by their
names in keras_hub. A backbone that lacks such a layer is refused.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import keras

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.pretrained.adapters import BottleneckAdapter
from mtl_tf.layers.pretrained.low_rank_adapter import LowRankAdapter
from mtl_tf.layers.pretrained.projected_attention import (
    ProjectedAttention,
    check_heads,
)
from mtl_tf.layers.pretrained.sublayers import sublayers

#: Layers that low-rank changes can be applied to: the projections of the
#: attention, and the two layers of the feed-forward network.
LORA_TARGETS = (
    "query",
    "key",
    "value",
    "attention_output",
    "feedforward_intermediate_dense",
    "feedforward_output_dense",
)
#: Who has adapters: each task its own, or all tasks the same.
SHARING = ("private", "shared")
# The layers before the two residual sums of a block. Bottleneck adapters are
# placed after them (Houlsby et al. 2019, figure 2).
_BEFORE_SUMS = ("attention_output", "feedforward_output_dense")
# The output of this layer goes into the last sum of a block.
_INTO_LAST_SUM = "feedforward_dropout"


@dataclasses.dataclass(frozen=True)
class Adapting:
    """Which adapters an encoder has; the fields are those of its config.

    Attributes:
        adapter_units: size of bottleneck adapters; 0 for none.
        lora_rank: rank of low-rank changes; 0 for none.
        lora_alpha: the changes are scaled by lora_alpha / lora_rank.
        lora_targets: the changed layers, some of `LORA_TARGETS`.
        projected_attention_units: size of projected attention; 0 for none.
        projected_attention_heads: number of its heads.
        adapter_sharing: one of `SHARING`.
    """

    adapter_units: int = 0
    lora_rank: int = 0
    lora_alpha: float = 16.0
    lora_targets: Sequence[str] = ("query", "value")
    projected_attention_units: int = 0
    projected_attention_heads: int = 12
    adapter_sharing: str = "private"

    def __post_init__(self):
        for name in ("adapter_units", "lora_rank", "projected_attention_units"):
            checks.not_negative_integer(
                f"model.encoder.{name}", getattr(self, name)
            )
        checks.positive("model.encoder.lora_alpha", self.lora_alpha)
        checks.positive_integer(
            "model.encoder.projected_attention_heads",
            self.projected_attention_heads,
        )
        check_heads(
            self.projected_attention_units, self.projected_attention_heads
        )
        for name in self.lora_targets:
            checks.one_of("model.encoder.lora_targets", name, LORA_TARGETS)
        checks.one_of(
            "model.encoder.adapter_sharing", self.adapter_sharing, SHARING
        )
        if not self.lora_targets:
            raise ConfigError(
                "model.encoder.lora_targets must name at least one of "
                f"{', '.join(LORA_TARGETS)}"
            )

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        fields = dataclasses.asdict(self)
        return fields | {"lora_targets": list(self.lora_targets)}


@dataclasses.dataclass(frozen=True)
class Host:
    """The encoder that adapters are inserted into.

    Attributes:
        backbone: the name of its class, for errors.
        blocks: the Transformer layers of a built backbone, lowest first.
        tasks: number of tasks with their own adapters; 0 if all tasks share
            them.
        options: "init" and "dtype" of the adapters.
        context: its `task` is int32 `[G]` while the blocks are called.
    """

    backbone: str
    blocks: Sequence[keras.layers.Layer]
    tasks: int
    options: dict[str, Any]
    context: Any

    def layers(
        self, names: Sequence[str], field: str
    ) -> list[keras.layers.Layer]:
        """The layers with these names, block by block in the names' order.

        Args:
            names: as in keras_hub.
            field: the config field that needs the layers.

        Raises:
            ConfigError: a block has no layer, or several, with a name.
        """
        return [
            layer
            for block in self.blocks
            for layer in self.layers_of(block, names, field)
        ]

    def layers_of(
        self, block: keras.layers.Layer, names: Sequence[str], field: str
    ) -> list[keras.layers.Layer]:
        """Like `layers`, for one block."""
        layers = sublayers(block)
        return [self._only(block, layers, name, field) for name in names]

    def _only(self, block, layers, name: str, field: str):
        matches = [layer for layer in layers if layer.name == name]
        if len(matches) != 1:
            raise ConfigError(
                f"model.encoder.{field}: a {self.backbone} has no place for "
                f"it: each of its layers must hold one {name!r}, "
                f"{block.name!r} holds {len(matches)}; take an encoder such as "
                "BERT"
            )
        return matches[0]


def insert(adapting: Adapting, host: Host) -> dict[str, keras.layers.Layer]:
    """Inserts adapters into the blocks, which call them from then on.

    Args:
        adapting: which adapters.
        host: the encoder that gets them.

    Returns:
        The adapters by their names.

    Raises:
        ConfigError: the backbone has no place for them.
    """
    sizes_and_inserters = [
        # First, because other adapters follow the layers that these change.
        (adapting.lora_rank, _insert_low_rank),
        (adapting.adapter_units, _insert_bottlenecks),
        (adapting.projected_attention_units, _insert_attention),
    ]
    adapters: dict[str, keras.layers.Layer] = {}
    for size, inserter in sizes_and_inserters:
        if size:
            adapters |= inserter(adapting, host)
    return adapters


def _insert_bottlenecks(
    adapting: Adapting, host: Host
) -> dict[str, keras.layers.Layer]:
    layers = host.layers(_BEFORE_SUMS, "adapter_units")
    # Lowest first, whatever the order in which Keras lists them.
    layers.sort(key=lambda layer: layer.bias.path)
    context = host.context
    adapters = {}
    for number, layer in enumerate(layers):
        adapter = BottleneckAdapter(
            adapting.adapter_units,
            host.tasks,
            name=f"adapter_{number}",
            **host.options,
        )
        adapter.build((None, None, layer.bias.shape[-1]))
        adapters[adapter.name] = adapter
        _change(layer, lambda x, y, adapt=adapter: adapt(y, context.task))
    return adapters


def _insert_low_rank(
    adapting: Adapting, host: Host
) -> dict[str, keras.layers.Layer]:
    context = host.context
    targets = list(dict.fromkeys(adapting.lora_targets))
    adapters = {}
    for number, block in enumerate(host.blocks):
        for layer in host.layers_of(block, targets, "lora_targets"):
            # Kernels: of an attention's query (D, heads, size), of its output
            # (heads, size, D), of a dense layer (D, D').
            outputs = tuple(layer.bias.shape)
            inputs = layer.kernel.shape[: -len(outputs)]
            _check_rank(adapting.lora_rank, layer.name, inputs, outputs)
            adapter = LowRankAdapter(
                adapting.lora_rank,
                host.tasks,
                outputs,
                adapting.lora_alpha,
                name=f"lora_{number}_{layer.name}",
                **host.options,
            )
            adapter.build((None, None, *inputs))
            adapters[adapter.name] = adapter
            if getattr(layer, "activation", None) not in _LINEAR:
                _change_before_activation(layer, adapter, context)
                continue
            _change(
                layer, lambda x, y, adapt=adapter: adapt(x, y, context.task)
            )
    return adapters


def _check_rank(
    rank: int, name: str, inputs: Sequence[int], outputs: Sequence[int]
) -> None:
    """Refuses ranks above the maximum rank of a layer's weights."""
    most = min(math.prod(inputs), math.prod(outputs))
    if rank > most:
        raise ConfigError(
            f"model.encoder.lora_rank must be at most {most}, the rank of any "
            f"change of the weights of {name!r}, got {rank}"
        )


_LINEAR = (None, keras.activations.linear)


def _insert_attention(
    adapting: Adapting, host: Host
) -> dict[str, keras.layers.Layer]:
    field = "projected_attention_units"
    dropouts = host.layers([_INTO_LAST_SUM], field)
    attention = ProjectedAttention(
        adapting.projected_attention_units,
        adapting.projected_attention_heads,
        len(host.blocks),
        host.tasks,
        name="projected_attention",
        **host.options,
    )
    before_sums = host.layers(_BEFORE_SUMS[1:], field)
    (size,) = {layer.bias.shape[-1] for layer in before_sums}
    attention.build((None, None, size))
    context = host.context
    for number, (block, dropout) in enumerate(zip(host.blocks, dropouts)):
        _keep_term(block, attention, number, context)
        _change(dropout, lambda x, y: y + context.term)
    return {attention.name: attention}


def _keep_term(
    block: keras.layers.Layer,
    attention: ProjectedAttention,
    number: int,
    context: Any,
) -> None:
    """Makes a block compute the tasks' term from its own input."""
    plain = block.call

    def call(inputs, *args, padding_mask=None, **kwargs):
        context.term = attention(
            inputs, padding_mask, context.task, layer=number
        )
        return plain(inputs, *args, padding_mask=padding_mask, **kwargs)

    block.call = call


def _change(
    layer: keras.layers.Layer, changed: Callable[[Any, Any], Any]
) -> None:
    """Makes a layer return `changed` of its input and its output."""
    plain = layer.call

    def call(inputs, *args, **kwargs):
        return changed(inputs, plain(inputs, *args, **kwargs))

    layer.call = call


def _change_before_activation(
    layer: keras.layers.Layer, adapter: LowRankAdapter, context: Any
) -> None:
    """Like `_change`, but before the activation that ends the layer."""
    plain, activation = layer.call, layer.activation
    layer.activation = None

    def call(inputs, *args, **kwargs):
        output = plain(inputs, *args, **kwargs)
        return activation(adapter(inputs, output, context.task))

    layer.call = call
