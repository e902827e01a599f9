"""ARC-II: a memory per task and one that all tasks share."""

import keras
import tensorflow as tf

from mtl_tf.layers.recurrent.deep_fusion import DeepFusionLayer, fused_lstm
from mtl_tf.layers.recurrent.external_memory import ExternalMemory
from mtl_tf.layers.recurrent.steps import Operations


@keras.saving.register_keras_serializable(package="mtl_tf")
class LocalGlobalLSTM(DeepFusionLayer):
    """An LSTM with a local and a global memory, in one direction.

    Equations 16 to 19 of Liu et al. (2016). The local memory belongs to the
    task. It is addressed, read and written as in an `MELSTM`. The global memory
    is shared: all tasks use the same parameters and the same initial memory. It
    is written from the local read vector, `r_t^(m)`, and read with the weights
    of the last write, `r_t^(s) = alpha_(t-1)^(s) M_(t-1)^(s)`. The fusion reads
    `[r_t^(m); r_t^(s)]`.

    Two details are not in the paper: the first global key is the one that a
    read vector of zeros emits, and `alpha_0^(s)` aligns it with the initial
    global memory.

    Args:
        units: size H of the hidden state.
        memory_slots: number of segments K of either memory.
        memory_width: size M of a segment.
        align: "cosine", or "mlp": see `ExternalMemory`.
        tasks: 0 for one set of weights for all tasks; otherwise the number of
            tasks, each with its own weights, stacked, except for those of the
            global memory.
        reverse: from the last token to the first.
        forget_bias: added to the forget gate's initial bias; see
            `lstm.forget_offset`.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: the states "hidden" and
        "memory" `[G, B, H]`, "local" and "global" `[G, B, K, M]`, "local_key"
        and "global_key" `[G, B, M]` and "global_alpha" `[G, B, K]` after the
        last real token; the requested sequences; and with `inspect` the
        emissions "gate" `[G, B, T, H]`, the fusion gate, and "alpha" and
        "global_alpha" `[G, B, T, K]`, the weights with which the memories were
        read.
    Masking: the state does not change where the mask is false, so padding
        changes nothing. A row without tokens has zeros and the initial
        memories.

    Example:
        ```python
        layer = LocalGlobalLSTM(100, 50, 20, tasks=4)
        summary = layer(x, mask, task).state["hidden"]
        ```
    """

    emits = ("gate", "alpha", "global_alpha")

    def __init__(
        self,
        units: int,
        memory_slots: int,
        memory_width: int,
        align: str = "cosine",
        tasks: int = 0,
        **kwargs,
    ):
        super().__init__(
            units, memory_slots, memory_width, align, tasks, **kwargs
        )
        self.local = self._memory("local", self.units, self.tasks)
        self.shared = self._memory("global", memory_width, 0)

    @property
    def memories(self) -> list[ExternalMemory]:
        """The local and the global memory."""
        return [self.local, self.shared]

    def _start(self, x, task):
        state = super()._start(x, task)
        weights, constants = self.shared.parameters(x, task)
        alpha = self.shared.address(Operations(weights, constants), state)
        return state | {"global_alpha": alpha}

    def _step(self, ops, inputs, state):
        alpha = self.local.address(ops, state)
        local = self.local.read(ops, state, alpha)
        shared = self.shared.read(ops, state, state["global_alpha"])
        read = tf.concat([local, shared], -1)
        a = inputs["gates"] + ops.matmul(state["hidden"], "recurrent")
        memory, hidden, gate = fused_lstm(ops, a, state["memory"], read)
        ops.emit("gate", gate)
        ops.emit("alpha", alpha)
        ops.emit("global_alpha", state["global_alpha"])
        global_alpha = self.shared.address(ops, state)
        return {
            "hidden": hidden,
            "memory": memory,
            "global_alpha": global_alpha,
            **self.local.write(ops, state, alpha, hidden),
            **self.shared.write(ops, state, global_alpha, local),
        }
