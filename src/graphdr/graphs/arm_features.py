"""Bases, which of their columns become the arm features of a k-dimensional method, and the registry of all of them.

Every file of ``graphs/bases`` declares one basis. Its two controls are derived here.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pkgutil import iter_modules
from typing import Any, NamedTuple

import numpy as np

from graphdr.core.errors import no_such
from graphdr.graphs.model import Graph

IDENTITY = "identity"  # node space itself: nothing to compute, nothing to cache
ADAPTIVE = "adaptive"  # a k that is chosen during the run
DECIMALS = 12  # of unit rows: for k = 1 all norms are equal, and rounding must not choose among them
PACKAGE = "graphdr.graphs.bases"
CONTENT, RATINGS, USER_COLUMNS = "content", "ratings", "user_columns"  # data about nodes besides the graph
SHUFFLED, RANDOM_DIRECTIONS = "shuffled", "random_directions"  # the controls of a basis

Embedding = Any  # n x d, a NumPy array or a sparse array of SciPy


class Basis(NamedTuple):
    """Component vectors in columns (n x components), with a value and a residual for each."""

    vectors: np.ndarray
    values: np.ndarray
    residuals: np.ndarray


class Source(NamedTuple):
    """Everything that a basis may be computed from."""

    n: int  # nodes
    graph: Graph | None = None
    stored: Basis | None = None  # the basis that it is made of
    embedding: Embedding = None  # data about the nodes
    segments: int = 1  # of users; every item is a node of each segment
    solver: str = "exact"  # of eigenvectors, one of ``spectral.SOLVERS``


def nontrivial(vectors: np.ndarray, k: int) -> np.ndarray:
    """Select u_2..u_{k+1}, the convention of the experiments."""
    return vectors[:, 1 : k + 1]


def leading(vectors: np.ndarray, k: int) -> np.ndarray:
    """Select the first k columns."""
    return vectors[:, :k]


def scaled(vectors: np.ndarray, k: int) -> np.ndarray:
    """Select the first k standard normal columns, with the variance 1/k of a JL map."""
    return vectors[:, :k] / np.sqrt(k)


def unit_rows(vectors: np.ndarray, k: int) -> np.ndarray:
    """Select u_2..u_{k+1} and scale every row to norm one; a row of zeros stays zero."""
    selected = nontrivial(vectors, k)
    norm = np.linalg.norm(selected, axis=1, keepdims=True)
    return np.divide(selected, norm, out=np.zeros(selected.shape), where=norm > 0)


def eigenvalue_roughness(values: np.ndarray) -> np.ndarray:
    """Return the eigenvalues, which rounding may put below zero."""
    return np.maximum(values, 0.0)


def singular_roughness(values: np.ndarray) -> np.ndarray:
    """Return ((t_1 / t_j)^2 - 1) / 10 for singular values t_j: the smaller a value, the rougher its vector.

    At rho = 10, the filter 1 / (1 + rho roughness) then has the ratios of the squared values.
    """
    return np.round(((values[:1] / values) ** 2 - 1.0) / 10.0, 12)  # rounding must not tell equal values apart


def equal_roughness(values: np.ndarray) -> np.ndarray:
    """Return zeros: random columns are all alike, and the norms of a user's columns already weigh them."""
    return np.zeros(len(values))


