"""Race the kernels against their NumPy forms, and put each beside the machine's limit."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks import limits, plain, sparse
from benchmarks.report import Row
from benchmarks.sections import TINY
from benchmarks.timing import REPETITIONS, Contestant, race
from graphdr.bandit import environment, linucb, linucb_batched, linucb_core, residuals


class Size(NamedTuple):
    """Nodes, rounds, rounds with a dense penalty, and contexts in a pool, whose features no cache near a core holds."""

    n: int = 1500
    rounds: int = 20_000
    dense_rounds: int = 8_000
    pool: int = 100_000
    wide: tuple[int, ...] = (16, 20, 40, 64, 128, 256)  # k beyond those that are played side by side

    def projected(self) -> list[tuple[int, int, int]]:
        """Return k, n and m of the races with k-dimensional features."""
        narrow = [(10, self.n, 20), (10, self.n, 10), (10, self.pool, 10), (5, min(200, self.n), 10)]
        return narrow + [(k, self.n, 20) for k in self.wide]


SIZES = {TINY: Size(150, 600, 200, 1_000, (16, 40))}
SECTIONS = ("k-dimensional features", "one-hot arms", "dense penalty in node space", "drawing candidates")


class Heat(NamedTuple):
    """One race: ours first, the peers after it, the least seconds per round of ours, and notes by name."""

    section: str
    setting: str
    contestants: list[Contestant]
    limit: float | None
    notes: dict[str, str]
    repetitions: int = REPETITIONS
    baseline: str = "ours"


class Bandit(NamedTuple):
    """What all contestants of a heat play."""

    features: np.ndarray
    theta: np.ndarray
    arms: np.ndarray
    noise: np.ndarray
    radius: np.ndarray

    def rounds(self, count: int) -> tuple:
        """Return candidates, noise and radius of the first rounds."""
        return self.arms[:count], self.noise[:count], self.radius[:count]


def pose(n: int, k: int, m: int, rounds: int) -> Bandit:
    """Draw features, a reward that they explain but for a tail, and the rounds."""
    rng = np.random.default_rng(1)
    features = rng.standard_normal((n, k)) / np.sqrt(k)
    theta = features @ rng.standard_normal(k) / np.sqrt(k) + 0.05 * rng.standard_normal(n)
    arms, noise = environment.uniform(n, rounds, m, rng), 0.1 * rng.standard_normal(rounds)
    return Bandit(features, theta, arms, noise, np.ones(rounds))


def agreement(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Say in how many rounds two contestants chose the same arm."""
    return f"same arm in {np.count_nonzero(ours[: len(theirs)] == theirs)} of {len(theirs)} rounds"


def one_run(g: Bandit, residual: np.ndarray = linucb.NOTHING) -> Callable:
    """Return the call of the k-dimensional kernel that plays one run."""
    arguments = g.features, np.eye(g.features.shape[1]), g.theta, *g.rounds(None)
    return partial(linucb.projected, *arguments, residual=residual)


