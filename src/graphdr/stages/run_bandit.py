"""Play the methods of a batch on its problems, with all instances, draws and seeds."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphdr.bandit.arm_set import ContextSpec
from graphdr.bandit.environment import (
    NEEDS_GRAPH,
    CandidateSource,
    Edges,
    PolicyRng,
    Rounds,
    RoundsSpec,
    draw_rounds,
    edges_of,
    empirical_noise,
)
from graphdr.bandit.linucb_batched import LANES
from graphdr.bandit.method import GRAPH, ArmFeatures, BanditProblem, GraphInputs, Method, Run
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.radii import RadiusInputs, TheoremProblem, theorem_inputs
from graphdr.bandit.simulate import simulate_many
from graphdr.cache import io, paths
from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import k_fact, residual
from graphdr.store.arm_sets import read_arm_sets
from graphdr.store.bases import read_bases
from graphdr.store.chosen import read_chosen
from graphdr.store.items import read_items
from graphdr.store.problems import read_estimates, read_facts, read_rewards, read_thetas
from graphdr.store.rows import stack
from graphdr.theory.results import FITTED, MEASURED, RunResult

if TYPE_CHECKING:
    from graphdr.graphs.model import Graph

BOUND_COLUMNS = ("longest", "size", "nu_k", "s_k_bar", "error")  # what the bound on a run depends on besides


@dataclass(frozen=True)
class Protocol:
    """How a problem is played, whatever its graph, rewards, arms and methods."""

    instances: int
    draws: int
    horizon: int
    first_seed: int
    seeds: int
    checkpoint: int
    candidates: str
    arms: int  # candidates per round
    noise: float | str
    settings_from: str

    @property
    def seed_range(self) -> range:
        """The seeds of the runs of an instance."""
        return range(self.first_seed, self.first_seed + self.seeds)


@dataclass(frozen=True)
class RunProblem:
    """What the runs of a problem depend on."""

    name: str
    clean: str
    graph: str
    protocol: Protocol
    methods: Sequence[str]
    settings: "InheritedSettings"
    contexts: ContextSpec | None = None  # None: the arms are nodes

    @property
    def segments(self) -> int:
        """The number of segments of users."""
        return self.contexts.segments if self.contexts else 1


@dataclass(frozen=True)
class InheritedSettings:
    """The settings that methods take from their problem; None where no method takes them."""

    alpha: float | None = None
    ridge: float | None = None
    k: int | None = None
    k_grid: Sequence[int] | None = None
    delta: float | None = None
    pilot: int | None = None
    components: int | None = None


class Input(NamedTuple):
    """Rewards, bases by name and graph and, where a method or its candidates need them, graphs, facts and the pilot."""

    theta: str
    basis: dict[str, dict[str, str]]
    nodes: dict[str, str]
    edges: dict[str, str]
    facts: str = ""
    pilot: str = ""
    contexts: str = ""
    rewards: str = ""  # observed rewards of the nodes, where noise is resampled
    chosen: Sequence[str] = ()  # measurements of the grids that settings were chosen from


class Output(NamedTuple):
    runs: str = paths.runs


class ChosenFrom(NamedTuple):
    """A problem and a method whose settings were chosen on another problem, in a grid."""

    problem: str
    method: str
    grid: str


class Params(NamedTuple):
    problems: list[RunProblem]
    methods: dict[str, Method]
    seed: int
    chosen: Sequence[ChosenFrom] = ()


class Place(NamedTuple):
    """An instance of a problem."""

    problem: str
    instance: int


class FeatureKey(NamedTuple):
    """What the features of nodes depend on."""

    graph: str
    instance: int
    draw: int
    method: Method  # without the settings that do not matter here


@dataclass(frozen=True, eq=False)
class Setup:
    """A method with all its settings, on an instance of a problem and a draw of its basis."""

    name: str
    number: int  # of the problem
    instance: int
    draw: int
    method: Method
    problem: BanditProblem


@dataclass(frozen=True, eq=False)
class RunTask:
    """One run: a setup and a seed."""

    setup: Setup
    seed: int

    @property
    def place(self) -> tuple[int, int]:
        """The instance and the seed, which decide on the rounds."""
        return self.setup.instance, self.seed

    @property
    def order(self) -> tuple[int, int, int, int]:
        """The place in a group of runs that are played together."""
        return self.setup.instance, self.seed, self.setup.number, self.setup.draw


class GroupKey(NamedTuple):
    """What runs share that are played together."""

    block: int  # of a few instances and seeds, whose rounds are kept meanwhile
    name: str
    method: Method
    features: int
    shape: tuple[int, int, int]  # rounds, candidates per round, and rounds between two checkpoints
    noise: float
    setup: tuple[int, ...]  # number, instance and draw, if other setups must be played apart


def main(input: Input, output: Output, params: Params) -> None:
    batch = Batch(input, params)
    tasks = list(plan_runs(batch))
    results: dict[RunTask, RunResult] = {}
    begin = time.perf_counter()
    for group in group_runs(tasks, params.problems):
        runs = [batch.run(task) for task in group]
        played = simulate_many(group[0].setup.method, runs)
        # The arms of a whole batch would fill the memory.
        results |= {task: result._replace(arms=None) for task, result in zip(group, played, strict=True)}
        if 10 * len(results) // len(tasks) > 10 * (len(results) - len(group)) // len(tasks):
            print(f"{len(results)} of {len(tasks)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", _table(params, results) if tasks else io.nothing("runs"), output.runs)


class Batch:
    """The inputs of a job, and what is computed from them once for all runs."""

    def __init__(self, input: Input, params: Params) -> None:
        self.params = params
        thetas = read_thetas(input.theta)
        self.thetas = {Place(*key): theta for key, theta in thetas.items()}
        self.graphs = _read_graphs(input, list(params.methods.values()))
        self.facts = read_facts(input.facts) if input.facts else {}
        self.estimates = read_estimates(input.pilot) if input.pilot else {}
        self.bases = {
            name: {graph: read_bases(path) for graph, path in files.items()} for name, files in input.basis.items()
        }
        arm_sets = read_arm_sets(input.contexts, {spec.name: spec.segments for spec in params.problems}, thetas)
        self.arm_sets = {Place(*key): arm_set for key, arm_set in arm_sets.items()}
        self.rewards = {place: arm_set(self.thetas[place]) for place, arm_set in self.arm_sets.items()}
        self.noise = {
            Place(*key): empirical_noise(self.thetas[Place(*key)], *observed)
            for key, observed in (read_rewards(input.rewards) if input.rewards else {}).items()
        }
        self.noise_levels = {spec.name: self._noise_level(spec) for spec in params.problems}
        self.settings = read_chosen(input.chosen)
        self._features: dict[FeatureKey, ArmFeatures] = {}
        # Methods meet the same rounds one after the other.
        self._draw = lru_cache(maxsize=LANES * len(params.problems))(self._draw_rounds)

    def _noise_level(self, spec: RunProblem) -> float:
        """Return the standard deviation of the noise; that of observed rewards is a mean over the instances."""
        sizes = [noise.size for place, noise in self.noise.items() if place.problem == spec.name]
        return float(np.sqrt(np.mean(np.square(sizes)))) if sizes else spec.protocol.noise  # type: ignore[return-value]

    def setups(self, name: str, number: int) -> Iterator[Setup]:
        """Yield the setups of a method on a problem; a basis that the data set has no data for has no draw.

        Settings that leave features as they are share them: those of a grid on a large graph would fill the memory.
        """
        spec = self.params.problems[number]
        resolved = self._resolve(name, spec)
        for instance in range(spec.protocol.instances):
            method = self._with_dimension(resolved, Place(spec.name, instance))
            for draw, inputs in self._inputs(method, spec, instance):
                key = FeatureKey(spec.graph, instance, draw, method.feature_settings())
                if key not in self._features:
                    self._features[key] = method.features(inputs)
                problem = self._problem(method, spec, instance, self._features[key])
                yield Setup(name, number, instance, draw, method, problem)

    def _resolve(self, name: str, spec: RunProblem) -> Method:
        """Return a method with the settings of its problem, or those chosen from a grid, as plain numbers."""
        method = self.params.methods[name].resolve(spec.settings)
        for source in self.params.chosen:
            if (source.problem, source.method) == (spec.name, name):
                method = method.with_settings(self.settings.get((source.grid, name), {}))
        return method.in_units_of(self.noise_levels[spec.name])

    def _with_dimension(self, method: Method, place: Place) -> Method:
        """Replace a k that is the name of a fact by its value."""
        fact = k_fact(getattr(method, "k", None))
        return method.with_settings({"k": int(self.facts[*place, fact])}) if fact else method

    def _inputs(self, method: Method, spec: RunProblem, instance: int) -> Iterator[tuple[int, GraphInputs]]:
        """Yield what features are computed from, by draw of the basis.

        A method without a basis has one draw. Draws of two bases are paired by index; a second basis that is not random
        has one draw for all, and one that the data set has no data for leaves the first alone.
        """
        laplacian = self.graphs.laplacians[spec.graph][instance] if method.uses_laplacian else None
        edges = self.graphs.edges[spec.graph][instance] if method.space == GRAPH else None
        if not method.bases:
            yield 0, GraphInputs(laplacian=laplacian, edges=edges)
            return
        first, *others = [self.bases[name].get(spec.graph, {}) for name in method.bases]
        second = others[0] if others else {}
        for (at, draw), basis in first.items():
            if at == instance and draw <= spec.protocol.draws:
                second_basis = second.get((at, draw), second.get((at, 0)))
                yield draw, GraphInputs(basis, second_basis, laplacian, edges)

    def _problem(self, method: Method, spec: RunProblem, instance: int, nodes: ArmFeatures) -> BanditProblem:
        """Return the problem as a method plays it."""
        place = Place(spec.name, instance)
        arm_set, theta = self.arm_sets[place], self.thetas[place]
        outside = None
        if method.leaves_residual and nodes.features is not None:
            outside = arm_set(residual(theta, nodes.features))
        inputs = None
        if isinstance(method, LinUCB) and method.by_theorem:
            assert nodes.features is not None  # a theorem's radius has a basis …
            assert method.delta is not None  # … and a resolved method its settings
            assert method.ridge is not None
            facts = {fact: self.facts[*place, fact] for fact in method.facts}
            theta_hat = self.estimates[*place, method.pilot]  # type: ignore[index]
            noise = self.noise_levels[spec.name]
            theorem = TheoremProblem(theta, theta_hat, nodes.features, facts, arm_set, noise, spec.protocol.horizon)
            inputs = theorem_inputs(theorem, method.delta, method.ridge)
        return BanditProblem(
            self.rewards[place],
            **method.on_arm_set(nodes, arm_set)._asdict(),
            residual=outside,
            noise=self.noise_levels[spec.name],
            radius_inputs=inputs,
        )

    def run(self, task: RunTask) -> Run:
        """Return a run with its rounds and the random numbers of its policy."""
        setup, spec = task.setup, self.params.problems[task.setup.number]
        n, blocks = len(setup.problem.theta), self.arm_sets[Place(spec.name, setup.instance)].blocks
        resampled = Place(spec.name, setup.instance) in self.noise  # else problems share rounds
        protocol = spec.protocol
        noise = 0.0 if resampled else protocol.noise
        rounds_spec = RoundsSpec(protocol.horizon, protocol.arms, protocol.candidates, noise, blocks)  # type: ignore[arg-type]
        graph = spec.graph if protocol.candidates in NEEDS_GRAPH or blocks > 1 else None
        place = RoundsPlace(n, setup.instance, task.seed, graph, spec.name if resampled else None)
        rng = PolicyRng(self.params.seed, rounds_spec, n, setup.instance, task.seed)
        return Run(setup.problem, self._draw(rounds_spec, place), rng, protocol.checkpoint)

    def _draw_rounds(self, spec: RoundsSpec, place: "RoundsPlace") -> Rounds:
        if place.resampled is not None:
            spec = replace(spec, noise=self.noise[Place(place.resampled, place.instance)])
        source = self.graphs.sources[place.graph][place.instance] if place.graph else None
        return draw_rounds(self.params.seed, spec, place.n, place.instance, place.seed, source)


class RoundsPlace(NamedTuple):
    """What rounds depend on besides their specification; ``resampled`` names a problem with observed rewards."""

    n: int
    instance: int
    seed: int
    graph: str | None
    resampled: str | None


def plan_runs(batch: Batch) -> Iterator[RunTask]:
    """Yield all runs of a batch, method by method."""
    for name in batch.params.methods:
        for number, spec in enumerate(batch.params.problems):
            if name in spec.methods:
                for setup in batch.setups(name, number):
                    yield from (RunTask(setup, seed) for seed in spec.protocol.seed_range)


def group_runs(tasks: Sequence[RunTask], problems: Sequence[RunProblem]) -> Iterator[list[RunTask]]:
    """Yield runs of one method and shape in groups of at most LANES.

    All runs on the rounds of a few instances and seeds come first, then those on the next few.
    """
    places = {place: at for at, place in enumerate(sorted({task.place for task in tasks}))}
    names = sorted({task.setup.name for task in tasks})
    alike: dict[GroupKey, list[RunTask]] = {}
    blocks = [places[task.place] // LANES for task in tasks]
    for block, task in sorted(zip(blocks, tasks, strict=True), key=lambda pair: (pair[0], pair[1].order)):
        alike.setdefault(_group(block, task, problems[task.setup.number]), []).append(task)
    for _, group in sorted(alike.items(), key=lambda item: (item[0].block, names.index(item[0].name))):
        for start in range(0, len(group), LANES):
            yield group[start : start + LANES]


def _group(block: int, task: RunTask, spec: RunProblem) -> GroupKey:
    """Return what a run shares with those that it is played together with."""
    setup = task.setup
    features = setup.problem.features
    width = 0 if features is None else features.shape[1]
    apart = () if setup.method.batchable else (setup.number, setup.instance, setup.draw)
    protocol = spec.protocol
    shape = protocol.horizon, protocol.arms, protocol.checkpoint
    return GroupKey(block, setup.name, setup.method, width, shape, setup.problem.noise, apart)


class Graphs(NamedTuple):
    """Laplacians and edges, where a method needs them, and candidate sources: by graph and instance."""

    laplacians: dict[str, list[np.ndarray]]
    edges: dict[str, list[Edges]]
    sources: dict[str, list[CandidateSource]]


def _read_graphs(input: Input, methods: Sequence[Method]) -> Graphs:
    graphs = Graphs({}, {}, {})
    if not input.nodes:
        return graphs
    from graphdr.store.graphs import read_graphs  # with SciPy, which most methods do without

    for name, path in input.nodes.items():
        instances = read_graphs(path, input.edges[name])
        if any(method.uses_laplacian for method in methods):
            graphs.laplacians[name] = [_dense_laplacian(graph) for graph in instances]
        if any(method.space == GRAPH for method in methods):
            graphs.edges[name] = [edges_of(graph.adjacency) for graph in instances]
        graphs.sources[name] = [
            CandidateSource(items.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            for graph, items in zip(instances, read_items(path), strict=True)
        ]
    return graphs


def _dense_laplacian(graph: "Graph") -> np.ndarray:
    from graphdr.graphs.model import laplacian

    check_dense("penalty laplacian", graph.n)
    return laplacian(graph).toarray()


def _table(params: Params, results: Mapping[RunTask, RunResult]) -> dict[str, np.ndarray]:
    """Return the columns of all runs, in the order of methods, problems, instances, draws and seeds."""
    order = {name: at for at, name in enumerate(params.methods)}
    parts = []
    for task in sorted(results, key=lambda task: _row_order(order, task)):
        setup, result = task.setup, results[task]
        key: dict[str, str | int] = {"method": setup.name, "problem": params.problems[setup.number].name}
        key |= {"instance": setup.instance, "draw": setup.draw, "seed": task.seed}
        columns = {name: getattr(result, name) for name in MEASURED} | _bound_columns(setup.problem.radius_inputs)
        columns |= {name: getattr(result.fit, name, None) for name in FITTED}
        measured = {name: np.nan if values is None else values for name, values in columns.items()}
        parts.append({**key, **measured})
    return stack(parts)


def _row_order(order: Mapping[str, int], task: RunTask) -> tuple[int, ...]:
    setup = task.setup
    return order[setup.name], setup.number, setup.instance, setup.draw, task.seed


def _bound_columns(inputs: RadiusInputs | None) -> dict[str, float | None]:
    """Return what the bound on a run with the radius of a theorem depends on."""
    if inputs is None or inputs.constants is None:
        return dict.fromkeys(BOUND_COLUMNS)
    constants = inputs.constants
    values = constants.bound_x, constants.size, inputs.nu_k, inputs.s_k_bar, inputs.error
    return dict(zip(BOUND_COLUMNS, values, strict=True))
