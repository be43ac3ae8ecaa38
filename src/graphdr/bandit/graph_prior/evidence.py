"""The evidence of the rewards seen for every point of the grid, the best point, and the Bayes factor of the graph.

The mean b has a flat prior and the noise the prior 1 / noise, both integrated out, so that neither the zero nor the
unit of the rewards matters.
"""

from typing import NamedTuple

import numpy as np

from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.model import (
    RESIDUALS,
    RHOS,
    SCALES,
    Columns,
    Statistics,
    Weights,
    grid_of_columns,
    shares,
)
from graphdr.core.compiled import inlined, kernel

# Residuals in the Bayes factor. Many pulls tell a residual more exactly than the grid of the fits does, and a graph of
# many columns, which is nearly a residual, would be praised for values in between.
FINE = np.array([0.0, *10.0 ** np.arange(-4.0, 1.1, 0.125)])
LANES = len(RHOS) * len(SCALES)  # points of the grid that one factorisation serves, side by side
ROUNDING = 0.1  # of a log evidence, at most: far more than there ever is
FLOOR = 1e-12  # of the squares that are left, in those around the mean: rewards without noise end there


class Evidence(NamedTuple):
    """Log evidence, up to a constant of all, and estimated noise: (residuals,) without a graph, with one
    (residuals, rhos, scales, columns).
    """

    independent: np.ndarray
    independent_noise: np.ndarray
    graph: np.ndarray
    graph_noise: np.ndarray


