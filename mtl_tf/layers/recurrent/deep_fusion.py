"""Base of the LSTMs that fuse external memories into their output."""

import tensorflow as tf

from mtl_tf.layers.recurrent.external_memory import ExternalMemory
from mtl_tf.layers.recurrent.gated_layer import GatedLayer
from mtl_tf.layers.recurrent.lstm import (
    forget_offset,
    lstm_memory,
    project_gates,
    zero_state,
)
from mtl_tf.layers.recurrent.recurrence import Recurrence, Result
from mtl_tf.layers.recurrent.steps import Operations, Tensors


def fused_lstm(
    ops: Operations, a: tf.Tensor, memory: tf.Tensor, read: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The new internal memory and hidden state, and the fusion gate.

    Equations 1, 2, 11 and 12 of Liu et al. (2016):
    `c' = tanh(a_g) * i + c * f`, `g = s(W_r r + W_c c')` and
    `h' = o * tanh(c' + g * (W_f r))`.

    Args:
        ops: the step's operations. Their weights are "fusion_read"
            `[..., R, 2 H]`, W_f and W_r concatenated, and "fusion_memory"
            `[..., H, H]`, W_c.
        a: `[..., 4 H]`, in the order input gate i, forget gate f, output gate
            o, candidate g.
        memory: c, `[..., H]`.
        read: r, `[..., R]`.

    Returns:
        `(c', h', g)`, each `[..., H]`.
    """
    memory, o = lstm_memory(ops, a, memory)
    value, gate = tf.split(ops.matmul(read, "fusion_read"), 2, axis=-1)
    gate = ops.sigmoid(gate + ops.matmul(memory, "fusion_memory"))
    return memory, o * ops.tanh(memory + gate * value), gate


class DeepFusionLayer(GatedLayer):
    """Base class of the layers with external memories.

    Subclasses define `memories` and the step.

    Args:
        units: size H of the hidden state.
        memory_slots: number of segments K of a memory.
        memory_width: size M of a segment.
        align: see `ExternalMemory`.
        tasks: 0 for one set of weights for all tasks; otherwise the number of
            tasks, each with its own weights, stacked.
        reverse: from the last token to the first.
        forget_bias: added to the forget gate's initial bias; see
            `lstm.forget_offset`.
        init: see `base.check_init`.
    """

    emits: tuple[str, ...] = ()

    def __init__(
        self,
        units: int,
        memory_slots: int,
        memory_width: int,
        align: str = "cosine",
        tasks: int = 0,
        **kwargs,
    ):
        super().__init__(units, tasks, **kwargs)
        self.memory_slots = memory_slots
        self.memory_width = memory_width
        self.align = align
        self._recurrence = Recurrence(self._step, project_gates)

    @property
    def memories(self) -> list[ExternalMemory]:
        """The memories of the layer."""
        raise NotImplementedError

    def _step(
        self, ops: Operations, inputs: Tensors, state: Tensors
    ) -> Tensors:
        raise NotImplementedError

    def _memory(self, role: str, source: int, tasks: int) -> ExternalMemory:
        return ExternalMemory(
            self.memory_slots,
            self.memory_width,
            source,
            align=self.align,
            tasks=tasks,
            role=role,
            init=self.init,
            dtype=self.dtype_policy,
            # Initial values depend on the name, so the two directions differ.
            name=f"{self.name}_{role}",
        )

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        stack = (self.tasks,) if self.tasks else ()
        units = self.units
        read = len(self.memories) * self.memory_width

        def add(name, *shape, gates=1):
            return self.add(name, *shape, stack=stack, gates=gates)

        self.kernel = add("kernel", input_shape[-1], 4 * units, gates=4)
        self.recurrent = add("recurrent", units, 4 * units, gates=4)
        self.bias = add("bias", 4 * units)
        offset = forget_offset(self.forget_bias, units)
        self.bias.assign(self.bias + offset)
        self.fusion_read = add("fusion_read", read, 2 * units, gates=2)
        self.fusion_memory = add("fusion_memory", units, units)
        for memory in self.memories:
            memory.build()
        self.built = True

    def _parameters(self, x, task):
        """Weights and constants of the recurrence."""
        weights = {
            "kernel": self.cast(self.of_task(self.kernel, task)),
            "recurrent": self.cast(self.of_task(self.recurrent, task)),
            "bias": tf.convert_to_tensor(self.of_task(self.bias, task)),
            "fusion_read": self.cast(self.of_task(self.fusion_read, task)),
            "fusion_memory": self.cast(self.of_task(self.fusion_memory, task)),
        }
        constants = {}
        for memory in self.memories:
            more_weights, more_constants = memory.parameters(x, task)
            weights |= more_weights
            constants |= more_constants
        return weights, constants

    def _start(self, x, task) -> dict[str, tf.Tensor]:
        """The state before the first token."""
        state = zero_state(x, hidden=self.units, memory=self.units)
        for memory in self.memories:
            state |= memory.start(x, task)
        return state

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""
        weights, constants = self._parameters(x, task)
        return self._recurrence(
            x,
            mask,
            weights,
            self._start(x, task),
            constants,
            reverse=self.reverse,
            training=training,
            sequences=("hidden",) if sequence or inspect else (),
            emits=self.emits if inspect else (),
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "memory_slots": self.memory_slots,
            "memory_width": self.memory_width,
            "align": self.align,
        }
