"""A policy to serve: fit it to a graph, ask it for arms or contexts, tell it rewards, save it, and add arms later.

It plays exactly as ``linucb`` does in a simulation. An object is for one thread at a time: nothing is locked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graphdr.bandit import methods
from graphdr.graphs import arm_features, filters, model
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.model import Graph
from graphdr.serve import file
from graphdr.serve.basis import GRAPHDR, SMALLEST, compute
from graphdr.serve.basis import SERVED as basis_names
from graphdr.serve.lookup import Lookup, Segment, Vectors, for_each
from graphdr.serve.sources import Name, as_graph, checked_names, paired
from graphdr.serve.state import OneHot, Projected, extended, project

State = Projected | OneHot
SERVED = (IDENTITY, *basis_names)
ONE_OF_TWO = "arms are given by name or as vectors: one of the two"


@dataclass(slots=True, eq=False)
class Candidates:
    """Arms or contexts of one policy, looked up once: where they are offered again, this spares names and products.

    Contexts are at places 0, 1, … and have features of their own; those of arms are the state's.
    """

    owner: Lookup
    places: np.ndarray
    features: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.places)


class GraphDRLinUCB:
    """LinUCB on the smoothest eigenvectors of a graph whose nodes are the arms, or a sibling with other knobs.

    Make one with ``fit`` or ``load``. ``state`` holds what was learned, ``settings`` the knobs, ``rounds`` how many
    rewards it was told so far. docs/serving.md has a longer example, and the limits.

    >>> ring = graphdr.from_edges(6, range(6), [1, 2, 3, 4, 5, 0])
    >>> policy = graphdr.GraphDRLinUCB.fit(ring, k=2, names=list("abcdef"))
    >>> for _ in range(20):
    ...     policy.update("a", 1.0)
    >>> policy.recommend(["d", "b"])  # b is a neighbour of a
    'b'
    >>> policy.recommend(vectors=[{"d": 1.0}, {"a": 0.5, "b": 0.5}])  # the second of two contexts
    1
    """

    def __init__(self, names: Iterable[Name], state: State, settings: Mapping, spectrum=(None, None), rounds: int = 0):
        self._arms = Lookup(names, settings.get("segments", ()))
        self.state, self.settings, self.rounds = state, dict(settings), rounds
        self._values, self._degrees = spectrum  # of a graph's eigenvectors, to add arms with

    @classmethod
    def fit(
        cls,
        source: Graph | sp.sparray | sp.spmatrix | tuple,
        k: int | None = None,
        *,
        names: Sequence[Name] | None = None,
        basis: str = GRAPHDR,
        laplacian: float = 0.0,
        ridge: float | None = None,
        radius: float = 1.0,
        neighbours: int = 10,
        components: str = "refuse",
        segments: Mapping[Name, Mapping[Name, float]] | np.ndarray | None = None,
        coupling: float = 1.0,
        seed: int = 0,
    ) -> "GraphDRLinUCB":
        """Build a policy that knows nothing yet: score = estimate + radius * width, V_0 = ridge I + laplacian L.

        ``source`` is a graph of this package, networkx or igraph, a symmetric adjacency matrix, or a table of edges;
        ``graphdr.from_interactions`` makes a graph of interactions. ``components`` says what becomes of several: they
        are refused, "largest" takes one, "keep" all. ``names`` are the nodes' names; by default the source's own, or
        the row numbers of a matrix. A tuple (who, item, weight) with ``neighbours`` is out of use. With basis
        "identity" it is full LinUCB, without k. ``ridge`` is by default the mean squared length of the features (k/n,
        in full LinUCB 1): without a penalty, the mean squared width is one before the first round. ``segments`` of
        users, {name: {name: weight}} or a matrix of weights between segments 0, 1, …, share the policy: it is then
        fitted to pairs of a segment and an arm (``graphdr.product`` with this ``coupling``), and every call says which
        segment it is about. ``seed`` is that of random bases.
        """
        graph, names = as_graph(source, names=names, components=components, neighbours=neighbours)
        settings = {"basis": basis, "k": k, "laplacian": float(laplacian), "radius": float(radius)}
        if segments is not None:
            graph, settings["segments"] = paired(graph, segments, coupling)
            settings["coupling"] = float(coupling)
        _check_knobs(graph.n, k, basis, laplacian, ridge, radius)
        if basis == IDENTITY:
            settings["ridge"] = 1.0 if ridge is None else float(ridge)
            return cls(names, OneHot(np.full(graph.n, settings["ridge"])), settings)
        settings["k"] = k = int(k)
        computed = compute(basis, graph, k + 1, seed)
        length = np.sum(arm_features.select(basis, computed.vectors, k) ** 2) / graph.n
        settings["ridge"] = float(length if ridge is None else ridge)
        smoothness = model.laplacian(graph) if laplacian else None
        method = settings | {"policy": "linucb", "filter": filters.CUT}
        chosen, v0_inverse, *_ = methods.arms(method, settings, computed, smoothness, k)  # as the workflow does
        if chosen.shape[1] < k:
            raise ValueError(f"basis {basis!r} of this graph has {chosen.shape[1]} columns, fewer than k")
        state = Projected(chosen, np.eye(k) / settings["ridge"] if v0_inverse is None else v0_inverse)
        extensible = basis == GRAPHDR and segments is None
        spectrum = (computed.values[1 : k + 1], graph.adjacency.sum(axis=1)) if extensible else (None, None)
        return cls(names, state, settings, spectrum)

    @property
    def names(self) -> list[Name]:
        """The arms, in the order of their places."""
        return list(self._arms.names)

    def __len__(self) -> int:
        return len(self._arms.names)

    def __contains__(self, name: object) -> bool:
        return name in self._arms.place

    def candidates(
        self, names: Iterable[Name] | None = None, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> Candidates:
        """Look up arms or contexts once, to offer them many times; arms added later do not change what this holds."""
        return self._look_up(names, vectors, segment)

    def recommend(
        self,
        candidates: Iterable[Name] | Candidates | None = None,
        *,
        vectors: Vectors | None = None,
        segment: Segment = None,
    ) -> Name | int:
        """Return the candidate of the largest score, the first of them on a tie.

        Candidates are arms, by name, or contexts: ``vectors`` over the arms, which are the rows of a sparse or dense
        matrix in the order of ``names``, or mappings such as {"film 3": 0.5, "film 9": 0.5}. The best of them is
        returned as its row number. ``segment`` is the one that asks, if the policy has segments.
        """
        offer = self._offered(candidates, vectors, segment)
        starts = np.array([0, len(offer)])
        place = int(self._state(offer).choose(offer.places, starts, self.settings["radius"])[0])
        return place if offer.features is not None else self._arms.names[place % len(self)]

    def recommend_many(
        self,
        sets: Iterable[Iterable[Name] | Candidates] | None = None,
        *,
        vectors: Iterable[Vectors] | None = None,
        segment: Segment = None,
    ) -> list[Name | int]:
        """Return the best of every candidate set, as far as is known now; ``segment`` is one for all, or one each."""
        if (sets is None) == (vectors is None):
            raise ValueError(ONE_OF_TWO)
        given = [(own, None) for own in sets] if vectors is None else [(None, own) for own in vectors]
        offers = [self._offered(*own, of) for own, of in zip(given, for_each(segment, len(given)), strict=True)]
        if not offers:
            return []
        if any(offer.features is not None for offer in offers):
            return [self.recommend(offer) for offer in offers]
        starts = np.concatenate([[0], np.cumsum([*map(len, offers)])])
        places = np.concatenate([offer.places for offer in offers])
        chosen = self.state.choose(places, starts, self.settings["radius"])
        return [self._arms.names[place % len(self)] for place in chosen.tolist()]

    def update(
        self,
        arm: Name | None = None,
        reward: float = np.nan,
        *,
        vector: Vectors | Mapping[Name, float] | None = None,
        segment: Name | None = None,
    ) -> None:
        """Learn the reward of an arm or a context, whether recommended or not, now or long ago."""
        self.update_many(None if arm is None else (arm,), (reward,), vectors=vector, segment=segment)

    def update_many(
        self,
        arms: Iterable[Name] | Candidates | None = None,
        rewards: Sequence[float] = (),
        *,
        vectors: Vectors | None = None,
        segment: Segment = None,
    ) -> None:
        """Learn many rewards, in their order; with a wrong one among them, none."""
        offer = self._look_up(arms, vectors, segment)
        rewards = np.atleast_1d(np.asarray(rewards, float))
        if rewards.shape != offer.places.shape:
            what = "arms" if offer.features is None else "vectors"
            raise ValueError(f"{len(offer)} {what}, but rewards of shape {rewards.shape}")
        if not np.isfinite(rewards).all():
            raise ValueError(f"a reward is {rewards[~np.isfinite(rewards)][0]}; rewards are finite numbers")
        self._state(offer).learn(offer.places, rewards)
        self.rounds += len(rewards)

    def expect(
        self,
        arms: Iterable[Name] | Candidates | None = None,
        *,
        vectors: Vectors | None = None,
        segment: Segment = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of every arm or context and its width, before the radius is applied."""
        offer = self._look_up(arms, vectors, segment)
        return self._state(offer).expect(offer.places)

    def add(self, edges: Mapping[Name, Mapping[Name, float]]) -> None:
        """Add arms, each with the weights of its edges to arms known by then; with a wrong one among them, none.

        Their features extend the eigenvectors from their neighbours' (``serve.state.extended``). What was learned and
        the features of the other arms stay as they are. Full LinUCB needs no edges: ``add({name: {}})``.
        """
        if self._arms.segment:
            raise ValueError("arms cannot be added to a policy with segments: fit it again, with the new ones")
        new = checked_names(edges)
        if taken := [name for name in new if name in self._arms.place]:
            raise ValueError(f"there is an arm {taken[0]!r} already")
        if isinstance(self.state, OneHot):
            ridge = np.full(len(new), self.settings["ridge"])
            self.state = OneHot(np.append(self.state.weight, ridge), np.append(self.state.total, 0.0 * ridge))
        else:
            joined = self._joined(new, list(edges.values()))
            grown, self._degrees = extended(self.state.features, self._degrees, self._values, joined)
            self.state = Projected(grown, self.state.v_inverse, self.state.estimate)
        self._arms.add(new)

    def _joined(self, new: list[Name], edges: list[Mapping[Name, float]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the places and weights that each new arm is joined to."""
        if self._values is None:
            raise ValueError(f"new arms need basis {GRAPHDR!r} or {IDENTITY!r}; this one is {self.settings['basis']!r}")
        if np.abs(1.0 - self._values).min() < SMALLEST:
            raise ValueError(f"an eigenvalue is within {SMALLEST} of 1, where no arm can be added: fit a smaller k")
        places, joined = dict(self._arms.place), []
        for name, neighbours in zip(new, edges, strict=True):
            if unknown := [other for other in neighbours if other not in places]:
                raise ValueError(f"new arm {name!r}: no arm {unknown[0]!r} to be joined to")
            weights = np.array(list(neighbours.values()), float)
            if not len(weights) or not (np.isfinite(weights) & (weights > 0)).all():
                raise ValueError(f"new arm {name!r}: needs edges to known arms, of positive finite weight")
            joined.append((np.array([places[other] for other in neighbours]), weights))
            places[name] = len(places)
        return joined

    def save(self, path: str) -> None:
        """Write all that the policy is to one parquet file, atomically; the file may be moved and copied."""
        graph = {} if self._values is None else {"eigenvalues": self._values, "degrees": self._degrees}
        file.write(path, self.settings | {"rounds": self.rounds}, self._arms.names, vars(self.state) | graph)

    @classmethod
    def load(cls, path: str) -> "GraphDRLinUCB":
        """Read a policy that goes on exactly where the saved one stopped."""
        settings, names, arrays = file.read(path)
        rounds, spectrum = settings.pop("rounds"), (arrays.pop("eigenvalues", None), arrays.pop("degrees", None))
        state = (OneHot if settings["basis"] == IDENTITY else Projected)(**arrays)
        return cls(names, state, settings, spectrum, rounds)

    def _offered(self, arms, vectors=None, segment: Segment = None) -> Candidates:
        """Look up candidates; refuse a set without any."""
        offer = self._look_up(arms, vectors, segment)
        if not len(offer):
            raise ValueError("no candidates: at least one arm is needed")
        return offer

    def _look_up(self, arms, vectors=None, segment: Segment = None) -> Candidates:
        """Return where arms are, or the features of contexts, unless that was looked up before."""
        if (arms is None) == (vectors is None):
            raise ValueError(ONE_OF_TWO)
        if isinstance(arms, Candidates):
            if arms.owner is not self._arms:
                raise ValueError("these candidates were looked up in another policy")
            if segment is not None:
                raise ValueError("candidates that were looked up before have their segment already")
            return arms
        if vectors is None:
            return Candidates(self._arms, self._arms.places(arms, segment))
        if isinstance(self.state, OneHot):
            raise ValueError("full LinUCB knows arms one by one and takes no vectors: fit a policy with k features")
        features = project(self._arms.rows(vectors, segment), self.state.features)
        return Candidates(self._arms, np.arange(len(features), dtype=np.uint32), features)

    def _state(self, offer: Candidates) -> State:
        """Return the state that the candidates' places belong to."""
        return self.state if offer.features is None else self.state.over(offer.features)


def _check_knobs(n: int, k: int | None, basis: str, laplacian: float, ridge: float | None, radius: float) -> None:
    if basis not in SERVED:
        raise ValueError(f"no basis {basis!r}; there are: {', '.join(SERVED)}")
    if basis == IDENTITY and (k is not None or laplacian):
        raise ValueError("full LinUCB has neither k nor a Laplacian penalty")
    if basis != IDENTITY and not (isinstance(k, int | np.integer) and 1 <= k < n):
        raise ValueError(f"k is a whole number from 1 to {n - 1}, not {k!r}")
    if not (np.isfinite(laplacian) and laplacian >= 0 and np.isfinite(radius) and radius >= 0):
        raise ValueError(f"laplacian and radius are finite and not negative, not {laplacian} and {radius}")
    if ridge is not None and not (np.isfinite(ridge) and ridge > 0):
        raise ValueError(f"ridge is finite and positive, not {ridge}")
