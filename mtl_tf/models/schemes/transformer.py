"""The base class of the multi-task Transformers of Sun (2019)."""

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.attention.transformer_encoder import TransformerEncoder
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.inputs.positions import Positions
from mtl_tf.layers.pooling import mean_over_time
from mtl_tf.layers.products import product
from mtl_tf.models.scheme import SharingScheme


class TransformerScheme(SharingScheme):
    """A Transformer that all tasks share, with rows in front of the words.

    First, positions are added to the words. Then a subclass may put special
    rows, of the size of the word vectors and without positions, in front of the
    words. Dropout, a linear map, the blocks and (for pre-norm) a final layer
    norm follow, as in the code of the thesis.

    The summary is the final state of one of the rows or, without rows, the mean
    of the words' final states. The sequence is the words' final states.

    Args:
        tasks: int, number of tasks.
        layers: number of blocks.
        units: size H of the states.
        heads: number of attention heads; it must divide `units`.
        feed_forward: hidden units of the blocks' feed-forward networks.
        dropout: rate of dropout within the blocks.
        input_dropout: rate of dropout on words with positions and on rows.
        positions: "learned" or "sinusoidal".
        max_positions: number of learned positions. Words after the last one get
            its vector.
        norm: layer norm of the blocks, "pre" or "post".
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`.
    Masking: padding changes nothing and is 0 in the sequence. A text without
        words has finite outputs; its mean is 0.
    "inspect": "attention_0" .. of the blocks, float32 `[G, B, heads, S, S]`:
        how much each position (second last axis) reads of each other (last
        axis). S counts the rows and then the words. Padding has 0 on both axes.

    Attributes:
        rows: number R of the rows.
    """

    rows = 0
    # XLA brings little here, and matrix products work well in 16 bits.
    static_shapes = False
    half_precision = True

    def __init__(
        self,
        tasks: int,
        layers: int = 4,
        units: int = 300,
        heads: int = 6,
        feed_forward: int = 512,
        dropout: float = 0.1,
        input_dropout: float = 0.5,
        positions: str = "learned",
        max_positions: int = 512,
        norm: str = "pre",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.tasks = checks.positive_integer("tasks", tasks)
        parts = {"init": self.init, "dtype": self.dtype_policy}
        self.positions = Positions(
            positions, max_positions, name="positions", **parts
        )
        self.input_dropout = Dropout(input_dropout, salt="input", short=True)
        self.encoder = TransformerEncoder(
            layers,
            units,
            heads,
            feed_forward,
            dropout,
            norm,
            name="encoder",
            **parts,
        )

    @property
    def output_units(self) -> int:
        """The size of the summary and of each element of the sequence."""
        return self.encoder.blocks[0].attention.units

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        size, units = input_shape[-1], self.output_units
        self.positions.build(input_shape)
        self.build_rows(size)
        self.kernel = self.add("kernel", size, units)
        self.bias = self.add("bias", units)
        self.encoder.build((None, None, units))
        self.built = True

    def build_rows(self, size: int) -> None:
        """Makes the weights of the rows, of the word vectors' `size`."""

    def make_rows(self, task: tf.Tensor) -> tf.Tensor:
        """The rows of the groups' texts, `[G or 1, R, D]`, if R is not 0."""
        raise NotImplementedError

    def place(self, task: tf.Tensor) -> tf.Tensor:
        """The row that becomes the summary, int32 `[G]`, if R is not 0."""
        return tf.zeros_like(task)

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
        x, mask_with_rows = self._with_rows(self.cast(embedded), mask, task)
        x = self.input_dropout(x, training=training, seed=seed)
        x = product(x, self.cast(self.kernel)) + self.cast(self.bias)
        # If only one row is needed, the last block computes no other.
        whole_text = sequence or inspect or not self.rows
        place = None if whole_text else self.place(task)
        states, attention = self._encode(
            x, mask_with_rows, place, training, seed, inspect
        )
        output = {"losses": {}, "inspect": {}}
        if inspect:
            output["inspect"] = _maps(attention, mask_with_rows)
        if not whole_text:
            return output | {"summary": states}
        if sequence:
            output["sequence"] = states[:, :, self.rows :]
        return output | {"summary": self._summary(states, mask, task)}

    def _with_rows(self, embedded, mask, task):
        """Rows followed by words with positions, and the mask of both."""
        x = self.positions(embedded, mask)
        if not self.rows:
            return x, mask
        rows = self.cast(self.make_rows(task))[:, None]
        shape = tf.concat([tf.shape(x)[:2], tf.shape(rows)[2:]], 0)
        row_mask = tf.ones(shape[:-1], tf.bool)
        x = tf.concat([tf.broadcast_to(rows, shape), x], 2)
        return x, tf.concat([row_mask, mask], 2)

    def _encode(self, x, mask, place, training, seed, inspect):
        """States and attention weights; all groups share all weights."""
        if place is not None:
            place = tf.repeat(place, tf.shape(x)[1])
        states, attention = self.encoder(
            _merged(x),
            _merged(mask),
            place,
            training=training,
            seed=seed,
            return_weights=inspect,
        )
        return _parted(states, x), [_parted(part, x) for part in attention]

    def _summary(self, states, mask, task):
        if not self.rows:
            mean = mean_over_time(tf.cast(states, tf.float32), mask)
            return self.cast(mean)
        return tf.gather(states, self.place(task), axis=2, batch_dims=1)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        encoder = self.encoder.get_config()
        options = ("layers", "units", "heads", "feed_forward", "dropout")
        return super().get_config() | {
            "tasks": self.tasks,
            **{option: encoder[option] for option in options},
            "input_dropout": self.input_dropout.rate,
            "positions": self.positions.kind,
            "max_positions": self.positions.length,
            "norm": encoder["norm"],
        }


def _merged(x: tf.Tensor) -> tf.Tensor:
    """Reshapes `[G, B, ...]` to `[G * B, ...]`."""
    shape = tf.shape(x)
    flat = tf.reshape(x, tf.concat([[shape[0] * shape[1]], shape[2:]], 0))
    return tf.ensure_shape(flat, [None, *x.shape[2:]])


def _parted(flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """Reshapes `[G * B, ...]` to `[G, B, ...]`, with G and B of `like`."""
    shape = tf.concat([tf.shape(like)[:2], tf.shape(flat)[1:]], 0)
    return tf.ensure_shape(
        tf.reshape(flat, shape), [*like.shape[:2], *flat.shape[1:]]
    )


def _maps(attention, mask) -> dict[str, tf.Tensor]:
    """Attention weights `[G, B, heads, S, S]`, 0 where either is padding."""
    both_real = mask[:, :, None, :, None] & mask[:, :, None, None, :]
    return {
        f"attention_{number}": tf.where(both_real, weights, 0)
        for number, weights in enumerate(attention)
    }
