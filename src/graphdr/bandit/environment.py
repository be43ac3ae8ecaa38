"""What a bandit meets: candidate sets and noise, drawn once per seed and shared by all methods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphdr.core.compiled import kernel
from graphdr.core.rng import stream


class Rounds(NamedTuple):
    """Candidate arms (rounds x m), and noise: one value per round, whatever the arm, or one per candidate.

    Arms are unsigned: compiled code then need not ask whether an index counts from the end.
    """

    arms: np.ndarray
    noise: np.ndarray


def by_candidate(rounds: Rounds) -> np.ndarray:
    """Return the noise of every candidate of every round (rounds x m).

    One value per round is repeated by strides, not copied. The array is never contiguous: kernels would be compiled
    once for either kind.
    """
    noise = rounds.noise
    if noise.ndim == 1:
        noise = np.ascontiguousarray(noise, float)
        noise = np.ndarray(rounds.arms.shape, float, noise, strides=(noise.itemsize, 0))
    return _spread(noise) if noise.flags.c_contiguous else noise


def bandit_of(theta: np.ndarray, rounds: Rounds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what kernels play: the expected reward of every arm, candidates, and their noise (both rounds x m)."""
    return theta, rounds.arms, by_candidate(rounds)


def _spread(noise: np.ndarray) -> np.ndarray:
    """Copy an array of rows into the first columns of a wider one."""
    rows, columns = noise.shape
    wider = np.zeros((rows, columns + 1))
    wider[:, :columns] = noise
    return wider[:, :columns]


class CandidateSource(NamedTuple):
    """Where candidates come from: a popularity per arm, and the neighbours of each in CSR form."""

    popularity: np.ndarray
    starts: np.ndarray
    neighbours: np.ndarray


class Edges(NamedTuple):
    """The edges of a graph of arms in CSR form, both ways and sorted: neighbours of each arm, and their weights."""

    starts: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray


def edges_of(adjacency: Any) -> Edges:
    """Return the edges of a sparse adjacency matrix."""
    matrix = adjacency.sorted_indices()
    return Edges(matrix.indptr, matrix.indices, matrix.data)


class EmpiricalNoise(NamedTuple):
    """Observed deviations of rewards from the mean of their arm: arm a has values[starts[a]:starts[a + 1]]."""

    starts: np.ndarray
    values: np.ndarray

    @property
    def size(self) -> float:
        """Return the standard deviation of the noise of a random arm."""
        counts = np.diff(self.starts)
        return float(np.sqrt(np.mean(np.add.reduceat(self.values**2, self.starts[:-1]) / counts)))


def empirical_noise(theta: np.ndarray, arms: np.ndarray, values: np.ndarray, counts: np.ndarray) -> EmpiricalNoise:
    """Return how far values, sorted by arm, are from the expected reward of their arm; each occurs ``counts`` times."""
    sizes = np.bincount(arms, counts, len(theta))
    if not sizes.all():
        raise ValueError(f"arm {np.argmin(sizes)} has no observed reward to draw")
    starts = np.cumsum(sizes, dtype=np.int64)
    return EmpiricalNoise(np.append(0, starts), np.repeat(values - theta[arms], counts))


@kernel
def _uniform(n, rounds, m, rng):
    permutation = np.arange(n).astype(np.uint32)
    arms = np.empty((rounds, m), np.uint32)
    for t in range(rounds):
        for c in range(m):
            pick = np.uint32(c + int(rng.random() * (n - c)))
            arm = permutation[pick]
            permutation[pick] = permutation[c]
            permutation[c] = arm
            arms[t, c] = arm
    return arms


@kernel
def _alias_table(weights):
    """Split n equal cells between two arms each, such that a uniform cell and a biased coin draw by weight."""
    n = len(weights)
    share, other = weights * (n / weights.sum()), np.arange(n).astype(np.uint32)
    small, large = np.flatnonzero(share < 1.0), np.flatnonzero(share >= 1.0)
    waiting, top = np.empty(2 * n, np.int64), len(small)
    waiting[:top] = small
    for giver in large:
        while top > 0 and share[giver] >= 1.0:
            top -= 1
            taker = waiting[top]
            other[taker] = giver
            share[giver] -= 1.0 - share[taker]
        if share[giver] < 1.0:
            waiting[top] = giver
            top += 1
    share[waiting[:top]] = 1.0  # what is left differs from one by rounding alone
    return share, other


