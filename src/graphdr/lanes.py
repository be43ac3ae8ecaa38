"""LinUCB on few features, many runs side by side: run l lives in lane l of every vector instruction.

Every run goes through the operations of ``linucb.projected`` in the same order, so both choose the same arms.
"""

from itertools import accumulate

import numpy as np

from graphdr.kernels import kernel

LANES = 16  # fewer would be unrolled into scalar code, more would leave the fastest cache
WIDEST = 10  # features up to which the compiler unrolls the loops over them, as the lanes need it


def side_by_side(games: list[tuple], radius: np.ndarray) -> np.ndarray:
    """Run up to LANES games, each (features, V_0^-1, theta, arms, noise); return the arms chosen, a row a game.

    All have as many features, rounds and candidates a round; the last game fills the lanes left empty.
    """
    lanes = games + games[-1:] * (LANES - len(games))
    features, inverses, thetas, arms, noises = zip(*lanes, strict=True)
    stacked = np.stack(inverses, axis=-1).ravel(), np.stack(arms), np.stack(noises)
    chosen = _side_by_side(*_joined(features), *_joined(thetas), *stacked, radius, (0,) * features[0].shape[1])
    return chosen[: len(games)]


def _joined(parts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate the distinct arrays, so that shared ones share the cache; return where each part starts."""
    distinct = {id(part): part for part in parts}
    starts = dict(zip(distinct, accumulate(map(len, distinct.values()), initial=0), strict=False))
    return np.concatenate(list(distinct.values())), np.array([starts[id(part)] for part in parts], np.uint32)


@kernel
def _side_by_side(features, row, theta, at, v0_inverse, arms, noise, radius, axes):
    # The arms of a lane start at features[row[lane]] and theta[at[lane]]. Element e of what every lane has of its own
    # is at e * LANES + lane; v is k x k, the estimate, u and x are of length k.
    k = len(axes)  # a tuple's length is known when this is compiled
    _, rounds, m = arms.shape
    v = v0_inverse.copy()
    estimate, u, x = np.zeros(k * LANES), np.empty(k * LANES), np.empty(k * LANES)
    top, mean, half = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    scale, error = np.empty(LANES), np.empty(LANES)
    best = np.empty(LANES, np.int64)
    chosen = np.empty((LANES, rounds), np.uint32)
    for t in range(rounds):
        width = radius[t]
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
                score = s + width * np.sqrt(max(2.0 * q, 0.0))
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
        for i in range(k):
            for lane in range(LANES):
                total = 0.0
                for j in range(k):
                    total += v[(i * k + j) * LANES + lane] * x[j * LANES + lane]
                u[i * LANES + lane] = total
        for i in range(k):
            for lane in range(LANES):
                ui = u[i * LANES + lane]
                step = ui * scale[lane]
                estimate[i * LANES + lane] += ui * error[lane]
                for j in range(k):
                    v[(i * k + j) * LANES + lane] -= step * u[j * LANES + lane]
    return chosen
