"""The methods that a simulation compares, the settings that each may take, its bases, and the controls of a method."""

import tomllib
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphdr.advise.data import Data
from graphdr.advise.simulation.problems import COMPONENTS, SimulatedProblem
from graphdr.bandit import method as bandit
from graphdr.bandit.method import ArmFeatures, GraphInputs
from graphdr.bandit.policies.controls import Longest
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import RANDOM_DIRECTIONS, SHUFFLED, USER_COLUMNS, Basis, control_name, find
from graphdr.serve.basis import low_eigenpairs_of_parts

ITEMS_PER_COLUMN = 4  # of a basis, at least
TRIED = {"k": (5, 10, 20, 40), "alpha": (0.3, 1.0, 3.0), "ridge": (0.1, 1.0)}  # widths in deviations of the noise
RANDOM, FULL = "random", "full"  # names of methods
GRAPH = "laplacian_low"  # the basis that the first look tests
LONGEST = "longest"  # a control that learns nothing; the others are those of a basis
CONTROL_LABELS = {
    SHUFFLED: "{} on a shuffled graph",
    RANDOM_DIRECTIONS: "{} with row lengths alone",
    LONGEST: "the longest row",
}


class Settings(NamedTuple):
    """Columns of the basis, confidence width in standard deviations of the noise, and ridge; None: not tuned."""

    k: int | None = None
    width: float | None = None
    ridge: float | None = None


class Method(NamedTuple):
    """A policy, with a width in standard deviations of the noise, and what it is called."""

    label: str
    policy: bandit.Method
    needs: str | None = None  # data that the user must supply besides the data behind its bases

    @property
    def settings(self) -> Settings:
        """Return the settings of its policy."""
        return Settings(*(getattr(self.policy, name, None) for name in TRIED))

    @property
    def sees_graph(self) -> bool:
        """Tell whether one of its bases is computed from the graph."""
        return any(find(find(basis).stored_name).reads_graph for basis in self.policy.bases)

    def set(self, **settings: Any) -> "Method":
        """Return the method with other settings of its policy."""
        return self._replace(policy=self.policy.with_settings(settings))

    def arms(self, bases: Mapping[str, Basis]) -> ArmFeatures:
        """Return what its policy knows of the items."""
        first, second = [*(bases[name] for name in self.policy.bases), None, None][:2]
        return self.policy.features(GraphInputs(first, second))

    def grid(self, n: int) -> list["Method"]:
        """Return the method at all settings to try on n items; a method that tunes itself has one entry."""
        tried = {name: values for name, values in TRIED.items() if name in self.policy.tunable}
        if "k" in tried:
            tried["k"] = tuple(k for k in TRIED["k"] if k < column_count(n)) or (1,)
        return [self.set(**dict(zip(tried, values, strict=True))) for values in product(*tried.values())]

    def control(self, kind: str) -> "Method":
        """Return a control: with shuffled rows, with rows in random directions, or playing the longest row."""
        basis = self.policy.bases[0]
        if kind == LONGEST:
            return self._replace(policy=Longest(basis=basis, k=getattr(self.policy, "k", None)))
        return self.set(basis=control_name(basis, kind))


METHODS = {
    name: Method(entry.pop("label"), needs=entry.pop("needs", None), policy=bandit.Method.from_json(entry))
    for name, entry in tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8")).items()
}


def available(data: Data) -> dict[str, Method]:
    """Return the methods that there are data for."""
    rows, features = data.interactions, data.features is not None
    has_content = features or (rows is not None and rows.value is not None)
    present = {
        None: True,
        USER_COLUMNS: True,
        "ratings": rows is not None,
        "content": has_content,
        "features": features,
    }
    playable = {}
    for name, method in METHODS.items():
        if all(present[kind] for kind in (method.needs, *(find(basis).data for basis in method.policy.bases))):
            playable[name] = method
    return playable


def column_count(n: int) -> int:
    """Return how many columns of a basis are computed for n items."""
    return min(COMPONENTS, max(n // ITEMS_PER_COLUMN, 2))


def compute_basis(name: str, problem: SimulatedProblem, rng: np.random.Generator) -> Basis:
    """Compute one basis of a problem, or a control of it; in several components as a served policy does."""
    graph, spec = problem.graph, find(name)
    embedding = getattr(problem, spec.data) if spec.data else None
    source, count = arm_features.Source(graph.n, graph, embedding=embedding), column_count(graph.n)
    if spec.stored_name == GRAPH:
        components, component = connected_components(graph.adjacency, directed=False)
        if components > 1:
            low = low_eigenpairs_of_parts(graph, component, count)
            return spec.compute(source._replace(stored=low), count, rng) if spec.made_of else low
    return arm_features.compute(name, source, count, rng)


def compute_control(name: str, stored_bases: Mapping[str, Basis], rng: np.random.Generator) -> Basis:
    """Draw a control of a stored basis."""
    spec = find(name)
    stored = stored_bases[spec.stored_name]
    return spec.compute(arm_features.Source(len(stored.vectors), stored=stored), len(stored.values), rng)
