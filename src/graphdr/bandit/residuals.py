"""What the residual does along a run (Definition 1): its leverage SRL_t and its candidate width CRW_t."""

import numpy as np

from graphdr.bandit.linucb_core import follow_residual, multiply, unrolled_axes
from graphdr.core.compiled import kernel


def residual_leverage(
    features: np.ndarray, v0_inverse: np.ndarray, chosen: np.ndarray, residual: np.ndarray, every: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return SRL_t (Definition 1) and the summed widths ||z_t||_{V_t^-1} at the checkpoints, along the arms chosen.

    SRL_t is the running maximum of the leverage of ``residual``.
    """
    return _residual_leverage(features, v0_inverse, chosen, residual, every, unrolled_axes(features))


@kernel
def _residual_leverage(features, v0_inverse, chosen, residual, every, axes):
    k = len(axes) if len(axes) else features.shape[1]
    v = v0_inverse.copy()
    leverage, bias, u, w = np.zeros(k), np.zeros(k), np.empty(k), np.empty(k)
    srl, widths = np.empty(len(chosen) // every), np.empty(len(chosen) // every)
    largest_leverage = width_sum = 0.0  # the leverage is squared
    for t in range(len(chosen)):
        arm = chosen[t]
        x = features[arm]
        square = 0.0
        multiply(v, x, u, k)
        for i in range(k):
            square += u[i] * x[i]
        scale = 1.0 / (1.0 + square)
        root = np.sqrt(scale)
        for i in range(k):
            w[i] = u[i] * root
        for i in range(k):
            wi = w[i]
            for j in range(k):
                v[i, j] -= wi * w[j]
        largest_leverage = max(largest_leverage, follow_residual(leverage, bias, x, u, scale, residual[arm], k))
        width_sum += np.sqrt(max(square, 0.0))
        if (t + 1) % every == 0:
            srl[t // every], widths[t // every] = np.sqrt(largest_leverage), width_sum
    return srl, widths


@kernel
def residual_width(residual, arms, every):
    """Return CRW_t (Definition 1) at the checkpoints: the summed range of the residual over the candidates."""
    out = np.empty(len(arms) // every)
    total = 0.0
    for at in range(len(out)):
        for t in range(at * every, (at + 1) * every):
            low, high = np.inf, -np.inf
            for arm in arms[t]:
                low, high = min(low, residual[arm]), max(high, residual[arm])
            total += high - low
        out[at] = total
    return out
