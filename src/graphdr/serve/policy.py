"""A policy to serve: fit it to a graph, ask it for arms or contexts, tell it rewards, save it, and change its arms.

On settings that are given it plays exactly as ``linucb`` does in a simulation, and with settings found from the rewards
as ``run_graph_prior`` does. An object is for one thread at a time: nothing is locked. ``snapshot`` serves readers.
"""

from collections.abc import Iterable, Mapping
from copy import copy, deepcopy
from os import PathLike
from typing import IO

import numpy as np
from sklearn.base import BaseEstimator

from graphdr.bandit import methods
from graphdr.bandit.graph_prior.model import COLUMNS
from graphdr.bandit.graph_prior.play import FIRST
from graphdr.core.extras import needed_for
from graphdr.graphs import arm_features, filters, model
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.model import Graph
from graphdr.serve import knobs, merging, old, tuning
from graphdr.serve.basis import GRAPHDR, SMALLEST, Extender, compute
from graphdr.serve.learned import Learned, Prior
from graphdr.serve.lookup import Lookup
from graphdr.serve.playing import Playing
from graphdr.serve.records import Delta
from graphdr.serve.sources import Name, as_graph, checked_names, paired, weighted
from graphdr.serve.tables import as_numbers
from graphdr.serve.tuning import GRAPH, RIDGE, WIDE, bordered

