"""Slow, obvious twins of the compiled kernels: the paper's formulas, one line each, nothing clever."""

from typing import NamedTuple

import numpy as np


class Play(NamedTuple):
    """The arm played in every round, and regret, SRL_t and CRW_t after it."""

    arms: np.ndarray
    regret: np.ndarray
    srl: np.ndarray
    crw: np.ndarray


def norm(vector: np.ndarray, inverse: np.ndarray) -> float:
    """Return ||z||_{V^-1} = sqrt(z^T V^-1 z)."""
    return float(np.sqrt(vector @ inverse @ vector))


def policy_rng(noise, t: int, place: int) -> float:
    """Return the noise of a candidate: its own, or that of the round."""
    return noise[t, place] if np.ndim(noise) == 2 else noise[t]


def linucb(features, v0, theta, arms, noise, radius, residual=None, inflation=0.0) -> Play:
    """Play Algorithm 1 literally, with a fresh inverse every round; one-hot arms are the identity as features."""
    residual = np.zeros(len(theta)) if residual is None else residual
    v, b, bias = np.array(v0, float), np.zeros(len(v0)), np.zeros(len(v0))
    regret = srl = crw = 0.0
    rows = []
    for t, candidates in enumerate(arms):
        inverse = np.linalg.inv(v)
        width = radius[t] + inflation * srl
        scores = [z @ inverse @ b + width * norm(z, inverse) for z in features[candidates]]
        best = np.argmax(scores)  # the first maximum
        arm = candidates[best]
        z, y = features[arm], theta[arm] + policy_rng(noise, t, best)
        v, b, bias = v + np.outer(z, z), b + z * y, bias + z * residual[arm]
        regret += theta[candidates].max() - theta[arm]
        srl = max(srl, norm(bias, np.linalg.inv(v)))
        crw += residual[candidates].max() - residual[candidates].min()
        rows.append((arm, regret, srl, crw))
    return Play(*(np.array(column) for column in zip(*rows, strict=True)))


def narrowed(half: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a square root Q' of (V + x x^T)^-1 = Q'^T Q' from one of V^-1: Q' = (I - c p p^T) Q with p = Q x."""
    p = half @ x
    square = p @ p
    return half - (1 - 1 / np.sqrt(1 + square)) / square * np.outer(p, p @ half) if square else half


class Adapted(NamedTuple):
    """The arm played in every round, the k of the learner that chose it, and the smallest k left after it."""

    arms: np.ndarray
    k: np.ndarray
    smallest_k: np.ndarray


def adaptive(features, grid, theta, arms, noise, alpha, ridge, sigma, delta) -> Adapted:
    """Play the learner that has spent the least widths; drop one whose estimate leaves the ellipsoid of a larger one.

    Every learner has a fresh inverse of its own V every round.
    """
    left, spent = sorted(grid), dict.fromkeys(grid, 0.0)
    v = {k: ridge * np.eye(k) for k in grid}
    b = {k: np.zeros(k) for k in grid}
    rows = []
    for t, candidates in enumerate(arms):
        player = min(left, key=lambda k: (spent[k], k))
        inverse = np.linalg.inv(v[player])
        z = features[candidates, :player]
        widths = np.array([norm(row, inverse) for row in z])
        best = np.argmax([row @ inverse @ b[player] for row in z] + alpha * widths)  # the first maximum
        spent[player] += widths[best]
        arm = candidates[best]
        for k in grid:
            z = features[arm, :k]
            v[k], b[k] = v[k] + np.outer(z, z), b[k] + z * (theta[arm] + policy_rng(noise, t, best))
        estimate = {k: np.linalg.solve(v[k], b[k]) for k in grid}
        for small in list(left):
            for large in (k for k in grid if k > small):
                away = estimate[large] - np.pad(estimate[small], (0, large - small))
                volume = np.log(np.linalg.det(v[large]) / ridge**large)
                radius = sigma * np.sqrt(volume + 2 * np.log(len(grid) / delta)) + np.sqrt(ridge)
                if away @ v[large] @ away > radius**2:
                    left = [k for k in left if k != small]
        rows.append((arm, player, min(left)))
    return Adapted(*(np.array(column) for column in zip(*rows, strict=True)))


def one_hot(ridge, theta, arms, noise, radius) -> Play:
    """Play full LinUCB as its diagonal: a ridge mean and a count per arm."""
    count, total = np.zeros(len(theta)), np.zeros(len(theta))
    played = []
    for t, candidates in enumerate(arms):
        weight = ridge + count[candidates]
        best = np.argmax(total[candidates] / weight + radius[t] / np.sqrt(weight))
        arm = candidates[best]
        count[arm] += 1
        total[arm] += theta[arm] + policy_rng(noise, t, best)
        played.append(arm)
    nothing = np.zeros(len(arms))
    return Play(np.array(played), regret(theta, arms, played), nothing, nothing)


def regret(theta, arms, played) -> np.ndarray:
    """Return the cumulative pseudo-regret against the best candidate of each round."""
    return np.cumsum(theta[arms].max(axis=1) - theta[np.asarray(played)])


def residual_leverage(features, v0, played, residual) -> float:
    """Return SRL_T (Definition 1): max over t of ||sum_{s<t} z_s xi_s||_{V_t^-1}."""
    z, xi = features[played], residual[played]
    return max(norm(z[:t].T @ xi[:t], np.linalg.inv(v0 + z[:t].T @ z[:t])) for t in range(len(played) + 1))


def residual_width(arms, residual) -> float:
    """Return CRW_T (Definition 1): the sum over t of the range of xi over the candidates."""
    return float(np.ptp(residual[arms], axis=1).sum())


def candidates(n: int, rounds: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Draw m of n arms a round by the first m swaps of a Fisher-Yates shuffle of what the last round left."""
    pool = list(range(n))
    drawn = []
    for _ in range(rounds):
        for c in range(m):
            pick = c + int(rng.random() * (n - c))
            pool[c], pool[pick] = pool[pick], pool[c]
        drawn.append(pool[:m])
    return np.array(drawn)


def random_policy(m: int, arms: np.ndarray, theta: np.ndarray, rng: np.random.Generator) -> Play:
    """Play a uniformly random candidate in every round."""
    played = arms[np.arange(len(arms)), rng.integers(m, size=len(arms))]
    nothing = np.zeros(len(arms))
    return Play(played, regret(theta, arms, played), nothing, nothing)


def laplacian(adjacency: np.ndarray) -> np.ndarray:
    """Return I - D^-1/2 A D^-1/2 of a dense adjacency matrix without isolated nodes."""
    scale = 1 / np.sqrt(adjacency.sum(axis=1))
    return np.eye(len(adjacency)) - scale[:, None] * adjacency * scale


def pilot_error_bound(estimate, pulls, noise, columns, chance) -> float:
    """Return what the norm of a pilot's error outside of the columns exceeds with a chance at most, by eigenvalues."""
    outside = np.eye(len(pulls)) - columns @ columns.T
    variance = np.diag([noise**2 / count if count else 0.0 for count in pulls])
    weights, x = np.linalg.eigvalsh(outside @ variance @ outside), np.log(1 / chance)
    chi_squares = sum(weights) + 2 * np.sqrt(x * sum(weights**2)) + 2 * x * variance.max()
    unseen = [1 + abs(value) for value, count in zip(estimate, pulls, strict=True) if count == 0]
    return np.sqrt(chi_squares) + np.sqrt(sum(value**2 for value in unseen))
