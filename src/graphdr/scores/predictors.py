"""How well a fact predicts what a method costs: scores over a pool of problems."""

import numpy as np

BINS = 4


def ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1, ties sharing their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def spearman(predictor: np.ndarray, target: np.ndarray) -> float:
    """Return the rank correlation; NaN if one of the two is constant."""
    a, b = (ranks(np.asarray(x, float)) for x in (predictor, target))
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else float("nan")


def binned_rise(predictor: np.ndarray, target: np.ndarray) -> float:
    """Return 1 if the target's medians increase over equal-count bins of the predictor, else 0."""
    order = np.argsort(predictor, kind="stable")
    medians = [np.median(part) for part in np.array_split(np.asarray(target, float)[order], BINS)]
    return float(np.all(np.diff(medians) > 0))


SCORES = {f.__name__: f for f in (spearman, binned_rise)}
