"""How much the weights that a Meta-LSTM generates change at each token."""

import numpy as np

from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM

# In the order of the layer's slices.
GATES = ("input gate", "forget gate", "output gate", "new input")
# Only so that an entry of exactly 0 does not make the mean infinite: a greater
# one changes the values of trained runs.
_FLOOR = 1e-8


def factors(layer: MetaLSTM, task: int) -> tuple[np.ndarray, np.ndarray]:
    """The factors P and Q of a task's basic network.

    Args:
        layer: the layer.
        task: the task's number.

    Returns:
        P `[4, h, z]` and Q `[4, z, d + h]`, in the order of `GATES`.
    """
    p = np.asarray(layer.generator[task]).transpose(0, 2, 1)
    q = np.concatenate(
        [
            np.asarray(layer.factor_kernel[task]),
            np.asarray(layer.factor_recurrent[task]),
        ]
    )
    return p, np.stack(np.split(q.T, len(GATES)))


def changes(
    vectors: np.ndarray, p: np.ndarray, q: np.ndarray, floor: float = _FLOOR
) -> np.ndarray:
    """Equation 23 of Chen et al. (2018), for each gate's matrix.

    `diff(k) = mean(|W(k) - W(k-1)| / |W(k-1)|)` over the elements of
    `W(k) = P D(z_k) Q`, which is formed here only. A denominator is at least
    `floor` times the greatest |W(k-1)|.

    Args:
        vectors: the meta vectors z, `[T, z]`.
        p: `[gates, h, z]`.
        q: `[gates, z, d + h]`.
        floor: see above.

    Returns:
        float64 `[gates, T]`; nan at the first token, which has none before,
        and after a matrix of zeros.
    """
    result = np.full((len(p), len(vectors)), np.nan)
    vectors, p, q = (np.asarray(x, np.float64) for x in (vectors, p, q))
    # One matrix at a time: all of a text's would be a hundred megabytes.
    for gate in range(len(p)):
        before = None
        for step, z in enumerate(vectors):
            now = (p[gate] * z) @ q[gate]
            # From nothing there is no ratio.
            if before is not None and before.any():
                size = np.abs(before)
                least = floor * size.max()
                ratio = np.abs(now - before) / np.maximum(size, least)
                result[gate, step] = ratio.mean()
            before = now
    return result
