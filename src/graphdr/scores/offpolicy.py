"""Off-policy estimates: what a target policy would have earned, from rounds that another policy played and logged.

In round t an arm was drawn with probability ``propensities[t]`` and paid ``rewards[t]``; ``target[t]`` is the
probability with which the target policy would have drawn that arm. Every estimate is a ratio of two sums over the
rounds. Its interval is normal, with the delta method's variance of a ratio, or a percentile bootstrap over rounds. Both
take the rounds as independent, or groups of them; in the log of a policy that learned on the way they are approximate.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from graphdr.core.errors import UserError

FEWEST = 30  # rounds, below which neither interval means anything
SUM_TOLERANCE = 1e-6  # by which the sum of a round's probabilities may differ from one
NORMAL, BOOTSTRAP = "normal", "bootstrap"


class Estimate(NamedTuple):
    """What a target policy would have earned, with an interval.

    Attributes
    ----------
    value, sem : float
        The estimate and its standard error.
    low, high : float
        The ends of the interval.
    interval : str
        How it was made: "normal" or "bootstrap".
    ess : float
        The effective sample size (sum w)^2 / sum w^2: as many rounds of the target policy itself would say as much.
    """

    value: float
    sem: float
    low: float
    high: float
    interval: str
    ess: float


class Terms(NamedTuple):
    """An estimate as a ratio of two sums over the rounds, and the weights of the rounds."""

    above: np.ndarray
    below: np.ndarray
    weights: np.ndarray


def ips(rewards, propensities, target, *, level: float = 0.95, rng=None, draws: int = 1000) -> Estimate:
    """Estimate by inverse propensities: the mean of w y with w = target / propensity. Unbiased.

    Parameters
    ----------
    rewards : sequence of float
        What every logged round paid: y.
    propensities : sequence of float
        The probability with which the logged arm was drawn.
    target : sequence of float
        The probability with which the target policy would have drawn it.
    level : float, default=0.95
        That of the interval.
    rng : Generator, optional
        With one, the interval is a bootstrap, else normal.
    draws : int, default=1000
        Those of the bootstrap.

    Returns
    -------
    Estimate

    References
    ----------
    D. Horvitz and D. Thompson (1952), A generalization of sampling without replacement from a finite universe.

    Examples
    --------
    >>> rewards, target = [1.0, 0.0] * 50, [1.0, 0.0] * 50  # the target plays what paid
    >>> estimate = graphdr.ips(rewards, [0.5] * 100, target)
    >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2), estimate.ess
    (1.0, 0.8, 1.2, 50.0)
    """
    return estimate(ips_terms(rewards, propensities, target), level=level, rng=rng, draws=draws)


def snips(rewards, propensities, target, *, level: float = 0.95, rng=None, draws: int = 1000) -> Estimate:
    """Estimate by self-normalised inverse propensities: sum w y / sum w.

    Its bias vanishes as 1/n, its variance is mostly lower than that of ``ips``, and it is never outside the rewards'
    range.

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
    rewards, propensities, target, played, model, *, level: float = 0.95, rng=None, draws: int = 1000
) -> Estimate:
    """Estimate by a reward model, corrected where it was wrong: the mean of sum_a pi(a) q(a) + w (y - q(played)).

    Unbiased whatever the model, if that was fitted to other rounds than these.

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


def ips_terms(rewards, propensities, target) -> Terms:
    """Return the terms of ``ips``."""
    rewards, weights = _weighted(rewards, propensities, target)
    return Terms(weights * rewards, np.ones_like(weights), weights)


def snips_terms(rewards, propensities, target) -> Terms:
    """Return the terms of ``snips``."""
    rewards, weights = _weighted(rewards, propensities, target)
    return Terms(weights * rewards, weights, weights)


def robust_terms(rewards, propensities, target, played, model) -> Terms:
    """Return the terms of ``doubly_robust``."""
    target, model, played = np.asarray(target, float), np.asarray(model, float), np.asarray(played)
    if target.ndim != 2 or target.shape != model.shape or played.shape != target.shape[:1]:
        shapes = f"{target.shape}, {model.shape} and {played.shape}"
        raise UserError(f"target, model and played: rounds x candidates twice and one column per round, not {shapes}")
    if played.dtype.kind not in "iu" or not ((played >= 0) & (played < target.shape[1])).all():
        raise UserError(f"played: the number of a candidate, from 0 to {target.shape[1] - 1}")
    _refuse("model", model[:, 0], ~np.isfinite(model).all(axis=1), "rows with a reward that is not a finite number")
    wrong = ~((target >= 0).all(axis=1) & (np.abs(target.sum(axis=1) - 1) <= SUM_TOLERANCE))
    _refuse("target probabilities", target.sum(axis=1), wrong, "rows that do not sum to one, or with a negative one")
    at = np.arange(len(played)), played
    rewards, weights = _weighted(rewards, propensities, target[at])
    value = np.sum(target * model, axis=1) + weights * (rewards - model[at])
    return Terms(value, np.ones_like(weights), weights)


def estimate(
    terms: Terms, *, level: float = 0.95, rng=None, draws: int = 1000, groups: np.ndarray | None = None
) -> Estimate:
    """Return the ratio of the terms with its interval, as in ``ips``.

    Rounds of one group, such as one page, may depend on each other: the interval is then one over groups.
    """
    if not 0 < level < 1:
        raise UserError(f"level: {level} is no level of confidence; it is between 0 and 1, as 0.95 is")
    ess = effective_sample_size(terms.weights)
    terms = terms if groups is None else summed(terms, groups)
    value, sem = ratio(terms), standard_error(terms)
    if rng is None:
        reach = float(ndtri((1 + level) / 2)) * sem
        interval = value - reach, value + reach, NORMAL
    else:
        interval = *bootstrap(terms, level, rng, draws), BOOTSTRAP
    return Estimate(value, sem, *interval, ess)


def summed(terms: Terms, groups: np.ndarray) -> Terms:
    """Return the terms of groups of rounds, which have the same ratio."""
    place = np.unique(groups, return_inverse=True)[1]
    return Terms(*(np.bincount(place, part) for part in terms))


def difference(one: Terms, other: Terms, *, level: float = 0.95, groups: np.ndarray | None = None) -> Estimate:
    """Estimate by how much one policy earns more than another, paired: from the same rounds, in the same order.

    What both have in common drops out of the interval. The effective sample size is the smaller one of the two.
    """
    paired = Terms(by_round(one) - by_round(other), np.ones_like(one.above), one.weights)
    sizes = [effective_sample_size(terms.weights) for terms in (one, other)]
    return estimate(paired, level=level, groups=groups)._replace(ess=min(sizes))


def by_round(terms: Terms) -> np.ndarray:
    """Return one number per round: their mean is the ratio, and its usual standard error that of the delta method."""
    middle = ratio(terms)
    return middle + (terms.above - middle * terms.below) / terms.below.mean()


def effective_sample_size(weights: np.ndarray) -> float:
    """Return (sum w)^2 / sum w^2: as many rounds of the target policy itself would say as much."""
    return float(weights.sum() ** 2 / np.sum(weights**2))


def ratio(terms: Terms) -> float:
    """Return the ratio of the two sums."""
    return float(terms.above.sum() / terms.below.sum())


def standard_error(terms: Terms) -> float:
    """Return the delta method's standard error of the ratio; of a mean, where all below are one, the usual one."""
    n = len(terms.above)
    gap = terms.above - ratio(terms) * terms.below
    return float(np.sqrt(n / (n - 1) * np.sum(gap**2)) / abs(terms.below.sum()))


