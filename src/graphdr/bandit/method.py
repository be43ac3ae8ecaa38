"""What a policy of this package is: settings in a frozen dataclass, the arms that it plays on, and ``play``.

A policy is one module of ``bandit.policies``. Its class derives from :class:`Method` or, if it plays on the columns of
a basis, from :class:`BasisMethod`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from graphdr.bandit.arm_set import ArmSet, covariance
from graphdr.bandit.environment import Edges, RandomNumbers, Rounds
from graphdr.bandit.linucb import EVERY
from graphdr.bandit.radii import CONSTANT, RadiusInputs
from graphdr.core.errors import check_dense, quote, required
from graphdr.graphs import arm_features, filters
from graphdr.graphs.arm_features import IDENTITY, Basis, all_bases, find
from graphdr.theory.results import Fit

BASIS, GRAPH, NOTHING = "basis", "graph", "nothing"  # what the arms of a policy are described by
K_FACTS = ("k_hat_naive", "k_hat_bootstrap")  # facts of a problem that a method may take its k from

# The values that settings may have, as parts of a JSON schema.
NUMBER = {"type": "number", "minimum": 0}
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
COUNT = {"type": "integer", "minimum": 1}
COUNTS = {"type": "array", "items": COUNT, "minItems": 1}
FLAG = {"type": "boolean"}
BASIS_NAMES = {"enum": sorted(all_bases())}
SPACE_NAMES = {"enum": sorted([*all_bases(), IDENTITY])}
DIMENSION = {"anyOf": [COUNT, {"enum": list(K_FACTS)}]}


class ArmFeatures(NamedTuple):
    """What a method knows of the arms before it plays, as in ``BanditProblem``."""

    features: np.ndarray | None = None
    v0_inverse: np.ndarray | None = None
    roughness: np.ndarray | None = None
    edges: Edges | None = None
    second_basis: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class BanditProblem:
    """A bandit problem as the simulator plays it.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        The expected reward of every arm.
    features : ndarray of shape (n, k), optional
        What a policy knows of the arms; None for one-hot arms.
    v0_inverse : ndarray of shape (k, k), optional
        V_0^-1; None for that of a ridge. One-hot arms have k = n.
    roughness : ndarray of shape (k,), optional
        That of every column of the features, for the graph prior.
    edges : Edges, optional
        Edges between arms, for policies on the graph.
    second_basis : tuple of two ndarrays, optional
        Columns of a second basis and their roughness, for the graph prior.
    residual : ndarray of shape (n,), optional
        The part of every expected reward that the features cannot express. With it, SRL and CRW are measured.
    noise : float, default=0.0
        Standard deviation of the noise, for policies that use it.
    radius_inputs : RadiusInputs, optional
        What the radius of a theorem is computed from.

    Examples
    --------
    >>> problem = graphdr.BanditProblem(np.array([0.1, 0.9, 0.4]), features=np.eye(3)[:, :2])
    >>> problem.features.shape
    (3, 2)
    """

    theta: np.ndarray
    features: np.ndarray | None = None
    v0_inverse: np.ndarray | None = None
    roughness: np.ndarray | None = None
    edges: Edges | None = None
    second_basis: tuple[np.ndarray, np.ndarray] | None = None
    residual: np.ndarray | None = None
    noise: float = 0.0
    radius_inputs: RadiusInputs | None = None

    @property
    def graded_features(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and the roughness of every column."""
        return required(self.features, "features"), required(self.roughness, "roughness")


class Run(NamedTuple):
    """One run: a problem, its rounds, the random numbers of the policy, and the rounds between two checkpoints."""

    problem: BanditProblem
    rounds: Rounds
    rng: RandomNumbers
    checkpoint: int = EVERY


class Choices(NamedTuple):
    """The arm of every round and what the policy kept: its last fit, and at the checkpoints what a residual did.

    SRL and the summed widths are those of the problem's residual, ``srl_pilot`` and ``crw_pilot`` those of a pilot's.
    """

    arms: np.ndarray
    fit: Fit | None = None
    srl: np.ndarray | None = None
    widths: np.ndarray | None = None
    srl_pilot: np.ndarray | None = None
    crw_pilot: np.ndarray | None = None


class Policy(Protocol):
    """What the simulator needs of a policy: the arm of every round.

    ``play`` sees all rounds at once, so that it can be compiled. It must choose the arm of round t from the candidates
    of that round and the rewards ``theta[arm] + noise`` of the arms that it played before; ``graphdr.check_policy``
    finds policies that look further.
    """

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices | np.ndarray:
        """Return the arm of every round."""


class GraphInputs(NamedTuple):
    """What the features of a method are computed from."""

    basis: Basis | None = None
    second_basis: Basis | None = None
    laplacian: np.ndarray | None = None  # dense
    edges: Edges | None = None


def setting(schema: Mapping[str, Any], default: Any = None) -> Any:
    """Declare a setting of a method with the values that it may have; None is always one of them."""
    return field(default=default, metadata={"schema": schema})


