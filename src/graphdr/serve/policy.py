"""A policy to serve: fit it to a graph, ask it for arms or contexts, tell it rewards, save it, and change its arms.

On settings that are given it plays exactly as ``linucb`` does in a simulation, and with settings found from the rewards
as ``run_graph_prior`` does. An object is for one thread at a time: nothing is locked. ``snapshot`` serves readers.
"""

import warnings
from collections.abc import Iterable, Mapping
from copy import copy, deepcopy
from os import PathLike
from typing import IO

import numpy as np
from sklearn.base import BaseEstimator

from graphdr.bandit import methods
from graphdr.bandit.graph_prior.model import COLUMNS, Columns
from graphdr.bandit.graph_prior.play import FIRST
from graphdr.graphs import arm_features, filters, model
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.model import Graph
from graphdr.serve import knobs
from graphdr.serve.basis import GRAPHDR, SMALLEST, compute, extended
from graphdr.serve.learned import Learned, Prior
from graphdr.serve.lookup import Lookup
from graphdr.serve.playing import Playing
from graphdr.serve.records import Delta
from graphdr.serve.sources import Name, as_graph, checked_names, paired
from graphdr.serve.tuning import GRAPH, RIDGE, WIDE, bordered

OLD_FIT = (
    "GraphDRLinUCB.fit(source, k, …) will end with version 0.6: write "
    "GraphDRLinUCB(k, prior='ridge', intercept=False, ridge=…, radius=…).fit(source), or GraphDRLinUCB().fit(source), "
    "which finds its settings"
)
UNKNOWN = Prior(np.empty((0, 0)))  # while nothing was found


class _Fit:
    """``fit`` of an object is that of scikit-learn; up to version 0.4, ``fit`` of the class made an object."""

    def __get__(self, policy, owner):
        return owner._made if policy is None else policy._fit