UNKNOWN = Prior(np.empty((0, 0)))  # while nothing was found
Maybe = np.ndarray | None


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

    fit = old.Fit()

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
        if name in knobs.WATCHED and "_learned" in vars(self):
            if name in knobs.PLAYED:
                knobs.check_played(**{part: getattr(self, part) for part in knobs.SEEN} | {name: value})
            elif value is not getattr(self, name):
                self._stale = name
            if name == "radius" and self._given is not None:
                self._ready = value is not None or self._learned.noise is not None
        super().__setattr__(name, value)

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
        self._build(graph, names, knobs.generator(self.random_state))
        return self

    def refit(self, X: object, *, names: Iterable[Name] | None = None) -> "GraphDRLinUCB":
        """Take another graph, or other parameters, and keep what was learned about the arms that stay.

        An arm of the old graph that the new one lacks is gone, with its rewards. What contexts taught cannot be kept.
        """
        self._check_changes(stale=True)
        self._check_knobs()
        before, known = self._arms, self._learned
        if known.context_v.any() or known.context_right.any():
            raise ValueError("what contexts taught, or a policy saved by version 0.4, belongs to the old features")
        graph, names = as_graph(X, names=names, components=self.components, self_loops=self.self_loops)
        new = copy(self)  # a mistake below changes nothing
        new._build(graph, names, deepcopy(self._rng))
        if list(before.segment) != list(new._arms.segment):
            raise ValueError("a refitted policy has the segments that it had")
        stay = [name for name in new._arms.names if name in before.place]
        for segment in before.segment or [None]:
            there, here = before.places(stay, segment), new._arms.places(stay, segment)
            new._learned.pulls[here], new._learned.sums[here] = known.pulls[there], known.sums[there]
        # Squares within arms are not kept apart by arm: those that stay have their share by degrees of freedom.
        free, left = known.degrees_of_freedom, new._learned.degrees_of_freedom
        new._learned.within = known.within * (left / free if free else 1.0)
        new.rounds, new._due = self.rounds, self._due
        new._learned.rebuild()
        new.tune()
        vars(self).update(vars(new))
        return self

    def _check_knobs(self) -> None:
        knobs.check_built(self.k, self.basis, self.prior, self.ridge, self.laplacian, self.intercept)
        knobs.check_played(**{part: getattr(self, part) for part in knobs.SEEN})

    def _build(self, graph: Graph, names: list[Name], rng: np.random.Generator) -> None:
        """Compute the features, and start with nothing learned; nothing is set before all is known."""
        nodes = graph.n
        segments: list[Name] = []
        if self.segments is not None:
            graph, segments = paired(graph, self.segments, self.coupling)
        features, roughness, v0_inverse, values = self._features(graph, rng)
        first = int(self.intercept)
        given, inverse = self._given_prior(features.shape[1], v0_inverse)
        rows = np.column_stack([np.ones((graph.n, first)), features])
        learned = Learned(rows, UNKNOWN if given is None else given, inverse)
        vars(self).update(
            _arms=Lookup(names, segments), _learned=learned, _given=given, _rng=rng,
            _columns=tuning.columns(learned.rows, first, roughness[: COLUMNS[-1]]),
            _extender=None if values is None else Extender.of_fitted(features, values, graph.adjacency.sum(axis=1)),
            n_features_in_=nodes, rounds=0, _due=0, _next=FIRST, _ready=not self._tuned(),
            _stale="", _frozen=False, _start=None,
        )  # fmt: skip

    def _features(self, graph: Graph, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Maybe, Maybe]:
        """Return features and the roughness of each; where a penalty makes V_0 no multiple of I, its inverse; and the
        eigenvalues that features of new arms are found with.
        """
        if self.basis == IDENTITY:
            return np.empty((graph.n, 0)), np.empty(0), None, None
        k = min(int(self.k), graph.n - 1)
        seeded = isinstance(self.random_state, int | np.integer)
        computed = compute(self.basis, graph, k + 1, self.random_state if seeded else int(rng.integers(2**31)))
        smoothness = model.laplacian(graph) if self.laplacian else None
        method = {"policy": "linucb", "filter": filters.CUT, "basis": self.basis, "laplacian": self.laplacian}
        chosen, v0_inverse, *_ = methods.arms(method, {"ridge": self.ridge}, computed, smoothness, k)  # as workflows do
        values = computed.values[1 : k + 1] if self.basis == GRAPHDR and self.segments is None else None
        roughness = arm_features.roughness(self.basis, computed.values, k)[: chosen.shape[1]]
        return chosen, roughness, v0_inverse, values

    def _given_prior(self, k: int, v0_inverse: np.ndarray | None) -> tuple[Prior | None, np.ndarray | None]:
        """Return the prior of a given ridge on k features, and the inverse of its precision."""
        if self.ridge is None:
            return None, None
        residual = 0.0 if k else 1.0 / self.ridge  # full LinUCB
        inverse = np.eye(k) / self.ridge if v0_inverse is None else v0_inverse
        precision = self.ridge * np.eye(k) if v0_inverse is None else np.linalg.inv(v0_inverse)
        if self.intercept:
            precision, inverse = bordered(precision, WIDE), bordered(inverse, 1.0 / WIDE)
        return Prior(precision, residual), inverse

    # Arms

    @property
    def names(self) -> list[Name]:
        """The arms, in the order of their places."""
        self._check(stale=True)
        return [*self._arms.place]

    def __len__(self) -> int:
        self._check(stale=True)
        return len(self._arms.place)

    def __contains__(self, name: object) -> bool:
        self._check(stale=True)
        return name in self._arms.place

    def __sklearn_is_fitted__(self) -> bool:
        return "_learned" in vars(self)

    def add(self, edges: Mapping[Name, Mapping[Name, float] | Iterable[Name]]) -> None:
        """Add arms, each with the weights of its edges to arms known by then; with a wrong one among them, none.

        Their features extend the eigenvectors from their neighbours'. What was learned and the features of the other
        arms stay as they are. ``add({name: [neighbour, …]})`` stands for weights of one. Without edges,
        ``add({name: {}})``, an arm has a part of its own alone.
        """
        self._check_changes()
        if self._arms.segment:
            raise ValueError("arms cannot be added to a policy with segments: refit it, with the new ones")
        if not isinstance(edges, Mapping):
            raise ValueError(
                f"new arms are given with their neighbours, {{name: {{neighbour: weight}}}}, not as {edges!r}"
            )
        new = checked_names(edges)
        if taken := [name for name in new if name in self._arms.place]:
            raise ValueError(f"there is an arm {taken[0]!r} already")
        known, first = self._learned, int(self.intercept)
        rows = np.ones((len(new), known.rows.shape[1]))
        extender = self._extender
        if self.basis != IDENTITY:
            joined = self._joined(new, [weighted(*arm) for arm in edges.items()])
            grown, extender = extender.extended(known.rows[:, first:], joined)
            rows[:, first:] = grown[len(known.rows) :]
            if not (np.isfinite(rows).all() and np.isfinite(extender.degrees).all()):
                raise ValueError("new arms: the weights of their edges are too large for their features to be finite")
        known.grow(rows)
        self._extender = extender
        self._columns = tuning.columns(known.rows, first, self._columns.roughness)
        self._arms = self._arms.added(new)

    def _joined(self, new: list[Name], edges: list[Mapping[Name, float]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the places and weights that each new arm is joined to."""
        if self._extender is None:
            raise ValueError(f"new arms need basis {GRAPHDR!r} or {IDENTITY!r}; this one is {self.basis!r}")
        if np.abs(1.0 - self._extender.values).min() < SMALLEST and any(edges):
            raise ValueError(f"an eigenvalue is within {SMALLEST} of 1, where no arm can be joined: fit a smaller k")
        places, joined = dict(self._arms.place), []
        for name, neighbours in zip(new, edges, strict=True):
            if unknown := [other for other in neighbours if other not in places]:
                raise ValueError(f"new arm {name!r}: no arm {unknown[0]!r} to be joined to")
            weights = as_numbers(list(neighbours.values()))
            if not (np.isfinite(weights) & (weights > 0)).all() or (not len(weights) and self.prior == RIDGE):
                raise ValueError(f"new arm {name!r}: needs edges to known arms, of positive finite weight")
            joined.append((np.array([places[other] for other in neighbours], int), weights))
            places[name] = len(self._arms.names) + len(joined) - 1
        return joined

    def remove(self, names: Iterable[Name]) -> None:
        """Remove arms and free their rows; what they taught about others stays."""
        self._check_changes()
        names = [*dict.fromkeys(checked_names(names))]
        if unknown := [name for name in names if name not in self._arms.place]:
            raise ValueError(f"no arm {unknown[0]!r}")
        untold = () if self._start is None else (*self._start.deltas, self._since_start())
        rows = self._arms.rows_of(names)
        self._learned.retire(rows)
        self._arms = self._arms.without(names)
        self._extender = None if self._extender is None else self._extender.without(rows)
        self._columns = tuning.columns(self._learned.rows, int(self.intercept), self._columns.roughness)
        if self._start is not None:
            self._start = merging.Start(self._learned.copied(), self.rounds, untold)

    # Copies

    def snapshot(self) -> "GraphDRLinUCB":
        """Return a copy that does not learn, for readers in other threads while one writer goes on."""
        other = self._copied()
        other._rng, other._frozen = knobs.offspring(self._rng), True
        return other

    def worker(self) -> "GraphDRLinUCB":
        """Return a copy that learns on its own, and whose ``delta`` this policy can ``merge``."""
        self._check_changes()
        if self.forget < 1:
            raise ValueError(merging.KEPT)
        other = self._copied()
        other._rng, other._start = knobs.offspring(self._rng), merging.Start(self._learned.copied(), self.rounds)
        return other

    def delta(self) -> Delta:
        """Return what a worker learned since it was made, or since the last time that it was asked."""
        self._check()
        if self._start is None:
            raise ValueError("only a worker has a delta: make one with worker()")
        if self.forget < 1:
            raise ValueError(merging.KEPT)
        learned = merging.joined([*self._start.deltas, self._since_start()])
        self._start = merging.Start(self._learned.copied(), self.rounds)
        return learned

    def _since_start(self) -> Delta:
        return merging.learned_since(self._start, self._learned, self._arms, self.rounds)

    def merge(self, *deltas: Delta, unknown: str = "raise") -> None:
        """Learn what workers learned; their arms must be known here; with a wrong one among them, nothing.

        With ``unknown="ignore"``, what workers learned of arms that are not there, such as removed ones, is skipped.
        """
        self._check_changes()
        knobs.check_unknown(unknown)
        merging.check(deltas, self._learned, self._arms, unknown)
        for delta in deltas:
            known = merging.of_known(delta, self._arms)
            merging.add(known, self._learned, self._arms)
            self.rounds += known.rounds
        self._learned.rebuild()
        if self._tuned() and self.rounds >= self._next:
            self.tune()

    # Files

    def save(self, target: str | PathLike | IO[bytes]) -> None:
        """Write all that the policy is to one parquet file, atomically, or into an open file (needs pyarrow)."""
        with needed_for("saving a policy"):
            from graphdr.serve import file

        self._check()
        file.save(self, target)

    @classmethod
    def load(cls, source: str | PathLike | IO[bytes]) -> "GraphDRLinUCB":
        """Read a policy that goes on exactly where the saved one stopped (needs pyarrow)."""
        with needed_for("loading a policy"):
            from graphdr.serve import file

        return file.load(cls, source)
