"""The posterior of a policy: the rewards of every arm, and the estimates that follow from them.

The expected reward of arm i is f_i = x_i^T w + e_i with w ~ N(0, noise P^-1) and e_i ~ N(0, residual noise); a reward
has the variance ``noise`` around f_i. With d_i = 1 + pulls_i residual, V = P + sum pulls_i / d_i x_i x_i^T and the mean
m = V^-1 sum sums_i / d_i x_i, f_i has the mean (x_i^T m + residual sums_i) / d_i and, in units of the noise, the
variance residual / d_i + x_i^T V^-1 x_i / d_i^2. LinUCB has no residual; full LinUCB has no columns, and a residual of
1 / ridge. Choices and updates are those of the kernels in ``linucb``, operation by operation.
"""

from collections import defaultdict
from copy import copy
from typing import NamedTuple

import numpy as np

from graphdr.bandit.graph_prior.model import CHUNK, Groups, Statistics, add_arms
from graphdr.bandit.linucb_core import mean_and_half_square, multiply, update
from graphdr.core.compiled import inlined, kernel, prefetch

LANES = 64  # candidates scored at a time: enough to fill the vector instructions, few enough for the fastest cache
LINE = 64  # bytes that come from memory together
BY_ARM = ("counts", "pulls", "sums", "squares")
NEGLIGIBLE = 1e-6  # pulls that decayed below this are set to zero
STEP = np.sqrt(2.0)  # factor by which pulls in a group of removed arms may differ: 1, 2 and 3 are in different groups


class Prior(NamedTuple):
    """The precision P of the first columns, the residual variance, and the noise (None: not known).

    ``boost`` multiplies the variance of the shared part in a width: an error that many arms share costs more.
    """

    precision: np.ndarray
    residual: float = 0.0
    noise: float | None = None
    boost: float = 1.0