def from_problem(schema: Mapping[str, Any]) -> Any:
    """Declare a setting that a method takes from its problem where it has no value of its own."""
    return field(default=None, metadata={"schema": schema, "inherited": True})


@dataclass(frozen=True, kw_only=True)
class Method:
    """A policy with its settings. A setting that is None is taken from the problem by ``resolve``.

    A mistake in a setting is a ValueError whose message starts with the name of the setting.
    """

    policy: str = ""  # the name of the policy, set by every class
    citation: ClassVar[str] = ""  # where the policy comes from, set by every class
    space: ClassVar[str] = NOTHING
    streams: ClassVar[tuple[str, ...]] = ()  # purposes of the random numbers that it draws
    sees_theta: ClassVar[bool] = False  # whether it looks at expected rewards, which a learner cannot know

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, list):
                object.__setattr__(self, setting.name, value := tuple(value))
            schema = setting.metadata.get("schema")
            if schema is not None and value is not None:
                check_value(setting.name, value, schema)

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> "Method":
        """Return the method of the policy that a mapping names."""
        from graphdr.bandit.registry import POLICIES

        return POLICIES[parts["policy"]](**parts)

    @property
    def inherited(self) -> tuple[str, ...]:
        """The settings that it takes from its problem where it has none of its own."""
        return tuple(setting.name for setting in fields(self) if setting.metadata.get("inherited"))

    @property
    def missing(self) -> list[str]:
        """The settings that the method takes from its problem, having none of its own."""
        return [name for name in self.inherited if getattr(self, name) is None]

    @property
    def tunable(self) -> tuple[str, ...]:
        """The settings that a grid may set."""
        return tuple(name for name in ("alpha", "ridge") if name in self.inherited)

    @property
    def bases(self) -> tuple[str, ...]:
        """The bases that it takes columns from."""
        names = getattr(self, "basis", IDENTITY), getattr(self, "second_basis", None) or IDENTITY
        return tuple(name for name in names if name != IDENTITY)

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts of a problem that it starts from."""
        fact = arm_features.k_fact(getattr(self, "k", None))
        return (fact,) if fact else ()

    @property
    def uses_pilot(self) -> bool:
        """Whether it starts from a pilot."""
        return "pilot" in self.inherited

    @property
    def uses_laplacian(self) -> bool:
        """Whether a dense Laplacian is part of V_0."""
        return bool(getattr(self, "laplacian", 0))

    @property
    def plays_grid(self) -> bool:
        """Whether it plays with every k of a grid."""
        return "k_grid" in self.inherited

    @property
    def leaves_residual(self) -> bool:
        """Whether its features are the smoothest eigenvectors themselves, so that a residual is defined."""
        return False

    @property
    def batchable(self) -> bool:
        """Whether runs on different instances can be played together."""
        return self.space != GRAPH and not self.plays_grid

    def numbers(self, *names: str) -> tuple[float, ...]:
        """Return settings as numbers; one that is still None is a ValueError."""
        return tuple(float(required(getattr(self, name), name)) for name in names)

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return the method with other values of some settings."""
        return replace(self, **settings) if settings else self

    def resolve(self, problem: object) -> Self:
        """Fill the settings that are None from the attributes of a problem."""
        return self.with_settings({name: getattr(problem, name, None) for name in self.missing})

    def in_units_of(self, noise: float) -> Self:
        """Return the method with a width and a ridge that were in units of the noise as plain numbers."""
        if not getattr(self, "noise_units", False):
            return self
        scales = {"alpha": noise, "ridge": noise**2}
        settings: dict[str, float] = {"noise_units": False}
        settings |= {name: getattr(self, name) * scale for name, scale in scales.items() if hasattr(self, name)}
        return self.with_settings(settings)

    def feature_settings(self) -> Self:
        """Return the method without the settings that its features do not depend on."""
        unused = {"noise_units": False, "radius": CONSTANT, "alpha": None, "delta": None, "pilot": None, "ridge": None}
        if self.uses_laplacian:
            del unused["ridge"]
        return self.with_settings({name: value for name, value in unused.items() if hasattr(self, name)})

    def features(self, inputs: GraphInputs) -> ArmFeatures:
        """Compute what the method knows of the nodes before it plays."""
        return ArmFeatures(edges=inputs.edges)

    def on_arm_set(self, nodes: ArmFeatures, arm_set: ArmSet) -> ArmFeatures:
        """Turn what the method knows of nodes into what it knows of the arms of a set."""
        if arm_set.rows is None:
            return nodes
        if nodes.features is not None:
            second = nodes.second_basis and (arm_set(nodes.second_basis[0]), nodes.second_basis[1])
            return nodes._replace(features=arm_set(nodes.features), second_basis=second)
        # Full LinUCB keeps one covariance per pair of contexts.
        check_dense("a method without features", arm_set.rows.shape[0], "contexts")
        return ArmFeatures(None, covariance(arm_set.rows, nodes.v0_inverse, getattr(self, "ridge", 1.0)))

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        """Return the arm of every round."""
        if type(self).play_many is Method.play_many:
            raise NotImplementedError(f"{type(self).__name__} defines neither play nor play_many")
        return self.play_many([Run(problem, rounds, rng)])[0]

    def play_many(self, runs: Sequence[Run]) -> list[Choices]:
        """Play runs of one shape: as many features, rounds and candidates per round."""
        return [self.play(run.problem, run.rounds, run.rng) for run in runs]


