"""Kinds of context: what the arms of a problem are, drawn once, before any method plays.

An arm is a vector x over the nodes. Its features are x^T E, its expected reward is x^T theta, its residual x^T r: what
plays it is a kernel on features, whatever the kind. Adding a kind is one function here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit.arm_set import ArmSet, ContextSpec
from graphdr.bandit.environment import CANDIDATES, CandidateSource
from graphdr.core.errors import UserError


class Choices(NamedTuple):
    """Which nodes every user has chosen, in CSR form."""

    starts: np.ndarray
    nodes: np.ndarray


def node(spec: ContextSpec, *_: Any) -> ArmSet:
    """Offer single nodes, as the experiments of the paper do."""
    return ArmSet()


def segment(spec: ContextSpec, *_: Any) -> ArmSet:
    """Offer pairs of a segment and an item, all of the segment whose user arrives: nodes are sorted by segment."""
    return ArmSet(blocks=spec.segments)


def bundle(
    spec: ContextSpec,
    n: int,
    rng: np.random.Generator,
    candidate_source: CandidateSource,
    choices: Choices | None,
) -> ArmSet:
    """Offer nodes together, as vectors of length one: baskets, playlists, slates.

    Bundles of a single node are the nodes, each once; a bundle that is drawn again is left out.
    """
    size, count = spec.bundle, spec.bundle_count
    if size == 1:
        return ArmSet()
    if spec.bundle_sampling == CHOSEN:
        members = chosen(count, size, rng, choices)
    else:
        members = CANDIDATES[spec.bundle_sampling](n, count, size, rng, candidate_source)
    from graphdr.graphs.contexts import distinct

    return ArmSet(distinct(bundles(members.astype(np.int64), n))[0])


CHOSEN = "chosen"  # bundles of nodes that a user has chosen; the others are drawn as candidates are
CONTEXTS: dict[str, Callable[..., ArmSet]] = {f.__name__: f for f in (node, bundle, segment)}
BUNDLES = (*CANDIDATES, CHOSEN)


def chosen(count: int, size: int, rng: np.random.Generator, choices: Choices | None) -> np.ndarray:
    """Draw users who have chosen enough nodes, and of each some of these nodes (count x size)."""
    lengths = np.diff(choices.starts) if choices else np.empty(0)
    able = np.flatnonzero(lengths >= size)
    if choices is None or not len(able):
        raise UserError(f"no user has chosen {size} nodes of this graph; take smaller bundles, or another kind of them")
    users = able[rng.integers(len(able), size=count)]
    return np.array([
        rng.choice(choices.nodes[choices.starts[user] : choices.starts[user + 1]], size, replace=False)
        for user in users
    ])  # fmt: skip


def bundles(members: np.ndarray, n: int) -> Any:
    """Return bundles of distinct nodes (count x size) as sparse rows of length one."""
    import scipy.sparse as sp

    count, size = members.shape
    weights = np.full(count * size, 1.0 / np.sqrt(size))
    return sp.csr_array((weights, np.sort(members, axis=1).ravel(), size * np.arange(count + 1)), shape=(count, n))
