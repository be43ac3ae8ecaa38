"""Calls of version 0.4 that still work, each with a warning; they end with version 0.6."""

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from graphdr.graphs.arm_features import IDENTITY
from graphdr.serve.basis import GRAPHDR
from graphdr.serve.sources import as_graph
from graphdr.serve.tuning import RIDGE

OLD_FIT = (
    "GraphDRLinUCB.fit(source, k, …) will end with version 0.6: write "
    "GraphDRLinUCB(k, prior='ridge', intercept=False, ridge=…, radius=…).fit(source), or GraphDRLinUCB().fit(source), "
    "which finds its settings"
)


class Fit:
    """``fit`` of an object is that of scikit-learn; up to version 0.4, ``fit`` of the class made an object."""

    def __get__(self, policy, owner: type) -> Callable:
        return partial(made, owner) if policy is None else policy._fit


def made(
    kind: type, source, k=None, *, names=None, basis=GRAPHDR, laplacian=0.0, ridge=None, radius=1.0, neighbours=10,
    components="refuse", segments=None, coupling=1.0, seed=0,
):  # fmt: skip
    """Make a policy of a class as version 0.4 did."""
    warnings.warn(OLD_FIT, DeprecationWarning, stacklevel=2)
    graph, names = as_graph(source, names=names, components=components, neighbours=neighbours)
    full, nodes = basis == IDENTITY, graph.n if segments is None else graph.n * len(segments)
    if full and (k is not None or laplacian):
        raise ValueError("full LinUCB has neither k nor a Laplacian penalty")
    if not full and not (isinstance(k, int | np.integer) and 1 <= k < nodes):
        raise ValueError(f"k is a whole number from 1 to {nodes - 1}, not {k!r}")
    policy = kind(
        1 if full else int(k), basis=basis, prior=RIDGE, ridge=1.0 if ridge is None else ridge, radius=radius,
        laplacian=laplacian, intercept=False, components=components, segments=segments, coupling=coupling,
        random_state=seed,
    )  # fmt: skip
    policy.fit(graph)
    if ridge is None and not full:
        policy.ridge = float(np.sum(policy._learned.rows**2) / len(policy._learned.rows))
        policy.fit(graph)
    return policy
