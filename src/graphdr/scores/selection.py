"""How well a predictor tells which of two methods wins: scores against the signed gap, and rules held out by group.

The gap is the regret of GraphDR minus that of its competitor, so that a negative one is a win.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from graphdr.scores import predictors

RIDGE = 1e-6  # of the logistic model: enough to keep separable problems finite
EVEN = 1e-9  # log odds up to which the logistic model predicts no win: rounding must not break a tie


class Pool(NamedTuple):
    """A predictor on a pool of problems: its values (n, or n x d), the gaps, the groups, and the favourable sign."""

    values: np.ndarray
    gap: np.ndarray
    group: np.ndarray
    sign: int

    @property
    def wins(self) -> np.ndarray:
        return self.gap < 0


def known(pool: Pool) -> Pool:
    """Drop the problems where a value or the gap is missing."""
    values = pool.values.reshape(len(pool.gap), -1)
    kept = ~np.isnan(values).any(axis=1) & ~np.isnan(pool.gap)
    return Pool(pool.values[kept], pool.gap[kept], pool.group[kept], pool.sign)


def kendall(predictor: np.ndarray, target: np.ndarray) -> float:
    """Return the rank correlation tau-b over all pairs; NaN if one of the two is constant."""
    a, b = (np.sign(np.subtract.outer(x, x)) for x in (np.asarray(predictor, float), np.asarray(target, float)))
    norm = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / norm) if norm > 0 else float("nan")


def auc(pool: Pool) -> float:
    """Return the chance that a win has a more favourable value than a loss, ties counting half; NaN without both."""
    won, lost = (pool.sign * pool.values[chosen] for chosen in (pool.wins, ~pool.wins))
    if not len(won) or not len(lost):
        return float("nan")
    ahead = np.subtract.outer(won, lost)
    return float((ahead > 0).mean() + (ahead == 0).mean() / 2)


def midpoints(values: np.ndarray) -> np.ndarray:
    """Return the thresholds between neighbouring values, ascending; of equal values the value itself."""
    distinct = np.unique(values)
    return (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct


def favourable(values: np.ndarray, threshold: np.ndarray | float, sign: int) -> np.ndarray:
    """Return where GraphDR is predicted: above the threshold, or not above it if small values favour it."""
    return values > threshold if sign > 0 else values <= threshold


def threshold(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int) -> np.ndarray:
    """Fit the most often right threshold (the lowest on a tie) and predict the wins of unseen values."""
    between = midpoints(values)
    right = (favourable(values, between[:, None], sign) == wins).sum(axis=1)
    return favourable(unseen, between[right.argmax()], sign)


def free_threshold(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int) -> np.ndarray:
    """Fit threshold and direction together: the lowest threshold on a tie, and there the direction of the theory."""
    between = midpoints(values)
    right = (favourable(values, between[:, None], sign) == wins).sum(axis=1)
    best = np.maximum(right, len(wins) - right).argmax()  # the other direction is right where this one is wrong
    return favourable(unseen, between[best], sign if 2 * right[best] >= len(wins) else -sign)


def logistic_weights(design: np.ndarray, wins: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """Return the weights of a ridge logistic regression by Newton's method with step halving."""

    def loss(weights):
        return np.logaddexp(0, -side * (design @ weights)).sum() + ridge / 2 * weights @ weights

    side = np.where(wins, 1.0, -1.0)
    weights = np.zeros(design.shape[1])
    for _ in range(100):
        wrong = np.exp(-np.logaddexp(0, side * (design @ weights)))  # the chance given to what did not happen
        slope = ridge * weights - design.T @ (side * wrong)
        curvature = (design.T * (wrong * (1 - wrong))) @ design + ridge * np.eye(len(weights))
        step = np.linalg.solve(curvature, slope)
        while loss(weights - step) > loss(weights) and np.abs(step).max() > 1e-12:
            step /= 2
        weights = weights - step
        if np.abs(step).max() <= 1e-9 * (1 + np.abs(weights).max()):
            break
    return weights


def logistic(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int) -> np.ndarray:
    """Fit a logistic model on all columns, standardised, and predict the wins where its odds are above one."""
    seen, unseen = (x.reshape(len(x), -1) for x in (values, unseen))
    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    spread[spread == 0] = 1.0
    seen, unseen = (np.column_stack([np.ones(len(x)), (x - centre) / spread]) for x in (seen, unseen))
    return unseen @ logistic_weights(seen, wins) > EVEN


def sign_rule(pool: Pool) -> np.ndarray:
    """Predict wins without any fit: positive values where large ones favour GraphDR, negative ones otherwise."""
    return pool.sign * pool.values > 0


def held_out(fit: Callable, pool: Pool) -> np.ndarray:
    """Predict the wins of every group by what was fitted on all others; NaN where there are no others."""
    predicted = np.full(len(pool.gap), np.nan)
    for group in np.unique(pool.group):
        out = pool.group == group
        if not out.all():
            predicted[out] = fit(pool.values[~out], pool.wins[~out], pool.values[out], pool.sign)
    return predicted


FITS = {"loo": threshold, "loo_free": free_threshold, "logistic": logistic}
RULES = {"sign": sign_rule} | {name: partial(held_out, fit) for name, fit in FITS.items()}


def hits(rule: str, pool: Pool) -> np.ndarray:
    """Return 1 for every problem whose winner the rule predicts, 0 for the others, NaN where it predicts nothing."""
    predicted = RULES[rule](pool)
    return np.where(np.isnan(predicted), np.nan, predicted == pool.wins)


def correct(rule: str, pool: Pool) -> float:
    """Count the problems whose winner the rule predicts."""
    return float(hits(rule, pool).sum())


def accuracy(rule: str, pool: Pool) -> float:
    """Return the share of the problems whose winner the rule predicts."""
    return float(hits(rule, pool).mean())


def of_columns(score: Callable, pool: Pool) -> float:
    """Apply a score of two columns to the values and the gaps."""
    return score(pool.values, pool.gap)


def abs_spearman(pool: Pool) -> float:
    """Return the size of the rank correlation with the gap."""
    return abs(predictors.spearman(pool.values, pool.gap))


SCORES = (
    {name: partial(of_columns, score) for name, score in (predictors.SCORES | {"kendall": kendall}).items()}
    | {"abs_spearman": abs_spearman, "auc": auc}
    | {f"{rule}_{score.__name__}": partial(score, rule) for rule in RULES for score in (correct, accuracy)}
)
OF_SEVERAL = {"logistic_correct", "logistic_accuracy"}  # scores of a predictor that may have several columns


def evaluate(score: str, pool: Pool) -> tuple[float, int]:
    """Return a score over the problems where all is known, NaN where it has no meaning, and their number."""
    pool = known(pool)
    n = len(pool.gap)
    if n == 0 or (pool.values.ndim > 1 and score not in OF_SEVERAL):
        return float("nan"), n
    return float(SCORES[score](pool)), n
