"""Linear Thompson sampling (LinTS; Agrawal and Goyal, 2013): play the best candidate under weights drawn once a round.

Agrawal, S. and Goyal, N. Thompson sampling for contextual bandits with linear payoffs. ICML 2013. With V_0 = Lambda +
ridge I on the eigenvectors of a graph it is SpectralTS (Kocák, T., Valko, M., Munos, R. and Agrawal, S. Spectral
Thompson sampling. AAAI 2014).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds, bandit_of
from graphdr.bandit.method import BASIS_NAMES, BanditProblem, Choices, setting
from graphdr.bandit.policies.linucb import PenalisedMethod
from graphdr.bandit.rank_one import WHOLE, dot, draw, through
from graphdr.core.compiled import kernel
from graphdr.core.errors import required


@dataclass(frozen=True, kw_only=True)
class Thompson(PenalisedMethod):
    """Draw weights from N(w-hat, alpha^2 V^-1) and play the best candidate, the first of equal ones."""

    policy: str = "thompson"
    citation: ClassVar[str] = (
        "Agrawal and Goyal. Thompson sampling for contextual bandits with linear payoffs. ICML 2013."
    )
    basis: str = setting(BASIS_NAMES, "laplacian_low")
    streams: ClassVar[tuple[str, ...]] = ("thompson",)

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        features = required(problem.features, "features")
        k = features.shape[1]
        padding = (0, -k % WHOLE)
        alpha, ridge = self.numbers("alpha", "ridge")
        half = np.eye(k) / np.sqrt(ridge)
        if problem.v0_inverse is not None:
            half = np.linalg.cholesky(problem.v0_inverse).T
        half, features = np.pad(half, padding), np.pad(features, ((0, 0), padding))
        bandit = bandit_of(problem.theta, rounds)
        return Choices(_sample(features, half, k, bandit, alpha, rng.generator("thompson")))


@kernel
def _sample(features, half, size, bandit, alpha, rng):
    # V^-1 = Q^T Q, and half is Q. Q is updated for a play while the next weights are drawn: both need all of its rows.
    theta, arms, noise = bandit
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
