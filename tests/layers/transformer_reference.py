"""The Transformer of Sun (2019), section 3.1, in NumPy, text by text.

Everything is float64 and loops over texts and heads; a text has no padding:
its padded places are cut off before anything is computed.
"""

import numpy as np


def values(layer):
    """A layer's own weights by name, float64."""
    return {w.name: np.array(w, np.float64) for w in layer.weights}


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def norm(layer, x):
    w = values(layer)
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt(np.mean(centred**2, -1, keepdims=True) + 1e-6)
    return centred / deviation * w["gamma"] + w["beta"]


def attention(layer, x):
    """Equations 3-2 and 3-3; returns `[S, D]` and weights `[h, S, S]`."""
    w = values(layer)
    q, k, v = np.split(x @ w["kernel"] + w["bias"], 3, axis=-1)
    width = layer.units // layer.heads
    read, weights = [], []
    for head in range(layer.heads):
        part = slice(head * width, (head + 1) * width)
        weight = softmax(q[:, part] @ k[:, part].T / np.sqrt(width))
        weights.append(weight)
        read.append(weight @ v[:, part])
    y = np.concatenate(read, -1) @ w["output_kernel"] + w["output_bias"]
    return y, np.stack(weights)


def feed_forward(layer, x):
    """Equation 3-4."""
    w = values(layer)
    hidden = np.maximum(x @ w["kernel"] + w["bias"], 0)
    return hidden @ w["output_kernel"] + w["output_bias"]


def block(layer, x):
    first, second = layer.attention_norm, layer.feed_forward_norm
    if layer.norm == "pre":
        y, weights = attention(layer.attention, norm(first, x))
        x = x + y
        return x + feed_forward(layer.feed_forward, norm(second, x)), weights
    y, weights = attention(layer.attention, x)
    x = norm(first, x + y)
    return norm(second, x + feed_forward(layer.feed_forward, x)), weights


def encoder(layer, x):
    """The states `[S, D]` and each block's weights."""
    found = []
    for part in layer.blocks:
        x, weights = block(part, x)
        found.append(weights)
    if layer.last_norm is not None:
        x = norm(layer.last_norm, x)
    return x, found


def sines(length, size):
    """Equation 3-5."""
    table = np.zeros((length, size))
    for place in range(length):
        for column in range(size):
            angle = place / 10000 ** (column // 2 * 2 / size)
            table[place, column] = (np.sin, np.cos)[column % 2](angle)
    return table


def scheme(layer, words, rows):
    """The states `[R + T, H]` of one text and the blocks' weights.

    Args:
        layer: a `TransformerScheme`.
        words: `[T, D]`, without padding.
        rows: `[R, D]`, what stands in front of them.
    """
    own = {w.name: np.array(w, np.float64) for w in layer.weights}
    if layer.positions.kind == "learned":
        table = own["embeddings"]
        places = np.minimum(np.arange(len(words)), len(table) - 1)
        words = words + table[places]
    else:
        words = words + sines(*words.shape)
    x = np.concatenate([rows, words])
    kernel, bias = np.array(layer.kernel), np.array(layer.bias)
    return encoder(layer.encoder, x @ kernel + bias)
