"""LinUCB in plain NumPy, as one writes it by hand: the peers that the compiled kernels are compared with."""

import numpy as np


def sherman_morrison(features, v0_inverse, theta, arms, noise, radius):
    """Run LinUCB with V^-1 kept by the Sherman–Morrison formula; return the arms chosen."""
    inverse, b = v0_inverse.copy(), np.zeros(features.shape[1])
    chosen = np.empty(len(arms), np.int32)
    for t, candidates in enumerate(arms):
        x = features[candidates]
        width = np.sqrt(np.einsum("ij,ij->i", x @ inverse, x))
        arm = candidates[np.argmax(x @ (inverse @ b) + radius[t] * width)]
        z = features[arm]
        u = inverse @ z
        inverse -= np.outer(u, u) / (1.0 + z @ u)
        b += (theta[arm] + noise[t]) * z
        chosen[t] = arm
    return chosen


def literal(features, v0_inverse, theta, arms, noise, radius):
    """Run LinUCB with the formulas as printed: one candidate after the other, V^-1 by Sherman–Morrison."""
    inverse, b = v0_inverse.copy(), np.zeros(features.shape[1])
    chosen = np.empty(len(arms), np.int32)
    for t, candidates in enumerate(arms):
        estimate = inverse @ b
        scores = [z @ estimate + radius[t] * np.sqrt(z @ inverse @ z) for z in features[candidates]]
        arm = candidates[np.argmax(scores)]
        z = features[arm]
        inverse -= np.outer(inverse @ z, inverse @ z) / (1.0 + z @ inverse @ z)
        b += (theta[arm] + noise[t]) * z
        chosen[t] = arm
    return chosen


def diagonal(ridge, theta, arms, noise, radius):
    """Run full LinUCB with one-hot arms as a weight and a sum per arm; return the arms chosen."""
    weight, total = np.full(len(theta), ridge), np.zeros(len(theta))
    chosen = np.empty(len(arms), np.int32)
    for t, candidates in enumerate(arms):
        w = weight[candidates]
        arm = candidates[np.argmax(total[candidates] / w + radius[t] / np.sqrt(w))]
        weight[arm] += 1.0
        total[arm] += theta[arm] + noise[t]
        chosen[t] = arm
    return chosen


def node_space(v0_inverse, theta, arms, noise, radius):
    """Run LinUCB with one-hot arms and a dense V_0: Sherman–Morrison on n x n; return the arms chosen."""
    inverse, b = v0_inverse.copy(), np.zeros(len(theta))
    chosen = np.empty(len(arms), np.int32)
    for t, candidates in enumerate(arms):
        width = np.sqrt(inverse[candidates, candidates])
        arm = candidates[np.argmax(inverse[candidates] @ b + radius[t] * width)]
        u = inverse[:, arm].copy()
        inverse -= np.outer(u, u) / (1.0 + u[arm])
        b[arm] += theta[arm] + noise[t]
        chosen[t] = arm
    return chosen


def choice(n, rounds, m, rng, popularity=None):
    """Draw m of n arms per round with NumPy's own sampler."""
    share = None if popularity is None else popularity / popularity.sum()
    return np.array([rng.choice(n, m, replace=False, p=share) for _ in range(rounds)])
