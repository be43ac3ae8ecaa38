"""The methods that a simulation compares, the settings that each may take, its bases, and the controls of a method."""

import tomllib
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphdr.advise.simulation.problems import COMPONENTS, SimulatedProblem
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis, control_name, find
from graphdr.serve.basis import low_eigenpairs_of_parts

ITEMS_PER_COLUMN = 4  # of a basis, at least
WIDTHS = (0.3, 1.0, 3.0)  # in standard deviations of the noise
RIDGES = (0.1, 1.0)
DIMENSIONS = (5, 10, 20, 40)
TUNED_POLICIES = ("linucb", "thompson")
RANDOM, FULL = "random", "full"  # names of methods
GRAPH = "laplacian_low"  # the basis that the first look tests
SHUFFLED, RANDOM_DIRECTIONS, LONGEST = "shuffled", "random_directions", "longest"  # names of controls
CONTROL_LABELS = {
    SHUFFLED: "{} on a shuffled graph",
    RANDOM_DIRECTIONS: "{} with row lengths alone",
    LONGEST: "the longest row",
}


class Method(NamedTuple):
    """A policy, the basis that describes the items (None: one-hot features), and perhaps a second basis."""

    label: str
    policy: str
    basis: str | None = None
    second_basis: str | None = None
    needs: str | None = None  # data that the user must supply besides the data behind its bases

    @property
    def bases(self) -> list[str]:
        """Return the names of its bases."""
        return [basis for basis in (self.basis, self.second_basis) if basis]

    @property
    def sees_graph(self) -> bool:
        """Tell whether one of its bases is computed from the graph."""
        return any(find(original(basis)).reads_graph for basis in self.bases)


class Settings(NamedTuple):
    """Columns of the basis, confidence width in standard deviations of the noise, and ridge; None: not tuned."""

    k: int | None = None
    width: float | None = None
    ridge: float | None = None

    def exploration(self, noise: float) -> tuple[float, float]:
        """Return the confidence width in units of the reward, and the ridge."""
        if self.width is None or self.ridge is None:
            raise ValueError("the method is not tuned")
        return self.width * noise, self.ridge


class ConfiguredMethod(NamedTuple):
    """A method with its settings."""

    method: Method
    settings: Settings


def original(basis: str) -> str:
    """Return the stored basis behind a basis or a control."""
    return find(basis).stored_name


def _load() -> dict[str, Method]:
    text = Path(__file__).with_name("methods.toml").read_text(encoding="utf-8")
    return {name: Method(**entry) for name, entry in tomllib.loads(text).items()}


METHODS = _load()


def available(problem: SimulatedProblem) -> dict[str, Method]:
    """Return the methods that a problem has data for."""
    return {name: method for name, method in METHODS.items() if _has_data(problem, method)}


def _has_data(problem: SimulatedProblem, method: Method) -> bool:
    if method.needs == "features" and not problem.has_features:
        return False
    kinds = (find(basis).data for basis in method.bases)
    return all(kind is None or getattr(problem, kind) is not None for kind in kinds)


def column_count(n: int) -> int:
    """Return how many columns of a basis are computed for n items."""
    return min(COMPONENTS, max(n // ITEMS_PER_COLUMN, 2))


def grid(method: Method, n: int) -> list[Settings]:
    """Return the settings to try on n items; a method that tunes itself has one entry."""
    if method.policy not in TUNED_POLICIES:
        return [Settings()]
    dimensions: list[int | None] = [None]
    if method.basis is not None:
        dimensions = [k for k in DIMENSIONS if k < column_count(n)] or [1]
    return [Settings(*values) for values in product(dimensions, WIDTHS, RIDGES)]


def compute_basis(name: str, problem: SimulatedProblem, rng: np.random.Generator) -> Basis:
    """Compute one basis of a problem, or a control of it; in several components as a served policy does."""
    graph, spec = problem.graph, find(name)
    embedding = getattr(problem, spec.data) if spec.data else None
    source, count = arm_features.Source(graph.n, graph, embedding=embedding), column_count(graph.n)
    if original(name) == GRAPH:
        components, component = connected_components(graph.adjacency, directed=False)
        if components > 1:
            low = low_eigenpairs_of_parts(graph, component, count)
            return spec.compute(source._replace(stored=low), count, rng) if spec.made_of else low
    return arm_features.compute(name, source, count, rng)


def control(method: Method, kind: str) -> Method:
    """Replace the basis of a method by its control of a kind: shuffled rows, or random directions."""
    assert method.basis is not None
    return method._replace(basis=control_name(method.basis, kind))


def controls(method: Method) -> dict[str, Method]:
    """Return the controls of a graph method: shuffled rows, rows in random directions, and the longest row."""
    return {
        SHUFFLED: control(method, arm_features.SHUFFLED),
        RANDOM_DIRECTIONS: control(method, arm_features.RANDOM_DIRECTIONS),
        LONGEST: method._replace(policy="longest", second_basis=None),
    }


def compute_control(name: str, stored_bases: Mapping[str, Basis], rng: np.random.Generator) -> Basis:
    """Draw a control of a stored basis."""
    stored = stored_bases[original(name)]
    return find(name).compute(arm_features.Source(len(stored.vectors), stored=stored), len(stored.values), rng)
