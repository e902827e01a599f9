"""A pretrained encoder that replaces word vectors."""

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.pretrained import (
    backbone_dropout,
    encoder_adapters,
    fused_activation,
    windows,
)
from mtl_tf.layers.pretrained.encoder_adapters import Adapting
from mtl_tf.layers.pretrained.sublayers import sublayers

_SEQUENCE = "sequence_output"
_LEAST_WINDOW = 3
# The name of the piece vectors in keras_hub.
_TABLE = "token_embedding"


@keras.saving.register_keras_serializable(package="mtl_tf")
class PretrainedEncoder(StackedLayer):
    """The last states of a keras_hub backbone for each piece of a text.

    Devlin et al. (2019) and their successors. Texts longer than the backbone,
    or than `window`, are read in overlapping windows. A piece takes its state
    from the window in which it is farthest from an end.

    Args:
        backbone: config of the backbone, as Keras serialises it.
        specials: ids of the special pieces, in the backbone's numbering:
            "separator" and "end", lists, and "pad".
        trainable: whether the backbone is trained.
        frozen_layers: if it is trained, how many of its lowest layers are not.
            If this is at least one, its embeddings are not trained either.
        layer_decay: factor of the learning rate from each layer to the one
            below (Howard and Ruder 2018, section 3.2), down to the embeddings.
        window: maximum number of pieces read at a time; 0 for as many as the
            backbone can.
        overlap: maximum number of pieces that neighbouring windows share.
        tasks: number of tasks.
        **options: the fields of `encoder_adapters.Adapting`, for adapters that
            are inserted into every layer and trained whether or not the
            backbone is; and the options of `StackedLayer`.
        init: see `layers.base.check_init`.

    Input shape: pieces int32 `[G, B, T]`, ids of the backbone plus 1, 0 is
        padding.
    Output shape: `[G, B, T, D]`.
    Masking: padding changes nothing.

    Example:
        ```python
        encoder = PretrainedEncoder(config, {"end": [102], "pad": 0, ...})
        encoder.build()
        states = encoder(tokens)
        ```
    """

    def __init__(
        self,
        backbone: Mapping[str, Any],
        specials: Mapping[str, Any],
        *,
        trainable: bool = True,
        frozen_layers: int = 0,
        layer_decay: float = 1.0,
        window: int = 0,
        overlap: int = 64,
        tasks: int = 1,
        **options,
    ):
        adapting = {
            field.name: options.pop(field.name)
            for field in dataclasses.fields(Adapting)
            if field.name in options
        }
        super().__init__(**options)
        self._config = dict(backbone)
        self._specials = dict(specials)
        self._tuned = checks.boolean("trainable", trainable)
        self.frozen_layers = checks.not_negative_integer(
            "model.encoder.frozen_layers", frozen_layers
        )
        self.layer_decay = checks.positive(
            "model.encoder.layer_decay", layer_decay
        )
        self.window = checks.not_negative_integer(
            "model.encoder.window", window
        )
        self.overlap = checks.not_negative_integer(
            "model.encoder.overlap", overlap
        )
        self.adapting = Adapting(**adapting)
        self.tasks = checks.positive_integer("tasks", tasks)
        # Holds the tasks of the current call.
        self._context = threading.local()

    def build(self, input_shape=None):
        """Makes the backbone with random weights."""
        import keras_nlp  # noqa: F401 (it registers the backbones)

        config = {**self._config, "config": dict(self._config["config"])}
        config["config"]["dtype"] = keras.dtype_policies.serialize(
            self.dtype_policy
        )
        config["config"]["trainable"] = True
        backbone = keras.saving.deserialize_keras_object(config)
        output = states_of(backbone)
        # Without layers for other outputs, such as BERT's pooler.
        self.network = keras.Model(backbone.input, output, name="network")
        order = {id(w): place for place, w in enumerate(backbone.weights)}
        self._places = tuple(order[id(w)] for w in self.network.weights)
        self._inputs = tuple(sorted(backbone.input))
        self._segments = config["config"].get("num_segments", 2)
        self.size = self._window_size(config["config"])
        self.dimension = int(output.shape[-1])
        layers = sublayers(self.network)
        backbone_dropout.make_pure(layers)
        fused_activation.fuse(layers)
        blocks = _blocks(backbone)
        self._set_trained(blocks)
        host = encoder_adapters.Host(
            type(backbone).__name__,
            blocks,
            self.tasks if self.adapting.adapter_sharing == "private" else 0,
            {"init": self.init, "dtype": self.dtype_policy},
            self._context,
        )
        adapters = encoder_adapters.insert(self.adapting, host)
        # Attributes, because a checkpoint does not look into lists.
        for name, adapter in adapters.items():
            setattr(self, name, adapter)
        self.built = True

    def _window_size(self, config: Mapping[str, Any]) -> int:
        """The number of pieces that are read at a time."""
        most = config.get("max_sequence_length") or 2**30
        if self.window > most:
            raise ConfigError(
                f"model.encoder.window must be at most {most}, which the "
                f"encoder can read, got {self.window}"
            )
        if 0 < self.window < _LEAST_WINDOW:
            raise ConfigError(
                f"model.encoder.window must be 0 or at least {_LEAST_WINDOW}, "
                "a piece of the text between the first piece and the end, got "
                f"{self.window}"
            )
        size = self.window or most
        self._shared = min(self.overlap, (size - 2) // 2)
        return size

    def _set_trained(self, blocks: Sequence[keras.layers.Layer]) -> None:
        """Freezes layers and sets the learning rates of the others."""
        if self.frozen_layers > len(blocks):
            raise ConfigError(
                "model.encoder.frozen_layers must be at most "
                f"{len(blocks)}, the layers of the encoder with weights of "
                f"their own, got {self.frozen_layers}"
            )
        depth = {id(w): 0 for w in self.network.weights}
        for number, block in enumerate(blocks, start=1):
            depth |= {id(w): number for w in block.weights}
        for weight in self.network.weights:
            place = depth[id(weight)]
            frozen = self.frozen_layers and place <= self.frozen_layers
            weight.trainable = self._tuned and not frozen
            mark(
                weight,
                is_pretrained=True,
                rate_factor=self.layer_decay ** (len(blocks) - place),
            )

    def set_pretrained(self, backbone: keras.Model) -> None:
        """Copies the weights of a backbone with the same config.

        Raises:
            ValueError: the backbone has another config.
        """
        values = backbone.weights
        for place, weight in zip(self._places, self.network.weights):
            if values[place].shape != weight.shape:
                raise ValueError(
                    f"{weight.path} has shape {tuple(weight.shape)}, the "
                    f"pretrained one {tuple(values[place].shape)}"
                )
            weight.assign(values[place])

    def call(self, tokens, task=None, training: bool = False, seed=None):
        """The states of pieces.

        Args:
            tokens: see the class.
            task: int32 `[G]`.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for dropout.
        """
        shape = tf.shape(tokens)
        flat = tf.reshape(tokens, [-1, shape[2]])  # [N, T]
        lengths = tf.reduce_sum(tf.cast(flat > 0, tf.int32), 1)
        self._context.task = task
        cut = windows.cut(lengths, shape[2], self.size, self._shared)
        states = self._read(self._windowed(flat, cut), training, seed)
        # [N, W, S, D] -> [N, T, D]
        cells = tf.stack([cut.window, cut.inside], -1)
        gathered = tf.gather_nd(states, cells, batch_dims=1)
        gathered = tf.reshape(gathered, [*tf.unstack(shape), self.dimension])
        return self.cast(
            tf.ensure_shape(gathered, [*tokens.shape, self.dimension])
        )

    def _windowed(self, flat: tf.Tensor, cut: windows.Windows) -> dict:
        """The backbone's inputs int32 `[N, W, S]`, by name."""
        pieces = flat - 1
        segments = self._segments_of(pieces)
        size = tf.shape(flat)[1]
        inside = tf.minimum(cut.places, size - 1)
        is_inside = cut.places < size

        def taken(values: tf.Tensor, filler: int) -> tf.Tensor:
            windowed = tf.gather(values, inside, batch_dims=1)
            return tf.where(is_inside, windowed, filler)

        real = taken(tf.cast(flat > 0, tf.int32), 0)
        ids = tf.where(real > 0, taken(pieces, 0), self._specials["pad"])
        ids = tf.where(cut.ends, self._specials["end"][-1], ids)
        inputs = {
            "token_ids": ids,
            "padding_mask": real,
            "segment_ids": taken(segments, 0) * real,
        }
        return {name: inputs[name] for name in self._inputs}

    def _segments_of(self, pieces: tf.Tensor) -> tf.Tensor:
        """The number of the text that each piece belongs to, int32 `[N, T]`.

        A separator belongs to the text before it.
        """
        between = self._specials["separator"]
        is_separator = tf.cast(tf.equal(pieces, between[-1]), tf.int32)
        before = tf.cumsum(is_separator, axis=1, exclusive=True) // len(between)
        return tf.minimum(before, self._segments - 1)

    def _read(self, inputs: dict, training: bool, seed) -> tf.Tensor:
        """The backbone's states `[N, W, S, D]`."""
        tokens = next(iter(inputs.values()))
        shape = tf.shape(tokens)
        flat = {
            name: tf.reshape(value, [-1, shape[2]])
            for name, value in inputs.items()
        }
        # No dropout in a frozen encoder: a text has the same states at every
        # step.
        active = training and bool(self.trainable_variables)
        with backbone_dropout.seeded(seed):
            states = self.network(flat, training=active)
        if not self.trainable_variables:
            states = tf.stop_gradient(states)
        return tf.reshape(states, [*tf.unstack(shape), self.dimension])

    @property
    def vectors(self) -> tf.Tensor:
        """The vectors of the backbone's pieces, `[V + 1, D]`.

        One row per id of this layer's numbering; the row of padding is zeros.

        Raises:
            ConfigError: the backbone has no such table.
        """
        for layer in sublayers(self.network):
            if layer.name == _TABLE:
                table = tf.convert_to_tensor(layer.embeddings)
                return tf.pad(table, [[1, 0], [0, 0]])
        raise ConfigError(
            "the pretrained encoder has no table of vectors of its pieces "
            f"(a layer {_TABLE})"
        )

    def mask(self, tokens: tf.Tensor) -> tf.Tensor:
        """Where `tokens` are not padding, bool `[G, B, T]`."""
        return tf.not_equal(tokens, 0)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "backbone": self._config,
            "specials": self._specials,
            "trainable": self._tuned,
            "frozen_layers": self.frozen_layers,
            "layer_decay": self.layer_decay,
            "window": self.window,
            "overlap": self.overlap,
            "tasks": self.tasks,
            **self.adapting.to_dict(),
        }


def states_of(backbone: keras.Model) -> keras.KerasTensor:
    """The output of a keras_hub backbone with one state per piece."""
    output = backbone.output
    return output[_SEQUENCE] if isinstance(output, Mapping) else output


def first_pieces(states: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
    """The state of each word's first piece (Devlin et al. 2019, section 5.3).

    Args:
        states: `[G, B, T, D]` of the pieces.
        words: int32 `[G, B, W]`, the position where each word begins.

    Returns:
        `[G, B, W, D]`.
    """
    last = tf.shape(states)[2] - 1
    return tf.gather(states, tf.minimum(words, last), batch_dims=2)


def _blocks(backbone: keras.Model) -> list[keras.layers.Layer]:
    """The Transformer layers with different weights, lowest first."""
    layers = getattr(backbone, "transformer_layers", None)
    if not layers:
        raise ConfigError(
            f"model.encoder.preset: a {type(backbone).__name__} is no encoder "
            "with Transformer layers"
        )
    # ALBERT has groups of layers, each of which is run several times.
    return keras.tree.flatten(layers)
