"""Play the methods of a batch on its problems, with all instances, draws and seeds."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphdr.bandit import environment
from graphdr.bandit.environment import Rounds, RoundsSpec
from graphdr.bandit.linucb_batched import LANES
from graphdr.bandit.method import GRAPH, ArmFeatures, BanditProblem, GraphInputs, Method, Run
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.radii import ERROR_BOUND, RadiusInputs
from graphdr.bandit.simulate import simulate_many
from graphdr.cache import io, paths
from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import k_fact, residual
from graphdr.scores.chosen import CHOSEN
from graphdr.store.graphs import read_bases, read_graphs, read_items
from graphdr.store.problems import read_arm_sets, read_estimates, read_facts, read_rewards, read_thetas
from graphdr.theory.constants import Constants, nu, split
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


@dataclass(frozen=True)
class RunProblem:
    """What the runs of a problem depend on."""

    name: str
    graph: str
    segments: int
    protocol: Protocol
    methods: Sequence[str]
    settings: Mapping[str, Any]  # that methods without their own take from it


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


class Params(NamedTuple):
    problems: list[RunProblem]
    methods: dict[str, Method]
    seed: int
    chosen: Sequence[tuple[str, str, str]] = ()  # problem, method, and the problem that its settings were chosen on


@dataclass(frozen=True, eq=False)
class Task:
    """One run: a method with all its settings on an instance of a problem, a draw of its basis, and a seed."""

    name: str
    number: int  # of the problem
    instance: int
    draw: int
    seed: int
    method: Method
    problem: BanditProblem


def main(input: Input, output: Output, params: Params) -> None:
    batch = Batch(input, params)
    tasks = list(batch.tasks())
    results: dict[Task, RunResult] = {}
    begin = time.perf_counter()
    for group in group_runs(tasks, params.problems):
        played = simulate_many(group[0].method, [batch.run(task) for task in group])
        # The arms of a whole batch would fill the memory.
        results |= {task: result._replace(arms=None) for task, result in zip(group, played, strict=True)}
        if 10 * len(results) // len(tasks) > 10 * (len(results) - len(group)) // len(tasks):
            print(f"{len(results)} of {len(tasks)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    rows = [_rows(params.problems[task.number].name, task, results[task]) for task in tasks]
    io.write_parts("runs", rows, output.runs)


class Batch:
    """The inputs of a job, and what is computed from them once for all runs."""

    def __init__(self, input: Input, params: Params) -> None:
        self.params = params
        self.thetas = read_thetas(input.theta)
        self.graphs = {name: read_graphs(path, input.edges[name]) for name, path in input.nodes.items()}
        self.items = {name: read_items(path) for name, path in input.nodes.items()}
        self.facts = read_facts(input.facts) if input.facts else {}
        self.estimates = read_estimates(input.pilot) if input.pilot else {}
        self.bases = {
            name: {graph: read_bases(path) for graph, path in files.items()} for name, files in input.basis.items()
        }
        segments = {spec.name: spec.segments for spec in params.problems}
        self.arm_sets = read_arm_sets(input.contexts, segments, self.thetas)
        self.rewards = {place: arm_set(self.thetas[place]) for place, arm_set in self.arm_sets.items()}
        observed = read_rewards(input.rewards) if input.rewards else {}
        self.noise = {
            place: environment.empirical_noise(self.thetas[place], *columns) for place, columns in observed.items()
        }
        self.noise_levels: dict[str, float] = {}  # standard deviations; of observed rewards a mean over the instances
        for spec in params.problems:
            sizes = [noise.size for (problem, _), noise in self.noise.items() if problem == spec.name]
            level = np.sqrt(np.mean(np.square(sizes))) if sizes else spec.protocol.noise
            self.noise_levels[spec.name] = float(level)
        self.chosen: dict[tuple[str, str], dict[str, float | int]] = {}  # settings by problem and method of a grid
        for path in input.chosen:
            columns = io.arrays(io.read("measurements", path), "problem", "method", "quantity", "value")
            for problem, method, quantity, value in zip(*(column.tolist() for column in columns), strict=True):
                if setting := CHOSEN.get(quantity):
                    self.chosen.setdefault((problem, method), {})[setting] = int(value) if setting == "k" else value
        # Methods meet the same rounds one after the other.
        self.rounds = lru_cache(maxsize=LANES * len(params.problems))(self._rounds)
        self.laplacian = cache(lambda graph, instance: _dense_laplacian(self.graphs[graph][instance]))
        self.edges = cache(lambda graph, instance: environment.edges_of(self.graphs[graph][instance].adjacency))

    def tasks(self) -> Iterator[Task]:
        """Yield all runs of the batch: methods, problems, instances, draws and seeds, in this order.

        A basis that the data set has no data for has no draw. Settings that leave features as they are share them:
        those of a grid on a large graph would fill the memory.
        """
        shared: dict[Any, ArmFeatures] = {}
        grids = {(problem, name): grid for problem, name, grid in self.params.chosen}
        for name, declared in self.params.methods.items():
            for number, spec in enumerate(self.params.problems):
                if name not in spec.methods:
                    continue
                seeds = range(spec.protocol.first_seed, spec.protocol.first_seed + spec.protocol.seeds)
                method = declared.with_settings({setting: spec.settings[setting] for setting in declared.missing})
                if grid := grids.get((spec.name, name)):
                    method = method.with_settings(self.chosen.get((grid, name), {}))
                method = method.in_units_of(self.noise_levels[spec.name])
                fact = k_fact(getattr(method, "k", None))
                for instance in range(spec.protocol.instances):
                    if fact:  # which says how many columns to take
                        method = method.with_settings({"k": int(self.facts[spec.name, instance, fact])})
                    for draw, inputs in self._inputs(method, spec, instance):
                        key = spec.graph, instance, draw, method.feature_settings()
                        if key not in shared:
                            shared[key] = method.features(inputs)
                        problem = self._problem(method, spec, instance, shared[key])
                        for seed in seeds:
                            yield Task(name, number, instance, draw, seed, method, problem)

    def _inputs(self, method: Method, spec: RunProblem, instance: int) -> Iterator[tuple[int, GraphInputs]]:
        """Yield what features are computed from, by draw of the basis.

        A method without a basis has one draw. Draws of two bases are paired by index; a second basis that is not random
        has one draw for all, and one that the data set has no data for leaves the first alone.
        """
        laplacian = self.laplacian(spec.graph, instance) if method.uses_laplacian else None
        edges = self.edges(spec.graph, instance) if method.space == GRAPH else None
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
        place = spec.name, instance
        arm_set, theta, noise = self.arm_sets[place], self.thetas[place], self.noise_levels[spec.name]
        outside = inputs = None
        if method.leaves_residual and nodes.features is not None:
            outside = arm_set(residual(theta, nodes.features))
        if isinstance(method, LinUCB) and method.by_theorem:
            assert nodes.features is not None  # a theorem's radius has a basis
            inputs = self._radius_inputs(method, spec, place, nodes.features)
        features = method.on_arm_set(nodes, arm_set)._asdict()
        return BanditProblem(self.rewards[place], **features, residual=outside, noise=noise, radius_inputs=inputs)

    def _radius_inputs(
        self, method: LinUCB, spec: RunProblem, place: tuple[str, int], vectors: np.ndarray
    ) -> RadiusInputs:
        """Compute the constants of a theorem, the residual, and that of a pilot, for a reward of unit norm.

        The error of the pilot is the true one, unless a bound on it is among the facts.
        """
        facts = {fact: self.facts[*place, fact] for fact in method.facts}
        zeta, arm_set = facts["zeta"], self.arm_sets[place]
        s_k = float(np.sqrt(max(1 - zeta**2, 0.0)))
        size, outside = split(self.thetas[place], vectors)
        pilot_residual = residual(self.estimates[*place, method.pilot], vectors)  # type: ignore[index]
        error = float(np.linalg.norm(pilot_residual - outside))  # pilot.pilot_error in another order of rounding
        (delta, ridge), noise = method.numbers("delta", "ridge"), self.noise_levels[spec.name]
        return RadiusInputs(
            rounds=spec.protocol.horizon,
            constants=Constants(vectors.shape[1], noise, delta, ridge, arm_set.longest, size),
            nu_k=nu(zeta, s_k, facts["eps_l"], facts["interior_gap"], arm_set.longest),
            s_k_bar=s_k + zeta,  # the bound of the generic theorem on the norm of the reward
            residual=arm_set(outside),
            pilot_residual=arm_set(pilot_residual),
            error=facts.get(ERROR_BOUND, error),
        )

    def run(self, task: Task) -> Run:
        """Return a run with its rounds and the random numbers of its policy."""
        spec = self.params.problems[task.number]
        protocol, place = spec.protocol, (spec.name, task.instance)
        n, blocks = len(task.problem.theta), self.arm_sets[place].blocks
        resampled = spec.name if place in self.noise else None  # else problems share rounds
        noise = 0.0 if resampled else protocol.noise
        rounds_spec = RoundsSpec(protocol.horizon, protocol.arms, protocol.candidates, noise, blocks)  # type: ignore[arg-type]
        graph = spec.graph if protocol.candidates in environment.NEEDS_GRAPH or blocks > 1 else None
        rounds = self.rounds(rounds_spec, n, task.instance, task.seed, graph, resampled)
        rng = environment.PolicyRng(self.params.seed, rounds_spec, n, task.instance, task.seed)
        return Run(task.problem, rounds, rng, protocol.checkpoint)

    def _rounds(
        self, spec: RoundsSpec, n: int, instance: int, seed: int, graph: str | None, resampled: str | None
    ) -> Rounds:
        """Draw the rounds of a run; ``resampled`` names a problem with observed rewards."""
        source = None
        if resampled:
            spec = replace(spec, noise=self.noise[resampled, instance])
        if graph:
            adjacency, popularity = self.graphs[graph][instance].adjacency, self.items[graph][instance].popularity
            source = environment.CandidateSource(popularity, adjacency.indptr, adjacency.indices)
        return environment.draw_rounds(self.params.seed, spec, n, instance, seed, source)


def _dense_laplacian(graph: "Graph") -> np.ndarray:
    from graphdr.graphs.model import laplacian

    check_dense("penalty laplacian", graph.n)
    return laplacian(graph).toarray()


def group_runs(tasks: Sequence[Task], problems: Sequence[RunProblem]) -> Iterator[list[Task]]:
    """Yield runs of one method and shape in groups of at most LANES.

    All runs on the rounds of a few instances and seeds come first, then those on the next few.
    """
    places = {place: at for at, place in enumerate(sorted({(task.instance, task.seed) for task in tasks}))}
    alike: dict[Any, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: (task.instance, task.seed, task.number, task.draw)):
        block, features = places[task.instance, task.seed] // LANES, task.problem.features
        protocol = problems[task.number].protocol
        shape = protocol.horizon, protocol.arms, protocol.checkpoint, 0 if features is None else features.shape[1]
        apart = () if task.method.batchable else (task.number, task.instance, task.draw)
        alike.setdefault((block, task.name, task.method, shape, task.problem.noise, apart), []).append(task)
    for _, group in sorted(alike.items(), key=lambda item: item[0][:2]):
        for start in range(0, len(group), LANES):
            yield group[start : start + LANES]


def _rows(problem: str, task: Task, result: RunResult) -> dict[str, object]:
    """Return the columns of a run; what was not measured is nan."""
    columns = {name: getattr(result, name) for name in MEASURED} | dict.fromkeys(BOUND_COLUMNS)
    if (inputs := task.problem.radius_inputs) and (constants := inputs.constants):
        values = constants.bound_x, constants.size, inputs.nu_k, inputs.s_k_bar, inputs.error
        columns |= dict(zip(BOUND_COLUMNS, values, strict=True))
    columns |= {name: getattr(result.fit, name, None) for name in FITTED}
    key = {"method": task.name, "problem": problem, "instance": task.instance, "draw": task.draw, "seed": task.seed}
    return key | {name: np.nan if values is None else values for name, values in columns.items()}
