"""LinUCB on many features: the candidates of a round lie side by side in the lanes of every vector instruction.

The squared width of a candidate is twice the sum over i of x_i (v_ii x_i / 2 + v_i1 x_1 + … + v_i,i-1 x_i-1), which has
half the products of x^T V^-1 x. Every sum runs in this order whatever the lane, and no BLAS is called: neither the
place of a candidate in its round nor the number of threads changes a bit.
"""

import numpy as np

from graphdr.bandit.rank_one import multiply, subtract
from graphdr.bandit.residuals import follow
from graphdr.core.compiled import kernel

LANES = 20  # candidates at a time, whole vectors of 4; the compiler would unroll fewer than 16 into scalar code
BLOCK = 4  # rows of V^-1 that meet as many features at a time, x0 to x3: more would not fit the registers


def projected(features, v0_inverse, theta, arms, noise, radius, inflation, residual, every):
    """Run LinUCB as ``linucb.projected`` does; zeros fill the last block of features and change no sum."""
    missing = -features.shape[1] % BLOCK
    if missing:
        features, v0_inverse = np.pad(features, ((0, 0), (0, missing))), np.pad(v0_inverse, (0, missing))
    return _projected(features, v0_inverse, theta, arms, noise, radius, inflation, residual, every)


@kernel
def _projected(features, v0_inverse, theta, arms, noise, radius, inflation, residual, every):
    # Feature i * BLOCK + r of candidate c is at x[i, r * LANES + c]; sums has those of one block of rows likewise.
    rounds, m = arms.shape
    k = features.shape[1]
    blocks = k // BLOCK
    v = v0_inverse.copy()
    estimate, leverage, bias, u, w = np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k), np.empty(k)
    x, sums = np.zeros((blocks, BLOCK * LANES)), np.empty(BLOCK * LANES)
    mean, half, score = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    chosen = np.empty(rounds, np.uint32)
    srl, widths = np.zeros(rounds // every), np.zeros(rounds // every)
    worst = spent = 0.0  # squared leverage at its largest, widths summed
    for t in range(rounds):
        reach = radius[t] + inflation * np.sqrt(worst)
        best, top, seen, square = 0, -np.inf, 0.0, 0.0
        for start in range(0, m, LANES):
            lanes = min(LANES, m - start)
            for c in range(lanes):
                z = features[arms[t, start + c]]
                for i in range(blocks):
                    xi = x[i]
                    for r in range(BLOCK):
                        xi[r * LANES + c] = z[i * BLOCK + r]
            mean[:] = 0.0
            half[:] = 0.0
            for i in range(blocks):
                xi = x[i]
                for c in range(LANES):
                    for r in range(BLOCK):
                        sums[r * LANES + c] = 0.5 * v[i * BLOCK + r, i * BLOCK + r] * xi[r * LANES + c]
                for j in range(i):
                    xj = x[j]
                    for c in range(LANES):
                        x0, x1, x2, x3 = xj[c], xj[LANES + c], xj[2 * LANES + c], xj[3 * LANES + c]
                        for r in range(BLOCK):
                            row = v[i * BLOCK + r]
                            total = sums[r * LANES + c]
                            total += row[j * BLOCK] * x0
                            total += row[j * BLOCK + 1] * x1
                            total += row[j * BLOCK + 2] * x2
                            total += row[j * BLOCK + 3] * x3
                            sums[r * LANES + c] = total
                for c in range(LANES):
                    e, q = mean[c], half[c]
                    for r in range(BLOCK):
                        total = sums[r * LANES + c]
                        for s in range(r):
                            total += v[i * BLOCK + r, i * BLOCK + s] * xi[s * LANES + c]
                        q += total * xi[r * LANES + c]
                        e += estimate[i * BLOCK + r] * xi[r * LANES + c]
                    mean[c], half[c] = e, q
            for c in range(LANES):
                score[c] = mean[c] + reach * np.sqrt(max(2.0 * half[c], 0.0))
            for c in range(lanes):
                if score[c] > top:
                    best, top, seen, square = start + c, score[c], mean[c], 2.0 * half[c]
        arm, drawn = arms[t, best], noise[t, best]
        chosen[t] = arm
        z = features[arm]
        scale = 1.0 / (1.0 + square)
        error = (theta[arm] + drawn - seen) * scale
        spent += np.sqrt(max(square, 0.0))
        multiply(v, z, u, k)
        root = np.sqrt(scale)
        for i in range(k):
            estimate[i] += u[i] * error
            w[i] = u[i] * root
        subtract(v, w, k)
        if len(residual):
            worst = max(worst, follow(leverage, bias, z, u, scale, residual[arm], k))
        if (t + 1) % every == 0:
            srl[t // every], widths[t // every] = np.sqrt(worst), spent
    return chosen, srl, widths
