"""How far arms differ, and how noisy rewards are, found from the rewards seen: the prior of a policy."""

import numpy as np

from graphdr.bandit.graph_prior import evidence
from graphdr.bandit.graph_prior.model import SCALES, Columns, Statistics, shares
from graphdr.serve.learned import Prior

GRAPH, RIDGE = "graph", "ridge"  # priors: part graph, part each arm alone; or ridge regression on the features
WIDE = 1e-6  # precision of an intercept that is not found from rewards: its deviation is 1,000 times that of the noise
NOTHING = np.array([0.0])  # no residual: an arm is what its features say
ROUNDING = 1e-10  # by which means of equal rewards may differ, in parts of the rewards


def flat(precision: np.ndarray) -> np.ndarray:
    """Return a precision with that of an intercept before it, of which nothing is known."""
    return bordered(np.diag(precision), 0.0)


def bordered(precision: np.ndarray, intercept: float) -> np.ndarray:
    """Return a matrix of precisions with one of an intercept before it."""
    whole = np.zeros((1 + len(precision), 1 + len(precision)))
    whole[0, 0], whole[1:, 1:] = intercept, precision
    return whole


def columns(rows: np.ndarray, first: int, roughness: np.ndarray) -> Columns:
    """Return the columns of features that evidence chooses from, of as many as have a roughness, without a copy."""
    part = rows[:, first : first + len(roughness)]
    return Columns(part, roughness, np.einsum("ij,ij->j", part, part))


def graph_prior(seen: Statistics, basis: Columns) -> Prior:
    """Return the graph prior of the largest evidence (docs/graph_prior.md)."""
    weights = evidence.fit(seen, basis)
    found = slice(weights.columns)
    scale = weights.scale * shares(basis, weights.rho)[found] if weights.columns else np.empty(0)
    return Prior(flat(1.0 / scale), weights.residual, weights.noise)


def ridge_prior(seen: Statistics, basis: Columns) -> Prior:
    """Return the ridge of the largest evidence on all columns, or on arms alone if there are none."""
    if not len(basis.lengths):
        return graph_prior(seen, basis)
    found = evidence.evidence(seen, basis, NOTHING)
    best = int(found.graph[0, 0, :, -1].argmax())
    return Prior(flat(1.0 / (SCALES[best] * shares(basis, 0.0))), 0.0, float(found.graph_noise[0, 0, best, -1]))


PRIORS = {GRAPH: graph_prior, RIDGE: ridge_prior}


def varied(seen: Statistics) -> bool:
    """Tell whether rewards differ by more than rounding: while they do not, nothing can be found from them."""
    pulled = seen.pulls > 0
    pulls, sums = seen.pulls[pulled], seen.sums[pulled]
    if not len(pulls):
        return False
    around = seen.within + pulls @ (sums / pulls - sums.sum() / pulls.sum()) ** 2
    return bool(around > ROUNDING**2 * (pulls @ (sums / pulls) ** 2))


def tells_arms_apart(prior: Prior) -> bool:
    """Tell whether arms differ under a prior."""
    return prior.residual > 0 or len(prior.precision) > 1
