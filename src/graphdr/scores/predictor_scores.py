"""Score how well a predictor tells which of two methods wins, and by how much, over many problems.

The gap is the regret of GraphDR minus that of its competitor, so that GraphDR wins where it is negative. scikit-learn
is imported where it is used: it takes longer to import than most jobs take to run.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

BINS = 4  # of the paper …
OTHER_BINS = (2, 3)  # … and others, to see how much their number matters
RIDGE = 1e-6  # of the logistic model: enough to keep separable problems finite
EVEN = 1e-9  # log odds up to which the logistic model predicts no win: rounding must not break a tie


class PredictorData(NamedTuple):
    """A predictor on many problems: values (n, or n x d), gaps, groups, and the sign that favours GraphDR."""

    values: np.ndarray
    gaps: np.ndarray
    groups: np.ndarray
    sign: int

    @property
    def wins(self) -> np.ndarray:
        """Tell where GraphDR wins."""
        return np.asarray(self.gaps < 0)


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return a·b / (|a| |b|); NaN if one of the two is zero.

    Both rank correlations have this form (Daniels 1944) on half-integers, whose sums are exact in any order.
    """
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else float("nan")


def spearman(data: PredictorData) -> float:
    """Return the correlation of the ranks; NaN if values or gaps are constant."""
    from scipy.stats import rankdata

    values, gaps = rankdata(data.values), rankdata(data.gaps)
    return _correlation(values - values.mean(), gaps - gaps.mean())


def kendall(data: PredictorData) -> float:
    """Return the rank correlation tau-b over all pairs; NaN if values or gaps are constant."""
    values, gaps = (np.sign(np.subtract.outer(column, column)).ravel() for column in (data.values, data.gaps))
    return _correlation(values, gaps)


def binned_rise(data: PredictorData, bins: int = BINS) -> float:
    """Return 1 if the medians of the gap increase over equal-count bins of the predictor, else 0."""
    order = np.argsort(data.values, kind="stable")
    medians = [np.median(part) for part in np.array_split(data.gaps[order], bins)]
    return float(np.all(np.diff(medians) > 0))


def auc(data: PredictorData) -> float:
    """Return the probability that a win has a more favourable value than a loss, ties counting half; NaN without both.

    The area is a multiple of half a pair; rounding to it removes floating-point error.
    """
    from sklearn.metrics import roc_auc_score

    pairs = np.count_nonzero(data.wins) * np.count_nonzero(~data.wins)
    if not pairs:
        return float("nan")
    area = roc_auc_score(data.wins, data.sign * data.values)
    return float(np.round(2 * pairs * area) / 2 / pairs)


def favourable(values: np.ndarray, threshold: np.ndarray | float, sign: int) -> np.ndarray:
    """Predict GraphDR above the threshold, or not above it if small values favour it."""
    return np.asarray(values > threshold if sign > 0 else values <= threshold)


def threshold(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int, free: bool = False) -> np.ndarray:
    """Fit the threshold with the most correct predictions (the lowest on a tie) and predict the wins of unseen values.

    A ``free`` threshold is fitted together with its direction; on a tie the direction is that of the theory.
    """
    distinct = np.unique(values)
    candidates = (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct
    right = (favourable(values, candidates[:, None], sign) == wins).sum(axis=1)
    wrong = len(wins) - right  # correct predictions of the opposite direction
    best = (np.maximum(right, wrong) if free else right).argmax()
    flipped = free and wrong[best] > right[best]
    return favourable(unseen, candidates[best], -sign if flipped else sign)


def logistic_model(values: np.ndarray, wins: np.ndarray) -> Any:
    """Fit a logistic model on standardised columns (n x d): a small ridge on the weights, none on the intercept."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    return make_pipeline(StandardScaler(), regression).fit(values, wins)


def logistic(values: np.ndarray, wins: np.ndarray, unseen: np.ndarray, sign: int) -> np.ndarray:
    """Fit a logistic model on all columns and predict the wins where its odds are above one."""
    if wins.all() or not wins.any():
        return np.full(len(unseen), wins[0])
    train, test = (x.reshape(len(x), -1) for x in (values, unseen))
    return np.asarray(logistic_model(train, wins).decision_function(test) > EVEN)


def sign_rule(data: PredictorData) -> np.ndarray:
    """Predict wins without any fit: positive values where large ones favour GraphDR, negative ones otherwise."""
    return np.asarray(data.sign * data.values > 0)


def held_out(fit: Callable[..., np.ndarray], data: PredictorData) -> np.ndarray:
    """Predict the wins of every group by a fit on all other groups; NaN where there are no others."""
    from sklearn.model_selection import LeaveOneGroupOut

    predicted = np.full(len(data.gaps), np.nan)
    if len(np.unique(data.groups)) > 1:
        for train, test in LeaveOneGroupOut().split(data.values, groups=data.groups):
            predicted[test] = fit(data.values[train], data.wins[train], data.values[test], data.sign)
    return predicted


Rule = Callable[[PredictorData], np.ndarray]
FITS: dict[str, Callable[..., np.ndarray]] = {
    "loo": threshold,
    "loo_free": partial(threshold, free=True),
    "logistic": logistic,
}
RULES: dict[str, Rule] = {"sign": sign_rule} | {name: partial(held_out, fit) for name, fit in FITS.items()}


def hits(rule: str, data: PredictorData) -> np.ndarray:
    """Return 1 for every problem whose winner the rule predicts, 0 for the others, NaN where it predicts nothing."""
    predicted = RULES[rule](data)
    return np.where(np.isnan(predicted), np.nan, predicted == data.wins)


def correct(rule: str, data: PredictorData) -> float:
    """Count the problems whose winner the rule predicts."""
    return float(hits(rule, data).sum())


def accuracy(rule: str, data: PredictorData) -> float:
    """Return the share of the problems whose winner the rule predicts."""
    return float(hits(rule, data).mean())


SCORES: dict[str, Callable[[PredictorData], float]] = {
    score.__name__: score for score in (spearman, binned_rise, kendall, auc)
}
SCORES["abs_spearman"] = lambda data: abs(spearman(data))
SCORES |= {f"binned_rise_{bins}": partial(binned_rise, bins=bins) for bins in OTHER_BINS}
SCORES |= {f"{rule}_{score.__name__}": partial(score, rule) for rule in RULES for score in (correct, accuracy)}
MULTIVARIATE = {"logistic_correct", "logistic_accuracy"}  # scores of a predictor that may have several columns


def evaluate(score: str, data: PredictorData) -> tuple[float, int]:
    """Return a score over the problems without missing numbers, NaN where it is undefined, and their count."""
    complete = ~np.isnan(data.values.reshape(len(data.gaps), -1)).any(axis=1) & ~np.isnan(data.gaps)
    kept = PredictorData(data.values[complete], data.gaps[complete], data.groups[complete], data.sign)
    n = len(kept.gaps)
    if n == 0 or (kept.values.ndim > 1 and score not in MULTIVARIATE):
        return float("nan"), n
    return float(SCORES[score](kept)), n