class _BasisEvidence:
    """The evidence of the rewards seen for one basis, residual by residual."""

    def __init__(self, seen: Statistics, basis: Columns, residuals: np.ndarray):
        self._seen, self._basis, self._residuals = seen, basis, residuals
        self._pulled = np.flatnonzero(seen.pulls)
        self._pulls = seen.pulls[self._pulled]
        # The mean is free; small numbers keep digits.
        total_pulls, mean = seen.pulls_and_mean()
        self._rewards = seen.sums[self._pulled] / self._pulls - mean
        self._groups = None if seen.groups is None else seen.groups.centred(len(basis.lengths), mean)
        self._free = max(total_pulls - 1, 1)
        around = seen.within + self._pulls @ self._rewards**2
        if self._groups is not None:
            around += self._groups.products[:, -1, -1].sum()
        self._floor = max(FLOOR * around, np.finfo(float).tiny)
        self._starts = range(0, len(self._pulled), model.CHUNK)
        self._kept = [self._rows(0)] if len(self._starts) == 1 else None
        widest = len(basis.lengths)
        self._columns = np.array(grid_of_columns(widest), int)
        prior = np.multiply.outer([shares(basis, rho) for rho in RHOS], SCALES)  # rhos x columns x scales
        # Columns are factored by two: another one, of zeros, changes nothing.
        self._roots = np.zeros((widest + widest % 2 + 2, LANES))
        self._roots[:widest] = np.sqrt(prior.swapaxes(0, 1)).reshape(widest, LANES)
        self._roots[-2:] = 1.0
        self.logs = np.log(1.0 + self._pulls * residuals[:, None]).sum(axis=1)
        if self._groups is not None:
            self.logs += np.log(1.0 + self._groups.pulls * residuals[:, None]) @ self._groups.arms

    def _rows(self, start: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(start, start + model.CHUNK)
        pulled = self._pulled[part]
        rows = np.column_stack([self._basis.features[pulled], np.ones(len(pulled)), self._rewards[part]])
        return rows, self._pulls[part]

    def product(self, place: int) -> np.ndarray:
        """Return [U 1 y]^T D^-1 [U 1 y] over the arms pulled at a residual: d_i = 1 / pulls + residual."""
        size = self._basis.features.shape[1] + 2
        total = np.zeros((size, size))
        for rows, pulls in self._kept or map(self._rows, self._starts):
            total += (rows / (1.0 / pulls + self._residuals[place])[:, None]).T @ rows
        if self._groups is not None:
            total += np.tensordot(1.0 / (1.0 + self._groups.pulls * self._residuals[place]), self._groups.products, 1)
        return total

    def _log_evidence(
        self, log_determinant: np.ndarray, ones: np.ndarray, cross: np.ndarray, squares: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log evidence and noise, from ln |M| and the products of 1 and y with M^-1."""
        ones = np.maximum(ones, np.finfo(float).tiny)
        quad = np.maximum(self._seen.within + squares - cross**2 / ones, self._floor)
        return -0.5 * (log_determinant + np.log(ones) + self._free * np.log(quad)), quad / self._free

    def without_graph(self, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log evidence and noise without a graph, at every residual."""
        return self._log_evidence(self.logs, products[:, -2, -2], products[:, -2, -1], products[:, -1, -1])

    def with_graph(self, place: int, product: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log evidence and noise with the graph at one residual, rhos x scales x columns."""
        corners = product[-2, -2], product[-2, -1], product[-1, -1]
        if len(self._roots) > len(product):
            product = np.insert(np.insert(product, -2, 0.0, axis=0), -2, 0.0, axis=1)
        inverse, ones, rewards = _factor(product, self._roots)
        # What every further column adds to ln |M|, 1^T M^-1 1, 1^T M^-1 y and y^T M^-1 y.
        sums = (-2 * np.log(inverse), -ones * ones, -ones * rewards, -rewards * rewards)
        starts = self.logs[place], *corners
        parts = (start + part.cumsum(axis=0)[self._columns - 1] for start, part in zip(starts, sums, strict=True))
        shape = len(self._columns), len(RHOS), len(SCALES)
        values, noises = (part.reshape(shape).transpose(1, 2, 0) for part in self._log_evidence(*parts))
        return values, noises


def evidence(seen: Statistics, basis: Columns, residuals: np.ndarray = RESIDUALS) -> Evidence:
    """Return the evidence on the whole grid."""
    of_basis = _BasisEvidence(seen, basis, residuals)
    products = np.array([of_basis.product(place) for place in range(len(residuals))])
    graph = zip(*(of_basis.with_graph(*place) for place in enumerate(products)), strict=True)
    return Evidence(*of_basis.without_graph(products), *map(np.array, graph))


@inlined
def _subtract_products(sums, a, b, x, y, count):
    """Subtract from the four sums the products of rows a and b with rows x and y over the first ``count`` columns.

    Every number that is loaded serves two of the four sums.
    """
    for k in range(0, count, 2):
        for c in range(LANES):
            a0, b0, x0, y0 = a[k, c], b[k, c], x[k, c], y[k, c]
            a1, b1, x1, y1 = a[k + 1, c], b[k + 1, c], x[k + 1, c], y[k + 1, c]
            sums[0, c] = sums[0, c] - a0 * x0 - a1 * x1
            sums[1, c] = sums[1, c] - a0 * y0 - a1 * y1
            sums[2, c] = sums[2, c] - b0 * x0 - b1 * x1
            sums[3, c] = sums[3, c] - b0 * y0 - b1 * y1


@kernel
def _factor(product, roots):
    """Factor I + s^1/2 U^T D^-1 U s^1/2 = L L^T, with s a point of the grid in every lane, bordered by U^T D^-1 [1 y].

    Return the inverse diagonal of the Cholesky factor L and its last two rows, which hold what 1 and y lose to the
    graph. One factor serves all J: that of a leading block leads it. With A the bordered matrix, row by row,

        L_ij = (A_ij - sum_{k<j} L_ik L_jk) / L_jj    and    L_ii = sqrt(A_ii - sum_{k<i} L_ik^2),

    in blocks of two rows (i, i + 1: a and b) and two columns (j, j + 1: x and y).
    """
    size = len(roots)
    columns = size - 2
    factor, sums, inverse = np.empty((size, columns, LANES)), np.empty((4, LANES)), np.empty((columns, LANES))
    for i in range(0, size, 2):
        a, b = factor[i], factor[i + 1]
        for j in range(0, min(i + 1, columns), 2):
            x, y, start = factor[j], factor[j + 1], 1.0 if i == j else 0.0
            for c in range(LANES):  # A_ij, A_i,j+1, A_i+1,j and A_i+1,j+1
                sums[0, c] = start + roots[i, c] * roots[j, c] * product[i, j]
                sums[1, c] = roots[i, c] * roots[j + 1, c] * product[i, j + 1]
                sums[2, c] = roots[i + 1, c] * roots[j, c] * product[i + 1, j]
                sums[3, c] = start + roots[i + 1, c] * roots[j + 1, c] * product[i + 1, j + 1]
            _subtract_products(sums, a, b, x, y, j)
            if i == j:  # on the diagonal, only L_i+1,i is kept as it is
                for c in range(LANES):
                    inverse[i, c] = 1.0 / np.sqrt(sums[0, c])
                    b[i, c] = sums[2, c] * inverse[i, c]
                    inverse[i + 1, c] = 1.0 / np.sqrt(sums[3, c] - b[i, c] * b[i, c])
            else:  # column j + 1 still lacks the product of column j
                for c in range(LANES):
                    a[j, c] = sums[0, c] * inverse[j, c]
                    a[j + 1, c] = (sums[1, c] - a[j, c] * y[j, c]) * inverse[j + 1, c]
                    b[j, c] = sums[2, c] * inverse[j, c]
                    b[j + 1, c] = (sums[3, c] - b[j, c] * y[j, c]) * inverse[j + 1, c]
    return inverse, factor[columns], factor[columns + 1]


def fit(seen: Statistics, *candidates: Columns) -> Weights:
    """Return the point of the largest evidence over all candidates, of equal ones the first; without a graph first.

    A smaller residual explains no more of the rewards, and the graph then adds no less to ln |M|. So it gains at most
    half of what ln |D| loses, and is left out where that is too little.
    """
    bases = [_BasisEvidence(seen, basis, RESIDUALS) for basis in candidates]
    products = np.array([bases[0].product(place) for place in range(len(RESIDUALS))])
    values, noises = bases[0].without_graph(products)
    residual = int(values.argmax())
    most = values[residual]
    best = Weights(0, 0.0, 0.0, float(RESIDUALS[residual]), float(noises[residual]))
    for number, of_basis in enumerate(bases):
        grid = grid_of_columns(len(candidates[number].lengths))
        bound, most_here, best_here = np.inf, -np.inf, best
        for place in reversed(range(len(RESIDUALS) if grid else 0)):
            if bound - of_basis.logs[place] / 2 < max(most, most_here) - ROUNDING:
                continue
            values, noises = of_basis.with_graph(place, products[place] if number == 0 else of_basis.product(place))
            at = np.unravel_index(values.argmax(), values.shape)
            bound = values[at] + of_basis.logs[place] / 2
            if values[at] >= most_here:
                rho, scale, columns = at
                parts = float(RHOS[rho]), float(SCALES[scale]), float(RESIDUALS[place]), float(noises[at])
                most_here, best_here = values[at], Weights(grid[columns], *parts, number)
        if most_here > most:
            most, best = most_here, best_here
    return best


def log_bayes_factor(seen: Statistics, basis: Columns) -> float:
    """Return ln B of the graph: evidence for graph and residual, a mean over the grid, over that for arms alone."""
    values = evidence(seen, basis, FINE)
    return _log_mean_exp(values.graph) - _log_mean_exp(values.independent)


def _log_mean_exp(values: np.ndarray) -> float:
    top = values.max()
    return float(top + np.log(np.mean(np.exp(values - top))))
