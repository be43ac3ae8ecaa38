"""The slow, obvious twin of the graph prior: dense Gaussians over all arms, or over all rewards, nothing clever."""

from itertools import product

import numpy as np

from tests.support import twins

RHOS, COLUMNS = [0, 10, 100, 1000], [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 60]
SCALES = [10 ** (power / 2) for power in range(-8, 5)]
RESIDUALS = [0, *(10 ** (power / 2) for power in range(-8, 3))]
REFITS = [20 * 2**power for power in range(30)]


def covariance(features, roughness, columns, rho, scale, residual) -> np.ndarray:
    """Return the prior covariance of the arms' rewards around their mean, in units of the noise."""
    n, most = len(features), min(60, features.shape[1])
    weights = 1 / (1 + rho * roughness[:most])
    squares = (features[:, :most] ** 2).sum(axis=0)
    prior = n * weights / weights.sum() / np.where(squares > 0, squares, 1)
    graph = features[:, :columns] @ np.diag(prior[:columns]) @ features[:, :columns].T
    return scale * graph + residual * np.eye(n)


def log_evidence(prior, arms, rewards) -> tuple[float, float]:
    """Return the log density of all rewards but for its constant, with mean and noise integrated out, and the noise."""
    total = prior[np.ix_(arms, arms)] + np.eye(len(arms))
    inverse, ones = np.linalg.inv(total), np.ones(len(arms))
    precision = ones @ inverse @ ones
    away = rewards - ones @ inverse @ rewards / precision
    quad = away @ inverse @ away
    free = len(arms) - 1
    return -0.5 * (np.linalg.slogdet(total)[1] + np.log(precision) + free * np.log(quad)), quad / free


def posterior(prior, noise, arms, rewards) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the arms' expected rewards: universal kriging with an unknown mean."""
    total, ones = prior[np.ix_(arms, arms)] + np.eye(len(arms)), np.ones(len(arms))
    inverse, cross = np.linalg.inv(total), prior[:, arms]
    precision = ones @ inverse @ ones
    middle = ones @ inverse @ rewards / precision
    mean = middle + cross @ inverse @ (rewards - middle)
    left = 1 - cross @ inverse @ ones
    return mean, noise * (prior - cross @ inverse @ cross.T + np.outer(left, left) / precision)


def summary(n, arms, rewards) -> tuple[np.ndarray, np.ndarray, float]:
    """Return pulls and mean of every arm, and the squares around these means."""
    pulls = np.array([np.sum(arms == arm) for arm in range(n)])
    means = np.array([rewards[arms == arm].mean() if pulls[arm] else 0.0 for arm in range(n)])
    return pulls, means, np.sum((rewards - means[arms]) ** 2)


