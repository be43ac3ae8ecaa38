"""What this machine allows on one core: arithmetic and bandwidth, and from them the least time of each kernel."""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from scipy.linalg.blas import dgemm, dsyrk

from benchmarks.report import Row
from benchmarks.sections import TINY
from benchmarks.timing import Contestant, race

ACCUMULATORS = 96  # enough independent sums to hide the latency of a multiply-add
BLOCK = 128  # rank of the timed symmetric update


class Size(NamedTuple):
    """What the peaks are measured on: rows of a square matrix, numbers in an array beyond the caches, multiply-adds."""

    n: int = 1500
    beyond_caches: int = 1 << 24
    multiply_adds: int = 300_000


SIZES = {TINY: Size(150, 1 << 18, 3_000)}


class Machine(NamedTuple):
    """Measured peaks: GFLOP/s of multiply-adds, matrix product and rank-k update; GB/s from L2 and from memory."""

    fma: float
    dgemm: float
    dsyrk: float
    l2: float
    memory: float

    @property
    def blas(self) -> float:
        """Return the faster of the two BLAS-3 rates."""
        return max(self.dgemm, self.dsyrk)


@numba.njit(fastmath=True)
def _multiply_add(loops, a, b):
    sums = np.zeros(ACCUMULATORS)
    for _ in range(loops):
        for i in range(ACCUMULATORS):
            sums[i] = sums[i] * a + b
    return sums.sum()


@numba.njit(fastmath=True)
def _triad(loops, a, b, c):
    for r in range(loops):
        for i in range(len(a)):
            a[i] = b[i] + (r + 0.5) * c[i]


@cache
def machine(size: str) -> Machine:
    """Measure the peaks in turns; the best of the repetitions counts."""
    n, beyond_caches, multiply_adds = SIZES.get(size, Size())
    rng = np.random.default_rng(0)
    square = np.asfortranarray(rng.random((n, n)))
    thin = np.asfortranarray(rng.random((n, BLOCK)))
    small, large = 3 * [None], 3 * [None]
    for at in range(3):
        small[at], large[at] = rng.random(1 << 15), rng.random(beyond_caches)
    loops = 200
    giga = {
        "fma": (lambda: _multiply_add(multiply_adds, 0.999, 0.1), 2e-9 * ACCUMULATORS * multiply_adds),
        "dgemm": (lambda: dgemm(1.0, square, square), 2e-9 * n**3),
        "dsyrk": (lambda: dsyrk(1.0, thin, c=square, overwrite_c=1), 1e-9 * n * n * BLOCK),
        "l2": (lambda: _triad(loops, *small), 24e-9 * loops * len(small[0])),
        "memory": (lambda: _triad(1, *large), 24e-9 * len(large[0])),
    }
    times = race([Contestant(name, run) for name, (run, _) in giga.items()])
    return Machine(**{name: giga[name][1] / times[name] for name in giga})


def projected(machine: Machine, m: int, k: int) -> float:
    """Return the least seconds of a k-dimensional round: m (k (k + 1) + 2 k) + 4 k^2 flops at the multiply-add peak."""
    return 1e-9 * (m * (k * (k + 1) + 2 * k) + 4 * k * k) / machine.fma


def one_hot(machine: Machine, m: int) -> float:
    """Return the least seconds of a one-hot round: m gathers of two doubles at the L2 bandwidth."""
    return 1e-9 * 16 * m / machine.l2


def dense(machine: Machine, n: int, rounds: int, sizes: list[int], flushes: int, block: int) -> float:
    """Return the least seconds of a dense round: 2 n size flops per round and n^2 block per flush at the BLAS peak."""
    return 1e-9 * (2 * n * sum(sizes) + n * n * block * flushes) / rounds / machine.blas


def delayed(chosen: np.ndarray, block: int) -> tuple[list[int], int]:
    """Return the size of the block of distinct arms in every round, and how often it overflows."""
    members, sizes, flushes = set(), [], 0
    for arm in chosen.tolist():
        if arm not in members and len(members) == block:
            members, flushes = set(), flushes + 1
        members.add(arm)
        sizes.append(len(members))
    return sizes, flushes


def measure(size: str) -> list[Row]:
    """Return the peaks as rows."""
    n, beyond_caches, _ = SIZES.get(size, Size())
    what = {
        "fma": ("multiply-add, compiled loop", f"{ACCUMULATORS} independent sums", "GFLOP/s"),
        "dgemm": ("dgemm", f"n={n}", "GFLOP/s"),
        "dsyrk": ("dsyrk", f"n={n}, rank {BLOCK}", "GFLOP/s"),
        "l2": ("triad in L2", "3 x 256 KiB", "GB/s"),
        "memory": ("triad in memory", f"3 x {beyond_caches >> 17} MiB", "GB/s"),
    }
    return [
        Row("the machine, one core", name, setting, getattr(machine(size), field), note=unit)
        for field, (name, setting, unit) in what.items()
    ]
