"""Score how well a predictor tells the regret of a method, or which of two methods wins, over a pool of problems.

The gap is the regret of GraphDR minus that of its competitor, so that a negative one is a win. scikit-learn is imported
where it is used: it takes longer to import than most jobs take to run.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

BINS = 4  # of the paper …
OTHER_BINS = (2, 3)  # … and others, to see what hangs on their number
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


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return a·b / (|a| |b|); NaN if one of the two is zero.

    Both rank correlations are this one formula (Daniels 1944) on half-integers, whose sums are exact in any order.
    """
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else float("nan")


def spearman(pool: Pool) -> float:
    """Return the correlation of the ranks; NaN if one of the two is constant."""
    from scipy.stats import rankdata

    return _correlation(*(ranks - ranks.mean() for ranks in map(rankdata, (pool.values, pool.gap))))


def abs_spearman(pool: Pool) -> float:
    """Return the size of the rank correlation with the gap."""
    return abs(spearman(pool))


def kendall(pool: Pool) -> float:
    """Return the rank correlation tau-b over all pairs; NaN if one of the two is constant."""
    return _correlation(*(np.sign(np.subtract.outer(column, column)).ravel() for column in (pool.values, pool.gap)))


def binned_rise(pool: Pool, bins: int = BINS) -> float:
    """Return 1 if the medians of the gap increase over equal-count bins of the predictor, else 0."""
    order = np.argsort(pool.values, kind="stable")
    medians = [np.median(part) for part in np.array_split(pool.gap[order], bins)]
    return float(np.all(np.diff(medians) > 0))


def auc(pool: Pool) -> float:
    """Return the chance that a win has a more favourable value than a loss, ties counting half; NaN without both."""
    from sklearn.metrics import roc_auc_score

    pairs = np.count_nonzero(pool.wins) * np.count_nonzero(~pool.wins)
    if not pairs:
        return float("nan")
    area = roc_auc_score(pool.wins, pool.sign * pool.values)
    return float(np.round(2 * pairs * area) / 2 / pairs)  # a count of half pairs: what else it holds is rounding


def midpoints(values: np.ndarray) -> np.ndarray:
    """Return the thresholds between neighbouring values, ascending; of equal values the value itself."""
    distinct = np.unique(values)
    return (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct


def favourable(values: np.ndarray, threshold: np.ndarray | float, sign: int) -> np.ndarray:
    """Return where GraphDR is predicted: above the threshold, or not above it if small values favour it."""
    return values > threshold if sign > 0 else values <= threshold


def threshold(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int, free: bool = False) -> np.ndarray:
    """Fit the most often right threshold (the lowest on a tie) and predict the wins of unseen values.

    A ``free`` one is fitted together with its direction, on a tie that of the theory.
    """
    between = midpoints(values)
    right = (favourable(values, between[:, None], sign) == wins).sum(axis=1)
    wrong = len(wins) - right  # where the other direction is right
    best = (np.maximum(right, wrong) if free else right).argmax()
    return favourable(unseen, between[best], -sign if free and wrong[best] > right[best] else sign)


def logistic_model(values: np.ndarray, wins: np.ndarray):
    """Fit a logistic model on standardised columns (n x d): a small ridge on the weights, none on the intercept."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    return make_pipeline(StandardScaler(), regression).fit(values, wins)


def logistic(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int) -> np.ndarray:
    """Fit a logistic model on all columns and predict the wins where its odds are above one."""
    if wins.all() or not wins.any():  # nothing to tell apart
        return np.full(len(unseen), wins[0])
    values, unseen = (x.reshape(len(x), -1) for x in (values, unseen))
    return logistic_model(values, wins).decision_function(unseen) > EVEN


def sign_rule(pool: Pool) -> np.ndarray:
    """Predict wins without any fit: positive values where large ones favour GraphDR, negative ones otherwise."""
    return pool.sign * pool.values > 0


def held_out(fit: Callable, pool: Pool) -> np.ndarray:
    """Predict the wins of every group by what was fitted on all others; NaN where there are no others."""
    from sklearn.model_selection import LeaveOneGroupOut

    predicted = np.full(len(pool.gap), np.nan)
    if len(np.unique(pool.group)) > 1:
        for rest, group in LeaveOneGroupOut().split(pool.values, groups=pool.group):
            predicted[group] = fit(pool.values[rest], pool.wins[rest], pool.values[group], pool.sign)
    return predicted


FITS = {"loo": threshold, "loo_free": partial(threshold, free=True), "logistic": logistic}
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


SCORES = {score.__name__: score for score in (spearman, binned_rise, kendall, abs_spearman, auc)}
SCORES |= {f"binned_rise_{bins}": partial(binned_rise, bins=bins) for bins in OTHER_BINS}
SCORES |= {f"{rule}_{score.__name__}": partial(score, rule) for rule in RULES for score in (correct, accuracy)}
OF_SEVERAL = {"logistic_correct", "logistic_accuracy"}  # scores of a predictor that may have several columns


def evaluate(score: str, pool: Pool) -> tuple[float, int]:
    """Return a score over the problems where nothing is missing, NaN where it has no meaning, and their number."""
    kept = ~np.isnan(pool.values.reshape(len(pool.gap), -1)).any(axis=1) & ~np.isnan(pool.gap)
    pool = Pool(pool.values[kept], pool.gap[kept], pool.group[kept], pool.sign)
    n = len(pool.gap)
    if n == 0 or (pool.values.ndim > 1 and score not in OF_SEVERAL):
        return float("nan"), n
    return float(SCORES[score](pool)), n