class Posterior:
    """Rows x_i of the arms (n x columns), their pulls and sums of rewards, and V^-1 and m of the columns in use.

    ``within`` is the sum of squares within arms. Rewards of contexts are kept as their part of V and of V m, and those
    of removed arms in ``retired``. ``counts`` and ``squares`` are the number of rewards of every arm and the squares
    within it since this object was made or loaded: a worker's delta needs them.
    """

    def __init__(self, rows: np.ndarray, prior: Prior, inverse: np.ndarray | None = None):
        n, width = rows.shape
        self.rows = np.array(rows, float, order="C")
        self.counts, self.pulls, self.sums, self.squares = (np.zeros(n) for _ in BY_ARM)
        self.within = 0.0
        self.context_v, self.context_right = np.zeros((width, width)), np.zeros(width)
        self.retired: Groups | None = None
        self.take(prior, inverse)

    def take(self, prior: Prior, inverse: np.ndarray | None = None) -> None:
        """Take another prior; ``inverse`` is P^-1 where there are no rewards yet."""
        self.precision = np.array(prior.precision, float)
        self.residual, self.noise, self.boost = prior.residual, prior.noise, prior.boost
        if inverse is None:
            self.rebuild()
        else:
            self.inverse, self.mean = np.array(inverse, float, order="C"), np.zeros(len(inverse))

    def rebuild(self) -> None:
        """Compute V^-1 and m from the rewards kept."""
        if not (self.pulls.any() or self.retired) and not self.precision.diagonal().all():
            return  # V of a flat prior is singular without rewards: what is known of it stays
        size = len(self.precision)
        v, right = self.precision + self.context_v[:size, :size], self.context_right[:size].copy()
        add_arms(v, right, lambda part: self.rows[part, :size], self.statistics, self.residual)
        if self.retired:
            products, centre = self.retired.products, self.retired.centre
            kept = 1.0 / (1.0 + self.retired.pulls * self.residual)
            v = v + np.tensordot(kept, products[:, :size, :size], 1)
            right = right + kept @ (products[:, :size, -1] + centre * products[:, :size, -2])
        inverse = np.linalg.inv(v)
        self.inverse = np.ascontiguousarray(0.5 * (inverse + inverse.T))
        self.mean = self.inverse @ right

    @property
    def statistics(self) -> Statistics:
        """The sufficient statistics for the evidence of a prior, in which removed arms lack the intercept's column."""
        groups = self.retired and self.retired._replace(products=self.retired.products[:, 1:, 1:])
        return Statistics(self.pulls, self.sums, self.within, groups)

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of the squares within arms."""
        freedom: float = np.maximum(self.pulls - 1.0, 0.0).sum()
        if self.retired:
            freedom += float(np.maximum(self.retired.products[:, -2, -2] - self.retired.arms, 0.0).sum())
        return freedom

    @property
    def is_finite(self) -> bool:
        """Whether all numbers behind the estimates are finite."""
        parts = [*vars(self).values(), *(self.retired or ())]
        return all(np.isfinite(part).all() for part in parts if isinstance(part, np.ndarray | float))

    def copied(self) -> "Posterior":
        """Return a copy that learns independently; it shares what never changes in place."""
        other = copy(self)
        for name in (*BY_ARM, "inverse", "mean", "context_v", "context_right"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def over(self, rows: np.ndarray) -> "Posterior":
        """Return a view for contexts with the given rows: both share V^-1 and m, and contexts have no pulls."""
        other = copy(self)
        other.rows = rows
        other.counts, other.pulls, other.sums, other.squares = np.zeros((4, len(rows)))
        return other

    def scores(self, places: np.ndarray, radius: float) -> np.ndarray:
        """Return mean + radius * width of arms."""
        state = self.rows, self.inverse, self.mean, self.residual, self.boost, self.pulls, self.sums
        return _score(*state, radius, places)

    def expect(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of arms and its width."""
        x, d = self.rows[places, : len(self.mean)], 1.0 + self.pulls[places] * self.residual
        square = self.boost * np.maximum(np.sum(x @ self.inverse * x, axis=1), 0.0)
        return (x @ self.mean + self.residual * self.sums[places]) / d, np.sqrt(self.residual / d + square / d**2)

    def draws(self, places: np.ndarray, radius: float, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw expected rewards from the posterior (count x arms); ``radius`` is one standard deviation of noise."""
        x, d = self.rows[places, : len(self.mean)], 1.0 + self.pulls[places] * self.residual
        half = np.linalg.cholesky(self.inverse)
        w = self.mean + radius * rng.standard_normal((count, len(self.mean))) @ half.T
        drawn = (w @ x.T + self.residual * self.sums[places]) / d
        if not self.residual:
            return drawn
        return drawn + radius * np.sqrt(self.residual / d) * rng.standard_normal((count, len(places)))

    def learn(self, places: np.ndarray, rewards: np.ndarray, weights: np.ndarray) -> None:
        """Update with the rewards of arms, one after the other; each counts as ``weight`` rewards of its value."""
        state = self.rows, self.inverse, self.mean, self.residual, self.pulls, self.sums, self.counts, self.squares
        self.within += _learn(*state, places, rewards, weights)

    def learn_contexts(self, rows: np.ndarray, rewards: np.ndarray, weights: np.ndarray) -> None:
        """Update with the rewards of contexts; they count for the columns, not for single arms."""
        self.over(rows).learn(np.arange(len(rows), dtype=np.uint32), rewards, weights)
        self.context_v += (rows * weights[:, None]).T @ rows
        self.context_right += rows.T @ (weights * rewards)

    def decay(self, share: float) -> None:
        """Keep a share of all rewards: without new ones, the posterior returns to the prior."""
        for array in (self.pulls, self.sums, self.squares, self.context_v, self.context_right):
            array *= share
        self.within *= share
        if self.retired:
            kept = self.retired.pulls * share >= NEGLIGIBLE
            arms, products = self.retired.arms[kept], self.retired.products[kept] * share
            self.retired = Groups(arms, products, self.retired.centre) if len(arms) else None
        negligible = self.pulls < NEGLIGIBLE
        self.pulls[negligible] = self.sums[negligible] = 0.0
        self.rebuild()

    def grow(self, rows: np.ndarray) -> None:
        """Append arms without rewards."""
        self.rows = np.vstack([self.rows, rows])
        for name in BY_ARM:
            setattr(self, name, np.append(getattr(self, name), np.zeros(len(rows))))

    def retire(self, places: np.ndarray) -> None:
        """Drop the rows of arms; their rewards still inform the estimates of others."""
        pulled = places[self.pulls[places] > 0]
        if len(pulled):
            self.retired = _joined(self.retired, self.rows[pulled], self.pulls[pulled], self.sums[pulled])
        for name in ("rows", *BY_ARM):
            setattr(self, name, np.delete(getattr(self, name), places, axis=0))


def _joined(retired: Groups | None, rows: np.ndarray, pulls: np.ndarray, sums: np.ndarray) -> Groups:
    """Return groups of removed arms with more such arms, all of them pulled."""
    groups: dict[int, list[tuple[float, np.ndarray]]] = defaultdict(list)  # numbers of arms and products, by level
    if retired:  # decay may have moved two groups to the same level
        for level, count, product in zip(_levels(retired.pulls), retired.arms, retired.products, strict=True):
            groups[level].append((count, product))
    centre = retired.centre if retired else float(sums.sum() / pulls.sum())
    levels = np.array(_levels(pulls))
    for level in np.unique(levels).tolist():
        members = np.flatnonzero(levels == level)
        for start in range(0, len(members), CHUNK):
            part = members[start : start + CHUNK]
            z = np.column_stack([rows[part], np.ones(len(part)), sums[part] / pulls[part] - centre])
            groups[level].append((len(part), (z * pulls[part][:, None]).T @ z))
    arms, products = [], []
    for group in groups.values():
        arms.append(sum(count for count, _ in group))
        products.append(sum(product for _, product in group))
    return Groups(np.array(arms, float), np.array(products), centre)


def _levels(pulls: np.ndarray) -> list[int]:
    """Return the number of the group that pulls belong to."""
    return np.floor(np.log(pulls) / np.log(STEP) + 1e-9).astype(int).tolist()


def between(pulls: np.ndarray, sums: np.ndarray, more_pulls: np.ndarray, more_sums: np.ndarray) -> np.ndarray:
    """Return by how much the squares within every arm grow when two sets of its rewards are joined."""
    squares = np.zeros(len(pulls))
    both = (pulls > 0) & (more_pulls > 0)
    pulls, sums, more_pulls, more_sums = (part[both] for part in (pulls, sums, more_pulls, more_sums))
    squares[both] = pulls * more_pulls / (pulls + more_pulls) * (sums / pulls - more_sums / more_pulls) ** 2
    return squares


@kernel
def project(weights, nodes, starts, rows):
    """Return the rows z = E^T x of contexts in CSR form: SciPy's product, in two thirds of its time at 100,000 arms."""
    k = rows.shape[1]
    z = np.zeros((len(starts) - 1, k))
    for row in range(len(z)):
        for at in range(starts[row], starts[row + 1]):
            weight, x = weights[at], rows[nodes[at]]
            for i in range(k):
                z[row, i] += weight * x[i]
    return z


@inlined
def _prefetch_rows(array, count, places, start, stop):
    """Prefetch the first ``count`` numbers of some rows; it changes nothing else."""
    memory, row, size = array.ctypes.data, array.strides[0], array.itemsize * count
    for at in range(start, min(stop, len(places))):
        first = memory + row * places[at]
        for part in range(0, size, LINE):
            prefetch(first + part)
        prefetch(first + size - 1)


@kernel
def _score(rows, v, estimate, residual, boost, pulls, sums, radius, places):
    k = len(estimate)
    scores = np.empty(len(places))
    # Candidates lie side by side in x, so that every step below is one run along memory.
    x, row, half, mean = np.empty((k, LANES)), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    # The rows of the next candidates are prefetched while these are scored, a few at a time: the queue is short.
    _prefetch_rows(rows, k, places, 0, LANES)
    few = LANES // max(k, 1) + 1
    for c in range(0, len(places), LANES):
        lanes = min(LANES, len(places) - c)
        if residual > 0.0:
            _prefetch_rows(pulls, 1, places, c, c + LANES)
            _prefetch_rows(sums, 1, places, c, c + LANES)
        for lane in range(lanes):
            z = rows[places[c + lane]]
            for i in range(k):
                x[i, lane] = z[i]
        half[:lanes] = 0.0
        mean[:lanes] = 0.0
        # mean = x^T estimate, and half = sum_i x_i (v_ii x_i / 2 + sum_{j<i} v_ij x_j) with the brackets in ``row``.
        for i in range(k):
            _prefetch_rows(rows, k, places, c + LANES + i * few, c + LANES + (i + 1) * few)
            diagonal, weight = 0.5 * v[i, i], estimate[i]
            for lane in range(lanes):
                row[lane] = diagonal * x[i, lane]
            fours = i - i % 4
            for j in range(0, fours, 4):  # one after the other, but read and written once
                v0, v1, v2, v3 = v[i, j], v[i, j + 1], v[i, j + 2], v[i, j + 3]
                x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
                for lane in range(lanes):
                    total = row[lane]
                    total += v0 * x0[lane]
                    total += v1 * x1[lane]
                    total += v2 * x2[lane]
                    total += v3 * x3[lane]
                    row[lane] = total
            for j in range(fours, i):
                a = v[i, j]
                for lane in range(lanes):
                    row[lane] += a * x[j, lane]
            for lane in range(lanes):
                half[lane] += row[lane] * x[i, lane]
                mean[lane] += weight * x[i, lane]
        if residual > 0.0:
            for lane in range(lanes):
                arm = places[c + lane]
                d = 1.0 + pulls[arm] * residual
                width = np.sqrt(residual / d + boost * max(2.0 * half[lane], 0.0) / (d * d))
                scores[c + lane] = (mean[lane] + residual * sums[arm]) / d + radius * width
        else:
            for lane in range(lanes):
                scores[c + lane] = mean[lane] + radius * np.sqrt(boost * max(2.0 * half[lane], 0.0))
    return scores


@kernel
def first_best(scores, starts):
    """Return where the first maximum of every set is; set s is ``scores[starts[s]:starts[s + 1]]``."""
    best = np.empty(len(starts) - 1, np.int64)
    for s in range(len(best)):
        at = starts[s]
        for c in range(starts[s] + 1, starts[s + 1]):
            if scores[c] > scores[at]:
                at = c
        best[s] = at
    return best


@kernel
def _learn(rows, v, estimate, residual, pulls, sums, counts, squares, places, rewards, weights):
    k = len(estimate)
    u, w = np.empty(k), np.empty(k)
    within = 0.0
    for t in range(len(places)):
        arm, weight = places[t], weights[t]
        z = rows[arm]
        mean, half = mean_and_half_square(v, estimate, z, k)
        count = pulls[arm]
        # The weight pulls / d of x x^T in V grows by weight / (d d'), with d before the reward and d' after it.
        before, after = 1.0 + count * residual, 1.0 + (count + weight) * residual
        change = weight / (before * after)
        scale = 1.0 / (1.0 + change * (2.0 * half))
        step = weight * (rewards[t] - (mean + residual * sums[arm]) / before) * scale / after
        multiply(v, z, u, k)
        update(v, estimate, u, w, step, np.sqrt(change * scale), k)
        if count > 0.0:  # the squares within an arm grow by (reward - mean)^2 count weight / (count + weight)
            distance = rewards[t] - sums[arm] / count
            added = distance * distance * count * weight / (count + weight)
            within += added
            squares[arm] += added
        counts[arm] += 1.0
        pulls[arm] = count + weight
        sums[arm] += weight * rewards[t]
    return within
