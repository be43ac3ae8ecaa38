"""What a bandit meets: candidate sets and noise, drawn once per seed and shared by all methods."""

from typing import NamedTuple

import numpy as np

from graphdr.core.compiled import kernel
from graphdr.core.rng import stream


class Stream(NamedTuple):
    """Candidate arms (rounds x m), and noise: one value per round, whatever the arm, or one per candidate.

    Arms are unsigned: compiled code then need not ask whether an index counts from the end.
    """

    arms: np.ndarray
    noise: np.ndarray


def by_candidate(stream: Stream) -> np.ndarray:
    """Return the noise of every candidate of every round (rounds x m), where it has one value per round that one.

    Numbers are repeated by strides, not copied. Kernels meet one kind of array, however the noise came about: one that
    is not contiguous, or they would be compiled twice.
    """
    arms, noise = stream
    if noise.ndim == 1:
        noise = np.ascontiguousarray(noise, float)
        noise = np.ndarray(arms.shape, float, noise, strides=(noise.itemsize, 0))
    return _spread(noise) if noise.flags.c_contiguous else noise


def _spread(noise: np.ndarray) -> np.ndarray:
    """Copy an array of rows into the first columns of a wider one."""
    rows, columns = noise.shape
    wider = np.zeros((rows, columns + 1))
    wider[:, :columns] = noise
    return wider[:, :columns]


class Arena(NamedTuple):
    """Where candidates come from: a popularity per arm, and the neighbours of each in CSR form."""

    popularity: np.ndarray
    starts: np.ndarray
    neighbours: np.ndarray


class Edges(NamedTuple):
    """The edges of a graph of arms in CSR form, both ways and sorted: neighbours of each arm, and their weights."""

    starts: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray


def edges_of(adjacency) -> Edges:
    """Return the edges of a sparse adjacency matrix."""
    matrix = adjacency.sorted_indices()
    return Edges(matrix.indptr, matrix.indices, matrix.data)


class Deviations(NamedTuple):
    """How far from its mean a pull of each arm may pay: arm a has the ``values`` from starts[a] up to starts[a + 1]."""

    starts: np.ndarray
    values: np.ndarray

    @property
    def size(self) -> float:
        """Return the standard deviation of the noise of a random arm."""
        counts = np.diff(self.starts)
        return float(np.sqrt(np.mean(np.add.reduceat(self.values**2, self.starts[:-1]) / counts)))


def deviations(theta: np.ndarray, arms: np.ndarray, values: np.ndarray, counts: np.ndarray) -> Deviations:
    """Return how far values of arms, sorted by arm, are from the expected reward of each; each counts so many times."""
    sizes = np.bincount(arms, counts, len(theta))
    if not sizes.all():
        raise ValueError(f"arm {np.argmin(sizes)} has no value to be paid")
    starts = np.cumsum(sizes, dtype=np.int64)
    return Deviations(np.append(0, starts), np.repeat(values - theta[arms], counts))


@kernel
def _uniform(n, rounds, m, rng):
    pool = np.arange(n).astype(np.uint32)
    arms = np.empty((rounds, m), np.uint32)
    for t in range(rounds):
        for c in range(m):
            pick = np.uint32(c + int(rng.random() * (n - c)))
            arm = pool[pick]
            pool[pick] = pool[c]
            pool[c] = arm
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


def uniform(n: int, rounds: int, m: int, rng: np.random.Generator, arena: Arena | None = None) -> np.ndarray:
    """Draw m of n arms without replacement in every round (partial Fisher–Yates)."""
    return _uniform(n, rounds, m, rng)


def popularity(n: int, rounds: int, m: int, rng: np.random.Generator, arena: Arena) -> np.ndarray:
    """Draw m arms per round without replacement, each with a chance that grows with its popularity.

    An arm already drawn is drawn again, which is the same as drawing among the others in proportion.
    """
    if np.count_nonzero(arena.popularity > 0) < m:
        raise ValueError("fewer arms of positive popularity than candidates per round")
    return _popularity(*_alias_table(np.asarray(arena.popularity, float)), rounds, m, rng)


def neighbourhood(n: int, rounds: int, m: int, rng: np.random.Generator, arena: Arena) -> np.ndarray:
    """Draw a node and then its surroundings: rings of growing distance, shuffled, until m arms are found."""
    return _neighbourhood(arena.starts, arena.neighbours, rounds, m, rng)


CANDIDATES = {f.__name__: f for f in (uniform, popularity, neighbourhood)}
NEEDS_GRAPH = {"popularity", "neighbourhood"}