class GraphDRLinUCB(Playing, BaseEstimator):
    """A bandit whose arms are the nodes of a graph: neighbours are expected to earn alike.

    The expected reward of arm i is taken as b + u_i^T w + e_i: a mean, a part on the k smoothest eigenvectors of the
    graph, and a part of the arm's own. By default the rewards themselves decide how large each part and the noise are
    (docs/graph_prior.md): nothing is to be set, and rewards may have any unit and any mean. With ``prior="ridge"`` it
    is LinUCB on the k features, which has no part of its own: with ridge and radius given, the paper's GraphDR.

    Parameters
    ----------
    k : int, default=20
        Features of an arm: at most so many, fewer on a small graph. The graph prior uses as many as help.
    basis : str, default="laplacian_low"
        What the features are: a basis of docs/bases.md, or "identity", where no arm says anything about another.
    prior : {"graph", "ridge"}, default="graph"
        How settings are found: part graph, part each arm alone, or ridge regression on the features.
    ridge : float, optional
        The ridge of ``prior="ridge"``; by default found from the rewards.
    radius : float, optional
        Widths added to an estimate, in units of the rewards; by default one standard deviation of their noise.
    laplacian : float, default=0.0
        A penalty on rough directions beside the ridge: V_0 = ridge I + laplacian L.
    intercept : bool, default=True
        Whether rewards have a mean of their own; without one, they should lie around zero.
    explore : "ucb", "ts" or float, default="ucb"
        Take the largest upper bound, or that of a draw from the posterior (Thompson sampling), or the largest upper
        bound but for this share of random rounds, whose propensities are then known.
    forget : float, default=1.0
        What is kept of old rewards with every new one. At 0.999, rewards are remembered for about 1,000 others.
    components, self_loops : str, default="refuse"
        What to do with several components ("largest", "keep") and with nodes joined to themselves ("keep").
    segments : mapping or matrix, optional
        A graph of user segments that share the policy: {name: {name: weight}} or a matrix of weights.
    coupling : float, default=1.0
        The weight of edges between segments, in that of edges between arms.
    random_state : int, Generator, RandomState or None, default=None
        The seed of what is random: first rounds, ``explore``, random bases.

    Attributes
    ----------
    names : list of str or int
        The arms.
    rounds : int
        How many rewards it was told.
    n_features_in_ : int
        The number of nodes that were fitted.

    See Also
    --------
    graphdr.GraphEmbedding : The features alone.
    graphdr.RoundLog : A log of rounds, for estimates of other policies.

    References
    ----------
    The paper of this package; the user guide, docs/serving.md; limits are stated there.

    Examples
    --------
    >>> ring = graphdr.from_edges({"source": list("abcdef"), "target": list("bcdefa")})
    >>> policy = graphdr.GraphDRLinUCB(random_state=0).fit(ring)
    >>> rates = {"a": 0.9, "b": 0.8, "c": 0.3, "d": 0.1, "e": 0.3, "f": 0.8}
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(400):
    ...     arm = policy.recommend(["c", "d", "e", "f"])
    ...     policy.update(arm, float(rng.random() < rates[arm]))
    >>> policy.recommend(["c", "d", "e", "f"])
    'f'
    >>> policy.recommend(["d", "a", "e"])  # never played; a neighbour of f
    'a'
    """

    fit = _Fit()

    def __init__(
        self,
        k: int = 20,
        *,
        basis: str = GRAPHDR,
        prior: str = GRAPH,
        ridge: float | None = None,
        radius: float | None = None,
        laplacian: float = 0.0,
        intercept: bool = True,
        explore: str | float = knobs.UCB,
        forget: float = 1.0,
        components: str = "refuse",
        self_loops: str = "refuse",
        segments: Mapping[Name, Mapping[Name, float]] | np.ndarray | None = None,
        coupling: float = 1.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ):
        self.k = k
        self.basis = basis
        self.prior = prior
        self.ridge = ridge
        self.radius = radius
        self.laplacian = laplacian
        self.intercept = intercept
        self.explore = explore
        self.forget = forget
        self.components = components
        self.self_loops = self_loops
        self.segments = segments
        self.coupling = coupling
        self.random_state = random_state

    def __setattr__(self, name: str, value: object) -> None:
        if name in knobs.BUILT and "_learned" in vars(self):
            super().__setattr__("_stale", name)
        super().__setattr__(name, value)
        if name in knobs.PLAYED and "_learned" in vars(self):
            knobs.check_played(self.radius, self.explore, self.forget)

    def _fit(self, X: object, y: None = None, *, names: Iterable[Name] | None = None) -> "GraphDRLinUCB":
        """Build a policy that knows nothing yet.

        Parameters
        ----------
        X : graph, matrix or table
            A graph of this package, networkx or igraph, a symmetric matrix of weights, or a table of edges;
            ``graphdr.from_interactions`` makes a graph of interactions.
        y : None
            Not used; scikit-learn passes it.
        names : iterable of str or int, optional
            Names of the nodes, in place of the source's own.

        Returns
        -------
        GraphDRLinUCB
            Itself.
        """
        self._check_knobs()
        graph, names = as_graph(X, names=names, components=self.components, self_loops=self.self_loops)
        self._rng = knobs.generator(self.random_state)
        self._build(graph, names)
        return self

    def refit(self, X: object, *, names: Iterable[Name] | None = None) -> "GraphDRLinUCB":
        """Take another graph, or other parameters, and keep what was learned about the arms that stay.

        An arm of the old graph that the new one lacks is gone, with its rewards. What contexts taught cannot be kept.
        """
        if "_learned" not in vars(self):
            self._check()
        self._check_knobs()
        old, rewards, rounds = self._arms, self._learned, self.rounds
        if rewards.context_v.any():
            raise ValueError("what contexts taught belongs to the old features: fit a new policy")
        graph, names = as_graph(X, names=names, components=self.components, self_loops=self.self_loops)
        self._build(graph, names)
        if old.segment and list(old.segment) != list(self._arms.segment):
            raise ValueError("a refitted policy has the segments that it had")
        for segment in old.segment or [None]:
            stay = [name for name in self._arms.names if name in old.place]
            there, here = old.places(stay, segment), self._arms.places(stay, segment)
            self._learned.pulls[here], self._learned.sums[here] = rewards.pulls[there], rewards.sums[there]
        self._learned.within, self.rounds = rewards.within, rounds
        self._learned.rebuild()
        self.tune()
        return self

    def _check_knobs(self) -> None:
        given = self.k, self.basis, self.prior, self.ridge, self.radius, self.laplacian, self.intercept
        knobs.check_built(*given)
        knobs.check_played(self.radius, self.explore, self.forget)

    def _build(self, graph: Graph, names: list[Name]) -> None:
        """Compute the features, and start with nothing learned."""
        self.n_features_in_ = graph.n
        segments: list[Name] = []
        if self.segments is not None:
            graph, segments = paired(graph, self.segments, self.coupling)
        self._values = self._degrees = None  # of a graph's eigenvectors, to add arms with
        features, roughness, v0_inverse = self._features(graph)
        ones = np.ones((graph.n, int(self.intercept)))
        rows = np.column_stack([ones, features])
        self._given, inverse = self._given_prior(features, v0_inverse)
        used = min(features.shape[1], COLUMNS[-1])
        part = rows[:, ones.shape[1] :][:, :used]
        self._columns = Columns(part, roughness[:used], np.einsum("ij,ij->j", part, part))
        start = UNKNOWN if self._tuned() else self._given
        self._arms, self._learned = Lookup(names, segments), Learned(rows, start, None if self._tuned() else inverse)
        self.rounds, self._due, self._next, self._ready = 0, 0, FIRST, not self._tuned()
        self._stale, self._frozen, self._base = "", False, None

    def _features(self, graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return features, the roughness of each, and the inverse of V_0 where a penalty makes it no multiple of I."""
        if self.basis == IDENTITY:
            return np.empty((graph.n, 0)), np.empty(0), None
        k = min(int(self.k), graph.n - 1)
        seeded = isinstance(self.random_state, int | np.integer)
        computed = compute(self.basis, graph, k + 1, self.random_state if seeded else int(self._rng.integers(2**31)))
        smoothness = model.laplacian(graph) if self.laplacian else None
        method = {"policy": "linucb", "filter": filters.CUT, "basis": self.basis, "laplacian": self.laplacian}
        chosen, v0_inverse, *_ = methods.arms(method, {"ridge": self.ridge}, computed, smoothness, k)  # as workflows do
        if self.basis == GRAPHDR and self.segments is None:
            self._values, self._degrees = computed.values[1 : k + 1], graph.adjacency.sum(axis=1)
        return chosen, arm_features.roughness(self.basis, computed.values, k)[: chosen.shape[1]], v0_inverse

    def _given_prior(
        self, features: np.ndarray, v0_inverse: np.ndarray | None
    ) -> tuple[Prior | None, np.ndarray | None]:
        """Return the prior of a given ridge, and the inverse of its precision."""
        if self.ridge is None:
            return None, None
        k = features.shape[1]
        residual = 0.0 if k else 1.0 / self.ridge  # full LinUCB
        inverse = np.eye(k) / self.ridge if v0_inverse is None else v0_inverse
        precision = self.ridge * np.eye(k) if v0_inverse is None else np.linalg.inv(v0_inverse)
        if self.intercept:
            precision, inverse = bordered(precision, WIDE), bordered(inverse, 1.0 / WIDE)
        return Prior(precision, residual), inverse

    @classmethod
    def _made(
        cls, source, k=None, *, names=None, basis=GRAPHDR, laplacian=0.0, ridge=None, radius=1.0, neighbours=10,
        components="refuse", segments=None, coupling=1.0, seed=0,
    ):  # fmt: skip
        """Make a policy as version 0.4 did."""
        warnings.warn(OLD_FIT, DeprecationWarning, stacklevel=2)
        graph, names = as_graph(source, names=names, components=components, neighbours=neighbours)
        full, nodes = basis == IDENTITY, graph.n if segments is None else graph.n * len(segments)
        if full and (k is not None or laplacian):
            raise ValueError("full LinUCB has neither k nor a Laplacian penalty")
        if not full and not (isinstance(k, int | np.integer) and 1 <= k < nodes):
            raise ValueError(f"k is a whole number from 1 to {nodes - 1}, not {k!r}")
        policy = cls(
            1 if full else int(k), basis=basis, prior=RIDGE, ridge=1.0 if ridge is None else ridge, radius=radius,
            laplacian=laplacian, intercept=False, segments=segments, coupling=coupling, random_state=seed,
        )  # fmt: skip
        policy._fit(graph)
        if ridge is None and not full:
            policy.ridge = float(np.sum(policy._learned.rows**2) / len(policy._learned.rows))
            policy._fit(graph)
        return policy

    # Arms

    @property
    def names(self) -> list[Name]:
        """The arms, in the order of their places."""
        arms = self._arms
        return [name for at, name in enumerate(arms.names) if at not in arms.removed] if arms.removed else [*arms.names]

    def __len__(self) -> int:
        return len(self._arms.place)

    def __contains__(self, name: object) -> bool:
        return name in self._arms.place

    def __sklearn_is_fitted__(self) -> bool:
        return "_learned" in vars(self)

    def add(self, edges: Mapping[Name, Mapping[Name, float]]) -> None:
        """Add arms, each with the weights of its edges to arms known by then; with a wrong one among them, none.

        Their features extend the eigenvectors from their neighbours'. What was learned and the features of the other
        arms stay as they are. Without edges, ``add({name: {}})``, an arm has a part of its own alone.
        """
        self._check_changes()
        if self._arms.segment:
            raise ValueError("arms cannot be added to a policy with segments: refit it, with the new ones")
        new = checked_names(edges)
        if taken := [name for name in new if name in self._arms.place]:
            raise ValueError(f"there is an arm {taken[0]!r} already")
        rows, first = np.ones((len(new), self._learned.rows.shape[1])), int(self.intercept)
        if self.basis != IDENTITY:
            joined = self._joined(new, list(edges.values()))
            grown, self._degrees = extended(self._learned.rows[:, first:], self._degrees, self._values, joined)
            rows[:, first:] = grown[-len(new) :] if new else grown[:0]
        self._learned.grow(rows)
        self._columns = self._columns._replace(features=self._learned.rows[:, first : first + len(self._columns.lengths)])
        self._arms.add(new)

    def _joined(self, new: list[Name], edges: list[Mapping[Name, float]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the places and weights that each new arm is joined to."""
        if self._values is None:
            raise ValueError(f"new arms need basis {GRAPHDR!r} or {IDENTITY!r}; this one is {self.basis!r}")
        if np.abs(1.0 - self._values).min() < SMALLEST and any(edges):
            raise ValueError(f"an eigenvalue is within {SMALLEST} of 1, where no arm can be joined: fit a smaller k")
        places, joined = dict(self._arms.place), []
        for name, neighbours in zip(new, edges, strict=True):
            if unknown := [other for other in neighbours if other not in places]:
                raise ValueError(f"new arm {name!r}: no arm {unknown[0]!r} to be joined to")
            weights = np.array(list(neighbours.values()), float)
            if not (np.isfinite(weights) & (weights > 0)).all() or (not len(weights) and self.prior == RIDGE):
                raise ValueError(f"new arm {name!r}: needs edges to known arms, of positive finite weight")
            joined.append((np.array([places[other] for other in neighbours], int), weights))
            places[name] = len(self._arms.names) + len(joined) - 1
        return joined

    def remove(self, names: Iterable[Name]) -> None:
        """Remove arms; what they taught about others stays."""
        self._check_changes()
        names = checked_names(names)
        if unknown := [name for name in names if name not in self._arms.place]:
            raise ValueError(f"no arm {unknown[0]!r}")
        self._arms.remove(names)

    def _check_changes(self) -> None:
        self._check()
        if self._frozen:
            raise ValueError("a snapshot does not change")

    # Copies

    def snapshot(self) -> "GraphDRLinUCB":
        """Return a copy that does not learn, for readers in other threads while one writer goes on."""
        other = self._copied()
        other._frozen = True
        return other

    def worker(self) -> "GraphDRLinUCB":
        """Return a copy that learns on its own, and whose ``delta`` this policy can ``merge``."""
        if self.forget < 1:
            raise ValueError("what a worker learned cannot be merged where rewards are forgotten: forget is below 1")
        other = self._copied()
        other._rng = self._rng.spawn(1)[0]
        other._base = other._copied()._learned, self.rounds
        return other

    def delta(self) -> Delta:
        """Return what a worker learned since it was made, or since the last time that it was asked."""
        if self._base is None:
            raise ValueError("only a worker has a delta: make one with worker()")
        (base, rounds), own, n = self._base, self._learned, len(self._arms.names)
        before = np.zeros((2, len(own.pulls)))
        before[:, : len(base.pulls)] = base.pulls, base.sums
        pulls = own.pulls - before[0]
        places = np.flatnonzero(pulls)
        segments = list(self._arms.segment) or [None]
        arms = [(segments[place // n], self._arms.names[place % n]) for place in places.tolist()]
        pulls, sums = pulls[places], (own.sums - before[1])[places]
        both = before[0][places] > 0
        apart = sums[both] / pulls[both] - (before[1] / np.maximum(before[0], 1e-300))[places][both]
        between = np.sum(before[0][places][both] * pulls[both] / own.pulls[places][both] * apart**2)
        contexts = own.context_v - base.context_v, own.context_right - base.context_right
        found = Delta(arms, pulls, sums, own.within - base.within - between, *contexts, self.rounds - rounds)
        self._base = self._copied()._learned, self.rounds
        return found

    def merge(self, *deltas: Delta) -> None:
        """Learn what workers learned; their arms must be known here."""
        self._check_changes()
        place = self._arms.place
        if unknown := [name for delta in deltas for _, name in delta.arms if name not in place]:
            raise ValueError(f"no arm {unknown[0]!r}")
        for delta in deltas:
            shift = [len(self._arms.names) * self._arms.segment.get(segment, 0) for segment, _ in delta.arms]
            places = np.array([place[name] for _, name in delta.arms], int) + np.array(shift, int)
            self._learned.add_rewards(places, delta.pulls, delta.sums, delta.within)
            self._learned.context_v += delta.context_v
            self._learned.context_right += delta.context_right
            self.rounds += delta.rounds
        if self._tuned() and self.rounds >= self._next:
            self.tune()
        elif self._ready:
            self._learned.rebuild()

    def _copied(self) -> "GraphDRLinUCB":
        """Copy all that changes; rows of features are never changed in place."""
        other = copy(self)
        for name, part in (("_learned", self._learned), ("_arms", self._arms), ("_rng", deepcopy(self._rng))):
            vars(other)[name] = copy(part)
        for name in ("pulls", "sums", "inverse", "mean", "context_v", "context_right"):
            setattr(other._learned, name, getattr(self._learned, name).copy())
        return other

    # Files

    def save(self, target: str | PathLike | IO[bytes]) -> None:
        """Write all that the policy is to one parquet file, atomically, or into an open file (needs pyarrow)."""
        from graphdr.serve import file

        self._check()
        file.save(self, target)

    @classmethod
    def load(cls, source: str | PathLike | IO[bytes]) -> "GraphDRLinUCB":
        """Read a policy that goes on exactly where the saved one stopped (needs pyarrow)."""
        from graphdr.serve import file

        return file.load(cls, source)
