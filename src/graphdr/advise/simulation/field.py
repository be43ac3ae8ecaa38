"""Who plays: methods with and without the graph, the settings that each may be given, and controls of a method."""

import tomllib
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphdr.advise.simulation.worlds import COMPONENTS, World
from graphdr.bandit import linucb
from graphdr.bandit.environment import Stream
from graphdr.graphs import arm_features, bases
from graphdr.graphs.arm_features import Basis
from graphdr.serve.basis import low_eigenpairs_of_parts

SHARE = 4  # items for each column of a basis, at least
WIDTHS = (0.3, 1.0, 3.0)  # in standard deviations of the noise
RIDGES = (0.1, 1.0)
DIMENSIONS = (5, 10, 20, 40)
TUNED = ("linucb", "thompson")
RANDOM, FULL = "random", "full"  # names of methods
GRAPH = "laplacian_low"  # the basis that a first look asks about
SHUFFLED, LENGTH, LONGEST = "shuffled", "length", "longest"  # controls, and what they are called
CONTROL_LABELS = {SHUFFLED: "{} on a shuffled graph", LENGTH: "{} with row lengths alone", LONGEST: "the longest row"}


class Method(NamedTuple):
    """A method: how it learns, the basis that describes the items (None: each is itself), and one beside it."""

    label: str
    policy: str
    basis: str | None = None
    beside: str | None = None
    needs: str | None = None  # what the user must bring besides what its bases are made of

    @property
    def sees_graph(self) -> bool:
        """Tell whether the edges of the graph matter to it."""
        return any(basis is not None and original(basis) in bases.FROM_GRAPH for basis in (self.basis, self.beside))


class Settings(NamedTuple):
    """What a method is told: columns of its basis, the width in standard deviations of the noise, and the ridge."""

    k: int | None = None
    width: float | None = None
    ridge: float | None = None


def original(basis: str) -> str:
    """Return the stored basis that a basis, or a control of one, is made of."""
    return bases.stored(arm_features.CONTROLS.get(basis, basis))


FIELD = {
    name: Method(**entry)
    for name, entry in tomllib.loads((Path(__file__).parent / "field.toml").read_text(encoding="utf-8")).items()
}
NEEDED = {"content_pca": "content", "interaction_svd": "ratings"}  # what of a world a basis is computed from


def present(world: World) -> dict[str, Method]:
    """Return the methods that this world has data for."""
    missing = {basis for basis, part in NEEDED.items() if getattr(world, part) is None}
    missing |= set() if world.described else {"features"}
    return {name: method for name, method in FIELD.items() if not missing & {method.basis, method.beside, method.needs}}


def columns(n: int) -> int:
    """Return how many columns of a basis are computed for n items."""
    return min(COMPONENTS, max(n // SHARE, 2))


def grid(method: Method, n: int) -> list[Settings]:
    """Return the settings that a method may be given on n items: one where it finds them by itself."""
    if method.policy not in TUNED:
        return [Settings()]
    dimensions = (None,) if method.basis is None else [k for k in DIMENSIONS if k < columns(n)] or [1]
    return [Settings(*values) for values in product(dimensions, WIDTHS, RIDGES)]


def control(method: Method, kind: dict[str, str]) -> Method:
    """Return a control of a method: its graph's columns given to other items, or rows of the same lengths elsewhere."""
    (name,) = (control for control, basis in kind.items() if basis == method.basis)
    return method._replace(basis=name)


def compute_basis(name: str, world: World, rng: np.random.Generator) -> Basis:
    """Compute one basis of a world, or a control of it; in several components as a served policy does."""
    graph, embedding = world.graph, getattr(world, NEEDED[name]) if name in NEEDED else None
    source, count = bases.Source(graph.n, graph, embedding=embedding), columns(graph.n)
    if original(name) == GRAPH and (parts := connected_components(graph.adjacency, directed=False))[0] > 1:
        low = low_eigenpairs_of_parts(graph, parts[1], count)
        return low if name == GRAPH else bases.BASES[name](source._replace(original=low), count, rng)
    return bases.compute(name, source, count, rng)


def play(
    method: Method, given: Settings, world: World, basis: Basis | None, beside: Basis | None, stream: Stream,
    rng: np.random.Generator, every: int,
) -> np.ndarray:  # fmt: skip
    """Play a method through all rounds; return the regret after every so many of them."""
    run = _seated(method, given, world, basis, beside, stream)
    if method.policy == "linucb":
        [outcome] = linucb.play([run], given.width * world.noise, ridge=given.ridge, every=every)
        return outcome.regret
    return linucb.measure(run, _chosen(method, given, world, run, rng), every=every).regret


def _seated(method, given, world, basis, beside, stream) -> linucb.Run:
    run = linucb.Run(world.theta, stream)
    if method.policy.startswith("graph_prior"):
        nothing = Basis(np.zeros((len(world.theta), 0)), np.zeros(0), np.zeros(0))
        features, roughness = arm_features.graded(*(("given", nothing) if basis is None else (method.basis, basis)))
        second = None if beside is None else arm_features.graded(method.beside, beside)
        return run._replace(features=features, roughness=roughness, beside=second)
    if basis is None:
        return run
    k = len(basis.values) if given.k is None else given.k
    return run._replace(features=arm_features.select(method.basis, basis.vectors, k))


def _chosen(method: Method, given: Settings, world: World, run: linucb.Run, rng: np.random.Generator) -> np.ndarray:
    arms = run.stream.arms
    if method.policy == "longest":
        lengths = np.linalg.norm(run.features, axis=1)
        return arms[np.arange(len(arms)), lengths[arms].argmax(axis=1)]
    if method.policy == "thompson":
        from graphdr.bandit.rivals import thompson

        return thompson.play(run, given.width * world.noise, given.ridge, rng)
    columns = rng.integers(arms.shape[1], size=len(arms))
    if method.policy == RANDOM:
        return arms[np.arange(len(arms)), columns]
    from graphdr.bandit.graph_prior import play as graph_prior

    return graph_prior.play(run, columns, rng if method.policy == "graph_prior_thompson" else None).arms


def controls(method: Method) -> dict[str, Method]:
    """Return the controls of a method on the graph: shuffled, of equal lengths, and the longest row."""
    return {
        SHUFFLED: control(method, arm_features.SHUFFLED),
        LENGTH: control(method, arm_features.LENGTH),
        LONGEST: method._replace(policy="longest", beside=None),
    }


def compute_control(name: str, known: dict[str, Basis], rng: np.random.Generator) -> Basis:
    """Draw a control of a basis."""
    stored = known[original(name)]
    return bases.BASES[name](bases.Source(len(stored.vectors), original=stored), len(stored.values), rng)