@kernel
def _popularity(share, other, rounds, m, rng):
    n = len(share)
    seen = np.full(n, -1)
    arms = np.empty((rounds, m), np.uint32)
    for t in range(rounds):
        c = 0
        while c < m:
            place = rng.random() * n
            cell = np.uint32(place)
            arm = cell if place - cell < share[cell] else other[cell]
            if seen[arm] != t:
                seen[arm] = t
                arms[t, c] = arm
                c += 1
    return arms


@kernel
def _neighbourhood(starts, neighbours, rounds, m, rng):
    n = len(starts) - 1
    seen, queue = np.full(n, -1), np.empty(n, np.uint32)
    arms = np.empty((rounds, m), np.uint32)
    for t in range(rounds):
        queue[0] = int(rng.random() * n)
        seen[queue[0]] = t
        begin, end, taken = 0, 1, 0
        while True:  # one ring of equal distance at a time: queue[begin:end]
            for i in range(begin, min(end, begin + m - taken)):
                swap = i + int(rng.random() * (end - i))
                queue[i], queue[swap] = queue[swap], queue[i]
                arms[t, i] = queue[i]
            taken = min(end, m)
            if taken == m:
                break
            ring_end = end
            for i in range(begin, end):
                for arm in neighbours[starts[queue[i]] : starts[queue[i] + 1]]:
                    if seen[arm] != t:
                        seen[arm] = t
                        queue[ring_end] = arm
                        ring_end += 1
            if ring_end == end:
                raise ValueError("a component has fewer arms than candidates per round")
            begin, end = end, ring_end
    return arms


def uniform(
    n: int, rounds: int, m: int, rng: np.random.Generator, candidate_source: CandidateSource | None = None
) -> np.ndarray:
    """Draw m of n arms without replacement in every round (partial Fisher–Yates)."""
    return _uniform(n, rounds, m, rng)


def popularity(n: int, rounds: int, m: int, rng: np.random.Generator, candidate_source: CandidateSource) -> np.ndarray:
    """Draw m arms per round without replacement, each with a chance that grows with its popularity.

    An arm already drawn is drawn again, which is the same as drawing among the others in proportion.
    """
    if np.count_nonzero(candidate_source.popularity > 0) < m:
        raise ValueError("fewer arms of positive popularity than candidates per round")
    return _popularity(*_alias_table(np.asarray(candidate_source.popularity, float)), rounds, m, rng)


def neighbourhood(
    n: int, rounds: int, m: int, rng: np.random.Generator, candidate_source: CandidateSource
) -> np.ndarray:
    """Draw a node and then its surroundings: rings of growing distance, shuffled, until m arms are found."""
    return _neighbourhood(candidate_source.starts, candidate_source.neighbours, rounds, m, rng)


CANDIDATES: dict[str, Callable[..., np.ndarray]] = {f.__name__: f for f in (uniform, popularity, neighbourhood)}
NEEDS_GRAPH = {"popularity", "neighbourhood"}


@dataclass(frozen=True)
class RoundsSpec:
    """How the rounds of a problem are drawn.

    Parameters
    ----------
    horizon : int
        The number of rounds.
    arms : int
        Candidates per round.
    candidates : str, default="uniform"
        How candidates are drawn: "uniform" or, with a candidate source, "popularity" or "neighbourhood".
    noise : float or EmpiricalNoise, default=0.0
        The standard deviation of normal noise, or observed deviations of every arm to draw from.
    blocks : int, default=1
        With several, of equal size, the candidates of a round are uniform in one of them: that of the segment whose
        user arrives, in proportion to the popularity of its arms.

    Examples
    --------
    >>> graphdr.RoundsSpec(horizon=2000, arms=5, noise=0.1).candidates
    'uniform'
    """

    horizon: int
    arms: int
    candidates: str = "uniform"
    noise: float | EmpiricalNoise = 0.0
    blocks: int = 1


