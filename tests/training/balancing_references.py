"""What papers on balancing tasks compute, in NumPy."""

import numpy as np


def projected_sum(gradients, order):
    """Algorithm 1 of Yu et al. (2020) on vectors, and how often it projects."""
    result, projections = np.zeros_like(gradients[0]), 0
    for i, gradient in enumerate(gradients):
        gradient = gradient.copy()
        for j in order[i]:
            along = gradient @ gradients[j]
            if j != i and along < 0:
                other = gradients[j]
                gradient -= along / (other @ other) * other
                projections += 1
        result += gradient
    return result, projections


def _grad_norm_loss(factors, task, norms, targets):
    """Equation 2 of Chen et al. (2018), with the norms of L_i given."""
    return np.sum(np.abs(factors[task] * norms - targets))


def grad_norm_step(factors, first, task, loss, norms, alpha, rate):
    """One step of their Algorithm 1; the slope by finite differences."""
    progress = loss / first[task]
    inverse_rate = progress / progress.mean()
    weighted = factors[task] * norms
    targets = weighted.mean() * inverse_rate**alpha
    slope = np.zeros_like(factors)
    for i in range(len(factors)):
        up, down = factors.copy(), factors.copy()
        up[i] += 1e-6
        down[i] -= 1e-6
        rise = _grad_norm_loss(up, task, norms, targets)
        slope[i] = (rise - _grad_norm_loss(down, task, norms, targets)) / 2e-6
    moved = np.maximum(factors - rate * slope, 1e-3)
    return moved * len(factors) / moved.sum()
