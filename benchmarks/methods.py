"""Time a round of every method of the leaderboard, and a refit of the graph prior, on one made-up problem."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from benchmarks.many_arms import refit, waves
from benchmarks.report import Row
from benchmarks.sections import TINY
from benchmarks.timing import Contestant, race
from graphdr.bandit.environment import PolicyRng, Rounds, RoundsSpec, draw_rounds, edges_of
from graphdr.bandit.graph_prior import model, play
from graphdr.bandit.method import GRAPH, BanditProblem, GraphInputs, Run
from graphdr.bandit.simulate import simulate_many
from graphdr.graphs.arm_features import Basis, find, singular_roughness
from graphdr.graphs.model import Graph, from_edges, laplacian
from graphdr.plan import config as configuration
from graphdr.plan.blocks import Config, Method

TARGET = "leaderboard"
BASELINE, PRIOR, THOMPSON = "graphdr", "graph_prior", "graph_prior_thompson"
N, COLUMNS, NEIGHBOURS = 1500, 64, 5  # nodes on a ring, columns of every basis, neighbours to either side
ROUNDS = 20_000
FACTORS = {"arms": 10, "candidates": "uniform", "noise": 0.1, "alpha": 0.1, "ridge": 1.0, "k": 10}
REPETITIONS = 3
SIZES = {TINY: (150, 400)}  # nodes, rounds
SECTION = "methods of the leaderboard"


class Ring(NamedTuple):
    """What all methods play: a problem on a ring, its graph, columns, reward and rounds."""

    problem: SimpleNamespace
    graph: Graph
    columns: np.ndarray
    theta: np.ndarray
    rounds: Rounds


def pose(config: Config, n: int = N, rounds: int = ROUNDS) -> Ring:
    """Draw a reward that is part smooth, on all columns that a graph prior may take, part each arm's own."""
    problem = config.protocol.factors | FACTORS | {"horizon": rounds}
    here = np.tile(np.arange(n), NEIGHBOURS)
    there = (here + np.repeat(np.arange(1, NEIGHBOURS + 1), n)) % n
    rng, columns = np.random.default_rng(1), waves(n, COLUMNS) * np.sqrt(2 / n)
    smooth = np.sqrt(n) * columns[:, : model.COLUMNS[-1]] @ rng.standard_normal(model.COLUMNS[-1])
    theta = 0.05 * smooth + 0.02 * rng.standard_normal(n)
    drawn = draw_rounds(config.seed, RoundsSpec(rounds, FACTORS["arms"], noise=FACTORS["noise"]), n, 0, 0)
    return Ring(SimpleNamespace(**problem), from_edges(n, here, there), columns, theta, drawn)


def on_leaderboard(config: Config) -> dict[str, Method]:
    """Return the methods of the leaderboard; a theorem's radius, which needs facts of a problem, is left out."""
    blocks = [*config.experiments.values()]
    names = dict.fromkeys(name for block in blocks if block.target == TARGET for name in block.methods)
    return {name: config.methods[name] for name in names if not config.methods[name].method.uses_pilot}


def basis_of(ring: Ring, name: str) -> Basis:
    """Return the made-up columns as the basis of a method, with values that fall or rise as its own would."""
    values = np.linspace(0.01, 1.0, COLUMNS)
    falling = find(name).roughness is singular_roughness
    return Basis(ring.columns, values[::-1] if falling else values, values)


def contestant(ring: Ring, name: str, block: Method) -> Contestant:
    """Return the call that plays all rounds with one method, as the workflow does."""
    method = block.method.resolve(ring.problem).in_units_of(ring.problem.noise)
    first, second = (*(basis_of(ring, basis) for basis in method.bases), None, None)[:2]
    penalty = laplacian(ring.graph).toarray() if method.uses_laplacian else None
    edges = edges_of(ring.graph.adjacency) if method.space == GRAPH else None
    arms = method.features(GraphInputs(first, second, penalty, edges))
    problem = BanditProblem(ring.theta, **arms._asdict(), noise=ring.problem.noise)
    run = Run(problem, ring.rounds, numbers_of(ring), ring.problem.checkpoint)
    return Contestant(name, partial(simulate_many, method, [run]), ring.problem.horizon)


def numbers_of(ring: Ring) -> PolicyRng:
    """Return the random numbers of a policy."""
    return PolicyRng(0, RoundsSpec(ring.problem.horizon, ring.problem.arms), len(ring.theta), 0, 0)


def time_a_round(config: Config, repetitions: int = REPETITIONS, n: int = N, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the microseconds per round of every method of the leaderboard: played in turns, the best time of each.

    A run plays alone, with 1,500 arms, ten candidates, 20,000 rounds and k = 10; a graph prior has up to 60 columns,
    and its refits count.
    """
    ring = pose(config, n, rounds)
    times = race([contestant(ring, *method) for method in on_leaderboard(config).items()], repetitions)
    return {name: 1e6 * time for name, time in times.items()}


class Parts(NamedTuple):
    """Microseconds of a graph prior: a round without refits, a refit; and the columns that its last refit found."""

    a_round: float
    a_refit: float
    columns: int


def time_parts(ring: Ring, repetitions: int = REPETITIONS) -> dict[str, Parts]:
    """Time rounds and refits of both graph priors apart, in turns."""
    rng, rounds = numbers_of(ring), ring.problem.horizon
    problem = BanditProblem(ring.theta, ring.columns, roughness=np.linspace(0.01, 1.0, COLUMNS))
    basis = model.columns(problem.features, problem.roughness)
    contestants, found = [], {}
    for name in (PRIOR, THOMPSON):
        normals = rng.generator("thompson") if name == THOMPSON else None
        choose = partial(play.play, problem, ring.rounds, rng.columns(ring.rounds), normals)
        arms, fits = choose()
        rewards = ring.theta[arms] + ring.rounds.noise
        seen = [model.statistics(len(ring.theta), arms[:stop], rewards[:stop]) for stop, _ in fits]
        contestants += [Contestant(name, choose), Contestant(f"refits of {name}", partial(_refits, seen, basis))]
        found[name] = len(fits), fits[-1][1].columns
    times = {name: 1e6 * time for name, time in race(contestants, repetitions).items()}
    return {
        name: Parts((times[name] - times[f"refits of {name}"]) / rounds, times[f"refits of {name}"] / refits, columns)
        for name, (refits, columns) in found.items()
    }


def _refits(seen: list[model.Statistics], basis: model.Columns) -> None:
    for statistics in seen:
        refit(statistics, basis)


def measure(size: str) -> list[Row]:
    """Return a row for every method, with its multiple of GraphDR, and what the graph priors spend on what."""
    config = configuration.load(Path("config.yaml"))
    n, rounds = SIZES.get(size, (N, ROUNDS))
    setting = f"n={n} m={FACTORS['arms']} T={rounds:,}"
    times = time_a_round(config, n=n, rounds=rounds)
    rows = [
        Row(SECTION, name, setting, time, time / times[BASELINE], note=f"{time / times[PRIOR]:.2g} of {PRIOR}")
        for name, time in sorted(times.items(), key=lambda item: item[1])
    ]
    for name, parts in time_parts(pose(config, n, rounds)).items():
        alone = f"{name}, without refits"
        rows.append(Row(SECTION, alone, setting, parts.a_round, parts.a_round / times[BASELINE]))
        note = f"{1e-3 * parts.a_refit:.3g} ms; {parts.columns} columns found"
        rows.append(Row(SECTION, f"{name}, one refit", setting, parts.a_refit, note=note))
    return rows
