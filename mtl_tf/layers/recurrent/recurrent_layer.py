"""Base of the recurrent layers, for groups of tasks and plain Keras models."""

import abc

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer, mask_of
from mtl_tf.layers.recurrent.recurrence import Result


class RecurrentLayer(StackedLayer):
    """A recurrent layer for groups of tasks and for plain Keras models.

    For groups, `[G, B, T, D]`, it returns a `recurrence.Result`. For texts,
    `[B, T, D]`, it is a layer like `keras.layers.LSTM`: it uses and passes on
    Keras masks, works in `Sequential` and functional models and in
    `keras.layers.Bidirectional`, and returns a tensor in the policy's compute
    dtype.

    Subclasses implement `run`.

    Args:
        return_sequences: for texts, return the hidden states of all tokens
            instead of the last one.
        go_backwards: for texts, read from the last position to the first and
            return the states in that order, as Keras does. The option `reverse`
            of a subclass keeps the order of the tokens.

    Input shape: `[B, T, D]`, optionally a mask bool `[B, T]`, and for layers of
        several tasks the tasks int32 `[B]`. Or `[G, B, T, D]`, optionally a
        mask bool `[G, B, T]`, and the tasks int32 `[G]`. Without a mask, it
        takes Keras's mask, such as that of `Embedding(mask_zero=True)`. Without
        either, every position is a token.
    Output shape: `[B, H]`, with `return_sequences` `[B, T, H]`; for groups a
        `recurrence.Result`.
    Masking: the state does not change where the mask is false. Texts may be
        padded on any side. With `return_sequences` padding repeats the state,
        as in Keras, and the mask is passed to the next layer.

    Raises:
        ValueError: other shapes, or tasks are missing.

    Example:
        ```python
        model = keras.Sequential(
            [
                keras.layers.Embedding(8000, 100, mask_zero=True),
                LSTM(64, return_sequences=True),
                LSTM(64, reverse=True),
                keras.layers.Dense(2),
            ]
        )
        ```
    """

    #: Size H of the hidden state.
    units: int

    #: Number of tasks with their own weights; 0 for one set for all tasks.
    tasks: int = 0

    #: `keras.layers.Bidirectional` needs these: no state is kept between
    #: batches, and none is returned.
    stateful = False
    return_state = False

    def __init__(
        self,
        *,
        return_sequences: bool = False,
        go_backwards: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.return_sequences = checks.boolean(
            "return_sequences", return_sequences
        )
        self.go_backwards = checks.boolean("go_backwards", go_backwards)
        self.supports_masking = True
        # The core compiles itself; see `recurrence`.
        self.supports_jit = False

    @abc.abstractmethod
    def run(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        task: tf.Tensor,
        training: bool,
        sequence: bool,
        inspect: bool,
    ) -> Result:
        """Runs over groups.

        Args:
            x: `[G, B, T, D]`.
            mask: bool `[G, B, T]`.
            task: int32 `[G]`.
            training: whether a gradient will be taken.
            sequence: return the sequence "hidden".
            inspect: also return the tensors that figures show.
        """

    def call(
        self,
        x,
        mask=None,
        task=None,
        training: bool = False,
        sequence: bool = False,
        inspect: bool = False,
        initial_state=None,
    ):
        """Runs over `x`; see the class.

        Args:
            x, mask, task: see the class.
            training: whether a gradient will be taken.
            sequence: return all hidden states.
            inspect: for groups, also return the tensors that figures show.
            initial_state: None, which `keras.layers.Bidirectional` passes.
        """
        if initial_state is not None:
            raise ValueError(f"{self.name}: takes no initial_state")
        rank = len(x.shape)
        if rank not in (3, 4):
            raise ValueError(
                f"{self.name}: x must be [B, T, D], or [G, B, T, D] of groups, "
                f"got the shape {tuple(x.shape)}"
            )
        mask = mask_of(x, mask)
        self._check_tasks(task)
        if rank == 3:
            return self._of_texts(x, mask, task, training, sequence)
        if self.go_backwards:
            raise ValueError(
                f"{self.name}: go_backwards is for texts [B, T, D]; of groups "
                "use reverse"
            )
        if task is None:
            task = tf.zeros(tf.shape(x)[:1], tf.int32)
        return self.run(x, mask, task, training, sequence, inspect)

    def _check_tasks(self, task) -> None:
        if self.tasks > 1 and task is None:
            raise ValueError(
                f"{self.name}: with weights of {self.tasks} tasks it needs "
                "`task`, int32 [B] of texts [B, T, D] or [G] of groups "
                "[G, B, T, D], got None"
            )

    def _of_texts(self, x, mask, task, training: bool, sequence: bool):
        """Runs over `[B, T, D]`."""
        # All texts are one group; with several tasks each text is a group.
        axis = 1 if self.tasks > 1 else 0
        if not axis:
            task = tf.zeros([1], tf.int32)
        sequence = sequence or self.return_sequences
        if self.go_backwards:
            x, mask = tf.reverse(x, [1]), tf.reverse(mask, [1])
        result = self.run(
            tf.expand_dims(x, axis),
            tf.expand_dims(mask, axis),
            tf.cast(task, tf.int32),
            training,
            sequence,
            False,
        )
        states = result.sequences if sequence else result.state
        return self.cast(tf.squeeze(states["hidden"], axis))

    def compute_mask(self, inputs, mask=None):
        """The mask, if all tokens' states are returned; otherwise None."""
        if not self.return_sequences or len(inputs.shape) != 3:
            return None
        if mask is None or not self.go_backwards:
            return mask
        return keras.ops.flip(mask, axis=1)

    @property
    def output_units(self) -> int:
        """The size H of the returned hidden states."""
        return self.units

    def compute_output_spec(self, x, *args, **kwargs):
        """Traces `call`, which distinguishes groups from texts.

        A layer that is not built has no weights to trace with, so its output
        shape is computed.
        """
        if self.built or len(x.shape) != 3:
            return keras.Operation.compute_output_spec(self, x, *args, **kwargs)
        sequence = kwargs.get("sequence", False)
        shape = self._output_shape(x.shape, sequence or self.return_sequences)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def compute_output_shape(self, input_shape) -> tuple[int | None, ...]:
        """The output shape for texts `[B, T, D]`; see the class."""
        if len(input_shape) != 3:
            raise ValueError(
                f"{self.name}: the shape must be that of texts, [B, T, D], got "
                f"{tuple(input_shape)}"
            )
        return self._output_shape(input_shape, self.return_sequences)

    def _output_shape(self, shape, sequence: bool):
        rows, time, _ = shape
        units = self.output_units
        return (rows, time, units) if sequence else (rows, units)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = {
            "return_sequences": self.return_sequences,
            "go_backwards": self.go_backwards,
        }
        return super().get_config() | config
