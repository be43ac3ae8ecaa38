"""The state of a policy that is served: what it knows of every arm, how it chooses and how it learns.

A state has arms at places 0, 1, … and takes many candidate sets at once: set s is ``places[starts[s]:starts[s + 1]]``.
Its choices and its updates are those of the kernels in ``linucb``, operation by operation.
"""

from copy import copy

import numpy as np
import scipy.sparse as sp

from graphdr.bandit.rank_one import multiply, subtract
from graphdr.core.compiled import kernel

LANES = 128  # candidates scored at a time: enough to fill the vector instructions, few enough for the fastest cache


class Projected:
    """LinUCB on n x k features: V^-1 and the estimate V^-1 sum z y."""

    def __init__(self, features: np.ndarray, v_inverse: np.ndarray, estimate: np.ndarray | None = None):
        self.features = np.array(features, float, order="C")
        self.v_inverse = np.array(v_inverse, float, order="C")
        self.estimate = np.zeros(len(self.v_inverse)) if estimate is None else np.array(estimate, float)

    def over(self, features: np.ndarray) -> "Projected":
        """Return this state, which learns with it, for arms with other features."""
        other = copy(self)
        other.features = features
        return other

    def choose(self, places: np.ndarray, starts: np.ndarray, radius: float) -> np.ndarray:
        """Return the place of the first maximum of every set."""
        return _choose_projected(self.features, self.v_inverse, self.estimate, radius, places, starts)

    def learn(self, places: np.ndarray, rewards: np.ndarray) -> None:
        """Update with the rewards of arms, one after the other."""
        _learn_projected(self.features, self.v_inverse, self.estimate, places, rewards)

    def expect(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of arms and its width ||z||_{V^-1}."""
        z = self.features[places]
        return z @ self.estimate, np.sqrt(np.maximum(np.sum(z @ self.v_inverse * z, axis=1), 0.0))


class OneHot:
    """Full LinUCB: V is diagonal, so a weight (ridge and plays) and a sum of rewards per arm suffice."""

    def __init__(self, weight: np.ndarray, total: np.ndarray | None = None):
        self.weight = np.array(weight, float)
        self.total = np.zeros(len(self.weight)) if total is None else np.array(total, float)

    def choose(self, places: np.ndarray, starts: np.ndarray, radius: float) -> np.ndarray:
        """Return the place of the first maximum of every set."""
        return _choose_one_hot(self.weight, self.total, radius, places, starts)

    def learn(self, places: np.ndarray, rewards: np.ndarray) -> None:
        """Update with the rewards of arms, one after the other."""
        np.add.at(self.weight, places, 1.0)
        np.add.at(self.total, places, rewards)

    def expect(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of arms and its width ||z||_{V^-1}."""
        return self.total[places] / self.weight[places], 1.0 / np.sqrt(self.weight[places])


def project(rows: sp.csr_array, features: np.ndarray) -> np.ndarray:
    """Return the features z = E^T x of contexts: SciPy's product, in two thirds of its time among 100,000 arms."""
    nodes, starts = rows.indices.astype(np.int64, copy=False), rows.indptr.astype(np.int64, copy=False)
    return _project(rows.data, nodes, starts, features)


def extended(
    vectors: np.ndarray, degrees: np.ndarray, values: np.ndarray, joined: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Append new nodes to eigenvectors (Nyström), each given by its neighbours, new ones before it too, and weights.

    An eigenvector satisfies u = S u / (1 - value) with S = D^-1/2 A D^-1/2: apply this to the row of S that the
    new node has through its edges. The degrees are the fitted ones, without the new edges: a twin of a node then gets
    exactly that node's row.
    """
    n = len(vectors)
    vectors = np.vstack([vectors, np.empty((len(joined), vectors.shape[1]))])
    degrees = np.append(degrees, np.empty(len(joined)))
    for node, (ends, weights) in enumerate(joined, n):
        degrees[node] = weights.sum()
        vectors[node] = weights / np.sqrt(degrees[node] * degrees[ends]) @ vectors[ends] / (1.0 - values)
    return vectors, degrees


@kernel
def _project(weights, nodes, starts, features):
    k = features.shape[1]
    z = np.zeros((len(starts) - 1, k))
    for row in range(len(z)):
        for at in range(starts[row], starts[row + 1]):
            weight, own = weights[at], features[nodes[at]]
            for i in range(k):
                z[row, i] += weight * own[i]
    return z


@kernel
def _choose_projected(features, v, estimate, radius, places, starts):
    k = features.shape[1]
    chosen = np.empty(len(starts) - 1, np.uint32)
    # Candidates lie side by side in x, so that every step below is one run along memory.
    x, row, half, mean = np.empty((k, LANES)), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for s in range(len(chosen)):
        best, top = starts[s], -np.inf
        for c in range(starts[s], starts[s + 1], LANES):
            lanes = min(LANES, starts[s + 1] - c)
            for lane in range(lanes):
                z = features[places[c + lane]]
                for i in range(k):
                    x[i, lane] = z[i]
            half[:lanes] = 0.0
            mean[:lanes] = 0.0
            for i in range(k):
                diagonal, weight = 0.5 * v[i, i], estimate[i]
                for lane in range(lanes):
                    row[lane] = diagonal * x[i, lane]
                for j in range(i):
                    a = v[i, j]
                    for lane in range(lanes):
                        row[lane] += a * x[j, lane]
                for lane in range(lanes):
                    half[lane] += row[lane] * x[i, lane]
                    mean[lane] += weight * x[i, lane]
            for lane in range(lanes):
                score = mean[lane] + radius * np.sqrt(max(2.0 * half[lane], 0.0))
                if score > top:
                    best, top = c + lane, score
        chosen[s] = places[best]
    return chosen


@kernel
def _learn_projected(features, v, estimate, places, rewards):
    k = features.shape[1]
    u, w = np.empty(k), np.empty(k)
    for t in range(len(places)):
        z = features[places[t]]
        half = mean = 0.0
        for i in range(k):
            row = 0.5 * v[i, i] * z[i]
            for j in range(i):
                row += v[i, j] * z[j]
            half += row * z[i]
            mean += estimate[i] * z[i]
        scale = 1.0 / (1.0 + 2.0 * half)
        error, root = (rewards[t] - mean) * scale, np.sqrt(scale)
        multiply(v, z, u, k)
        for i in range(k):
            estimate[i] += u[i] * error
            w[i] = u[i] * root
        subtract(v, w, k)


@kernel
def _choose_one_hot(weight, total, radius, places, starts):
    chosen = np.empty(len(starts) - 1, np.uint32)
    for s in range(len(chosen)):
        best, top = places[starts[s]], -np.inf
        for c in range(starts[s], starts[s + 1]):
            arm = places[c]
            score = total[arm] / weight[arm] + radius * (1.0 / np.sqrt(weight[arm]))
            if score > top:
                best, top = arm, score
        chosen[s] = best
    return chosen
