"""Trials of a served policy that learns from rewards alone: python -m trust.served 20 plays 20 seeds, from 0 on.

A second number is the first seed. 1,000 arms in five blocks whose click rates differ, 20 candidates a round, 8,000
rounds. The policy has no setting. It is compared with the best ridge and radius in hindsight of a policy that also
knows the mean click rate; on a shuffled graph with full LinUCB, set in the same way; and with random play. Then rates
are flipped half way.
"""

import argparse
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from graphdr import GraphDRLinUCB
from graphdr.bandit.environment import Rounds
from graphdr.bandit.method import BanditProblem
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.simulate import simulate
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, model, random_graphs, spectral
from graphdr.graphs.model import Graph

ARMS, BLOCKS, OFFERED, ROUNDS = 1000, 5, 20, 8000
TINY = 300  # rounds
RATES = {"2–5 %": (0.02, 0.05), "30–50 %": (0.3, 0.5)}
RADII = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)
RIDGES = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
DIMENSIONS = (4, 10, 20)  # the first separates the blocks, and has to be known; the last is the policy's
SETTINGS = list(product((*DIMENSIONS, 0), RADII, RIDGES))
FORGET = 0.995
OTHER = 1000  # added to seeds: the best of so many settings looks better where it was chosen


class Clicks(NamedTuple):
    """A graph of arms, their click rates, and rounds: the arms that are offered, and the reward of each."""

    graph: Graph
    rates: np.ndarray
    offered: np.ndarray
    rewards: np.ndarray


