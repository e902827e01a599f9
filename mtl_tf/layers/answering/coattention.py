"""Dual coattention: two texts, each read with attention to the other."""

from typing import NamedTuple

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer

# Added to the scores of padding; see `mtl_tf.layers.attention.self_attention`.
_OUT_OF_REACH = -1e9


class Coattended(NamedTuple):
    """What each position of a text knows of the other, float `[..., T, D]`.

    Attributes:
        summary: for each position, the aligned positions of the other text:
            Q_sum for a context, C_sum for a question.
        coattended: for each position, what those positions are aligned with in
            the position's own text: C_coa for a context, Q_coa for a question.
    """

    summary: tf.Tensor
    coattended: tf.Tensor


@keras.saving.register_keras_serializable(package="mtl_tf")
class DualCoattention(StackedLayer):
    """Aligns a context and a question, and transfers what is aligned.

    McCann et al. (2018), equations 17 to 19, after Xiong et al. (2017). C and Q
    get an additional row, a trained dummy with which tokens can align that
    match nothing. `softmax` is over the columns:

        S_cq = softmax(C Q^T)       S_qc = softmax(Q C^T)
        C_sum = S_cq^T C            Q_sum = S_qc^T Q
        C_coa = S_qc^T C_sum        Q_coa = S_cq^T Q_sum

    The rows of the dummies are dropped. Softmaxes are taken in float32.

    Args:
        units: size D of the inputs and outputs.
        init: see `base.check_init`; dummies are drawn within its `range`.

    Input shape: context `[..., L, D]`, its mask bool `[..., L]`, question
        `[..., M, D]`, its mask bool `[..., M]`.
    Output shape: `Coattended` of the context, `[..., L, D]`, and of the
        question, `[..., M, D]`.
    Masking: nothing is aligned with padding, and its own outputs have no
        meaning. If a text has no tokens, the other one aligns with the dummy
        only.

    Example:
        ```python
        of_context, of_question = DualCoattention(200)(
            context, context_mask, question, question_mask
        )
        ```
    """

    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)

    def build(self, *_):
        """Makes the dummies, `[D]` each."""
        limit = self.init["range"]
        self.context_dummy = self.add("context_dummy", self.units, limit=limit)
        self.question_dummy = self.add(
            "question_dummy", self.units, limit=limit
        )
        self.built = True

    def call(self, context, context_mask, question, question_mask):
        """Aligns; see the class."""
        c = self._with_dummy(context, self.context_dummy)
        q = self._with_dummy(question, self.question_dummy)
        scores = tf.cast(tf.matmul(c, q, transpose_b=True), tf.float32)
        no_context = _reach(context_mask)[..., :, None]
        no_question = _reach(question_mask)[..., None, :]
        # The paper normalises columns; these are the rows of the products here.
        s_cq = self.cast(tf.nn.softmax(scores + no_context, axis=-2))
        s_qc = self.cast(tf.nn.softmax(scores + no_question, axis=-1))
        c_sum = tf.matmul(s_cq, c, transpose_a=True)
        q_sum = tf.matmul(s_qc, q)
        c_coa = tf.matmul(s_qc, c_sum)
        q_coa = tf.matmul(s_cq, q_sum, transpose_a=True)
        of_context = Coattended(q_sum[..., 1:, :], c_coa[..., 1:, :])
        of_question = Coattended(c_sum[..., 1:, :], q_coa[..., 1:, :])
        return of_context, of_question

    def _with_dummy(self, x, dummy):
        """`x` `[..., T, D]` with `dummy` in front, `[..., T + 1, D]`."""
        x = self.cast(x)
        shape = tf.concat([tf.shape(x)[:-2], [1, self.units]], 0)
        row = tf.broadcast_to(self.cast(dummy.value), shape)
        return tf.concat([row, x], axis=-2)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {"units": self.units}


def _reach(mask: tf.Tensor) -> tf.Tensor:
    """What `[..., T + 1]` positions add to scores; 0 for the dummy."""
    paddings = [[0, 0]] * (mask.shape.rank - 1) + [[1, 0]]
    mask = tf.pad(mask, paddings, constant_values=True)
    return tf.where(mask, 0.0, _OUT_OF_REACH)
