"""A problem with all of its factors, the graphs behind it, and what its runs, rewards and contexts depend on."""

import inspect
from dataclasses import is_dataclass
from functools import cache
from typing import NamedTuple

from graphdr.bandit.arm_set import NODE, ContextSpec
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.core.errors import UserError
from graphdr.graphs import from_data
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.plan.blocks import Config, Factors, Raw
from graphdr.plan.job import fill
from graphdr.plan.short_forms import problem_name
from graphdr.stages.build_graph import FactorValue, GraphChange, UserSegments
from graphdr.stages.pose_problem import Ratings, SegmentRewards
from graphdr.stages.run_bandit import Protocol

CHANGES = ("shuffle", "flip", "swap", "perturb")  # factors that change the observed graph


class Problem(Factors):
    """A problem with a value for every factor that it needs, and the names of its graphs."""

    name: str
    title: str
    items: str  # graph of the items
    clean: str  # graph with every item once per segment of users
    graph: str  # the observed graph: the clean one after a change, if there is one

    @property
    def protocol(self) -> Protocol:
        """Return how methods play it."""
        return fill(Protocol, self)

    @property
    def contexts(self) -> ContextSpec | None:
        """Return what its contexts depend on, None where its arms are single nodes."""
        return None if self.context == NODE else fill(ContextSpec, self)

    @property
    def ratings(self) -> Ratings | None:
        """Return what resampled rewards depend on."""
        return fill(Ratings, self) if self.noise == RESAMPLED else None

    @property
    def segment_rewards(self) -> SegmentRewards | None:
        """Return what rewards that are drawn for several segments depend on."""
        return fill(SegmentRewards, self) if self.segments > 1 and self.reward in PLANTED else None


class GraphSpec(NamedTuple):
    """A graph: that of a data set, a sample of it, or one of these after a change."""

    name: str
    dataset: str | None  # None for a random graph
    family: str
    parameters: dict[str, FactorValue]  # of the family
    n: int | str
    reward: str
    content: str
    rank: int
    user_columns: str
    solver: str
    instances: int
    holdout: str
    change: GraphChange | None = None
    user_segments: UserSegments | None = None
    segments: int = 1  # of users; every segment has its own nodes
    min_nodes: int = 0  # needed by the largest basis and candidate set
    parent: str | None = None

    def derive(self, factors: Raw, change: GraphChange | None = None) -> "GraphSpec":
        """Return a graph that is made of this one, with the factors that its name ends with."""
        name = problem_name(self.name, factors)
        return self._replace(name=name, change=change, user_segments=None, parent=self.name)


GRAPH_FACTORS = sorted(set(GraphSpec._fields) & set(Factors.model_fields) - {"dataset", "segments"})
DEFAULTS = {name: info.default for name, info in Factors.model_fields.items()}


def flat(record: object) -> dict[str, object]:
    """Return the fields of a record by name, those of records inside it included, without parts that are None."""
    values: dict[str, object] = {}
    for name, value in vars(record).items():
        if value is not None:
            values |= flat(value) if is_dataclass(value) else {name: value}
    return values


def complete(config: Config, base: str, changes: Raw) -> Factors:
    """Return all factors of a problem: those of its data set, then its own, then some changes."""
    changed_factors = config.problems[base].factors | changes
    factors = Factors.model_construct(**_usual(config, changed_factors["dataset"]) | changed_factors)
    if absent := [name for name in _needed_factors(factors.family) if getattr(factors, name) is None]:
        raise UserError(f"problems.{base}: factor {absent[0]!r} has no value")
    return factors


def _usual(config: Config, dataset: str) -> Raw:
    """Return the factors that every problem on a data set starts from."""
    block = config.datasets[dataset]
    return config.protocol.factors | (config.observed.factors if block.is_observed else {}) | block.factors


@cache  # thousands of problems share a few families
def _parameters(family: str) -> tuple[str, ...]:
    """Return the factors that a graph family takes: its keyword-only arguments."""
    signature = inspect.signature((FAMILIES | from_data.FAMILIES)[family])
    return tuple(p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY)


@cache
def _needed_factors(family: str) -> list[str]:
    """Return the factors that a problem needs: all but those of other graph families, and the grid of an adaptive k."""
    of_families = {name for other in FAMILIES | from_data.FAMILIES for name in _parameters(other)}
    return sorted(DEFAULTS.keys() - of_families - {"k_grid"} | set(_parameters(family)))


def graph_chain(config: Config, factors: Factors) -> list[GraphSpec]:
    """Return the graphs behind a problem: of the data set, of the items, the clean and the observed one.

    The items are a sample of the graph of the data set, if one is asked for. The clean graph has them once for every
    segment of users. The observed graph is the clean one after a change, if there is one. Several may be the same.
    """
    dataset = factors.dataset
    parameters = {name: getattr(factors, name) for name in _parameters(factors.family)}
    factors_of_graph = parameters | {name: getattr(factors, name) for name in GRAPH_FACTORS}
    usual = DEFAULTS | _usual(config, dataset)
    whole = fill(
        GraphSpec,
        factors,
        name=problem_name(dataset, {name: v for name, v in factors_of_graph.items() if v != usual[name]}),
        dataset=dataset if config.datasets[dataset].is_observed else None,
        segments=1,
        # Omit defaults, so that adding a factor invalidates no cached job.
        parameters={name: value for name, value in parameters.items() if value != DEFAULTS[name]},
    )
    items = whole
    if 0 < factors.sample < from_data.most(factors.n):
        items = whole.derive({"sample": factors.sample}, GraphChange("sample", factors.sample))
    clean = items
    if factors.segments > 1:
        users = fill(UserSegments, factors)
        clean = items.derive(vars(users))._replace(segments=users.segments, user_segments=users)
    changes = {name: getattr(factors, name) for name in CHANGES if getattr(factors, name)}
    if len(changes) > 1:
        raise UserError(f"{dataset}: only one of {', '.join(changes)} can change a graph")
    observed = clean
    for kind, size in changes.items():
        k = {"k": factors.k} if kind == "perturb" else {}  # a gap, which the size is relative to, is that behind k
        observed = clean.derive(changes | k, GraphChange(kind, size, **k))
    return [whole, items, clean, observed]