def draw_clicks(low: float, high: float, seed: int, rounds: int) -> Clicks:
    """Draw arms in blocks with rates from low to high, and rounds."""
    rng = stream(seed, "clicks", low=str(low))
    graph = model.largest_component(random_graphs.sbm(ARMS, rng, blocks=BLOCKS, p_in=0.05, p_out=0.002))
    rates = rng.permutation(np.linspace(low, high, BLOCKS))[graph.origin * BLOCKS // ARMS]
    offered = np.array([rng.choice(graph.n, OFFERED, replace=False) for _ in range(rounds)], np.uint32)
    return Clicks(graph, rates, offered, (rng.random(offered.shape) < rates[offered]).astype(float))


def served(policy: GraphDRLinUCB, data: Clicks) -> np.ndarray:
    """Play all rounds; return the regret of each."""
    regret = np.empty(len(data.offered))
    for t, (offered, rewards) in enumerate(zip(data.offered, data.rewards, strict=True)):
        arm = policy.recommend(offered)
        policy.update(arm, rewards[np.argmax(offered == arm)])
        regret[t] = data.rates[offered].max() - data.rates[arm]
    return regret


def in_hindsight(data: Clicks, settings: list[tuple[int, float, float]] = SETTINGS) -> dict[tuple, float]:
    """Return the regret of LinUCB by k (0: full), radius and ridge, on rewards around the mean rate."""
    theta, low = data.rates - data.rates.mean(), spectral.low_eigenpairs(data.graph, 1 + max(DIMENSIONS)).vectors
    rounds = Rounds(data.offered, data.rewards - data.rates[data.offered])
    features = {k: arm_features.select("laplacian_low", low, k) for k in DIMENSIONS} | {0: None}
    regret = {}
    for k, radius, ridge in settings:
        result = simulate(BanditProblem(theta, features[k]), LinUCB(alpha=radius, ridge=ridge), rounds)
        regret[k, radius, ridge] = float(result.regret[-1])
    return regret


def elsewhere(bounds: tuple[float, float], settings: list[tuple], rounds: int, seed: int) -> dict[tuple, float]:
    """Return the regret of settings on a seed that did not choose them."""
    return in_hindsight(draw_clicks(*bounds, seed + OTHER, rounds), settings)


def trial(bounds: tuple[float, float], rounds: int, seed: int) -> dict:
    """Play one seed: the policy, the policy on a shuffled graph, random play, and all settings in hindsight."""
    data = draw_clicks(*bounds, seed, rounds)
    order = stream(seed, "shuffled").permutation(data.graph.n)
    shuffled = data.graph._replace(adjacency=data.graph.adjacency[order][:, order])
    names = range(data.graph.n)
    policy = GraphDRLinUCB(random_state=seed)
    policies = {
        "policy": policy.fit(data.graph, names=names),
        "shuffled": clone(policy).fit(shuffled, names=names),
        "alone": clone(policy).set_params(basis="identity").fit(data.graph, names=names),
    }
    played = {label: served(fitted, data).sum() for label, fitted in policies.items()}
    best = data.rates[data.offered]
    return played | {"random": float((best.max(axis=1) - best.mean(axis=1)).sum())} | in_hindsight(data)


def flip(bounds: tuple[float, float], rounds: int, seed: int) -> dict[str, float]:
    """Flip the rates half way; return the regret after that, with and without forgetting, and of restarted policies."""
    data = draw_clicks(*bounds, seed, rounds)
    half = len(data.offered) // 2
    later = data._replace(rates=sum(bounds) - data.rates, offered=data.offered[half:])
    draws = stream(seed, "after the flip").random(later.offered.shape)
    later = later._replace(rewards=(draws < later.rates[later.offered]).astype(float))
    before = data._replace(offered=data.offered[:half], rewards=data.rewards[:half])
    regret = {}
    for label, forget in {"all kept": 1.0, "forgetting": FORGET}.items():
        for kind, first in {"": [before], ", restarted": []}.items():
            policy = GraphDRLinUCB(forget=forget, random_state=seed).fit(data.graph, names=range(data.graph.n))
            regret[label + kind] = [served(policy, part).sum() for part in (*first, later)][-1]
    return regret


def lines(seeds: int, first: int, rounds: int = ROUNDS) -> Iterator[str]:
    """Say what came out, kind by kind."""
    numbers = range(first, first + seeds)
    for label, bounds in RATES.items():
        played = _all(partial(trial, bounds, rounds), numbers)
        mean = {key: np.mean([result[key] for result in played]) for key in played[0]}
        yield f"clicks at {label}: policy {mean['policy']:.1f}, random play {mean['random']:.1f}"
        worse = sum(result["policy"] >= result["random"] for result in played)
        yield f"  worse than random play on {worse} of {seeds} seeds"
        shuffled = f"{mean['shuffled']:.1f}, full LinUCB without a setting {mean['alone']:.1f}"
        yield f"  on a shuffled graph {shuffled}: {mean['shuffled'] / mean['alone']:.2f} times"
        best = [min((key for key in SETTINGS if key[0] == k), key=mean.get) for k in (*DIMENSIONS, 0)]
        others = _all(partial(elsewhere, bounds, best, rounds), numbers)
        for k, radius, ridge in best:
            hindsight, other = mean[k, radius, ridge], np.mean([result[k, radius, ridge] for result in others])
            name, ours = (f"LinUCB, k = {k}", mean["policy"]) if k else ("full LinUCB, shuffled", mean["shuffled"])
            yield (
                f"  {name}, best in hindsight (radius {radius:g}, ridge {ridge:g}) {hindsight:.1f}, "
                f"on other seeds {other:.1f}: the policy has {ours:.1f}, "
                f"{ours / hindsight:.2f} and {ours / other:.2f} times that"
            )
    for label, bounds in RATES.items():
        played = _all(partial(flip, bounds, rounds), numbers)
        parts = (f"{key} {np.mean([result[key] for result in played]):.1f}" for key in played[0])
        yield f"clicks at {label}, rates flipped half way, regret after that: {'; '.join(parts)}"


def _all(task, numbers: range) -> list:
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("fork")) as pool:
        return list(pool.map(task, numbers))


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(prog="python -m trust.served", description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="?", type=int, default=1, help="how many seeds")
    parser.add_argument("first", nargs="?", type=int, default=0, help="the first of them")
    parser.add_argument("--tiny", action="store_true", help=f"{TINY} rounds")
    asked = parser.parse_args()
    for line in lines(asked.seeds, asked.first, TINY if asked.tiny else ROUNDS):
        print(line, flush=True)


if __name__ == "__main__":
    main()
