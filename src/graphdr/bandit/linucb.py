"""LinUCB (Algorithm 1) as three compiled kernels: k-dimensional features, one-hot arms, dense penalties.

All of them score ``estimate + radius[t] * width`` and play the first maximum.
The slow twins that define them are in the tests.
"""

import numpy as np

from graphdr.bandit.environment import Rounds, bandit_of, by_candidate
from graphdr.bandit.linucb_core import (
    BLOCK,
    LANES,
    ROWS,
    dense_inverse,
    enter,
    first_maximum,
    first_upper_bound,
    follow_residual,
    learn_one_hot,
    multiply,
    play_in_blocks,
    score_few_features,
    score_many_features,
    unrolled_axes,
    update,
)
from graphdr.core.compiled import kernel, prefetch

NOTHING = np.empty(0)
EVERY = 100  # rounds between two checkpoints
FAR = 500_000  # bytes of features above which the cache cannot hold those of runs side by side …
AHEAD = 2  # … and a run alone prefetches them so many rounds ahead


def projected(
    features: np.ndarray,
    v0_inverse: np.ndarray,
    theta: np.ndarray,
    arms: np.ndarray,
    noise: np.ndarray,
    radius: np.ndarray,
    inflation: float = 0.0,
    residual: np.ndarray = NOTHING,
    every: int = EVERY,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run LinUCB on n x k features; return the arms chosen and, at the checkpoints, SRL_t and the summed widths.

    ``residual`` holds xi(a) for every arm; without one, SRL_t is 0. With ``inflation`` = 1 the radius of round t is
    ``radius[t]`` plus the running maximum so far of its leverage: a predictable radius.
    """
    axes, noise = unrolled_axes(features), by_candidate(Rounds(arms, noise))
    missing = 0 if axes else -features.shape[1] % ROWS  # zeros fill the last block of many features and change no sum
    if missing:
        features, v0_inverse = np.pad(features, ((0, 0), (0, missing))), np.pad(v0_inverse, (0, missing))
    return _projected(features, v0_inverse, (theta, arms, noise), radius, float(inflation), residual, every, axes)


@kernel
def _projected(features, v0_inverse, bandit, radius, inflation, residual, every, axes):
    theta, arms, noise = bandit
    (rounds, m), k = arms.shape, len(axes) if len(axes) else features.shape[1]
    v = v0_inverse.copy()
    estimate, leverage, bias, u, w = np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k), np.empty(k)
    padded = m + LANES  # space for lanes without a candidate
    mean, half, score = np.empty(padded), np.empty(padded), np.empty(padded)
    x, sums = np.zeros((k // ROWS, ROWS * LANES)), np.empty(ROWS * LANES)
    chosen = np.empty(rounds, np.uint32)
    srl, widths = np.zeros(rounds // every), np.zeros(rounds // every)
    largest_leverage = width_sum = 0.0  # the leverage is squared
    memory, row = features.ctypes.data, features.itemsize * k
    far = len(axes) > 0 and row * len(features) > FAR
    for t in range(rounds):
        if far and t + AHEAD < rounds:
            for c in range(m):
                at = memory + row * arms[t + AHEAD, c]
                prefetch(at)
                prefetch(at + row - 1)
        reach = radius[t] + inflation * np.sqrt(largest_leverage)
        if len(axes):  # Numba compiles only the branch that is taken
            score_few_features(features, arms, t, v, estimate, mean, half, k)
            best = first_upper_bound(mean, half, reach, m)
        else:
            score_many_features(features, arms, t, v, estimate, reach, mean, half, score, x, sums)
            best = first_maximum(score, m)
        arm, square = arms[t, best], 2.0 * half[best]
        z = features[arm]
        chosen[t] = arm
        scale = 1.0 / (1.0 + square)
        step = (theta[arm] + noise[t, best] - mean[best]) * scale
        width_sum += np.sqrt(max(square, 0.0))
        multiply(v, z, u, k)
        update(v, estimate, u, w, step, np.sqrt(scale), k)
        if len(residual):
            largest_leverage = max(largest_leverage, follow_residual(leverage, bias, z, u, scale, residual[arm], k))
        if (t + 1) % every == 0:
            srl[t // every], widths[t // every] = np.sqrt(largest_leverage), width_sum
    return chosen, srl, widths


def one_hot(ridge: float, theta: np.ndarray, arms: np.ndarray, noise: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Run full LinUCB with one-hot arms: V stays diagonal, so an estimate and a width per arm suffice."""
    return _one_hot(ridge, bandit_of(theta, Rounds(arms, noise)), radius)


@kernel
def _one_hot(ridge, bandit, radius):
    theta, arms, noise = bandit
    rounds, m = arms.shape
    # The four numbers of an arm lie side by side: estimate, width, weight (ridge + plays) and sum of rewards.
    state = np.zeros((len(theta), 4))
    state[:, 1], state[:, 2] = 1.0 / np.sqrt(ridge), ridge
    chosen = np.empty(rounds, np.uint32)
    for t in range(rounds):
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            score = state[arm, 0] + radius[t] * state[arm, 1]
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        row = state[arm]
        weight, total = row[2] + 1.0, row[3] + (theta[arm] + noise[t, best])
        row[0], row[1], row[2], row[3] = total / weight, 1.0 / np.sqrt(weight), weight, total
    return chosen


@kernel
def _until_full(start, inverse, bandit, radius, state):
    """Play rounds until another distinct arm would overflow the block; return (round, size of the block)."""
    theta, arms, noise = bandit
    estimate, diagonal, chosen = state
    slot, n, (rounds, m) = inverse.slot, len(theta), arms.shape
    h, u = np.empty(len(inverse.rows)), np.empty(n)
    size = 0
    for t in range(start, rounds):
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            score = estimate[arm] + radius[t] * np.sqrt(max(diagonal[arm], 0.0))
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        if slot[arm] < 0:
            if size == len(h):
                return t, size
            enter(inverse, size, arm)
            size += 1
        scale = learn_one_hot(inverse, size, estimate, arm, theta[arm] + noise[t, best], h, u)
        for j in range(n):
            diagonal[j] -= scale * u[j] * u[j]
        chosen[t] = arm
    return rounds, size


def node_space(
    v0_inverse: np.ndarray,
    theta: np.ndarray,
    arms: np.ndarray,
    noise: np.ndarray,
    radius: np.ndarray,
    block: int = BLOCK,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run LinUCB with one-hot arms and a dense V_0 (SpectralUCB, Laplacian-regularised LinUCB).

    Return the arms chosen, the final estimate and the final diagonal of V^-1.
    """
    inverse, bandit = dense_inverse(v0_inverse, block), bandit_of(theta, Rounds(arms, noise))
    estimate, diagonal = np.zeros(len(theta)), inverse.lower.diagonal().copy()
    chosen = np.empty(len(arms), np.uint32)
    state = estimate, diagonal, chosen
    play_in_blocks(inverse, len(arms), lambda start: _until_full(start, inverse, bandit, radius, state))
    return chosen, estimate, diagonal


@kernel
def regret(theta, arms, chosen, every):
    """Return the cumulative pseudo-regret against the best candidate of the round, at the checkpoints."""
    out = np.empty(len(arms) // every)
    total = 0.0
    for at in range(len(out)):
        for t in range(at * every, (at + 1) * every):
            best = -np.inf
            for arm in arms[t]:
                best = max(best, theta[arm])
            total += best - theta[chosen[t]]
        out[at] = total
    return out
