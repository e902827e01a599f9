"""ME-LSTM, ARC-I and ARC-II in NumPy float64, written from the paper.

Liu et al. (2016), equations 1, 2, 5 to 9, 11, 12 and 16 to 19, one text and
one segment at a time. Nothing of the library's layout is used here but `of`
and `of_memory`, which cut the layers' weights up.
"""

import numpy as np


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def align(x, y, weights):
    """Equation 8: g(x, y)."""
    if "v" in weights:
        return weights["v"] @ np.tanh(weights["Wa"] @ np.concatenate([x, y]))
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    return x @ y / lengths if lengths else 0.0


def address(memory, key, weights):
    """Equation 7: alpha."""
    scores = np.array([align(segment, key, weights) for segment in memory])
    scores = np.exp(scores - scores.max())
    return scores / scores.sum()


def emit(source, weights):
    """Equation 5: k, e, a."""
    k, e, a = np.split(weights["Wm"] @ source + weights["bm"], 3)
    return np.tanh(k), _sigmoid(e), np.tanh(a)


def write(memory, alpha, e, a):
    """Equation 9."""
    erased = memory * (1 - np.outer(alpha, e))
    return erased + np.outer(alpha, a)


def _cell(x, h, c, r, p):
    """Equations 1 and 2, then 12 and 11."""
    g, o, i, f = np.split(p["Wp"] @ np.concatenate([x, h]) + p["bp"], 4)
    c = np.tanh(g) * _sigmoid(i) + c * _sigmoid(f)
    gate = _sigmoid(p["Wr"] @ r + p["Wc"] @ c)
    return c, _sigmoid(o) * np.tanh(c + gate * (p["Wf"] @ r)), gate


def _times(mask, reverse):
    times = [t for t in range(len(mask)) if mask[t]]
    return times[::-1] if reverse else times


def me_lstm(x, mask, p, q, reverse=False):
    """Equation 13 over a text.

    Args:
        x: `[T, D]`.
        mask: `[T]`.
        p: theta_p and the fusion.
        q: theta_q by the role of the memory.
        reverse: from the last token to the first.

    Returns:
        What happened by time: a dictionary of "h", "gate", "alpha"; and the
        last h, M and k.
    """
    q = q["external"]
    size = len(p["bp"]) // 4
    h, c, memory = np.zeros(size), np.zeros(size), q["M0"]
    key, _, _ = emit(np.zeros(size), q)
    found = {}
    for t in _times(mask, reverse):
        alpha = address(memory, key, q)
        c, h, gate = _cell(x[t], h, c, alpha @ memory, p)
        key, e, a = emit(h, q)
        memory = write(memory, alpha, e, a)
        found[t] = {"h": h, "gate": gate, "alpha": alpha}
    return found, {"h": h, "external": memory, "external_key": key}


def arc_ii(x, mask, p, q, reverse=False):
    """As `me_lstm`; equations 16 to 19, with two memories."""
    own, shared = q["local"], q["global"]
    size, width = len(p["bp"]) // 4, shared["M0"].shape[1]
    h, c, found = np.zeros(size), np.zeros(size), {}
    local, memory = own["M0"], shared["M0"]
    local_key, _, _ = emit(np.zeros(size), own)
    key, _, _ = emit(np.zeros(width), shared)
    alpha = address(memory, key, shared)
    for t in _times(mask, reverse):
        local_alpha = address(local, local_key, own)
        r = local_alpha @ local
        r_global = alpha @ memory  # both of step t - 1
        both = np.concatenate([r, r_global])
        c, h, gate = _cell(x[t], h, c, both, p)
        found[t] = {
            "h": h,
            "gate": gate,
            "alpha": local_alpha,
            "global_alpha": alpha,
        }
        local_key, e, a = emit(h, own)
        local = write(local, local_alpha, e, a)
        alpha = address(memory, key, shared)
        key, e, a = emit(r, shared)
        memory = write(memory, alpha, e, a)
    return found, {"h": h, "local": local, "global": memory, "global_key": key}


def _slice(values, names, task):
    """The task's slices of the values that are stacks, {name: rank}."""
    return {
        name: values[name][task] if values[name].ndim > rank else values[name]
        for name, rank in names.items()
    }


def of(values, task):
    """theta_p and the fusion, from a layer's weights {name: value}."""
    names = {
        "kernel": 2,
        "recurrent": 2,
        "bias": 1,
        "fusion_read": 2,
        "fusion_memory": 2,
    }
    own = _slice(values, names, task)
    joint = np.concatenate([own["kernel"], own["recurrent"]], 0)
    i, f, o, g = np.split(joint, 4, 1)
    bi, bf, bo, bg = np.split(own["bias"], 4)
    fusion, gate = np.split(own["fusion_read"], 2, 1)
    return {
        "Wp": np.concatenate([g, o, i, f], 1).T,
        "bp": np.concatenate([bg, bo, bi, bf]),
        "Wf": fusion.T,
        "Wr": gate.T,
        "Wc": own["fusion_memory"].T,
    }


def of_memory(values, role, task):
    """theta_q and M_0 of the memory, from a layer's weights."""
    names = {"initial": 2, "keys": 2, "keys_bias": 1, "align": 2}
    names["align_score"] = 2
    names = {f"{role}_{name}": rank for name, rank in names.items()}
    names = {name: rank for name, rank in names.items() if name in values}
    own = _slice(values, names, task)
    own = {name.removeprefix(f"{role}_"): v for name, v in own.items()}
    k, a, e = np.split(own["keys"], 3, 1)
    bk, ba, be = np.split(own["keys_bias"], 3)
    weights = {
        "M0": own["initial"],
        "Wm": np.concatenate([k, e, a], 1).T,
        "bm": np.concatenate([bk, be, ba]),
    }
    if "align" in own:
        weights |= {"Wa": own["align"].T, "v": own["align_score"][:, 0]}
    return weights


def run(values, x, mask, tasks, reverse=False):
    """Runs the model whose weights they are over texts `[G, B, T, D]`.

    Returns:
        What happened at every time, `[G, B, T, ...]` by name, NaN where the
        mask is false; and the last states `[G, B, ...]` by name.
    """
    model, roles = me_lstm, ["external"]
    if "local_keys" in values:
        model, roles = arc_ii, ["local", "global"]
    groups, batch, length = mask.shape
    series, last = {}, {}
    for g, b in np.ndindex(groups, batch):
        p = of(values, tasks[g])
        q = {role: of_memory(values, role, tasks[g]) for role in roles}
        found, final = model(x[g, b], mask[g, b], p, q, reverse)
        for name, value in final.items():
            space = np.zeros((groups, batch, *value.shape))
            last.setdefault(name, space)[g, b] = value
        for t, values_of_step in found.items():
            for name, value in values_of_step.items():
                space = np.full((groups, batch, length, value.size), np.nan)
                series.setdefault(name, space)[g, b, t] = value
    return series, last
