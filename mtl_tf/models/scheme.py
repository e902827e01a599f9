"""The base class of sharing schemes, and that of recurrent ones."""

from collections.abc import Callable, Mapping

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.pooling import OVER_TIME, AttentionPooling
from mtl_tf.layers.recurrent.recurrence import Result

POOLINGS = ("last", "mean", "max", "attention")


class SharingScheme(StackedLayer):
    """Encodes texts with parameters that the tasks partly share.

    Input shape: embedded texts `[G, B, T, D]`, a mask bool `[G, B, T]`, and the
        groups' tasks, int32 `[G]`.
    Output shape: a dictionary of "summary" `[G, B, H]`, "sequence"
        `[G, B, T, H]` if it was requested and `has_sequence`, "losses" {name:
        scalar, or `[G, B]` with one number per example, which is averaged like
        the tasks' loss} and "inspect" {name: tensor}. It may also contain
        "diagnostics" {name: float `[G, B]`}, whose means over each task's
        validation examples are reported with its scores.

    Attributes:
        has_sequence: whether it can return a sequence.
        batch_entries: names of batch entries, such as "step", that `call` takes
            as keyword arguments. They are None if missing.
        output_units: the size H of its outputs.
        static_shapes: whether it is fastest if batches have few different
            shapes, as with XLA, which compiles for each shape. If False,
            training batches have no avoidable padding and therefore many
            shapes.
        half_precision: whether it may compute in 16 bits, see
            `training.mixed_precision`.
        sums_over_replicas: whether a loss that it adds needs the examples of
            all replicas together (`core.replicas.summed`).
    """

    has_sequence = True
    static_shapes = True
    half_precision = False
    sums_over_replicas = False
    batch_entries: tuple[str, ...] = ()
    output_units: int

    def call(
        self,
        embedded,
        mask,
        task,
        training: bool = False,
        seed=None,
        inspect: bool = False,
        sequence: bool = True,
    ) -> dict:
        """Encodes a batch.

        Args:
            embedded, mask, task: see the class.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for everything random.
            inspect: fill "inspect" with the tensors that figures show.
            sequence: whether to return "sequence".
        """
        raise NotImplementedError


class RecurrentScheme(SharingScheme):
    """Runs one layer over time, or two in opposite directions.

    A bidirectional scheme has all parameters twice, also the shared ones: once
    per direction. Its outputs are those of the two directions, concatenated.
    Its summary is made from the states by `pooling`.

    Args:
        options: the scheme's own constructor arguments, which are passed to
            `layer`. The option "sharing" says whether the layer has weights per
            task ("private") or one set for all ("shared").
        bidirectional: whether to run in both directions.
        pooling: how a text is summarised: "last", as in the papers, the forward
            state after the last token and the backward state after the first;
            "mean" or "max" over the states of all tokens; "attention", a
            weighted mean, see `layers.pooling.AttentionPooling`, with weights
            per task only if "sharing" is "private".
        forget_bias: initial bias of the forget gates; see
            `layers.recurrent.lstm.forget_offset`.
        init: see `base.check_init`.

    Attributes:
        layer: the class of the layer of one direction.
    """

    half_precision = True
    layer: Callable[..., keras.layers.Layer]

    def __init__(
        self,
        options: Mapping,
        *,
        bidirectional: bool = False,
        pooling: str = "last",
        forget_bias: float = 1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        checks.positive_integer("tasks", options["tasks"])
        sharing = options.get("sharing", "private")
        checks.one_of("sharing", sharing, ["shared", "private"])
        self.pooling = checks.one_of("pooling", pooling, POOLINGS)
        self._options = {**options, "forget_bias": forget_bias}
        self.bidirectional = checks.boolean("bidirectional", bidirectional)
        # Attributes, not a list: tf.train.Checkpoint does not look into the
        # lists and dictionaries of Keras layers.
        self.forward = self.direction(False, "forward")
        self.backward = None
        if self.bidirectional:
            self.backward = self.direction(True, "backward")
        self.attention = None
        if pooling == "attention":
            private = options.get("sharing") == "private"
            self.attention = AttentionPooling(
                options["tasks"] if private else 0,
                init=self.init,
                dtype=self.dtype_policy,
                name="attention",
            )

    @property
    def directions(self) -> list[keras.layers.Layer]:
        """The forward layer and, if there is one, the backward layer."""
        layers = [self.forward, self.backward]
        return layers if self.bidirectional else layers[:1]

    @property
    def output_units(self) -> int:
        """The size of the summary and of each element of the sequence."""
        return sum(layer.units for layer in self.directions)

    def direction(self, reverse: bool, name: str) -> keras.layers.Layer:
        """Makes the layer of one direction."""
        options = dict(self._options)
        if options.pop("sharing", "private") == "shared":
            options["tasks"] = 0
        return self.layer(
            **options,
            reverse=reverse,
            init=self.init,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        for layer in self.directions:
            layer.build(input_shape)
        if self.attention is not None:
            self.attention.build((None, None, None, self.output_units))
        self.built = True

    def call(
        self,
        embedded,
        mask,
        task,
        training=False,
        seed=None,
        inspect=False,
        sequence=True,
    ):
        """See `SharingScheme.call`."""
        results = self.run(embedded, mask, task, training, inspect, sequence)
        return self.joined(results, mask, task, inspect, sequence)

    def run(
        self, embedded, mask, task, training, inspect, sequence
    ) -> list[Result]:
        """Runs every direction; the arguments are those of `call`."""
        sequence = sequence or self.pooling != "last"
        return [
            layer(
                embedded,
                mask,
                task,
                training=training,
                sequence=sequence,
                inspect=inspect,
            )
            for layer in self.directions
        ]

    def joined(
        self, results: list[Result], mask, task, inspect, sequence
    ) -> dict:
        """The outputs of `call`, from the directions' results."""
        output = {"losses": {}, "inspect": {}}
        if inspect:
            output["inspect"] = _inspected(results)
        if sequence or self.pooling != "last":
            hidden = [r.sequences["hidden"] for r in results]
            output["sequence"] = self._side(hidden)
        if self.pooling == "last":
            last = self._side([r.state["hidden"] for r in results])
            return output | {"summary": last}
        summary = self._pooled(output["sequence"], mask, task)
        return output | {"summary": summary}

    def _pooled(self, states, mask, task) -> tf.Tensor:
        """Pools all tokens' states `[G, B, T, H]` to a summary `[G, B, H]`."""
        if self.attention is not None:
            return self.attention(states, mask, task)
        return OVER_TIME[self.pooling](states, mask)

    def _side(self, parts):
        joined = parts[0] if len(parts) == 1 else tf.concat(parts, -1)
        return self.cast(joined)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = super().get_config() | {
            "bidirectional": self.bidirectional,
            "pooling": self.pooling,
        }
        return config | self._options


def _inspected(results) -> dict[str, tf.Tensor]:
    """Hidden states and emissions, with the direction in their names."""
    tensors = {}
    for prefix, result in zip(("forward", "backward"), results):
        for name, value in (result.sequences | result.emitted).items():
            tensors[f"{prefix}/{name}"] = value
    return tensors
