"""Dong et al. (2015), equations 2 to 12, in NumPy float64.

One text and one step at a time, written from the paper. Only `of_gru` and
`of_decoder`, which name the weights as the paper does, and the functions
behind them know the layers.
"""

import numpy as np


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def gru_step(x, h, w):
    """Equations 9 to 12."""
    z = _sigmoid(w["W_z"] @ x + w["U_z"] @ h + w["b_z"])
    r = _sigmoid(w["W_r"] @ x + w["U_r"] @ h + w["b_r"])
    candidate = np.tanh(w["W"] @ x + w["U"] @ (r * h) + w["b"])
    return (1 - z) * h + z * candidate


def gru(x, mask, w, reverse=False):
    """All states `[T, H]` (NaN where masked) and the last one."""
    h, found = np.zeros(len(w["b"])), np.full((len(x), len(w["b"])), np.nan)
    times = np.flatnonzero(mask)
    for t in times[::-1] if reverse else times:
        h = found[t] = gru_step(x[t], h, w)
    return found, h


def attention(s, annotations, w):
    """Equations 4 to 7: the context and the weights."""
    e = [
        w["v"] @ np.tanh(w["W_a"] @ s + w["U_a"] @ h + w["b_a"])
        for h in annotations
    ]
    a = _softmax(np.array(e)) if e else np.zeros(0)
    context = np.zeros(w["depth"])
    for a_j, h_j in zip(a, annotations):
        context += a_j * h_j
    return context, a


def decode(target, annotations, first, w):
    """Log probabilities of the next tokens `[U, V]`, attention `[U, S]`."""
    s, previous = np.tanh(w["W_i"] @ first + w["b_i"]), 2
    tables, looks = [], []
    for y in target:
        context, a = attention(s, annotations, w)
        embedded = w["E"][previous]
        s = gru_step(np.concatenate([embedded, context]), s, w)
        read = w["W_s"] @ s + w["W_y"] @ embedded + w["W_c"] @ context
        logits = w["W_o"] @ np.tanh(read + w["b_g"]) + w["b_o"]
        tables.append(np.log(_softmax(logits)))
        looks.append(a)
        previous = y
    return np.array(tables), np.array(looks)


def of_gru(values):
    """The paper's weights of a layer's, {name: value}."""
    w_z, w_r, w = np.split(values["kernel"].T, 3)
    u_z, u_r = np.split(values["recurrent"].T, 2)
    bias = values.get("bias", np.zeros(len(w) * 3))
    named = {"W_z": w_z, "W_r": w_r, "W": w, "U_z": u_z, "U_r": u_r}
    named["U"] = values["candidate"].T
    return named | dict(zip(("b_z", "b_r", "b"), np.split(bias, 3)))


def of_decoder(values):
    """The paper's weights of a decoder's, {"part/name": value}."""
    own = {n.split("/")[1]: v for n, v in values.items() if "own/" in n}
    units = values["attention/query"].shape[0]
    table = values["embedding/vectors"]
    cuts = np.cumsum([units, table.shape[1]])
    w_s, w_y, w_c = np.split(own["readout"].T, cuts, axis=1)

    def bias(name, size):
        return values.get(name, np.zeros(size))

    return of_gru(own) | {
        "E": table,
        "depth": values["attention/kernel"].shape[0],
        "W_a": values["attention/query"].T,
        "U_a": values["attention/kernel"].T,
        "b_a": bias("attention/bias", values["attention/query"].shape[1]),
        "v": values["attention/score"][:, 0],
        "W_i": own["initial"].T,
        "b_i": bias("own/initial_bias", units),
        "W_s": w_s,
        "W_y": w_y,
        "W_c": w_c,
        "b_g": bias("own/readout_bias", len(w_s)),
        "W_o": values["output/kernel"],
        "b_o": bias("output/bias", len(values["output/kernel"])),
    }


def variables_of(decoder):
    """Weights of a layer as `of_decoder` names them."""
    found = {}
    for part in ("embedding", "attention", "output_layer"):
        for v in getattr(decoder, part).trainable_variables:
            found[f"{part.split('_')[0]}/{v.name}"] = v
    known = {id(v) for v in found.values()}
    own = [v for v in decoder.trainable_variables if id(v) not in known]
    return found | {f"own/{v.name}": v for v in own}


def values_of(decoder):
    """Their values, float64."""
    found = variables_of(decoder).items()
    return {name: np.array(v, np.float64) for name, v in found}
