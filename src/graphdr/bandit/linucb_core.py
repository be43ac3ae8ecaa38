"""The parts of a LinUCB round that the kernels share: score the candidates, choose one, learn its reward.

With u = V^-1 x and scale = 1 / (1 + x^T u), a play of x with reward y changes (Sherman and Morrison)

    V^-1      to  V^-1 - scale u u^T
    estimate  to  estimate + scale (y - x^T estimate) u

All loops run along rows of V^-1. Subtracting w w^T with w = sqrt(scale) u keeps it exactly symmetric.
Records are unpacked before the first round: each access to a field of a record costs a few nanoseconds.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.core.compiled import inlined

UNROLLED = 10  # k up to which kernels are compiled for each k on its own, their loops unrolled
LANES = 20  # candidates side by side, whole vectors of 4; the compiler would unroll fewer than 16 into scalar code
ROWS = 4  # rows of V^-1 that meet as many features at a time: more would not fit the registers
BLOCK = 32  # distinct arms between two flushes of a dense inverse: fewer flush too often, more slow each round


def unrolled_axes(features: np.ndarray) -> tuple[int, ...]:
    """Return a tuple of k zeros, whose length a kernel knows when it is compiled; an empty one if k is large."""
    k = features.shape[1]
    return (0,) * (k if k <= UNROLLED else 0)


@inlined
def multiply(inverse, x, u, k):
    """Write u = V^-1 x."""
    u[:] = 0.0
    for j in range(k):
        xj = x[j]
        for i in range(k):
            u[i] += inverse[j, i] * xj


@inlined
def update(inverse, estimate, u, w, step, root, k):
    """Add step u to the estimate, and subtract w w^T with w = root u from V^-1."""
    for i in range(k):
        estimate[i] += u[i] * step
        w[i] = u[i] * root
    for i in range(k):
        wi = w[i]
        for j in range(k):
            inverse[i, j] -= wi * w[j]


@inlined
def follow_residual(leverage, bias, x, u, scale, xi, k):
    """Learn the residual xi of a play of x, with u = V^-1 x before it; return the squared leverage after it.

    With bias = sum x xi, leverage = V^-1 bias follows the recursion of the estimate, xi in place of the reward. The
    squared leverage is bias^T V^-1 bias.
    """
    error, square = xi, 0.0
    for i in range(k):
        error -= leverage[i] * x[i]
    for i in range(k):
        leverage[i] += u[i] * scale * error
        bias[i] += xi * x[i]
        square += leverage[i] * bias[i]
    return square


@inlined
def mean_and_half_square(inverse, estimate, x, k):
    """Return x^T estimate and half of x^T V^-1 x, which is sum_i x_i (v_ii x_i / 2 + sum_{j<i} v_ij x_j).

    The lower triangle of V^-1 has half the products of the whole.
    """
    mean = half = 0.0
    for i in range(k):
        row = 0.5 * inverse[i, i] * x[i]
        for j in range(i):
            row += inverse[i, j] * x[j]
        half += row * x[i]
        mean += estimate[i] * x[i]
    return mean, half


@inlined
def score_few_features(features, arms, t, inverse, estimate, mean, half, k):
    """Write ``mean_and_half_square`` of every candidate of round t, five at a time: independent sums hide latency."""
    last = arms.shape[1] - 1
    for c in range(0, last + 1, 5):
        c1, c2, c3, c4 = min(c + 1, last), min(c + 2, last), min(c + 3, last), min(c + 4, last)
        x0, x1, x2 = features[arms[t, c]], features[arms[t, c1]], features[arms[t, c2]]
        x3, x4 = features[arms[t, c3]], features[arms[t, c4]]
        m0 = m1 = m2 = m3 = m4 = 0.0
        h0 = h1 = h2 = h3 = h4 = 0.0
        for i in range(k):
            diagonal, weight = 0.5 * inverse[i, i], estimate[i]
            r0, r1, r2, r3, r4 = (
                diagonal * x0[i],
                diagonal * x1[i],
                diagonal * x2[i],
                diagonal * x3[i],
                diagonal * x4[i],
            )
            for j in range(i):
                v = inverse[i, j]
                r0 += v * x0[j]
                r1 += v * x1[j]
                r2 += v * x2[j]
                r3 += v * x3[j]
                r4 += v * x4[j]
            h0 += r0 * x0[i]
            h1 += r1 * x1[i]
            h2 += r2 * x2[i]
            h3 += r3 * x3[i]
            h4 += r4 * x4[i]
            m0 += weight * x0[i]
            m1 += weight * x1[i]
            m2 += weight * x2[i]
            m3 += weight * x3[i]
            m4 += weight * x4[i]
        mean[c], mean[c1], mean[c2], mean[c3], mean[c4] = m0, m1, m2, m3, m4
        half[c], half[c1], half[c2], half[c3], half[c4] = h0, h1, h2, h3, h4


@inlined
def score_many_features(features, arms, t, inverse, estimate, reach, mean, half, score, x, rows):
    """Write ``mean_and_half_square`` and the score of every candidate, LANES side by side in vector instructions.

    Every sum runs in the order of that function whatever the lane, and no BLAS is called: neither the place of a
    candidate in its round nor the number of threads changes a bit. Feature i * ROWS + r of the candidate in lane c is
    at x[i, r * LANES + c]; ``rows`` has the sums in the brackets of one block of rows likewise.
    """
    m = arms.shape[1]
    for start in range(0, m, LANES):
        for c in range(min(LANES, m - start)):
            z = features[arms[t, start + c]]
            for i in range(len(x)):
                xi = x[i]
                for r in range(ROWS):
                    xi[r * LANES + c] = z[i * ROWS + r]
        lanes = slice(start, start + LANES)
        mean_here, half_here, score_here = mean[lanes], half[lanes], score[lanes]
        mean_here[:] = 0.0
        half_here[:] = 0.0
        for i in range(len(x)):
            xi = x[i]
            for c in range(LANES):  # v_ii x_i / 2
                for r in range(ROWS):
                    rows[r * LANES + c] = 0.5 * inverse[i * ROWS + r, i * ROWS + r] * xi[r * LANES + c]
            for j in range(i):  # + v_ij x_j, for all j in blocks before that of i
                xj = x[j]
                for c in range(LANES):
                    x0, x1, x2, x3 = xj[c], xj[LANES + c], xj[2 * LANES + c], xj[3 * LANES + c]
                    for r in range(ROWS):
                        v = inverse[i * ROWS + r]
                        total = rows[r * LANES + c]
                        total += v[j * ROWS] * x0
                        total += v[j * ROWS + 1] * x1
                        total += v[j * ROWS + 2] * x2
                        total += v[j * ROWS + 3] * x3
                        rows[r * LANES + c] = total
            for c in range(LANES):  # + v_ij x_j for j in the block of i; then the sums over i
                estimated, square = mean_here[c], half_here[c]
                for r in range(ROWS):
                    total = rows[r * LANES + c]
                    for s in range(r):
                        total += inverse[i * ROWS + r, i * ROWS + s] * xi[s * LANES + c]
                    square += total * xi[r * LANES + c]
                    estimated += estimate[i * ROWS + r] * xi[r * LANES + c]
                mean_here[c], half_here[c] = estimated, square
        for c in range(LANES):
            score_here[c] = mean_here[c] + reach * np.sqrt(max(2.0 * half_here[c], 0.0))


@inlined
def first_upper_bound(mean, half, reach, count):
    """Return the place of the first maximum of the scores: estimate + reach times width."""
    best, top = 0, -np.inf
    for c in range(count):
        score = mean[c] + reach * np.sqrt(max(2.0 * half[c], 0.0))
        if score > top:
            best, top = c, score
    return best


@inlined
def first_maximum(scores, count):
    """Return the place of the first maximum of the first ``count`` scores."""
    best, top = 0, -np.inf
    for c in range(count):
        if scores[c] > top:
            best, top = c, scores[c]
    return best


class DenseInverse(NamedTuple):
    """The inverse of a dense V plus one-hot plays, of which only columns are needed: V^-1 = M - C^T K C.

    C (``rows``) holds the rows of M of the distinct arms played since the last flush, and K is the small ``core``.
    ``slot`` is the row of an arm in C (-1: none), and ``members`` are the arms of the rows. Only the lower triangle of
    M is kept.
    """

    lower: np.ndarray
    rows: np.ndarray
    core: np.ndarray
    slot: np.ndarray
    members: np.ndarray


def dense_inverse(v0_inverse: np.ndarray, size: int = BLOCK) -> DenseInverse:
    """Return V_0^-1 with room for ``size`` distinct arms between two flushes."""
    n = len(v0_inverse)
    lower = np.array(v0_inverse, order="F")  # BLAS updates it in place
    empty = np.empty((size, n)), np.zeros((size, size)), np.full(n, -1, np.int64), np.empty(size, np.int64)
    return DenseInverse(lower, *empty)


def play_in_blocks(inverse: DenseInverse, rounds: int, play_from: Callable[[int], tuple[int, int]]) -> None:
    """Play all rounds; ``play_from(t)`` plays until C is full and returns the next round and the rows of C in use."""
    from scipy.linalg.blas import dsyrk

    t, size = play_from(0)
    while t < rounds:
        # Subtract C^T K C from M, and empty C.
        factor = np.linalg.cholesky(inverse.core[:size, :size]).T @ inverse.rows[:size]
        dsyrk(-1.0, factor.T, beta=1.0, c=inverse.lower, lower=1, overwrite_c=1)
        inverse.slot[inverse.members[:size]] = -1
        t, size = play_from(t)


@inlined
def enter(inverse, size, arm):
    """Give an arm the next row of C."""
    lower, rows, core, slot, members = inverse
    slot[arm] = size
    members[size] = arm
    for i in range(arm + 1):
        rows[size, i] = lower[arm, i]
    for i in range(arm + 1, len(slot)):
        rows[size, i] = lower[i, arm]
    core[size, : size + 1] = 0.0
    core[:size, size] = 0.0


@inlined
def learn_one_hot(inverse, size, estimate, arm, reward, h, u):
    """Learn the reward of an arm that has a row in C; return scale = 1 / (1 + u_arm), with u its column of V^-1.

    With h = e_arm - K C[:, arm], the column is u = C^T h. K gains scale h h^T.
    """
    _, rows, core, slot, _ = inverse
    h[:size] = 0.0
    for j in range(size):
        weight = rows[j, arm]
        for i in range(size):
            h[i] -= core[j, i] * weight
    h[slot[arm]] += 1.0
    u[:] = 0.0
    for i in range(size):
        for j in range(len(u)):
            u[j] += h[i] * rows[i, j]
    scale = 1.0 / (1.0 + u[arm])
    for i in range(size):
        weight = h[i] * scale
        for j in range(size):
            core[i, j] += weight * h[j]
    step = (reward - estimate[arm]) * scale
    for j in range(len(u)):
        estimate[j] += step * u[j]
    return scale
