"""Play the graph prior on many arms, each size in a process of its own: seconds, refits and peak memory."""

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np

from benchmarks.report import Row
from benchmarks.sections import TINY
from benchmarks.timing import say, seconds
from graphdr.bandit.environment import OneGenerator, RoundsSpec, draw_rounds
from graphdr.bandit.graph_prior import evidence, model, play
from graphdr.bandit.graph_prior.model import normal_equations
from graphdr.bandit.method import BanditProblem, Run
from graphdr.core.cpu_time import peak_memory

RUNS = [(170_000, 24, 2_000_000), (170_000, 60, 2_000_000), (1_000_000, 24, 20_000)]  # arms, columns, rounds
SIZES = {TINY: [(300, 5, 500)]}
OWN = 0.05  # standard deviation of what an arm pays besides what its columns say
SECTION = "graph prior on many arms"
POLICIES = ("UCB", "Thompson sampling")


def waves(n: int, columns: int) -> np.ndarray:
    """Return smooth columns that need no eigensolver: the eigenvectors of a ring."""
    made, angle = np.empty((n, columns)), 2 * np.pi * np.arange(n) / n
    for j in range(columns):
        (np.sin if j % 2 else np.cos)((j // 2 + 1) * angle, out=made[:, j])
    return made


def pose(n: int, columns: int, rounds: int) -> Run:
    """Draw rewards that are part smooth, part each arm's own, and the rounds; the roughness of columns is made up."""
    rng, features, roughness = np.random.default_rng(7), waves(n, columns), np.linspace(0.01, 1.0, columns)
    theta = features @ (rng.standard_normal(columns) / (1 + 10 * roughness)) + OWN * rng.standard_normal(n)
    drawn = draw_rounds(1, RoundsSpec(rounds, 10, noise=0.1), n, 0, 0)
    return Run(BanditProblem(theta, features, roughness=roughness), drawn, OneGenerator(np.random.default_rng(8)))


def choices(run: Run, policy: str) -> play.Choices:
    """Play a run with one of the policies."""
    rng = np.random.default_rng(8)
    first = OneGenerator(rng).columns(run.rounds)
    return play.play(run.problem, run.rounds, first, rng if policy != POLICIES[0] else None)


def refit(seen: model.Statistics, basis: model.Columns) -> model.Weights:
    """Do all that a refit does."""
    weights = evidence.fit(seen, basis)
    normal_equations(weights, seen, basis)
    return weights


def timed(call: Callable, *arguments: object) -> tuple[float, object]:
    """Return the seconds of one call, and what it returned."""
    returned = []
    return seconds(lambda: returned.append(call(*arguments))), returned[0]


def refits(run: Run, played: play.Choices) -> list[float]:
    """Do every refit of a run again, from the rewards that it had seen; return the seconds of each."""
    problem = run.problem
    basis = model.columns(problem.features, problem.roughness)
    rewards = problem.theta[played.arms] + run.rounds.noise
    times = []
    for rounds, weights in played.fits:
        time, found = timed(refit, model.statistics(len(problem.theta), played.arms[:rounds], rewards[:rounds]), basis)
        assert found._replace(noise=0.0) == weights._replace(noise=0.0), "equal rewards, other weights"
        times.append(time)
    return times


def parts(n: int, columns: int, rounds: int) -> dict:
    """Play one size; return seconds of the policies and of the refits of UCB, and peak memory in bytes."""
    for policy in POLICIES:
        choices(pose(100, 2, 100), policy)  # loads compiled code
    run = pose(n, columns, rounds)
    (ucb_time, ucb), (thompson_time, _) = (timed(choices, run, policy) for policy in POLICIES)
    peak = peak_memory()
    return {
        "setting": f"arms={n:,} columns={columns} rounds={rounds:,}",
        "rounds": rounds,
        "seconds": dict(zip(POLICIES, (ucb_time, thompson_time), strict=True)),
        "refits": refits(run, ucb),
        "found": ucb.fits[-1][1].columns,
        "features": run.problem.features.nbytes,
        "peak": peak,
    }


def fresh(*size: int) -> dict:
    """Play one size in a fresh process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.many_arms", *map(str, size)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def rows_of(size: dict) -> list[Row]:
    """Return a row for each policy, and two for the refits."""
    setting, times = size["setting"], size["refits"]
    rows = [
        Row(SECTION, policy, setting, time, note=f"{size['rounds'] / time:,.0f} rounds per second")
        for policy, time in size["seconds"].items()
    ]
    memory = f"peak memory {size['peak'] / 1e9:.2f} GB, of which the columns {size['features'] / 1e9:.2f} GB"
    rows[0] = rows[0]._replace(note=f"{rows[0].note}; {memory}")
    return [
        *rows,
        Row(SECTION, f"all {len(times)} refits of UCB", setting, sum(times), note="part of its seconds"),
        Row(SECTION, "the longest refit", setting, max(times), note=f"{size['found']} columns found"),
    ]


def measure(size: str) -> list[Row]:
    """Play all runs, one after the other."""
    rows = []
    for arms, columns, rounds in SIZES.get(size, RUNS):
        say(f"graph prior, {arms:,} arms, {columns} columns, {rounds:,} rounds")
        rows += rows_of(fresh(arms, columns, rounds))
    return rows


if __name__ == "__main__":
    json.dump(parts(*map(int, sys.argv[1:])), sys.stdout, default=float)