@dataclass(frozen=True, kw_only=True)
class BasisSpec:
    """Everything about a basis.

    The parameters of ``function`` declare what the basis reads: fields of ``Source``, ``components`` (how many columns
    to compute) and ``rng``. A basis with an ``rng`` is random and is drawn several times.
    """

    function: Callable[..., Basis]
    columns: Callable[[np.ndarray, int], np.ndarray]  # that become features: (n x components, k) -> n x k
    roughness: Callable[[np.ndarray], np.ndarray]  # of every column, from the values of the basis
    citation: str
    made_of: str | None = None  # the basis that ``function`` gets as ``stored``
    data: str | None = None  # CONTENT, RATINGS or USER_COLUMNS, which ``function`` gets as ``embedding``
    has_controls: bool = True
    name: str = ""  # that of its file, set by ``find``
    control: str | None = None  # SHUFFLED or RANDOM_DIRECTIONS

    @property
    def reads(self) -> frozenset[str]:
        """Return the names of everything that the basis is computed from."""
        return frozenset(signature(self.function).parameters)

    @property
    def reads_graph(self) -> bool:
        return "graph" in self.reads

    @property
    def is_random(self) -> bool:
        return "rng" in self.reads

    @property
    def is_spectral(self) -> bool:
        """Tell whether the columns are eigenvectors of a Laplacian, u_1 first, with their eigenvalues."""
        return self.roughness is eigenvalue_roughness

    @property
    def is_nested(self) -> bool:
        """Tell whether the features of a larger k begin with those of a smaller one."""
        return self.columns in (nontrivial, leading) and self.control != RANDOM_DIRECTIONS

    @property
    def stored_name(self) -> str:
        """Return the name of the basis that it is made of, or its own."""
        return self.made_of or self.name

    @property
    def stream_name(self) -> str:
        """Return the name in the keys of random streams: the first one that a control had, so that no draw changes."""
        return self.name.removeprefix("laplacian_low_").replace(RANDOM_DIRECTIONS, "length")

    @property
    def width(self) -> int:
        """Return the number of stored columns per column: random directions stand beside those they replace."""
        return 2 if self.control == RANDOM_DIRECTIONS else 1

    def compute(self, source: Source, components: int, rng: np.random.Generator) -> Basis:
        """Compute the basis from what it reads."""
        available = source._asdict() | {"components": components, "rng": rng}
        return self.function(**{name: available[name] for name in self.reads})


def copy_stored(stored: Basis) -> Basis:
    """Return another basis as it is, for other features of it."""
    return stored


def shuffle_rows(stored: Basis, rng: np.random.Generator) -> Basis:
    """Assign the rows of a basis to other nodes: the same vectors, no alignment.

    Permuting the nodes of a graph permutes the rows of its eigenvectors: these are the eigenvectors of a permuted copy.
    """
    return stored._replace(vectors=stored.vectors[rng.permutation(len(stored.vectors))])


def insert_random_columns(stored: Basis, rng: np.random.Generator) -> Basis:
    """Insert a random column after every column; ``select`` gives the random rows the norms of the original ones."""
    n, count = stored.vectors.shape
    random = rng.standard_normal((count, n)).T  # column by column: a larger k extends a smaller
    vectors = np.stack([stored.vectors, random], axis=2).reshape(n, -1)
    return Basis(vectors, np.repeat(stored.values, 2), np.zeros(vectors.shape[1]))


CONTROLS: dict[str, Callable[..., Basis]] = {SHUFFLED: shuffle_rows, RANDOM_DIRECTIONS: insert_random_columns}


@cache
def all_bases() -> dict[str, BasisSpec]:
    """Return every basis by name, each followed by its controls."""
    names = []
    for file in iter_modules(import_module(PACKAGE).__path__):
        kinds = CONTROLS if find(file.name).has_controls else ()
        names += [file.name, *(control_name(file.name, kind) for kind in kinds)]
    return {name: find(name) for name in names}


@cache
def find(name: str) -> BasisSpec:
    """Return a basis such as ``laplacian_low``, or a control such as ``laplacian_low_shuffled``; import no other."""
    original, kind = _split(name)
    module = module_of(name)
    if name.isidentifier() and find_spec(module):
        spec: BasisSpec = replace(import_module(module).BASIS, name=original)
        if kind is None:
            return spec
        if spec.has_controls:  # a control is made of the stored columns behind its basis
            return replace(spec, name=name, function=CONTROLS[kind], made_of=spec.stored_name, data=None, control=kind)
    raise no_such("basis", "basis", name, all_bases())


def module_of(name: str) -> str:
    """Return the module that declares a basis, or the basis of a control."""
    return f"{PACKAGE}.{_split(name)[0]}"


def control_name(name: str, kind: str) -> str:
    """Return the name of a control of a basis."""
    return f"{name}_{kind}"


def _split(name: str) -> tuple[str, str | None]:
    """Return the basis and the kind of control behind a name."""
    kind = next((kind for kind in CONTROLS if name.endswith(f"_{kind}")), None)
    return name.removesuffix(f"_{kind}"), kind


