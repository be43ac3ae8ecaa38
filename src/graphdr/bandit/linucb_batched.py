"""LinUCB on few features, many runs side by side: run l lives in lane l of every vector instruction.

Every run goes through the operations of ``linucb.projected`` in the same order, so both choose the same arms.
"""

from itertools import accumulate

import numpy as np

from graphdr.core.compiled import kernel

LANES = 16  # fewer would be unrolled into scalar code, more would leave the fastest cache
FEWEST = 11  # runs that fill the lanes so well that one after the other would be slower


def side_by_side(runs: list[tuple], radius, inflation, every) -> list[tuple[np.ndarray, ...]]:
    """Play up to LANES runs, each (features, V_0^-1, theta, arms, noise, residual), as ``linucb.projected`` does.

    All have as many features, rounds and candidates per round, and all or none a residual, which else is empty.
    The last run fills the lanes left empty.
    """
    lanes = runs + runs[-1:] * (LANES - len(runs))
    features, inverses, thetas, arms, noises, residuals = zip(*lanes, strict=True)
    stacked = np.stack(inverses, axis=-1).ravel(), np.stack(arms), np.stack(noises)
    values = *_joined(features), *_joined(thetas), *_joined(residuals)
    traces = _side_by_side(*values, *stacked, radius, inflation, every, (0,) * features[0].shape[1])
    return list(zip(*traces, strict=True))[: len(runs)]


def _joined(parts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate the distinct arrays, so that shared ones share the cache; return where each part starts."""
    distinct = {id(part): part for part in parts}
    starts = dict(zip(distinct, accumulate(map(len, distinct.values()), initial=0), strict=False))
    return np.concatenate(list(distinct.values())), np.array([starts[id(part)] for part in parts], np.uint32)


@kernel
def _side_by_side(features, row, theta, at, residual, of, v0_inverse, arms, noise, radius, inflation, every, axes):
    # The arms of a lane start at features[row[lane]], theta[at[lane]] and residual[of[lane]]. Element e of what every
    # lane has of its own is at e * LANES + lane; v is k x k, the estimate, leverage, bias, u, w and x are of length k.
    k = len(axes)  # a tuple's length is known when this is compiled
    _, rounds, m = arms.shape
    v = v0_inverse.copy()
    estimate, u, w, x = np.zeros(k * LANES), np.empty(k * LANES), np.empty(k * LANES), np.empty(k * LANES)
    leverage, bias = np.zeros(k * LANES), np.zeros(k * LANES)
    top, mean, half, reach = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    scale, error, outside = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    worst, spent = np.zeros(LANES), np.zeros(LANES)
    best = np.empty(LANES, np.int64)
    chosen = np.empty((LANES, rounds), np.uint32)
    srl, widths = np.zeros((LANES, rounds // every)), np.zeros((LANES, rounds // every))
    for t in range(rounds):
        for lane in range(LANES):
            reach[lane] = radius[t] + inflation * np.sqrt(worst[lane])
        top[:] = -np.inf
        best[:] = 0
        for c in range(m):
            for lane in range(LANES):
                arm = row[lane] + arms[lane, t, c]
                for i in range(k):
                    x[i * LANES + lane] = features[arm, i]
            for lane in range(LANES):
                s = q = 0.0  # mean and half squared width
                for i in range(k):
                    xi = x[i * LANES + lane]
                    r = 0.5 * v[(i * k + i) * LANES + lane] * xi
                    for j in range(i):
                        r += v[(i * k + j) * LANES + lane] * x[j * LANES + lane]
                    q += r * xi
                    s += estimate[i * LANES + lane] * xi
                score = s + reach[lane] * np.sqrt(max(2.0 * q, 0.0))
                better = score > top[lane]  # selected without a branch, or the lanes would part
                top[lane] = score if better else top[lane]
                best[lane] = c if better else best[lane]
                mean[lane] = s if better else mean[lane]
                half[lane] = q if better else half[lane]
        for lane in range(LANES):
            arm = arms[lane, t, best[lane]]
            chosen[lane, t] = arm
            for i in range(k):
                x[i * LANES + lane] = features[row[lane] + arm, i]
            scale[lane] = 1.0 / (1.0 + 2.0 * half[lane])
            error[lane] = (theta[at[lane] + arm] + noise[lane, t] - mean[lane]) * scale[lane]
            spent[lane] += np.sqrt(max(2.0 * half[lane], 0.0))
            if len(residual):
                outside[lane] = residual[of[lane] + arm]
        for i in range(k):
            for lane in range(LANES):
                total = 0.0
                for j in range(k):
                    total += v[(j * k + i) * LANES + lane] * x[j * LANES + lane]
                u[i * LANES + lane] = total
        for i in range(k):
            for lane in range(LANES):
                estimate[i * LANES + lane] += u[i * LANES + lane] * error[lane]
                w[i * LANES + lane] = u[i * LANES + lane] * np.sqrt(scale[lane])
        for i in range(k):
            for lane in range(LANES):
                step = w[i * LANES + lane]
                for j in range(k):
                    v[(i * k + j) * LANES + lane] -= step * w[j * LANES + lane]
        if len(residual):
            for lane in range(LANES):
                gap, now = outside[lane], 0.0
                for i in range(k):
                    gap -= leverage[i * LANES + lane] * x[i * LANES + lane]
                for i in range(k):
                    leverage[i * LANES + lane] += u[i * LANES + lane] * scale[lane] * gap
                    bias[i * LANES + lane] += outside[lane] * x[i * LANES + lane]
                    now += leverage[i * LANES + lane] * bias[i * LANES + lane]
                worst[lane] = max(worst[lane], now)
        if (t + 1) % every == 0:
            srl[:, t // every] = np.sqrt(worst)
            widths[:, t // every] = spent
    return chosen, srl, widths