def draw(
    root: int,
    spec: dict,
    n: int,
    instance: int,
    seed: int,
    arena: Arena | None = None,
    blocks: int = 1,
    paid: Deviations | None = None,
) -> Stream:
    """Draw the rounds of one seed: what is offered, and the noise.

    Equal arguments give equal rounds, so that methods are compared on the same ones.

    Parameters
    ----------
    root : int
        The seed of all.
    spec : dict
        How many ``arms`` are offered per round, how ``candidates`` are drawn ("uniform"; with an arena also
        "popularity" and "neighbourhood"), how many rounds there are (``horizon``) and the standard deviation of the
        ``noise``.
    n : int
        How many arms exist.
    instance, seed : int
        The number of the random problem, and of the run on it.
    arena : Arena, optional
        The popularity and the neighbours of arms.
    blocks : int, default=1
        With several, of equal size, the candidates of a round are uniform in one of them: that of the segment whose
        user arrives, as often as the popularity of its arms says.
    paid : Deviations, optional
        Where it is known what arms paid, every candidate has a random one of the deviations of its arm as noise.

    Returns
    -------
    Stream
        With ``arms`` (horizon x candidates) and ``noise``.

    Examples
    --------
    >>> spec = {"arms": 2, "candidates": "uniform", "horizon": 3, "noise": 0.1}
    >>> rounds = graphdr.draw_rounds(0, spec, 5, instance=0, seed=0)
    >>> rounds.arms.shape, rounds.noise.shape
    ((3, 2), (3,))
    """
    key = _key(spec, n, instance, seed)
    streams = stream(root, "arms", **key), stream(root, "arrivals", **key)
    arms = offer(spec["candidates"], n, spec["horizon"], spec["arms"], *streams, arena, blocks)
    if paid is not None:
        return Stream(arms, resample(paid, arms, stream(root, "ratings", **key)))
    noise = spec["noise"] * stream(root, "noise", **key).standard_normal(spec["horizon"])
    return Stream(arms, noise)


def resample(paid: Deviations, arms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for every candidate of every round (rounds x m) one of the deviations of its arm, each as likely."""
    first, last = paid.starts[arms], paid.starts[arms + np.uint32(1)]
    return _spread(paid.values[first + (rng.random(arms.shape) * (last - first)).astype(np.int64)])


def offer(candidates: str, n: int, rounds: int, m: int, rng, arriving, arena: Arena | None, blocks: int) -> np.ndarray:
    """Draw the candidates of every round among n arms, or in one of several blocks of them."""
    size = n // blocks
    if m > size:
        raise ValueError(f"{m} candidates per round are more than {size} arms")
    arms = CANDIDATES[candidates](size, rounds, m, rng, arena)
    return arms if blocks == 1 else arms + np.uint32(size) * arrivals(blocks, rounds, arriving, arena)[:, None]


def arrivals(blocks: int, rounds: int, rng: np.random.Generator, arena: Arena | None) -> np.ndarray:
    """Draw the block that every round offers, in proportion to the popularity of its arms."""
    shares = np.ones(blocks) if arena is None else arena.popularity.reshape(blocks, -1).sum(axis=1)
    return rng.choice(blocks, rounds, p=shares / shares.sum()).astype(np.uint32)


def random_choices(root: int, spec: dict, n: int, instance: int, seed: int) -> np.ndarray:
    """Draw the column of the candidate set that the random policy plays in every round."""
    rng = stream(root, "random", **_key(spec, n, instance, seed))
    return rng.integers(spec["arms"], size=spec["horizon"])


class Luck(NamedTuple):
    """The random numbers of a policy itself, besides those of the rounds that it meets."""

    root: int
    spec: dict
    n: int
    instance: int
    seed: int

    def columns(self) -> np.ndarray:
        """Draw the columns of random play."""
        return random_choices(*self)

    def normals(self) -> np.random.Generator:
        """Return the generator of a policy that draws from its posterior."""
        return self._stream("thompson")

    def learners(self) -> np.random.Generator:
        """Return the generator of a policy that draws which of several learners plays."""
        return self._stream("learners")

    def _stream(self, purpose: str) -> np.random.Generator:
        return stream(self.root, purpose, **_key(self.spec, self.n, self.instance, self.seed))


def _key(spec: dict, n: int, instance: int, seed: int) -> dict:
    """Return what identifies a set-up: equal set-ups in two experiments meet equal rounds."""
    return {"instance": instance, "n": n, "m": spec["arms"], "candidates": spec["candidates"], "run": seed}
