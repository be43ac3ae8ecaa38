"""Tune the prior of a policy: estimate from its rewards how far arms differ, and how noisy rewards are."""

import numpy as np

from graphdr.bandit.graph_prior import evidence
from graphdr.bandit.graph_prior.model import RESIDUALS, RHOS, SCALES, Columns, Statistics, grid_of_columns, shares
from graphdr.serve.posterior import Prior

GRAPH, RIDGE = "graph", "ridge"  # priors: part graph, part each arm alone; or ridge regression on the features
WIDE = 1e-6  # precision of an intercept that is not tuned: its deviation is 1,000 times that of the noise
NO_RESIDUAL = np.array([0.0])
# The prior of log10(variance of arms / variance of noise), before any reward: mean and standard deviation.
LOG_VARIANCE, DECADES = -2.0, 0.5
NO_GRAPH = 0.25  # prior probability that the graph is irrelevant
HALF = 0.5  # prior weight of no residual, in that of all others together
UNIFORM = 0.2  # share of the prior of the number of columns that is uniform
BOOST = 4.0  # of a variance: two standard deviations of the shared part, where it is sure that arms share it
TINY = 1e-9
ROUNDING = 1e-10  # relative difference of equal means by rounding


def flat(precision: np.ndarray) -> np.ndarray:
    """Return a diagonal precision matrix, with an intercept of precision zero before it."""
    return bordered(np.diag(precision), 0.0)


def bordered(precision: np.ndarray, intercept: float) -> np.ndarray:
    """Return a precision matrix with that of an intercept before it."""
    whole = np.zeros((1 + len(precision), 1 + len(precision)))
    whole[0, 0], whole[1:, 1:] = intercept, precision
    return whole


def columns(rows: np.ndarray, first: int, roughness: np.ndarray) -> Columns:
    """Return the columns of features that tuning chooses from, without a copy: as many as have a roughness."""
    part = rows[:, first : first + len(roughness)]
    return Columns(part, roughness, np.einsum("ij,ij->j", part, part))


def graph_prior(statistics: Statistics, basis: Columns) -> Prior:
    """Return the graph prior whose variances are the posterior mean over all points of the grid.

    A single point, that of the largest evidence, may leave out what few rewards cannot show yet, and a policy then
    does not look for it. ``GraphPrior`` takes that point: it plays for longer, on more columns.
    """
    evidences = evidence.evidence(statistics, basis)
    counts = np.array(grid_of_columns(len(basis.lengths)), int)
    residuals, scales = _log_normal(RESIDUALS), _log_normal(SCALES)
    residuals[0] = HALF * residuals[1:].sum()  # no residual stands for all below the smallest
    odds = np.einsum("i,j,k->ijk", residuals, scales, _column_odds(basis, counts))
    graph = evidences.graph + np.log(odds)[:, None]
    independent = evidences.independent + np.log(residuals * NO_GRAPH / (1.0 - NO_GRAPH) * len(RHOS))
    top = max(graph.max(initial=-np.inf), independent.max())
    graph, independent = np.exp(graph - top), np.exp(independent - top)
    total = graph.sum() + independent.sum()
    residual = (graph.sum(axis=(1, 2, 3)) + independent) @ RESIDUALS / total
    noise = (np.sum(graph * evidences.graph_noise) + independent @ evidences.independent_noise) / total
    weights = np.einsum("irsc,s->rc", graph, SCALES) / total
    used = np.arange(len(basis.lengths)) < counts[:, None]
    variance = sum((weight @ used) * shares(basis, rho) for weight, rho in zip(weights, RHOS, strict=True))
    relevance = float(graph.sum() / total)  # the posterior probability that the graph matters
    boost = 1.0 + (BOOST - 1.0) * relevance**2
    return Prior(flat(1.0 / np.maximum(variance, TINY)), float(residual), float(noise), boost)


def _log_normal(variances: np.ndarray) -> np.ndarray:
    """Return the prior probabilities of variances of arms, in units of the noise's."""
    size = np.log10(np.maximum(variances, TINY))
    odds = np.exp(-0.5 * ((size - LOG_VARIANCE) / DECADES) ** 2)
    return odds / odds.sum()


def _column_odds(basis: Columns, counts: np.ndarray) -> np.ndarray:
    """Return the prior probability of each number of columns: communities leave a gap after their columns."""
    gaps = np.append(np.maximum(np.diff(basis.roughness), 0.0), 0.0)
    gaps = np.add.reduceat(gaps, np.append(0, counts[:-1])) if len(counts) else gaps[:0]
    uniform = np.full(len(counts), 1.0 / max(len(counts), 1))
    return uniform if not gaps.any() else (1.0 - UNIFORM) * gaps / gaps.sum() + UNIFORM * uniform


def ridge_prior(statistics: Statistics, basis: Columns) -> Prior:
    """Return the ridge of the largest evidence on all columns; without columns, that of independent arms."""
    if not len(basis.lengths):
        return graph_prior(statistics, basis)._replace(boost=1.0)
    evidences = evidence.evidence(statistics, basis, NO_RESIDUAL)
    best = int(evidences.graph[0, 0, :, -1].argmax())
    noise = float(evidences.graph_noise[0, 0, best, -1])
    return Prior(flat(1.0 / (SCALES[best] * shares(basis, 0.0))), 0.0, noise)


PRIORS = {GRAPH: graph_prior, RIDGE: ridge_prior}


def varied(statistics: Statistics) -> bool:
    """Return whether rewards differ by more than rounding: while they do not, there is nothing to estimate."""
    if not statistics.pulls.any() and statistics.groups is None:
        return False
    pulled = statistics.pulls > 0
    pulls, sums = statistics.pulls[pulled], statistics.sums[pulled]
    _, mean = statistics.pulls_and_mean()
    around, size = statistics.within + pulls @ (sums / pulls - mean) ** 2, pulls @ (sums / pulls) ** 2
    if statistics.groups is not None:
        around += statistics.groups.centred(0, mean).products[:, -1, -1].sum()
        size += statistics.groups.centred(0, 0.0).products[:, -1, -1].sum()
    return bool(around > ROUNDING**2 * size)