class RandomNumbers:
    """The random numbers of a policy, besides those of its rounds."""

    def columns(self, rounds: Rounds) -> np.ndarray:
        """Draw the column of a uniformly random candidate for every round."""
        return self.generator("random").integers(rounds.arms.shape[1], size=len(rounds.arms))

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the generator for one of the policy's ``streams``."""
        raise NotImplementedError


@dataclass(frozen=True)
class PolicyRng(RandomNumbers):
    """Random numbers of a policy from named streams: equal set-ups in two experiments draw equal numbers."""

    root: int
    spec: RoundsSpec
    n: int
    instance: int
    seed: int

    def generator(self, purpose: str) -> np.random.Generator:
        return stream(self.root, purpose, **_key(self.spec, self.n, self.instance, self.seed))


@dataclass(frozen=True)
class OneGenerator(RandomNumbers):
    """Random numbers of a policy that all come from one generator, in the order in which they are asked for."""

    rng: np.random.Generator

    def generator(self, purpose: str) -> np.random.Generator:
        return self.rng


def draw_rounds(
    root: int, spec: RoundsSpec, n: int, instance: int, seed: int, candidate_source: CandidateSource | None = None
) -> Rounds:
    """Draw the rounds of one seed: candidates and noise.

    Equal arguments give equal rounds, so that methods are compared on the same ones.

    Parameters
    ----------
    root : int
        The seed of the whole study.
    spec : RoundsSpec
        How many rounds and candidates there are, and how they are drawn.
    n : int
        How many arms exist.
    instance, seed : int
        The number of the random problem, and of the run on it.
    candidate_source : CandidateSource, optional
        The popularity and the neighbours of arms.

    Returns
    -------
    Rounds
        With ``arms`` (horizon x candidates) and ``noise``.

    Examples
    --------
    >>> spec = graphdr.RoundsSpec(horizon=3, arms=2, noise=0.1)
    >>> rounds = graphdr.draw_rounds(0, spec, 5, instance=0, seed=0)
    >>> rounds.arms.shape, rounds.noise.shape
    ((3, 2), (3,))
    """
    key = _key(spec, n, instance, seed)
    arms = offer(spec, n, stream(root, "arms", **key), stream(root, "arrivals", **key), candidate_source)
    if not isinstance(spec.noise, EmpiricalNoise):
        return Rounds(arms, spec.noise * stream(root, "noise", **key).standard_normal(spec.horizon))
    return Rounds(arms, resample(spec.noise, arms, stream(root, "ratings", **key)))


def _key(spec: RoundsSpec, n: int, instance: int, seed: int) -> dict[str, int | str]:
    """Return what identifies a set-up: equal set-ups in two experiments meet equal rounds."""
    return {"instance": instance, "n": n, "m": spec.arms, "candidates": spec.candidates, "run": seed}


def resample(noise: EmpiricalNoise, arms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for every candidate of every round (rounds x m) one of the deviations of its arm, each as likely."""
    first, last = noise.starts[arms], noise.starts[arms + np.uint32(1)]
    return _spread(noise.values[first + (rng.random(arms.shape) * (last - first)).astype(np.int64)])


def offer(
    spec: RoundsSpec,
    n: int,
    rng: np.random.Generator,
    arrivals_rng: np.random.Generator,
    candidate_source: CandidateSource | None = None,
) -> np.ndarray:
    """Draw the candidates of every round among n arms, or in one of several blocks of them.

    The block of a round is drawn in proportion to the popularity of its arms.
    """
    size = n // spec.blocks
    if spec.arms > size:
        raise ValueError(f"{spec.arms} candidates per round are more than {size} arms")
    arms = CANDIDATES[spec.candidates](size, spec.horizon, spec.arms, rng, candidate_source)
    if spec.blocks == 1:
        return arms
    shares = np.ones(spec.blocks)
    if candidate_source is not None:
        shares = candidate_source.popularity.reshape(spec.blocks, -1).sum(axis=1)
    block = arrivals_rng.choice(spec.blocks, spec.horizon, p=shares / shares.sum()).astype(np.uint32)
    return arms + np.uint32(size) * block[:, None]
