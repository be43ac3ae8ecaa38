"""What the residual does along a run (Definition 1): its leverage SRL_t and its candidate width CRW_t."""

import numpy as np

from graphdr.bandit.rank_one import multiply, subtract
from graphdr.core.compiled import inlined, kernel

UNROLLED = 10  # k up to which kernels are compiled for each k on its own, their loops unrolled; linucb_wide plays more


def few_axes(features) -> tuple:
    """Return a tuple as long as an arm has features, if they are few: its length is known when a kernel is compiled."""
    k = features.shape[1]
    return (0,) * (k if k <= UNROLLED else 0)


@inlined
def follow(leverage, bias, x, u, scale, xi, k):
    """Learn the residual xi of a play of x, with u = V^-1 x and scale before it; return the squared leverage after it.

    V^-1 sum z xi follows the same recursion as the estimate, with xi in place of the reward.
    """
    gap, now = xi, 0.0
    for i in range(k):
        gap -= leverage[i] * x[i]
    for i in range(k):
        leverage[i] += u[i] * scale * gap
        bias[i] += xi * x[i]
        now += leverage[i] * bias[i]
    return now


def residual_leverage(features, v0_inverse, chosen, residual, every):
    """Return SRL_t (Definition 1) and the summed widths ||z_t||_{V_t^-1} at the checkpoints, along the arms chosen.

    SRL_t is the running maximum of the leverage of ``residual``.
    """
    return _residual_leverage(features, v0_inverse, chosen, residual, every, few_axes(features))


@kernel
def _residual_leverage(features, v0_inverse, chosen, residual, every, axes):
    k = len(axes) if len(axes) else features.shape[1]
    v = v0_inverse.copy()
    leverage, bias, u, w = np.zeros(k), np.zeros(k), np.empty(k), np.empty(k)
    srl, widths = np.empty(len(chosen) // every), np.empty(len(chosen) // every)
    worst = spent = 0.0
    for t in range(len(chosen)):
        arm = chosen[t]
        x = features[arm]
        width = 0.0
        multiply(v, x, u, k)
        for i in range(k):
            width += u[i] * x[i]
        scale = 1.0 / (1.0 + width)
        root = np.sqrt(scale)
        for i in range(k):
            w[i] = u[i] * root
        subtract(v, w, k)
        worst = max(worst, follow(leverage, bias, x, u, scale, residual[arm], k))
        spent += np.sqrt(max(width, 0.0))
        if (t + 1) % every == 0:
            srl[t // every], widths[t // every] = np.sqrt(worst), spent
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
