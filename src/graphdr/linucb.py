"""LinUCB (Algorithm 1) as three compiled kernels: k-dimensional features, one-hot arms, dense penalties.

All of them score ``estimate + radius[t] * width``, play the first maximum, and return the cumulative
pseudo-regret at every ``every``-th round. The slow twins that define them are in the tests.
"""

from typing import NamedTuple

import numba
import numpy as np
import scipy.linalg.blas

from graphdr.streams import Stream

BLOCK = 64  # distinct arms between two flushes of the dense kernel


class Path(NamedTuple):
    """Cumulative regret, residual leverage SRL_t and residual width CRW_t at the checkpoints."""

    regret: np.ndarray
    srl: np.ndarray
    crw: np.ndarray


@numba.njit(cache=True)
def projected(features, v0_inverse, theta, arms, noise, radius, inflation, residual, every):
    """Run LinUCB on n x k features; return (regret, srl, crw) at the checkpoints.

    ``residual`` holds xi(a) for every arm; with ``inflation`` = 1 the radius of round t is
    ``radius[t]`` plus the running maximum of the residual leverage so far (a predictable radius).
    """
    rounds, m = arms.shape
    k = features.shape[1]
    v = v0_inverse.copy()
    estimate, leverage, bias = np.zeros(k), np.zeros(k), np.zeros(k)
    z, u = np.empty((k, m)), np.empty(k)
    mean, square, row = np.empty(m), np.empty(m), np.empty(m)
    out = np.zeros((3, rounds // every))
    regret, srl, crw = 0.0, 0.0, 0.0
    for t in range(rounds):
        for c in range(m):
            arm = arms[t, c]
            for i in range(k):
                z[i, c] = features[arm, i]
            mean[c] = 0.0
            square[c] = 0.0
        for i in range(k):
            for c in range(m):
                row[c] = 0.5 * v[i, i] * z[i, c]
            for j in range(i):
                for c in range(m):
                    row[c] += v[i, j] * z[j, c]
            for c in range(m):
                square[c] += 2.0 * z[i, c] * row[c]
                mean[c] += estimate[i] * z[i, c]
        width = radius[t] + inflation * srl
        best, chosen = -np.inf, 0
        top, low, high = -np.inf, np.inf, -np.inf
        for c in range(m):
            score = mean[c] + width * np.sqrt(max(square[c], 0.0))
            if score > best:
                best, chosen = score, c
            top = max(top, theta[arms[t, c]])
            low = min(low, residual[arms[t, c]])
            high = max(high, residual[arms[t, c]])
        arm = arms[t, chosen]
        regret += top - theta[arm]
        crw += high - low
        xi = residual[arm]
        error, bias_error, scale = theta[arm] + noise[t] - mean[chosen], xi, 1.0 + square[chosen]
        for i in range(k):
            total = 0.0
            for j in range(k):
                total += v[i, j] * z[j, chosen]
            u[i] = total
            bias_error -= leverage[i] * z[i, chosen]
        now = 0.0
        for i in range(k):
            step = u[i] / scale
            estimate[i] += step * error
            leverage[i] += step * bias_error
            bias[i] += xi * z[i, chosen]
            now += leverage[i] * bias[i]
            for j in range(k):
                v[i, j] -= step * u[j]
        srl = max(srl, np.sqrt(max(now, 0.0)))
        if (t + 1) % every == 0:
            at = t // every
            out[0, at], out[1, at], out[2, at] = regret, srl, crw
    return out


@numba.njit(cache=True)
def one_hot(ridge, theta, arms, noise, radius, every):
    """Run full LinUCB with one-hot arms: V stays diagonal, a weight and a sum per arm suffice."""
    rounds, m = arms.shape
    weight, total = np.full(len(theta), float(ridge)), np.zeros(len(theta))
    out = np.zeros(rounds // every)
    regret = 0.0
    for t in range(rounds):
        best, chosen, top = -np.inf, 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            score = total[arm] / weight[arm] + radius[t] / np.sqrt(weight[arm])
            if score > best:
                best, chosen = score, arm
            top = max(top, theta[arm])
        regret += top - theta[chosen]
        weight[chosen] += 1.0
        total[chosen] += theta[chosen] + noise[t]
        if (t + 1) % every == 0:
            out[t // every] = regret
    return out


@numba.njit(cache=True)
def _dense_block(
    start, lower, rows, core, slot, members, estimate, diagonal, state, arms, noise, theta, radius, every, out
):
    """Play rounds from ``start`` until another distinct arm would overflow the block; return (round, size).

    Between flushes V^-1 = M - C^T K C, where C holds the rows of M of the distinct arms played since
    the last flush and K is the small core. A play of arm a with h = e_a - K C[:, a] and u = C^T h
    adds h h^T / (1 + u_a) to K, and only the estimate and the diagonal of V^-1 are kept for all arms.
    """
    rounds, m = arms.shape
    n = len(theta)
    size = 0
    h, u = np.empty(len(rows)), np.empty(n)
    regret = state[0]
    for t in range(start, rounds):
        best, chosen, top = -np.inf, 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            score = estimate[arm] + radius[t] * np.sqrt(max(diagonal[arm], 0.0))
            if score > best:
                best, chosen = score, arm
            top = max(top, theta[arm])
        if slot[chosen] < 0:
            if size == len(rows):
                state[0] = regret
                return t, size
            slot[chosen] = size
            members[size] = chosen
            for i in range(chosen + 1):
                rows[size, i] = lower[chosen, i]
            for i in range(chosen + 1, n):
                rows[size, i] = lower[i, chosen]
            core[size, : size + 1] = 0.0
            core[:size, size] = 0.0
            size += 1
        for i in range(size):
            total = 0.0
            for j in range(size):
                total += core[i, j] * rows[j, chosen]
            h[i] = -total
        h[slot[chosen]] += 1.0
        u[:] = 0.0
        for i in range(size):
            for j in range(n):
                u[j] += h[i] * rows[i, j]
        scale = 1.0 + u[chosen]
        step = (theta[chosen] + noise[t] - estimate[chosen]) / scale
        for i in range(size):
            for j in range(size):
                core[i, j] += h[i] * h[j] / scale
        for j in range(n):
            estimate[j] += step * u[j]
            diagonal[j] -= u[j] * u[j] / scale
        regret += top - theta[chosen]
        if (t + 1) % every == 0:
            out[t // every] = regret
    state[0] = regret
    return rounds, size


def node_space(v0_inverse, theta, arms, noise, radius, every, block: int = BLOCK) -> np.ndarray:
    """Run LinUCB with one-hot arms and a dense V_0 (SpectralUCB, Laplacian-regularised LinUCB)."""
    n = len(theta)
    m_inverse = np.array(v0_inverse, order="F")  # BLAS updates it in place, lower triangle only
    rows, core = np.empty((block, n)), np.zeros((block, block))
    slot, members = np.full(n, -1, np.int64), np.empty(block, np.int64)
    estimate, diagonal, state = np.zeros(n), m_inverse.diagonal().copy(), np.zeros(1)
    out = np.zeros(len(arms) // every)
    t = 0
    while True:
        t, size = _dense_block(
            t, m_inverse, rows, core, slot, members, estimate, diagonal, state,
            arms, noise, theta, radius, every, out,
        )  # fmt: skip
        if t == len(arms):
            return out
        factor = np.linalg.cholesky(core[:size, :size]).T @ rows[:size]
        scipy.linalg.blas.dsyrk(-1.0, factor.T, beta=1.0, c=m_inverse, lower=1, overwrite_c=1)
        slot[members[:size]] = -1


@numba.njit(cache=True)
def uniform_play(choices, theta, arms, every):
    """Run the random policy; ``choices`` names the candidate played in every round."""
    out = np.zeros(len(arms) // every)
    regret = 0.0
    for t in range(len(arms)):
        regret += theta[arms[t]].max() - theta[arms[t, choices[t]]]
        if (t + 1) % every == 0:
            out[t // every] = regret
    return out


def run(
    theta: np.ndarray,
    stream: Stream,
    radius: float | np.ndarray,
    *,
    features: np.ndarray | None = None,
    v0: np.ndarray | None = None,
    ridge: float = 1.0,
    residual: np.ndarray | None = None,
    inflation: float = 0.0,
    every: int = 100,
) -> Path:
    """Run LinUCB and return its path.

    With ``features`` (n x k) the arms are projected and ``v0`` is k x k; without, the arms are one-hot
    and ``v0`` is n x n. A missing ``v0`` means ``ridge`` times the identity. SRL and CRW are those of
    ``residual`` (one value an arm), zero where none is given.
    """
    rounds, dimension = len(stream.arms), len(theta) if features is None else features.shape[1]
    if v0 is not None and v0.shape != (dimension, dimension):
        raise ValueError(f"v0 has shape {v0.shape}, the arms have dimension {dimension}")
    if features is None and (residual is not None or inflation):
        raise ValueError("one-hot arms leave no residual: residual and inflation need features")
    radius = np.broadcast_to(np.asarray(radius, float), rounds)
    nothing = np.zeros(rounds // every)
    if features is not None:
        inverse = np.eye(dimension) / ridge if v0 is None else np.linalg.inv(v0)
        residual = np.zeros(len(theta)) if residual is None else residual
        return Path(*projected(features, inverse, theta, *stream, radius, inflation, residual, every))
    if v0 is not None:
        return Path(node_space(np.linalg.inv(v0), theta, *stream, radius, every), nothing, nothing)
    return Path(one_hot(ridge, theta, *stream, radius, every), nothing, nothing)