def compute(name: str, source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute a basis, and first the basis that it is made of, which draws nothing."""
    spec = find(name)
    if spec.made_of:
        source = source._replace(stored=find(spec.made_of).compute(source, components, rng))
    return spec.compute(source, components, rng)


def k_fact(k: int | str | None) -> str | None:
    """Return the fact that a method takes its k from, if any."""
    return k if isinstance(k, str) and k != ADAPTIVE else None


def select(basis: str, vectors: np.ndarray, k: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the arm features of a method with this basis.

    GraphDR has ``basis`` "laplacian_low" and takes u_2 … u_{k+1}: u_1 tells no two arms apart.

    Parameters
    ----------
    basis : str
        A basis of docs/bases.md.
    vectors : ndarray of shape (n, at least k + 1)
        Its columns, as ``low_eigenpairs(graph, k + 1).vectors``.
    k : int
        The number of features.
    weights : ndarray, optional
        Factors of the columns.

    Returns
    -------
    ndarray of shape (n, k)
        In C order.

    Examples
    --------
    >>> low = graphdr.low_eigenpairs(graphdr.from_edges(4, [0, 1, 2], [1, 2, 3]), 3)
    >>> graphdr.arm_features("laplacian_low", low.vectors, k=2).shape
    (4, 2)
    """
    spec = find(basis)
    features = spec.columns(vectors[:, :: spec.width], k)
    if weights is not None:
        features = features * weights
    if spec.width == 2:  # the rows of random directions take the norms of those of the features
        directions = vectors[:, 1 : 2 * features.shape[1] : 2]
        norms, random_norms = np.linalg.norm(features, axis=1), np.linalg.norm(directions, axis=1)
        scale = np.divide(norms, random_norms, out=np.zeros(len(norms)), where=random_norms > 0)
        features = directions * scale[:, None]
    if spec.columns is unit_rows:
        features = np.round(features, DECIMALS)
    return np.ascontiguousarray(features)


def roughness(basis: str, values: np.ndarray, k: int) -> np.ndarray:
    """Return the roughness of the k columns that a method with this basis selects, which a filter weighs them by."""
    spec = find(basis)
    rough = spec.roughness(np.asarray(values, float)[:: spec.width])
    return rough[:k] if spec.columns in (leading, scaled) else rough[1 : k + 1]


def graded(basis: str, stored: Basis) -> tuple[np.ndarray, np.ndarray]:
    """Return all columns of a basis and their roughness, for a model that weighs all of them.

    u_1 is included with the roughness of u_2, because only its mean is known to be smooth. Unit rows have norm one over
    all columns but u_1. Random directions have as many columns as their basis would select.

    Parameters
    ----------
    basis : str
        A basis of docs/bases.md.
    stored : Basis
        Its columns and values, as ``low_eigenpairs`` returns them.

    Returns
    -------
    tuple of two ndarrays
        The features (n x J), and the roughness of every column.

    Examples
    --------
    >>> low = graphdr.low_eigenpairs(graphdr.from_edges(4, [0, 1, 2], [1, 2, 3]), 3)
    >>> features, roughness = graphdr.graded_features("laplacian_low", low)
    >>> features.shape, roughness.round(3).tolist()
    ((4, 3), [0.5, 0.5, 1.5])
    """
    spec = find(basis)
    values, count = np.array(stored.values, float), len(stored.values) // spec.width
    if spec.is_spectral and count > 1:
        values[: spec.width] = values[spec.width : 2 * spec.width]
    if spec.width == 2 or spec.columns is unit_rows:
        return select(basis, stored.vectors, count), roughness(basis, values, count)
    return np.ascontiguousarray(stored.vectors), spec.roughness(values)


def residual(theta: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return r_perp = (I - U U^T) theta for orthonormal columns U."""
    return theta - vectors @ (vectors.T @ theta)


def tail(theta: np.ndarray, vectors: np.ndarray) -> float:
    """Return zeta = ||(I - U U^T) theta|| for orthonormal columns U."""
    return float(np.linalg.norm(residual(theta, vectors)))