def bootstrap(terms: Terms, level: float, rng: np.random.Generator, draws: int) -> tuple[float, float]:
    """Return the percentile interval of the ratio over rounds drawn with replacement."""
    n = len(terms.above)
    ratios = np.empty(draws)
    for draw in range(draws):
        rows = rng.integers(n, size=n)
        below = terms.below[rows].sum()
        ratios[draw] = terms.above[rows].sum() / below if below > 0 else np.nan  # no round that the target could play
    return tuple(float(end) for end in np.nanquantile(ratios, [(1 - level) / 2, (1 + level) / 2]))


def _weighted(rewards, propensities, target) -> tuple[np.ndarray, np.ndarray]:
    """Return rewards and weights target / propensity; refuse a log that no estimate can be made from."""
    if propensities is None:
        raise UserError("propensities: missing; an off-policy estimate needs the probability of every logged arm")
    rewards, propensities, target = (np.asarray(column, float) for column in (rewards, propensities, target))
    if rewards.ndim != 1 or not rewards.shape == propensities.shape == target.shape:
        shapes = ", ".join(str(column.shape) for column in (rewards, propensities, target))
        raise UserError(f"rewards, propensities and target probabilities: one of each per round, not shapes {shapes}")
    if len(rewards) < FEWEST:
        few = f"{len(rewards)} rounds are too few for an estimate with an interval"
        raise UserError(f"{few}; at least {FEWEST} are needed")
    _refuse("rewards", rewards, ~np.isfinite(rewards), "not a finite number")
    _refuse("propensities", propensities, np.isnan(propensities), "missing")
    _refuse("propensities", propensities, propensities == 0, "zero: such an arm cannot have been played")
    _refuse("propensities", propensities, propensities < 0, "negative")
    _refuse("propensities", propensities, propensities > 1, "above one")
    _refuse("target probabilities", target, ~((target >= 0) & (target <= 1)), "not between 0 and 1")
    if not target.any():
        raise UserError("target probabilities: all zero; the target policy plays nothing that was logged")
    return rewards, target / propensities


def _refuse(what: str, values: np.ndarray, wrong: np.ndarray, why: str) -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        raise UserError(f"{what}: {np.count_nonzero(wrong)} are {why}; the first in round {first}: {values[first]}")
