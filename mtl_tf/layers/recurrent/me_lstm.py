"""The ME-LSTM: an LSTM with an external memory and deep fusion."""

import keras

from mtl_tf.core import checks
from mtl_tf.layers.recurrent.deep_fusion import DeepFusionLayer, fused_lstm
from mtl_tf.layers.recurrent.external_memory import ExternalMemory


@keras.saving.register_keras_serializable(package="mtl_tf")
class MELSTM(DeepFusionLayer):
    """An LSTM with an external memory and deep fusion, in one direction.

    Equations 1, 2 and 5 to 13 of Liu et al. (2016). At every step the key that
    h_(t-1) emitted addresses the memory M_(t-1). The vector r_t that is read
    joins c_t through the fusion gate. Then h_t writes to the memory.

    Args:
        units: size H of the hidden state.
        memory_slots: number of segments K of the memory.
        memory_width: size M of a segment.
        align: "cosine", or "mlp": see `ExternalMemory`.
        tasks: 0 for one set of weights for all tasks; otherwise the number of
            tasks, each with its own weights, stacked.
        shared_memory: all tasks share one initial memory, W_m, b_m and align
            function, although each of `tasks` has its own LSTM and fusion. This
            is ARC-I, equations 14 and 15.
        reverse: from the last token to the first.
        forget_bias: added to the forget gate's initial bias; see
            `lstm.forget_offset`.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: the states "hidden" and
        "memory" `[G, B, H]`, "external" `[G, B, K, M]` and "external_key"
        `[G, B, M]` after the last real token; the requested sequences; and with
        `inspect` the emissions "gate" `[G, B, T, H]`, the fusion gate, and
        "alpha" `[G, B, T, K]`, the weights with which the memory was read.
    Masking: the state does not change where the mask is false, so padding
        changes nothing. A row without tokens has zeros and the initial memory.

    Example:
        ```python
        layer = MELSTM(100, 50, 20)
        summary = layer(x, mask, task).state["hidden"]
        ```
    """

    emits = ("gate", "alpha")

    def __init__(
        self,
        units: int,
        memory_slots: int,
        memory_width: int,
        align: str = "cosine",
        tasks: int = 0,
        shared_memory: bool = False,
        **kwargs,
    ):
        super().__init__(
            units, memory_slots, memory_width, align, tasks, **kwargs
        )
        self.shared_memory = checks.boolean("shared_memory", shared_memory)
        owners = 0 if self.shared_memory else self.tasks
        self.external = self._memory("external", self.units, owners)

    @property
    def memories(self) -> list[ExternalMemory]:
        """The only memory of the layer, as a list."""
        return [self.external]

    def _step(self, ops, inputs, state):
        alpha = self.external.address(ops, state)
        read = self.external.read(ops, state, alpha)
        a = inputs["gates"] + ops.matmul(state["hidden"], "recurrent")
        memory, hidden, gate = fused_lstm(ops, a, state["memory"], read)
        ops.emit("gate", gate)
        ops.emit("alpha", alpha)
        written = self.external.write(ops, state, alpha, hidden)
        return {"hidden": hidden, "memory": memory} | written

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = {"shared_memory": self.shared_memory}
        return super().get_config() | config
