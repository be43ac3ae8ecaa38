"""How far arms differ, and how noisy rewards are, found from the rewards seen: the prior of a policy."""

import numpy as np

from graphdr.bandit.graph_prior import evidence
from graphdr.bandit.graph_prior.model import RESIDUALS, RHOS, SCALES, Columns, Statistics, grid_of_columns, shares
from graphdr.serve.learned import Prior

GRAPH, RIDGE = "graph", "ridge"  # priors: part graph, part each arm alone; or ridge regression on the features
WIDE = 1e-6  # precision of an intercept that is not found from rewards: its deviation is 1,000 times that of the noise
NOTHING = np.array([0.0])  # no residual: an arm is what its features say
# What is likely before any reward: variances of arms are about a hundredth of the noise's, within half a decade or so.
USUAL, DECADES = -2.0, 0.5
NO_GRAPH, HALF, EVEN = 0.25, 0.5, 0.2  # shares: of no graph, of no part of its own, of even odds for all columns
BOOST = 4.0  # two standard deviations of what arms share, where it is sure that they do; one of what is an arm's own
TINY = 1e-9
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
    """Return the graph prior whose variances are the mean over all points of the grid, each as likely as it is now.

    A single point, that of the largest evidence, may leave out what few rewards cannot show yet, and a policy then
    does not look for it. ``run_graph_prior`` takes that point: it plays for longer, on more columns.
    """
    found = evidence.evidence(seen, basis)
    tried = np.array(grid_of_columns(len(basis.lengths)), int)
    own, shared = _normal(RESIDUALS), _normal(SCALES)
    own[0] = HALF * own[1:].sum()  # no part of its own: what is below the smallest residual
    graph = found.graph + np.log(np.einsum("i,j,k->ijk", own, shared, _columns_used(basis, tried)))[:, None]
    alone = found.independent + np.log(own * NO_GRAPH / (1.0 - NO_GRAPH) * len(RHOS))
    top = max(graph.max(initial=-np.inf), alone.max())
    graph, alone = np.exp(graph - top), np.exp(alone - top)
    whole = graph.sum() + alone.sum()
    residual = (graph.sum(axis=(1, 2, 3)) + alone) @ RESIDUALS / whole
    noise = (np.sum(graph * found.graph_noise) + alone @ found.independent_noise) / whole
    weights = np.einsum("irsc,s->rc", graph, SCALES) / whole
    inside = np.arange(len(basis.lengths)) < tried[:, None]
    variance = sum((weight @ inside) * shares(basis, rho) for weight, rho in zip(weights, RHOS, strict=True))
    sure = float(graph.sum() / whole)  # that arms share what the graph says: else looking for it is a waste
    boost = 1.0 + (BOOST - 1.0) * sure**2
    return Prior(flat(1.0 / np.maximum(variance, TINY)), float(residual), float(noise), boost)


def _normal(variances: np.ndarray) -> np.ndarray:
    """Return how likely variances of arms are, in those of the noise, before any reward: log-normal."""
    size = np.log10(np.maximum(variances, TINY))
    likely = np.exp(-0.5 * ((size - USUAL) / DECADES) ** 2)
    return likely / likely.sum()


def _columns_used(basis: Columns, tried: np.ndarray) -> np.ndarray:
    """Return how likely it is that so many columns matter: communities leave a gap after the columns that tell them."""
    gaps = np.append(np.maximum(np.diff(basis.roughness), 0.0), 0.0)
    gaps = np.add.reduceat(gaps, np.append(0, tried[:-1])) if len(tried) else gaps[:0]
    flat_part = np.full(len(tried), 1.0 / max(len(tried), 1))
    return flat_part if not gaps.any() else (1.0 - EVEN) * gaps / gaps.sum() + EVEN * flat_part


def ridge_prior(seen: Statistics, basis: Columns) -> Prior:
    """Return the ridge of the largest evidence on all columns, or on arms alone if there are none."""
    if not len(basis.lengths):
        return graph_prior(seen, basis)._replace(boost=1.0)
    found = evidence.evidence(seen, basis, NOTHING)
    best = int(found.graph[0, 0, :, -1].argmax())
    return Prior(flat(1.0 / (SCALES[best] * shares(basis, 0.0))), 0.0, float(found.graph_noise[0, 0, best, -1]))


PRIORS = {GRAPH: graph_prior, RIDGE: ridge_prior}


def varied(seen: Statistics) -> bool:
    """Tell whether rewards differ by more than rounding: while they do not, nothing can be found from them."""
    if not seen.pulls.any() and seen.groups is None:
        return False
    pulled = seen.pulls > 0
    pulls, sums = seen.pulls[pulled], seen.sums[pulled]
    _, mean = seen.pulls_and_mean()
    around, size = seen.within + pulls @ (sums / pulls - mean) ** 2, pulls @ (sums / pulls) ** 2
    if seen.groups is not None:
        around += seen.groups.centred(0, mean).products[:, -1, -1].sum()
        size += seen.groups.centred(0, 0.0).products[:, -1, -1].sum()
    return bool(around > ROUNDING**2 * size)


def tells_arms_apart(prior: Prior) -> bool:
    """Tell whether arms differ under a prior."""
    return prior.residual > 0 or len(prior.precision) > 1