def candidate_bases(features, roughness, second_basis=None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return what a fit chooses among: a basis or, of two, the first, the second, and columns of each in turn."""
    if second_basis is None:
        return [(features, roughness)]
    columns = [(features.T[j], roughness[j], j, 0) for j in range(len(roughness))]
    columns += [(second_basis[0].T[j], second_basis[1][j], j, 1) for j in range(len(second_basis[1]))]
    both = sorted(columns, key=lambda column: column[2:])
    return [(features, roughness), second_basis, (np.array([c[0] for c in both]).T, np.array([c[1] for c in both]))]


def fit(bases, arms, rewards) -> tuple[int, tuple, float]:
    """Return the basis and the first point of the grid with the largest evidence, and its noise, from means of arms."""
    pulls, means, within = summary(len(bases[0][0]), arms, rewards)
    at = np.flatnonzero(pulls)
    y, free = means[at] - rewards.mean(), len(arms) - 1  # any zero will do: small numbers keep digits

    def judge(priors):
        """Return the log evidence and the noise of prior covariances."""
        totals = priors + np.diag(1 / pulls[at])
        solved = np.linalg.solve(totals, np.column_stack([np.ones(len(at)), y]))
        (precision, cross), squares = solved.sum(axis=1).T, solved[:, :, 1] @ y
        quad = within + squares - cross**2 / precision
        return -0.5 * (np.linalg.slogdet(totals)[1] + np.log(precision) + free * np.log(quad)), quad / free

    own = np.multiply.outer(RESIDUALS, np.eye(len(at)))
    values, noises = judge(own)
    first = int(values.argmax())
    best, chosen = values[first], (0, (0, 0, 0, RESIDUALS[first]), noises[first])
    for place, (features, roughness) in enumerate(bases):
        columns = sorted({min(j, features.shape[1]) for j in COLUMNS} - {0})
        found = {}
        for rho, j in product(RHOS, columns):
            graph = covariance(features, roughness, j, rho, 1, 0)[np.ix_(at, at)]
            points = list(product(SCALES, range(len(RESIDUALS))))
            values, noises = judge(np.array([scale * graph + own[residual] for scale, residual in points]))
            found |= {
                (residual, rho, scale, j): (value, noise)
                for (scale, residual), value, noise in zip(points, values, noises, strict=True)
            }
        for (residual, rho, scale, j), (value, noise) in sorted(found.items()):
            if value > best:
                best, chosen = value, (place, (j, rho, scale, RESIDUALS[residual]), noise)
    return chosen


def play(features, roughness, theta, arms, noise, columns, rng=None, second_basis=None):
    """Play the game with a fresh dense posterior in every round; return the arms, and the weights of every refit."""
    bases = candidate_bases(features, roughness, second_basis)
    n, chosen, rewards, fits = len(theta), [], [], []
    pulls, sums = np.zeros(n), np.zeros(n)
    for t, candidates in enumerate(arms):
        if t in REFITS:
            place, point, variance = fit(bases, np.array(chosen), np.array(rewards))
            fits.append((t, *point, variance, place))
            features, roughness = bases[place]
            prior = covariance(features, roughness, *point)
            half = np.linalg.inv(np.linalg.cholesky(_precision(features, roughness, point, pulls)))
        if t < REFITS[0]:
            best = columns[t]
        elif rng is None:
            scores = _upper(prior, variance, pulls, sums)[candidates]
            best = np.argmax(scores)  # the first maximum
        else:
            v = _precision(features, roughness, point, pulls)
            assert np.allclose(half @ v @ half.T, np.eye(len(v)), atol=1e-6)  # a square root of the covariance
            best = np.argmax(_drawn(features, point, variance, v, half, pulls, sums, candidates, rng))
        arm = candidates[best]
        reward = theta[arm] + twins.policy_rng(noise, t, best)
        chosen.append(arm)
        rewards.append(reward)
        before, pulls[arm] = pulls[arm], pulls[arm] + 1
        sums[arm] += reward
        if t >= REFITS[0]:
            length = 1 / np.sqrt((1 + before * point[3]) * (1 + pulls[arm] * point[3]))
            half = twins.narrowed(half, length * np.array([1, *features[arm, : point[0]]]))
    return np.array(chosen), fits


def _upper(prior, variance, pulls, sums):
    """Return the posterior mean of every arm plus a standard deviation."""
    at = np.flatnonzero(pulls)
    inverse = np.linalg.inv(prior[np.ix_(at, at)] + np.diag(1 / pulls[at]))
    y, cross, weights = sums[at] / pulls[at], prior[:, at], inverse.sum(axis=0)
    middle = weights @ y / weights.sum()
    mean = middle + cross @ (inverse @ (y - middle))
    square = np.diag(prior) - ((cross @ inverse) * cross).sum(axis=1) + (1 - cross @ weights) ** 2 / weights.sum()
    return mean + np.sqrt(variance * np.maximum(square, 0))


def _precision(features, roughness, point, pulls):
    """Return V, the posterior precision of mean and weights, in units of the noise's."""
    columns, rho, scale, residual = point
    x = np.column_stack([np.ones(len(features)), features[:, :columns]])
    prior = np.zeros(1 + columns)
    if columns:
        most = min(60, features.shape[1])
        weights = 1 / (1 + rho * roughness[:most])
        squares = (features[:, :most] ** 2).sum(axis=0)
        prior[1:] = (weights.sum() * squares / weights / len(features) / scale)[:columns]
    return np.diag(prior) + x.T @ np.diag(pulls / (1 + pulls * residual)) @ x


def _drawn(features, point, variance, v, half, pulls, sums, candidates, rng):
    """Draw mean and weights from their posterior, and what is each candidate's own."""
    columns, _, _, residual = point
    x = np.column_stack([np.ones(len(features)), features[:, :columns]])
    center = np.linalg.solve(v, x.T @ (sums / (1 + pulls * residual)))
    w = center + half.T @ (np.sqrt(variance) * rng.standard_normal(1 + columns))
    draws = []
    for arm in candidates:
        keep = 1 / (1 + pulls[arm] * residual)
        own = residual * keep * sums[arm] + np.sqrt(variance * residual * keep) * rng.standard_normal()
        draws.append(keep * x[arm] @ w + own)
    return draws
