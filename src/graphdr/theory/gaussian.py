"""What can be said of the graph prior where its weights are known: information gain, Bayesian regret, and residual.

In units of the noise, the expected rewards of the n arms are b + F w + e: a mean b with a flat prior, ``columns`` F
(n x J) with standard normal w, and for every arm e_i ~ N(0, ``residual``). docs/graph_prior.md has the proofs.
"""

import numpy as np


def information_gain(columns: np.ndarray, residual: float, pulls: np.ndarray) -> float:
    """Return gamma_T, what the rewards after the first tell about the arms (in nats), by how often each was pulled."""
    pulled = np.flatnonzero(pulls)
    pulls = pulls[pulled]
    rows = np.column_stack([np.ones(len(pulled)), columns[pulled]])
    v = (rows * (pulls / (1.0 + pulls * residual))[:, None]).T @ rows + np.diag(np.arange(rows.shape[1]) > 0)
    return float(0.5 * (np.log1p(pulls * residual).sum() + np.linalg.slogdet(v)[1]))


def greatest_variance(columns: np.ndarray, residual: float) -> float:
    """Return kappa, the greatest prior variance of an arm around the mean, in units of the noise."""
    return float(np.einsum("ij,ij->i", columns, columns).max(initial=0.0)) + residual


def thompson_bound(gain: float, kappa: float, noise: float, rounds: int, candidates: int, first: int) -> float:
    """Bound the Bayesian regret of Thompson sampling with known weights, after ``first`` random rounds.

    ``gain`` is the mean information gain of its runs, ``noise`` a variance, ``candidates`` their number in a round.
    """
    if candidates == 1:
        return 0.0
    spread = 2.0 + 2.0 * np.log(candidates / 2.0)  # no less than the mean of the largest squared deviation above
    widths = spread * (rounds - first) * _squares(gain, kappa, first)
    return float(np.sqrt(noise) * (_at_random(kappa, candidates, first) + np.sqrt(widths)))


def ucb_bound(gain: float, kappa: float, noise: float, rounds: int, candidates: int, first: int) -> float:
    """Bound the Bayesian regret of UCB with known weights and sqrt(beta_t) standard deviations, as ``thompson_bound``.

    beta_t = 2 ln(m (t^2 + 1) / sqrt(2 pi)) for m candidates (Russo and Van Roy, 2014).
    """
    if candidates == 1:
        return 0.0
    beta = 2.0 * np.log(candidates * (rounds**2 + 1.0) / np.sqrt(2.0 * np.pi))
    widths = np.sqrt(beta * (rounds - first) * _squares(gain, kappa, first))
    missed = np.sqrt(_widest(kappa, first)) / first
    return float(np.sqrt(noise) * (_at_random(kappa, candidates, first) + widths + missed))


def _at_random(kappa: float, candidates: int, first: int) -> float:
    """Bound the regret of the random rounds, over the standard deviation of the noise."""
    return first * np.sqrt(2.0 * kappa * np.log(candidates))


def _widest(kappa: float, first: int) -> float:
    """Bound the variance of any arm after the random rounds, over the noise."""
    return 4.0 * kappa + 1.0 / first


def _squares(gain: float, kappa: float, first: int) -> float:
    """Bound the summed variances of the arms played after the random rounds, over the noise."""
    widest = _widest(kappa, first)
    return 2.0 * gain * widest / np.log1p(widest)


def outside(vectors: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return what of a vector, or of columns, lies outside of the span of a constant and other columns."""
    inside, _ = np.linalg.qr(np.column_stack([np.ones(len(columns)), columns]))
    return vectors - inside @ (inside.T @ vectors)


def true_share(theta: np.ndarray, columns: np.ndarray) -> float:
    """Return the squares of a reward outside of a constant and the columns, over all around its mean: zeta_k^2."""
    whole = np.sum((theta - theta.mean()) ** 2)
    return float(np.sum(outside(theta, columns) ** 2) / whole) if whole > 0 else np.nan


def expected_share(columns: np.ndarray, residual: float, k: int) -> float:
    """Return what the prior expects of ``true_share`` on its first k columns: a ratio of two expectations.

    With k = J only the arms' own parts are left, and this is the share of the residual.
    """
    n = len(columns)
    whole = np.sum((columns - columns.mean(axis=0)) ** 2) + (n - 1) * residual
    rest = columns[:, k:]
    graph = np.sum(outside(rest, columns[:, :k]) ** 2) if rest.size else 0.0  # on many arms, projecting takes long
    left = graph + max(n - 1 - k, 0) * residual
    return float(left / whole) if whole > 0 else np.nan