@dataclass(frozen=True, kw_only=True)
class BasisMethod(Method):
    """A method on k columns of a basis, each times the root of its prior variance under a filter."""

    space: ClassVar[str] = BASIS
    basis: str = setting(SPACE_NAMES, IDENTITY)
    filter: str = setting({"enum": list(filters.FILTERS)}, filters.CUT)
    rho: float = setting(POSITIVE, 1)  # strength of the filter

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.filter == filters.CUT and self.rho != 1:
            raise ValueError(
                f"rho: the filter {filters.CUT!r} has no strength; there are: {', '.join(filters.FILTERS)}"
            )
        if self.filter != filters.CUT and self.basis == IDENTITY:
            advice = "take `laplacian: rho * ridge`, which is the filter 'smooth', or another basis"
            raise ValueError(f"filter: the basis {IDENTITY!r} has no columns to weigh; {advice}")
        if self.plays_grid and not find(self.basis).is_nested:
            nested = sorted(name for name, basis in all_bases().items() if basis.is_nested)
            kind = "basis whose columns are the same for every k"
            raise ValueError(f"basis: no {kind} {quote(self.basis)}; there are: {', '.join(nested)}")

    @property
    def dimension(self) -> int:
        """The number of columns that it takes."""
        name = "k_grid" if self.plays_grid else "k"
        return int(np.max(required(getattr(self, name), name)))

    @property
    def tunable(self) -> tuple[str, ...]:
        dimension = ("k",) if "k" in self.missing else ()
        return *super().tunable, *dimension, *(() if self.filter == filters.CUT else ("rho",))

    @property
    def leaves_residual(self) -> bool:
        return self.basis == "laplacian_low" and self.filter == filters.CUT and not self.plays_grid

    def features(self, inputs: GraphInputs) -> ArmFeatures:
        if inputs.basis is None:
            return ArmFeatures(edges=inputs.edges)
        weights = None
        if self.filter != filters.CUT:
            roughness = arm_features.roughness(self.basis, inputs.basis.values, self.dimension)
            weights = filters.column_weights(self.filter, roughness, self.rho)
        return ArmFeatures(arm_features.select(self.basis, inputs.basis.vectors, self.dimension, weights))


def grid_columns(problem: BanditProblem, k_grid: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the dimensions of a grid in ascending order, and as many features as the largest needs."""
    grid = np.unique(np.asarray(k_grid, np.int64))
    if problem.features is None or problem.features.shape[1] < grid[-1]:
        raise ValueError(f"k_grid: {grid[-1]} columns are needed, and the problem does not have as many features")
    return grid, np.ascontiguousarray(problem.features[:, : grid[-1]])


def penalised_inverse(features: np.ndarray | None, laplacian: np.ndarray, weight: float, ridge: float) -> np.ndarray:
    """Return the inverse of V_0 = ridge I + weight L, with L restricted to the features."""
    restricted = laplacian if features is None else features.T @ laplacian @ features
    return np.linalg.inv(ridge * np.eye(len(restricted)) + weight * restricted)


def check_value(name: str, value: object, schema: Mapping[str, Any]) -> None:
    """Raise a ValueError, which starts with the name, for a value that a schema does not allow."""
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{name}: no {name} {quote(value)}; there are: {', '.join(sorted(schema['enum']))}")
    kinds = schema.get("anyOf", [schema])
    mistakes = [_mistake(value, kind) for kind in kinds]
    if all(mistakes):
        raise ValueError(f"{name}: {quote(value)} should be {' or '.join(text for text in mistakes if text)}")


def _mistake(value: Any, schema: Mapping[str, Any]) -> str:
    """Return what a value should be, or nothing if it is that."""
    if "enum" in schema:
        return "" if value in schema["enum"] else "one of " + ", ".join(map(str, schema["enum"]))
    kind = schema["type"]
    if kind == "boolean":
        return "" if isinstance(value, bool) else "true or false"
    if kind == "array":
        items = isinstance(value, tuple) and len(value) > 0 and not any(_mistake(v, schema["items"]) for v in value)
        return "" if items else "a list of whole numbers of at least 1"
    number = isinstance(value, int) or (kind == "number" and isinstance(value, float) and math.isfinite(value))
    if isinstance(value, bool) or not number:
        return "a whole number" if kind == "integer" else "a number"
    if value < schema.get("minimum", -math.inf):
        return f"at least {schema['minimum']}"
    if value <= schema.get("exclusiveMinimum", -math.inf):
        return f"greater than {schema['exclusiveMinimum']}"
    return f"less than {schema['exclusiveMaximum']}" if value >= schema.get("exclusiveMaximum", math.inf) else ""
