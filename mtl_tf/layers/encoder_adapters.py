"""What tasks have of their own inside a shared pretrained encoder.

Each kind is inserted into the layers of a built backbone by their names in
keras_hub; a backbone that lacks such a layer is refused.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.adapters import BottleneckAdapter
from mtl_tf.layers.low_rank_adapter import LowRankAdapter
from mtl_tf.layers.projected_attention import ProjectedAttention

#: What low-rank changes may belong to: the projections of the attention, and
#: the two layers of the feed-forward network.
LORA_TARGETS = (
    *("query", "key", "value", "attention_output"),
    *("feedforward_intermediate_dense", "feedforward_output_dense"),
)
# The layers before the two residual sums of a block: bottleneck adapters stand
# behind them (Houlsby et al. 2019, figure 2).
_BEFORE_SUMS = ("attention_output", "feedforward_output_dense")
# Its output goes into the last sum of a block.
_INTO_LAST_SUM = "feedforward_dropout"


@dataclasses.dataclass(frozen=True)
class Adapting:
    """Which adapters an encoder has; the fields are those of its config.

    Attributes:
        adapter_units: size of bottleneck adapters; 0 for none.
        lora_rank: rank of low-rank changes; 0 for none.
        lora_alpha: they are scaled by it over the rank.
        lora_targets: of which layers, some of `LORA_TARGETS`.
        projected_attention_units: size of projected attention; 0 for none.
        projected_attention_heads: its heads.
    """

    adapter_units: int = 0
    lora_rank: int = 0
    lora_alpha: float = 16.0
    lora_targets: Sequence[str] = ("query", "value")
    projected_attention_units: int = 0
    projected_attention_heads: int = 12

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
        for name in self.lora_targets:
            checks.one_of("model.encoder.lora_targets", name, LORA_TARGETS)
        if not self.lora_targets:
            raise ConfigError(
                "model.encoder.lora_targets must name at least one of "
                f"{', '.join(LORA_TARGETS)}"
            )

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        fields = dataclasses.asdict(self)
        return fields | {"lora_targets": list(self.lora_targets)}


def insert(
    adapting: Adapting,
    backbone: str,
    blocks: Sequence[keras.layers.Layer],
    tasks: int,
    options: dict[str, Any],
    context: Any,
) -> dict[str, keras.layers.Layer]:
    """Puts adapters into the blocks, which call them from then on.

    Args:
        adapting: which.
        backbone: the name of its class, for errors.
        blocks: the Transformer layers of a built backbone, from below.
        tasks: number of tasks.
        options: "init" and "dtype" of the adapters.
        context: while the blocks are called, its `task` is int32 `[G]`.

    Returns:
        The adapters by their names.

    Raises:
        ConfigError: the backbone has no place for them.
    """
    kinds = [
        # First: they are part of the layers that others stand behind.
        (adapting.lora_rank, _insert_low_rank),
        (adapting.adapter_units, _insert_bottlenecks),
        (adapting.projected_attention_units, _insert_attention),
    ]
    made: dict[str, keras.layers.Layer] = {}
    for wanted, put in kinds:
        if wanted:
            made |= put(adapting, backbone, blocks, tasks, options, context)
    return made


def _insert_bottlenecks(
    adapting: Adapting,
    backbone: str,
    blocks: Sequence[keras.layers.Layer],
    tasks: int,
    options: dict[str, Any],
    context: Any,
) -> dict[str, keras.layers.Layer]:
    field = "adapter_units"
    places = [
        layer
        for block in blocks
        for layer in _named(backbone, block, _BEFORE_SUMS, field)
    ]
    # From below, whatever the order that Keras walks them in.
    places.sort(key=lambda one: one.bias.path)
    made = {}
    for number, layer in enumerate(places):
        adapter = BottleneckAdapter(
            adapting.adapter_units, tasks, name=f"adapter_{number}", **options
        )
        adapter.build((None, None, layer.bias.shape[-1]))
        made[adapter.name] = adapter
        _change(layer, lambda x, y, own=adapter: own(y, context.task))
    return made


def _insert_low_rank(
    adapting: Adapting,
    backbone: str,
    blocks: Sequence[keras.layers.Layer],
    tasks: int,
    options: dict[str, Any],
    context: Any,
) -> dict[str, keras.layers.Layer]:
    made = {}
    for number, block in enumerate(blocks):
        targets = list(dict.fromkeys(adapting.lora_targets))
        for layer in _named(backbone, block, targets, "lora_targets"):
            # Of an attention's query (D, heads, size), of its output (heads,
            # size, D), of a dense layer (D, D').
            outputs = tuple(layer.bias.shape)
            inputs = layer.kernel.shape[: -len(outputs)]
            adapter = LowRankAdapter(
                adapting.lora_rank,
                tasks,
                outputs,
                adapting.lora_alpha,
                name=f"lora_{number}_{layer.name}",
                **options,
            )
            adapter.build((None, None, *inputs))
            made[adapter.name] = adapter
            if getattr(layer, "activation", None) not in _LINEAR:
                _change_before_activation(layer, adapter, context)
                continue
            _change(layer, lambda x, y, own=adapter: own(x, y, context.task))
    return made


_LINEAR = (None, keras.activations.linear)


def _insert_attention(
    adapting: Adapting,
    backbone: str,
    blocks: Sequence[keras.layers.Layer],
    tasks: int,
    options: dict[str, Any],
    context: Any,
) -> dict[str, keras.layers.Layer]:
    field = "projected_attention_units"
    dropouts = [
        layer
        for block in blocks
        for layer in _named(backbone, block, [_INTO_LAST_SUM], field)
    ]
    attention = ProjectedAttention(
        adapting.projected_attention_units,
        adapting.projected_attention_heads,
        len(blocks),
        tasks,
        name="projected_attention",
        **options,
    )
    (size,) = {
        layer.bias.shape[-1]
        for block in blocks
        for layer in _named(backbone, block, _BEFORE_SUMS[1:], field)
    }
    attention.build((None, None, size))
    for number, (block, dropout) in enumerate(zip(blocks, dropouts)):
        _keep_term(block, attention, number, context)
        _change(dropout, lambda x, y: y + context.term)
    return {attention.name: attention}


def _keep_term(
    block: keras.layers.Layer,
    attention: ProjectedAttention,
    number: int,
    context: Any,
) -> None:
    """Lets a block compute the tasks' term from its own input."""
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
    """Lets a layer return `changed` of its input and its output."""
    plain = layer.call

    def call(inputs, *args, **kwargs):
        return changed(inputs, plain(inputs, *args, **kwargs))

    layer.call = call


def _change_before_activation(
    layer: keras.layers.Layer, adapter: LowRankAdapter, context: Any
) -> None:
    """As `_change`, below the activation that the layer ends with."""
    plain, activation = layer.call, layer.activation
    layer.activation = None

    def call(inputs, *args, **kwargs):
        output = plain(inputs, *args, **kwargs)
        return activation(adapter(inputs, output, context.task))

    layer.call = call


def _named(
    backbone: str,
    block: keras.layers.Layer,
    names: Sequence[str],
    field: str,
) -> Iterator[keras.layers.Layer]:
    """The layers of a block with these names, in the names' order.

    Raises:
        ConfigError: the block has none, or several, of a name.
    """
    layers = list(block._flatten_layers(include_self=False))
    for name in names:
        found = [layer for layer in layers if layer.name == name]
        if len(found) != 1:
            raise ConfigError(
                f"model.encoder.{field}: a {backbone} has no place for it: "
                f"each of its layers must hold one {name!r}, {block.name!r} "
                f"holds {len(found)}; take an encoder such as BERT"
            )
        yield found[0]
