"""Convolution and maximum over time in NumPy float64, from the papers.

Collobert and Weston (2008): one text and one window at a time, by filter
offset, so that nothing of the library's layout is used but `of_bank`.
"""

import numpy as np


def of_bank(values, task, widths):
    """Filters by width, {w: [w, D, F]}, and biases by width, of a task."""
    filters = values["bias"].shape[-1] // len(widths)
    own = values["bias"][task].reshape(len(widths), filters)
    kernels = {
        w: values[f"kernel_{w}"][task].reshape(w, -1, filters) for w in widths
    }
    return kernels, dict(zip(widths, own))


def features(x, mask, kernels, biases):
    """Per time, all widths side by side; x [T, D]; None at masked times."""
    found = []
    for t in range(len(mask)):
        parts = []
        for width, kernel in kernels.items():
            y = biases[width].copy()
            for j in range(width):
                s = t + j - (width - 1) // 2
                if 0 <= s < len(mask) and mask[s]:
                    y = y + kernel[j].T @ x[s]
            parts.append(y)
        found.append(np.concatenate(parts) if mask[t] else None)
    return found


def run(values, x, mask, tasks, widths):
    """Sequence [G, B, T, F] (0 where masked) and its greatest [G, B, F]."""
    size = values["bias"].shape[-1]
    sequence = np.zeros((*mask.shape, size))
    summary = np.zeros((*mask.shape[:2], size))
    for g, task in enumerate(tasks):
        weights = of_bank(values, task, widths)
        for b in range(mask.shape[1]):
            found = features(x[g, b], mask[g, b], *weights)
            real = [y for y in found if y is not None]
            for t, y in enumerate(found):
                sequence[g, b, t] = 0 if y is None else np.tanh(y)
            if real:
                summary[g, b] = np.tanh(np.max(real, axis=0))
    return sequence, summary
