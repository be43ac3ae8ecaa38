"""Off-policy estimates: the value of a target policy, from rounds that another policy played and logged.

In round t an arm was drawn with probability ``propensities[t]`` and paid ``rewards[t]``; ``target[t]`` is the
probability with which the target policy would have drawn that arm. Every estimate is a ratio of two sums over the
rounds. Its interval is normal, with the delta method's variance of a ratio, or a percentile bootstrap over rounds. Both
assume independent rounds, or groups of rounds; they are approximate for the log of a policy that learned meanwhile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from graphdr.core.errors import UserError

FEWEST = 30  # rounds; with fewer, neither interval means anything
SUM_TOLERANCE = 1e-6  # allowed difference between one and the sum of the probabilities of a round
NORMAL, BOOTSTRAP = "normal", "bootstrap"


class Estimate(NamedTuple):
    """The estimated value of a target policy, with an interval.

    Attributes
    ----------
    value, sem : float
        The estimate and its standard error.
    low, high : float
        The ends of the interval.
    interval : str
        How the interval was computed: "normal" or "bootstrap".
    ess : float
        The effective sample size (sum w)^2 / sum w^2.
    """

    value: float
    sem: float
    low: float
    high: float
    interval: str
    ess: float


class Terms(NamedTuple):
    """The terms of an estimate, which is a ratio of two sums over the rounds, and the weights of the rounds."""

    numerators: np.ndarray
    denominators: np.ndarray
    weights: np.ndarray


def ips(
    rewards: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    *,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
) -> Estimate:
    """Estimate by inverse propensities: the mean of w y with w = target / propensity. Unbiased.

    Parameters
    ----------
    rewards : sequence of float
        The reward y of every logged round.
    propensities : sequence of float
        The probability with which the logged arm was drawn.
    target : sequence of float
        The probability with which the target policy would have drawn it.
    level : float, default=0.95
        The level of confidence of the interval.
    rng : Generator, optional
        With a generator, the interval is a bootstrap, else normal.
    draws : int, default=1000
        The number of bootstrap samples.

    Returns
    -------
    Estimate

    References
    ----------
    D. Horvitz and D. Thompson (1952), A generalization of sampling without replacement from a finite universe.

    Examples
    --------
    >>> rewards, target = [1.0, 0.0] * 50, [1.0, 0.0] * 50  # the target plays the arms that paid
    >>> estimate = graphdr.ips(rewards, [0.5] * 100, target)
    >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2), estimate.ess
    (1.0, 0.8, 1.2, 50.0)
    """
    return estimate(ips_terms(rewards, propensities, target), level=level, rng=rng, draws=draws)


def snips(
    rewards: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    *,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
) -> Estimate:
    """Estimate by self-normalised inverse propensities: sum w y / sum w.

    Its bias vanishes as 1/n, its variance is usually lower than that of ``ips``, and it stays within the range of the
    rewards.

    Parameters
    ----------
    rewards, propensities, target, level, rng, draws
        As in ``ips``.

    Returns
    -------
    Estimate

    References
    ----------
    A. Swaminathan and T. Joachims (2015), The self-normalized estimator for counterfactual learning.

    Examples
    --------
    >>> graphdr.snips([1.0, 0.0] * 50, [0.5] * 100, [1.0, 0.0] * 50).value
    1.0
    """
    return estimate(snips_terms(rewards, propensities, target), level=level, rng=rng, draws=draws)


def doubly_robust(
    rewards: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    played: ArrayLike,
    model: ArrayLike,
    *,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
) -> Estimate:
    """Estimate by a reward model with a correction: the mean of sum_a pi(a) q(a) + w (y - q(played)).

    Unbiased for any model that was fitted to other rounds.

    Parameters
    ----------
    rewards, propensities : sequence of float
        As in ``ips``.
    target : matrix of shape (rounds, candidates)
        The target's probabilities pi, which sum to one in every round.
    played : sequence of int
        The column that was played.
    model : matrix of shape (rounds, candidates)
        The model's rewards q.
    level, rng, draws
        As in ``ips``.

    Returns
    -------
    Estimate

    References
    ----------
    M. Dudík, J. Langford and L. Li (2011), Doubly robust policy evaluation and learning.

    Examples
    --------
    >>> target, model = [[1.0, 0.0]] * 100, [[0.9, 0.1]] * 100  # the target plays column 0, which paid 1
    >>> round(graphdr.doubly_robust([1.0, 0.0] * 50, [0.5] * 100, target, [0, 1] * 50, model).value, 3)
    1.0
    """
    return estimate(robust_terms(rewards, propensities, target, played, model), level=level, rng=rng, draws=draws)


def ips_terms(rewards: ArrayLike, propensities: ArrayLike, target: ArrayLike) -> Terms:
    """Return the terms of ``ips``."""
    y, weights = _weighted(rewards, propensities, target)
    return Terms(weights * y, np.ones_like(weights), weights)


def snips_terms(rewards: ArrayLike, propensities: ArrayLike, target: ArrayLike) -> Terms:
    """Return the terms of ``snips``."""
    y, weights = _weighted(rewards, propensities, target)
    return Terms(weights * y, weights, weights)


def robust_terms(
    rewards: ArrayLike, propensities: ArrayLike, target: ArrayLike, played: ArrayLike, model: ArrayLike
) -> Terms:
    """Return the terms of ``doubly_robust``."""
    pi, q, column = np.asarray(target, float), np.asarray(model, float), np.asarray(played)
    if pi.ndim != 2 or pi.shape != q.shape or column.shape != pi.shape[:1]:
        shapes = f"{pi.shape}, {q.shape} and {column.shape}"
        raise UserError(f"target, model and played: rounds x candidates twice and one column per round, not {shapes}")
    if column.dtype.kind not in "iu" or not ((column >= 0) & (column < pi.shape[1])).all():
        raise UserError(f"played: the number of a candidate, from 0 to {pi.shape[1] - 1}")
    sums = np.where((pi >= 0).all(axis=1), pi.sum(axis=1), np.nan)
    _check("model", q.sum(axis=1), np.isfinite(q).all(axis=1), "rows of finite numbers")
    _check("target probabilities", sums, np.abs(sums - 1) <= SUM_TOLERANCE, "rows that sum to one, none negative")
    place = np.arange(len(column)), column
    y, weights = _weighted(rewards, propensities, pi[place])
    value = np.sum(pi * q, axis=1) + weights * (y - q[place])
    return Terms(value, np.ones_like(weights), weights)


def estimate(
    terms: Terms,
    *,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
    groups: np.ndarray | None = None,
) -> Estimate:
    """Return the ratio of the terms with its interval, as in ``ips``.

    Rounds of one group, such as one page, may depend on each other: the groups are then the independent units.
    """
    if not 0 < level < 1:
        raise UserError(f"level: {level} is no level of confidence; it is between 0 and 1, as 0.95 is")
    ess = effective_sample_size(terms.weights)
    if groups is not None:  # sums within groups leave the ratio as it is
        place = np.unique(groups, return_inverse=True)[1]
        terms = Terms(*(np.bincount(place, part) for part in terms))
    value, n = ratio(terms), len(terms.numerators)
    gap = terms.numerators - value * terms.denominators
    # The delta method; the usual standard error where all denominators are one.
    sem = float(np.sqrt(n / (n - 1) * np.sum(gap**2)) / abs(terms.denominators.sum()))
    if rng is not None:
        return Estimate(value, sem, *bootstrap(terms, level, rng, draws), BOOTSTRAP, ess)
    reach = float(ndtri((1 + level) / 2)) * sem
    return Estimate(value, sem, value - reach, value + reach, NORMAL, ess)


def difference(first: Terms, second: Terms, *, level: float = 0.95, groups: np.ndarray | None = None) -> Estimate:
    """Estimate how much more the first policy earns than the second, paired: over the same rounds in the same order.

    Variation that both have in common cancels. The effective sample size is the smaller of the two.
    """
    paired = Terms(by_round(first) - by_round(second), np.ones_like(first.numerators), first.weights)
    ess = min(effective_sample_size(terms.weights) for terms in (first, second))
    return estimate(paired, level=level, groups=groups)._replace(ess=ess)


def by_round(terms: Terms) -> np.ndarray:
    """Return one number per round: their mean is the ratio, and their standard error that of the delta method."""
    middle = ratio(terms)
    values: np.ndarray = middle + (terms.numerators - middle * terms.denominators) / terms.denominators.mean()
    return values


def effective_sample_size(weights: np.ndarray) -> float:
    """Return (sum w)^2 / sum w^2, the number of rounds of the target policy itself that would tell as much."""
    return float(weights.sum() ** 2 / np.sum(weights**2))


def ratio(terms: Terms) -> float:
    """Return the ratio of the two sums."""
    return float(terms.numerators.sum() / terms.denominators.sum())


def bootstrap(terms: Terms, level: float, rng: np.random.Generator, draws: int) -> tuple[float, float]:
    """Return the percentile interval of the ratio over rounds drawn with replacement."""
    n = len(terms.numerators)
    ratios = np.empty(draws)
    for draw in range(draws):
        rows = rng.integers(n, size=n)
        below = terms.denominators[rows].sum()
        ratios[draw] = terms.numerators[rows].sum() / below if below > 0 else np.nan  # the target plays none of them
    low, high = np.nanquantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _weighted(rewards: ArrayLike, propensities: ArrayLike, target: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return rewards and weights target / propensity; refuse a log that allows no estimate."""
    y, p, pi = (np.asarray(column, float) for column in (rewards, propensities, target))
    if y.ndim != 1 or not y.shape == p.shape == pi.shape:
        shapes = ", ".join(str(column.shape) for column in (y, p, pi))
        raise UserError(f"rewards, propensities and target probabilities: one of each per round, not shapes {shapes}")
    if len(y) < FEWEST:
        few = f"{len(y)} rounds are too few for an estimate with an interval"
        raise UserError(f"{few}; at least {FEWEST} are needed")
    _check("rewards", y, np.isfinite(y), "finite numbers")
    _check("propensities", p, (p > 0) & (p <= 1), "probabilities above 0 and at most 1")
    _check("target probabilities", pi, (pi >= 0) & (pi <= 1), "between 0 and 1")
    if not pi.any():
        raise UserError("target probabilities: all zero; the target policy plays nothing that was logged")
    return y, pi / p


def _check(name: str, values: np.ndarray, right: np.ndarray, wanted: str) -> None:
    if not right.all():
        first, count = int(np.argmin(right)), np.count_nonzero(~right)
        raise UserError(f"{name}: {count} are not {wanted}; the first in round {first}: {values[first]}")
