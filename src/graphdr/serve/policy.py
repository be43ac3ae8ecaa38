"""A policy to serve: fit it to a graph, ask it for arms, tell it rewards, save it, and add arms later.

It plays exactly as ``linucb`` does in a simulation. An object is for one thread at a time: nothing is locked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.bandit import methods
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, bases, from_data, model, spectral
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.model import Graph
from graphdr.graphs.records import Records
from graphdr.serve import file
from graphdr.serve.state import OneHot, Projected, extended

Name, State = str | int, Projected | OneHot
GRAPHDR = "laplacian_low"
SERVED = (IDENTITY, *(name for name in bases.BASES if name not in bases.FROM_DATA))
SMALLEST = 1e-3  # of |1 - eigenvalue|: the extension divides by it, and with it grows every error of a new arm
CONNECTED = 0.9  # share of the items that the largest component has at least: nobody should lose more unawares
ASYMMETRY = 1e-9  # that an adjacency matrix may have, in parts of its sum


@dataclass(slots=True, eq=False)
class Candidates:
    """Arms of one policy, looked up once: where the same candidates are offered again, this spares their names."""

    owner: dict
    places: np.ndarray

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
    """

    def __init__(self, names: Iterable[Name], state: State, settings: Mapping, spectrum=(None, None), rounds: int = 0):
        self._names = _checked_names(names)
        self._place = {name: place for place, name in enumerate(self._names)}
        if len(self._place) < len(self._names):
            raise ValueError("two arms have the same name")
        self._numbered = self._names == list(range(len(self._names)))
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
        seed: int = 0,
    ) -> "GraphDRLinUCB":
        """Build a policy that knows nothing yet: score = estimate + radius * width, V_0 = ridge I + laplacian L.

        ``source`` is a connected ``Graph``, a symmetric adjacency matrix, or interactions: arrays (who, item) or
        (who, item, weight). Of these, each item is joined to its nearest ``neighbours`` by cosine, and those in the
        largest component, nine in ten or more, are arms. ``names`` are the nodes' names; by default a graph's origin,
        a matrix's row numbers, the items. With basis "identity" it is full LinUCB, without k. ``ridge`` is by default
        the mean squared length of the features (k/n, in full LinUCB 1): without a penalty, the mean squared width is
        one before the first round. ``seed`` is that of random bases.
        """
        graph, node_names = _as_graph(source, neighbours)
        names = _checked_names(node_names if names is None else names)
        if len(names) != graph.n:
            raise ValueError(f"{len(names)} names for a graph of {graph.n} nodes")
        _check_knobs(graph.n, k, basis, laplacian, ridge, radius)
        settings = {"basis": basis, "k": k, "laplacian": float(laplacian), "radius": float(radius)}
        if basis == IDENTITY:
            settings["ridge"] = 1.0 if ridge is None else float(ridge)
            return cls(names, OneHot(np.full(graph.n, settings["ridge"])), settings)
        settings["k"] = k = int(k)
        low = spectral.low_eigenpairs(graph, k + 1) if basis in bases.FROM_LOW else None
        rng = stream(seed, "served basis", basis=basis)
        vectors, values, _ = bases.BASES[basis](bases.Source(graph.n, graph, low), k + 1, rng)
        length = np.sum(arm_features.select(basis, vectors, k) ** 2) / graph.n
        settings["ridge"] = float(length if ridge is None else ridge)
        smoothness = model.laplacian(graph) if laplacian else None
        chosen, v0_inverse = methods.arms(settings, settings, vectors, smoothness, k)  # as the workflow does
        if chosen.shape[1] < k:
            raise ValueError(f"basis {basis!r} of this graph has {chosen.shape[1]} columns, fewer than k")
        state = Projected(chosen, np.eye(k) / settings["ridge"] if v0_inverse is None else v0_inverse)
        spectrum = (values[1 : k + 1], graph.adjacency.sum(axis=1)) if basis == GRAPHDR else (None, None)
        return cls(names, state, settings, spectrum)

    @property
    def names(self) -> list[Name]:
        """The arms, in the order of their places."""
        return list(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._place

    def candidates(self, names: Iterable[Name]) -> Candidates:
        """Look up arms once, to offer them many times; arms added later do not change what this holds."""
        return Candidates(self._place, self._places(names))

    def recommend(self, candidates: "Iterable[Name] | Candidates") -> Name:
        """Return the candidate of the largest score, the first of them on a tie."""
        places = self._offered(candidates)
        starts = np.array([0, len(places)])
        return self._names[self.state.choose(places, starts, self.settings["radius"])[0]]

    def recommend_many(self, sets: "Iterable[Iterable[Name] | Candidates]") -> list[Name]:
        """Return the best of every candidate set, as far as is known now."""
        places = [self._offered(candidates) for candidates in sets]
        if not places:
            return []
        starts = np.concatenate([[0], np.cumsum([*map(len, places)])])
        chosen = self.state.choose(np.concatenate(places), starts, self.settings["radius"])
        return [self._names[place] for place in chosen]

    def update(self, arm: Name, reward: float) -> None:
        """Learn the reward of an arm, whether recommended or not, now or long ago."""
        self.update_many((arm,), (reward,))

    def update_many(self, arms: "Iterable[Name] | Candidates", rewards: Sequence[float]) -> None:
        """Learn many rewards, in their order; with a wrong one among them, none."""
        places = self._places(arms)
        rewards = np.atleast_1d(np.asarray(rewards, float))
        if rewards.shape != places.shape:
            raise ValueError(f"{len(places)} arms, but rewards of shape {rewards.shape}")
        if not np.isfinite(rewards).all():
            raise ValueError(f"a reward is {rewards[~np.isfinite(rewards)][0]}; rewards are finite numbers")
        self.state.learn(places, rewards)
        self.rounds += len(rewards)

    def expect(self, arms: "Iterable[Name] | Candidates") -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of every arm and its width, before the radius is applied."""
        return self.state.expect(self._places(arms))

    def add(self, edges: Mapping[Name, Mapping[Name, float]]) -> None:
        """Add arms, each with the weights of its edges to arms known by then; with a wrong one among them, none.

        Their features extend the eigenvectors from their neighbours' (``serve.state.extended``). What was learned and
        the features of the other arms stay as they are. Full LinUCB needs no edges: ``add({name: {}})``.
        """
        new = _checked_names(edges)
        if taken := [name for name in new if name in self._place]:
            raise ValueError(f"there is an arm {taken[0]!r} already")
        n = len(self)
        if isinstance(self.state, OneHot):
            ridge = np.full(len(new), self.settings["ridge"])
            self.state = OneHot(np.append(self.state.weight, ridge), np.append(self.state.total, 0.0 * ridge))
        else:
            joined = self._joined(new, list(edges.values()))
            grown, self._degrees = extended(self.state.features, self._degrees, self._values, joined)
            self.state = Projected(grown, self.state.v_inverse, self.state.estimate)
        self._names += new
        self._place.update(zip(new, range(n, n + len(new)), strict=True))
        self._numbered = self._numbered and new == list(range(n, n + len(new)))

    def _joined(self, new: list[Name], edges: list[Mapping[Name, float]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the places and weights that each new arm is joined to."""
        if self._values is None:
            raise ValueError(f"new arms need basis {GRAPHDR!r} or {IDENTITY!r}; this one is {self.settings['basis']!r}")
        if np.abs(1.0 - self._values).min() < SMALLEST:
            raise ValueError(f"an eigenvalue is within {SMALLEST} of 1, where no arm can be added: fit a smaller k")
        places, joined = dict(self._place), []
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
        file.write(path, self.settings | {"rounds": self.rounds}, self._names, vars(self.state) | graph)

    @classmethod
    def load(cls, path: str) -> "GraphDRLinUCB":
        """Read a policy that goes on exactly where the saved one stopped."""
        settings, names, arrays = file.read(path)
        rounds, spectrum = settings.pop("rounds"), (arrays.pop("eigenvalues", None), arrays.pop("degrees", None))
        state = (OneHot if settings["basis"] == IDENTITY else Projected)(**arrays)
        return cls(names, state, settings, spectrum, rounds)

    def _offered(self, candidates: "Iterable[Name] | Candidates") -> np.ndarray:
        """Return where candidates are; refuse a set without any."""
        places = self._places(candidates)
        if not len(places):
            raise ValueError("no candidates: at least one arm is needed")
        return places

    def _places(self, arms: "Iterable[Name] | Candidates") -> np.ndarray:
        """Return where arms are; refuse unknown ones."""
        if isinstance(arms, Candidates):
            if arms.owner is not self._place:
                raise ValueError("these candidates were looked up in another policy")
            return arms.places
        if isinstance(arms, np.ndarray):
            if self._numbered and arms.dtype.kind in "iu" and arms.size and arms.ndim == 1:
                if arms.min() < 0 or arms.max() >= len(self):
                    raise ValueError(f"no arm {int(arms[(arms < 0) | (arms >= len(self))][0])}")
                return np.array(arms, np.uint32)  # a copy: nobody may change it after the check
            arms = arms.tolist()  # names of Python's own types are found faster
        try:
            return np.array([*map(self._place.__getitem__, arms)], np.uint32)
        except KeyError as unknown:
            raise ValueError(f"no arm {unknown.args[0]!r}") from None
        except TypeError:
            raise ValueError(f"arms are given as a sequence of their names, not as {arms!r}") from None


def _checked_names(names: Iterable[Name]) -> list[Name]:
    """Return names as Python's own texts and whole numbers."""
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if wrong := [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]:
        raise ValueError(f"an arm's name is a text or a whole number, not {wrong[0]!r}")
    return names


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


def _as_graph(source, neighbours: int) -> tuple[Graph, Iterable[Name]]:
    """Return a graph, or that of an adjacency matrix or of interactions, and the names of its nodes."""
    if isinstance(source, tuple) and not isinstance(source, Graph):
        return _similarity_graph(*source, neighbours=neighbours)
    if isinstance(source, Graph):
        graph = source
    else:
        matrix = sp.csr_array(source, dtype=float)
        graph = Graph(matrix, np.arange(matrix.shape[0]))
    adjacency = graph.adjacency
    if not (np.isfinite(adjacency.data) & (adjacency.data >= 0)).all():
        raise ValueError("the weights of edges are finite and not negative")
    if adjacency.shape[0] != adjacency.shape[1] or abs(adjacency - adjacency.T).sum() > ASYMMETRY * adjacency.sum():
        raise ValueError("an adjacency matrix is square and symmetric")
    if (count := connected_components(adjacency, directed=False)[0]) != 1:
        raise ValueError(f"the graph has {count} components; take graphdr.largest_component, and add the rest later")
    return graph, graph.origin


def _similarity_graph(who, item, weight=None, *, neighbours: int) -> tuple[Graph, np.ndarray]:
    """Join every item to its nearest by cosine over who met it, and take the largest component."""
    who, item = np.asarray(who), np.asarray(item)
    weight = np.ones(len(item)) if weight is None else np.asarray(weight, float)
    if not (who.ndim == 1 and who.shape == item.shape == weight.shape and len(item)):
        raise ValueError("interactions are arrays of one length: who, item and, if wanted, weight")
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("the weights of interactions are finite and positive")
    items, node, count = np.unique(item, return_inverse=True, return_counts=True)
    records = Records(np.unique(who, return_inverse=True)[1], node, weight, count)
    graph = from_data.knn(len(items), records, neighbours=neighbours)
    if graph.n < CONNECTED * len(items):
        raise ValueError(f"of {len(items)} items only {graph.n} are connected; take more neighbours than {neighbours}")
    return graph, items[graph.origin]
