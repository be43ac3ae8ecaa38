"""LinUCB on few features, many runs side by side: run l lives in lane l of every vector instruction.

Every run goes through the operations of ``linucb.projected`` in the same order, so both choose the same arms.
"""

from itertools import accumulate

import numpy as np

from graphdr.core.compiled import kernel

LANES = 16  # fewer would be unrolled into scalar code, more would leave the fastest cache
FEWEST = 11  # runs that fill the lanes so well that one after the other would be slower


def side_by_side(
    runs: list[tuple[np.ndarray, ...]], radius: np.ndarray, inflation: float, every: int
) -> list[tuple[np.ndarray, ...]]:
    """Play up to LANES runs, each (features, V_0^-1, theta, arms, noise, residual), as ``linucb.projected`` does.

    All have as many features, rounds and candidates per round, and all or none a residual, which else is empty.
    The last run fills the lanes left empty.
    """
    lanes = runs + runs[-1:] * (LANES - len(runs))
    features, inverses, thetas, arms, noises, residuals = zip(*lanes, strict=True)
    batch = np.stack(arms), np.stack(noises), radius, float(inflation), every
    joined = _joined(features), _joined(thetas), _joined(residuals)
    axes = (0,) * features[0].shape[1]
    traces = _side_by_side(*joined, np.stack(inverses, axis=-1).ravel(), batch, axes)
    return list(zip(*traces, strict=True))[: len(runs)]


def _joined(parts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate the distinct arrays, so that lanes that share one share the cache; return also their starts."""
    distinct = {id(part): part for part in parts}
    starts = dict(zip(distinct, accumulate(map(len, distinct.values()), initial=0), strict=False))
    return np.concatenate(list(distinct.values())), np.array([starts[id(part)] for part in parts], np.uint32)


@kernel
def _side_by_side(all_features, all_thetas, all_residuals, v0_inverse, batch, axes):
    # Element e of an array that every lane has is at e * LANES + lane: v is k x k; the estimate, leverage, bias, u, w
    # and x have length k. Each block below does for all lanes what linucb_core does for one run.
    features, feature_start = all_features
    theta, theta_start = all_thetas
    residual, residual_start = all_residuals
    arms, noise, radius, inflation, every = batch
    k = len(axes)  # a tuple's length is known when this is compiled
    _, rounds, m = arms.shape
    v = v0_inverse.copy()
    estimate, u, w, x = np.zeros(k * LANES), np.empty(k * LANES), np.empty(k * LANES), np.empty(k * LANES)
    leverage, bias = np.zeros(k * LANES), np.zeros(k * LANES)
    top, mean, half, reach = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    scale, step, xi = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    largest_leverage, width_sum = np.zeros(LANES), np.zeros(LANES)
    best = np.empty(LANES, np.int64)
    chosen = np.empty((LANES, rounds), np.uint32)
    srl, widths = np.zeros((LANES, rounds // every)), np.zeros((LANES, rounds // every))
    for t in range(rounds):
        for lane in range(LANES):
            reach[lane] = radius[t] + inflation * np.sqrt(largest_leverage[lane])
        top[:] = -np.inf
        best[:] = 0
        for c in range(m):
            for lane in range(LANES):
                arm = feature_start[lane] + arms[lane, t, c]
                for i in range(k):
                    x[i * LANES + lane] = features[arm, i]
            for lane in range(LANES):
                s = q = 0.0  # mean_and_half_square
                for i in range(k):
                    x_i = x[i * LANES + lane]
                    row = 0.5 * v[(i * k + i) * LANES + lane] * x_i
                    for j in range(i):
                        row += v[(i * k + j) * LANES + lane] * x[j * LANES + lane]
                    q += row * x_i
                    s += estimate[i * LANES + lane] * x_i
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
                x[i * LANES + lane] = features[feature_start[lane] + arm, i]
            scale[lane] = 1.0 / (1.0 + 2.0 * half[lane])
            step[lane] = (theta[theta_start[lane] + arm] + noise[lane, t] - mean[lane]) * scale[lane]
            width_sum[lane] += np.sqrt(max(2.0 * half[lane], 0.0))
            if len(residual):
                xi[lane] = residual[residual_start[lane] + arm]
        for i in range(k):  # u = V^-1 x
            for lane in range(LANES):
                total = 0.0
                for j in range(k):
                    total += v[(j * k + i) * LANES + lane] * x[j * LANES + lane]
                u[i * LANES + lane] = total
        for i in range(k):  # the estimate gains step u; w = sqrt(scale) u
            for lane in range(LANES):
                estimate[i * LANES + lane] += u[i * LANES + lane] * step[lane]
                w[i * LANES + lane] = u[i * LANES + lane] * np.sqrt(scale[lane])
        for i in range(k):  # V^-1 loses w w^T
            for lane in range(LANES):
                w_i = w[i * LANES + lane]
                for j in range(k):
                    v[(i * k + j) * LANES + lane] -= w_i * w[j * LANES + lane]
        if len(residual):  # follow_residual
            for lane in range(LANES):
                error, square = xi[lane], 0.0
                for i in range(k):
                    error -= leverage[i * LANES + lane] * x[i * LANES + lane]
                for i in range(k):
                    leverage[i * LANES + lane] += u[i * LANES + lane] * scale[lane] * error
                    bias[i * LANES + lane] += xi[lane] * x[i * LANES + lane]
                    square += leverage[i * LANES + lane] * bias[i * LANES + lane]
                largest_leverage[lane] = max(largest_leverage[lane], square)
        if (t + 1) % every == 0:
            srl[:, t // every] = np.sqrt(largest_leverage)
            widths[:, t // every] = width_sum
    return chosen, srl, widths