def with_residual(ours: Contestant, g: Bandit) -> Contestant:
    """Return ours with the residual leverage and width along every run, here with the same residual."""
    residual = g.theta - g.theta.mean()
    kept = ours_of(g, residual)

    def play():
        kept.run()
        for _ in range(ours.rounds // len(g.arms)):
            residuals.residual_width(residual, g.arms, linucb.EVERY)

    return Contestant("ours, with its residual", play, ours.rounds)


def ours_of(g: Bandit, residual: np.ndarray = linucb.NOTHING) -> Contestant:
    """Return ours as the workflow plays it: many seeds side by side where there are few features, else one."""
    if g.features.shape[1] > linucb_core.UNROLLED:
        return Contestant("ours", one_run(g, residual), len(g.arms))
    n, (rounds, m), rng = len(g.theta), g.arms.shape, np.random.default_rng(5)
    seeds = [
        (environment.uniform(n, rounds, m, rng), 0.1 * rng.standard_normal(rounds))
        for _ in range(linucb_batched.LANES - 1)
    ]
    runs = [
        (g.features, np.eye(g.features.shape[1]), g.theta, *rounds_of_seed, residual)
        for rounds_of_seed in [(g.arms, g.noise), *seeds]
    ]
    return Contestant(
        "ours", partial(linucb_batched.side_by_side, runs, g.radius, 0.0, linucb.EVERY), rounds * linucb_batched.LANES
    )


def projected(machine: limits.Machine, size: Size) -> Iterator[Heat]:
    """Race k-dimensional features: runs side by side, a run alone, and one that tracks the residual leverage."""
    few = 500
    for k, n, m in size.projected():
        g = pose(n, k, m, min(size.rounds, 10**8 // k**2))
        inverse = np.eye(k)
        forms = {
            "NumPy Sherman–Morrison, candidates at once": plain.sherman_morrison,
            "NumPy Sherman–Morrison, one by one": plain.literal,
        }
        peers = [
            Contestant(name, partial(run, g.features, inverse, g.theta, *g.rounds(few)), few)
            for name, run in forms.items()
        ]
        ours, alone = ours_of(g), one_run(g)
        contestants = [ours, with_residual(ours, g), *peers]
        limit = limits.projected(machine, m, k)
        notes = {
            "ours": f"limit {1e6 * limit:.3g} µs, at the dgemm rate {1e6 * limit * machine.fma / machine.dgemm:.3g} µs",
            **{peer.name: agreement(alone()[0], peer.run()) for peer in peers},
        }
        if k <= linucb_core.UNROLLED:
            contestants.append(Contestant("ours, one run alone", alone, len(g.arms)))
            notes["ours, one run alone"] = agreement(ours.run()[0][0], alone()[0])
        yield Heat(SECTIONS[0], f"k={k} n={n} m={m}", contestants, limit, notes)


def one_hot(machine: limits.Machine, size: Size) -> Iterator[Heat]:
    """Race full LinUCB with one-hot arms."""
    few = min(1000, size.rounds)
    for m in (20, 10):
        g = pose(size.n, 1, m, size.rounds)
        ours = partial(linucb.one_hot, 1.0, g.theta, *g.rounds(None))
        numpy_form = partial(plain.diagonal, 1.0, g.theta, *g.rounds(few))
        contestants = [Contestant("ours", ours, size.rounds), Contestant("NumPy diagonal", numpy_form, few)]
        limit = limits.one_hot(machine, m)
        notes = {"ours": f"limit {1e6 * limit:.3g} µs", "NumPy diagonal": agreement(ours(), numpy_form())}
        yield Heat(SECTIONS[1], f"n={size.n} m={m}", contestants, limit, notes)


def dense(machine: limits.Machine, size: Size) -> Iterator[Heat]:
    """Race a dense V_0 in node space."""
    few, n, rounds = 25, size.n, size.dense_rounds
    rng = np.random.default_rng(2)
    factor = rng.standard_normal((n, 40)) / np.sqrt(40)
    inverse = np.linalg.inv(np.eye(n) + factor @ factor.T)
    for m in (20, 10):
        g = pose(n, 1, m, rounds)
        ours = partial(linucb.node_space, inverse, g.theta, *g.rounds(None))
        numpy_form = partial(plain.node_space, inverse, g.theta, *g.rounds(few))
        contestants = [
            Contestant("ours", ours, rounds),
            Contestant("NumPy Sherman–Morrison", numpy_form, few),
        ]
        chosen = ours()[0]
        sizes, flushes = limits.delayed(chosen, linucb.BLOCK)
        limit = limits.dense(machine, n, rounds, sizes, flushes, linucb.BLOCK)
        notes = {
            "ours": f"limit {1e6 * limit:.3g} µs: {flushes} flushes of {linucb.BLOCK}",
            "NumPy Sherman–Morrison": agreement(chosen, numpy_form()),
        }
        yield Heat(SECTIONS[2], f"n={n} T={rounds} m={m}", contestants, limit, notes, repetitions=3)


def drawing(machine: limits.Machine, size: Size) -> Iterator[Heat]:
    """Race the three ways to draw candidates, second_basis the k = 10 step that plays them."""
    few = min(1000, size.rounds)
    adjacency = sparse.planted(size.n, 7 * size.n, np.random.default_rng(3)).adjacency
    candidate_source = environment.CandidateSource(adjacency.sum(axis=1), adjacency.indptr, adjacency.indices)
    n, rng = adjacency.shape[0], np.random.default_rng(4)
    for m in (20, 10):
        contestants = [ours_of(pose(size.n, 10, m, size.rounds))._replace(name="k=10 step")]
        contestants += [
            Contestant(name, partial(sample, n, size.rounds, m, rng, candidate_source), size.rounds)
            for name, sample in environment.CANDIDATES.items()
        ]
        contestants += [
            Contestant("rng.choice", partial(plain.choice, n, few, m, rng), few),
            Contestant(
                "rng.choice by popularity", partial(plain.choice, n, few, m, rng, candidate_source.popularity), few
            ),
        ]
        yield Heat(SECTIONS[3], f"n={n} m={m}", contestants, None, {}, baseline="uniform")


HEATS = (projected, one_hot, dense, drawing)


def rows_of(heat: Heat) -> list[Row]:
    """Run a heat and return a row for each contestant."""
    times = race(heat.contestants, heat.repetitions)
    step = times.get("k=10 step")
    rows = []
    for name, time in times.items():
        limit_ratio = time / heat.limit if heat.limit and name.startswith("ours") else None
        note = f"{time / step:.2g} of the k=10 step" if step else heat.notes.get(name, "")
        ratio = time / times[heat.baseline]
        rows.append(Row(heat.section, name, heat.setting, 1e6 * time, ratio, limit_ratio, note))
    return rows


def measure(size: str) -> list[Row]:
    """Run all heats of the four kinds of kernels."""
    machine, own = limits.machine(size), SIZES.get(size, Size())
    return [row for heats in HEATS for heat in heats(machine, own) for row in rows_of(heat)]
