"""The LSTM and the Meta-LSTM in NumPy float64, written from the paper.

Chen et al. (2018), equations 2 to 5 and 10 to 18, one example and one step at
a time, with W(z) formed as printed. Weights come by gate, as in the paper, so
nothing of the library's layout is used here but `of_lstm` and `of_meta_lstm`,
which cut the layers' weights up.
"""

import numpy as np

# The constant that is ours: of the forget gate of Meta-LSTM's basic network.
FORGET_BIAS = 1.0
_ORDER = "ifoc"  # of the gates in the layers' weights


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _update(a, c):
    """Equations 3 and 4 from pre-activations by gate."""
    i, f, o = (_sigmoid(a[gate]) for gate in "ifo")
    c = np.tanh(a["c"]) * i + c * f
    return o * np.tanh(c), c


def _times(mask, reverse):
    times = [t for t in range(len(mask)) if mask[t]]
    return times[::-1] if reverse else times


def lstm(x, mask, weights, reverse=False):
    """Runs over the real tokens of `x` [T, D]; returns h by time and last."""
    size = len(weights["b"]["i"])
    h, c, found = np.zeros(size), np.zeros(size), {}
    for t in _times(mask, reverse):
        v = np.concatenate([x[t], h])
        a = {g: weights["W"][g] @ v + weights["b"][g] for g in _ORDER}
        h, c = _update(a, c)
        found[t] = h
    return found, h


def meta_lstm(x, mask, weights, reverse=False):
    """As `lstm`; equations 15 to 18, then 10 to 14."""
    size, meta_size = weights["P"]["i"].shape[0], weights["bm"]["i"].shape[0]
    h, c = np.zeros(size), np.zeros(size)
    hh, cc, found = np.zeros(meta_size), np.zeros(meta_size), {}
    for t in _times(mask, reverse):
        v = np.concatenate([x[t], hh, h])
        a = {g: weights["Wm"][g] @ v + weights["bm"][g] for g in _ORDER}
        hh, cc = _update(a, cc)
        z = weights["Wz"] @ hh
        v = np.concatenate([x[t], h])
        a = {}
        for g in _ORDER:
            generated = weights["P"][g] @ np.diag(z) @ weights["Q"][g]
            a[g] = generated @ v + weights["B"][g] @ z
        a["f"] = a["f"] + FORGET_BIAS
        h, c = _update(a, c)
        found[t] = h
    return found, h


def _gates(weight):
    """Cuts [..., 4 N] into the four gates."""
    return dict(zip(_ORDER, np.split(weight, 4, axis=-1)))


def of_lstm(values, task):
    """Paper weights of a layer's, {name: value}."""
    own = {
        n: v[task] if values["bias"].ndim == 2 else v for n, v in values.items()
    }
    joint = np.concatenate([own["kernel"], own["recurrent"]], 0)
    return {
        "W": {g: w.T for g, w in _gates(joint).items()},
        "b": _gates(own["bias"]),
    }


def of_meta_lstm(values, task):
    """Paper weights of a layer's, {name: value}."""
    meta = np.concatenate([values["meta_kernel"], values["meta_recurrent"]], 0)
    factor = np.concatenate(
        [values["factor_kernel"][task], values["factor_recurrent"][task]], 0
    )
    generator = values["generator"][task]
    bias = values["generator_bias"][task]
    return {
        "Wm": {g: w.T for g, w in _gates(meta).items()},
        "bm": _gates(values["meta_bias"]),
        "Wz": values["vector_kernel"].T,
        "Q": {g: w.T for g, w in _gates(factor).items()},
        "P": {g: generator[k].T for k, g in enumerate(_ORDER)},
        "B": {g: bias[k].T for k, g in enumerate(_ORDER)},
    }


def run(kind, values, x, mask, tasks, reverse=False):
    """Summaries [G, B, H] and sequences (NaN where masked) [G, B, T, H]."""
    step, cut = {
        "lstm": (lstm, of_lstm),
        "meta_lstm": (meta_lstm, of_meta_lstm),
    }[kind]
    groups, batch, length = mask.shape
    summary, sequence = [], []
    for g in range(groups):
        weights = cut(values, tasks[g])
        for b in range(batch):
            found, last = step(x[g, b], mask[g, b], weights, reverse)
            summary.append(last)
            nothing = np.full_like(last, np.nan)
            sequence.append([found.get(t, nothing) for t in range(length)])
    shape = (groups, batch, -1)
    return (
        np.reshape(summary, shape),
        np.reshape(sequence, (groups, batch, length, summary[0].size)),
    )
