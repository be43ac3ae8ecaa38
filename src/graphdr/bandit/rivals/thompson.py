"""Linear Thompson sampling (LinTS; Agrawal and Goyal, 2013): play the best candidate under weights drawn once a round.

Agrawal, S. and Goyal, N. Thompson sampling for contextual bandits with linear payoffs. ICML 2013. With V_0 = Lambda +
ridge I on the eigenvectors of a graph it is SpectralTS (Kocák, T., Valko, M., Munos, R. and Agrawal, S. Spectral
Thompson sampling. AAAI 2014).
"""

import numpy as np

from graphdr.bandit.environment import by_candidate
from graphdr.bandit.linucb import Run
from graphdr.bandit.rank_one import WHOLE, dot, draw, through
from graphdr.core.compiled import kernel


def play(run: Run, alpha: float, ridge: float, rng: np.random.Generator) -> np.ndarray:
    """Return the arm of every round, with weights from N(w-hat, alpha^2 V^-1) and the first of equal candidates."""
    k = run.features.shape[1]
    padding = (0, -k % WHOLE)
    half = np.eye(k) / np.sqrt(ridge) if run.v0_inverse is None else np.linalg.cholesky(run.v0_inverse).T
    half, features = np.pad(half, padding), np.pad(run.features, ((0, 0), padding))
    return _sample(features, half, k, run.theta, run.stream.arms, by_candidate(run.stream), float(alpha), rng)


@kernel
def _sample(features, half, size, theta, arms, noise, alpha, rng):
    # V^-1 = Q^T Q. What a play adds to V waits for the next draw, which needs every row of Q anyway.
    (rounds, m), k = arms.shape, len(half)
    estimate, p, u, z, drawn = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k)
    chosen = np.empty(rounds, np.uint32)
    square = 0.0
    for t in range(rounds):
        for i in range(size):
            z[i] = alpha * rng.standard_normal()
        drawn[:] = estimate
        draw(half, p, u, square, z, drawn, k)
        best, top = 0, -np.inf
        for c in range(m):
            score = dot(drawn, features[arms[t, c]], k)
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        x = features[arm]
        square = through(half, x, p, u, k)
        step = (theta[arm] + noise[t, best] - dot(estimate, x, k)) / (1.0 + square)
        for i in range(k):
            estimate[i] += step * u[i]
    return chosen
