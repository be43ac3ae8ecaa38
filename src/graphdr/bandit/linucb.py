"""LinUCB (Algorithm 1) as three compiled kernels: k-dimensional features, one-hot arms, dense penalties.

All of them score ``estimate + radius[t] * width`` and play the first maximum.
The slow twins that define them are in the tests.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphdr.bandit import linucb_batched, linucb_wide
from graphdr.bandit.environment import Edges, Stream, by_candidate
from graphdr.bandit.rank_one import BLOCK, blocked, column, enter, flush, fold, multiply, subtract
from graphdr.bandit.residuals import UNROLLED, few_axes, follow, residual_leverage, residual_width
from graphdr.core.compiled import kernel, prefetch
from graphdr.theory.outcome import Outcome

NOTHING = np.empty(0)
EVERY = 100  # rounds between two checkpoints
FAR = 500_000  # bytes of features that are no longer near: what runs side by side need would not be in the cache …
AHEAD = 2  # … and a run alone asks for them so many rounds beforehand


def projected(features, v0_inverse, theta, arms, noise, radius, inflation=0.0, residual=NOTHING, every=EVERY):
    """Run LinUCB on n x k features; return the arms chosen and, at the checkpoints, SRL_t and the summed widths.

    ``residual`` holds xi(a) for every arm; without one, SRL_t is 0. With ``inflation`` = 1 the radius of round t is
    ``radius[t]`` plus the running maximum so far of its leverage: a predictable radius.
    """
    noise = by_candidate(Stream(arms, noise))
    arguments = features, v0_inverse, theta, arms, noise, radius, float(inflation), residual, every
    if features.shape[1] > UNROLLED:
        return linucb_wide.projected(*arguments)
    return _projected(*arguments, few_axes(features))


@kernel
def _projected(features, v0_inverse, theta, arms, noise, radius, inflation, residual, every, axes):
    rounds, m = arms.shape
    k = len(axes)  # a tuple's length is known when this is compiled
    v = v0_inverse.copy()
    estimate, leverage, bias, u, w = np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k), np.empty(k)
    mean, half = np.empty(m), np.empty(m)
    chosen = np.empty(rounds, np.uint32)
    srl, widths = np.zeros(rounds // every), np.zeros(rounds // every)
    worst = spent = 0.0  # squared leverage at its largest, widths summed
    memory, row = features.ctypes.data, features.itemsize * k
    far = row * len(features) > FAR
    for t in range(rounds):
        if far and t + AHEAD < rounds:
            for c in range(m):
                at = memory + row * arms[t + AHEAD, c]
                prefetch(at)
                prefetch(at + row - 1)
        # Means and half squared widths of five candidates at a time: independent sums hide their latency.
        for c in range(0, m, 5):
            c1, c2, c3, c4 = min(c + 1, m - 1), min(c + 2, m - 1), min(c + 3, m - 1), min(c + 4, m - 1)
            x, x1, x2 = features[arms[t, c]], features[arms[t, c1]], features[arms[t, c2]]
            x3, x4 = features[arms[t, c3]], features[arms[t, c4]]
            s0 = s1 = s2 = s3 = s4 = 0.0
            q0 = q1 = q2 = q3 = q4 = 0.0
            for i in range(k):
                d, e = 0.5 * v[i, i], estimate[i]
                r0, r1, r2, r3, r4 = d * x[i], d * x1[i], d * x2[i], d * x3[i], d * x4[i]
                for j in range(i):
                    a = v[i, j]
                    r0 += a * x[j]
                    r1 += a * x1[j]
                    r2 += a * x2[j]
                    r3 += a * x3[j]
                    r4 += a * x4[j]
                q0 += r0 * x[i]
                q1 += r1 * x1[i]
                q2 += r2 * x2[i]
                q3 += r3 * x3[i]
                q4 += r4 * x4[i]
                s0 += e * x[i]
                s1 += e * x1[i]
                s2 += e * x2[i]
                s3 += e * x3[i]
                s4 += e * x4[i]
            mean[c], mean[c1], mean[c2], mean[c3], mean[c4] = s0, s1, s2, s3, s4
            half[c], half[c1], half[c2], half[c3], half[c4] = q0, q1, q2, q3, q4
        reach = radius[t] + inflation * np.sqrt(worst)
        best, top = 0, -np.inf
        for c in range(m):
            score = mean[c] + reach * np.sqrt(max(2.0 * half[c], 0.0))
            if score > top:
                best, top = c, score
        arm, drawn = arms[t, best], noise[t, best]
        chosen[t] = arm
        x = features[arm]
        scale = 1.0 / (1.0 + 2.0 * half[best])
        error = (theta[arm] + drawn - mean[best]) * scale
        spent += np.sqrt(max(2.0 * half[best], 0.0))
        multiply(v, x, u, k)
        root = np.sqrt(scale)
        for i in range(k):
            estimate[i] += u[i] * error
            w[i] = u[i] * root
        subtract(v, w, k)
        if len(residual):
            worst = max(worst, follow(leverage, bias, x, u, scale, residual[arm], k))
        if (t + 1) % every == 0:
            srl[t // every], widths[t // every] = np.sqrt(worst), spent
    return chosen, srl, widths


def one_hot(ridge, theta, arms, noise, radius):
    """Run full LinUCB with one-hot arms: V stays diagonal, so an estimate and a width per arm suffice."""
    return _one_hot(ridge, theta, arms, by_candidate(Stream(arms, noise)), radius)


@kernel
def _one_hot(ridge, theta, arms, noise, radius):
    # All that is known of an arm lies side by side: estimate, width, weight and total.
    rounds, m = arms.shape
    known = np.zeros((len(theta), 4))
    known[:, 1], known[:, 2] = 1.0 / np.sqrt(ridge), ridge
    chosen = np.empty(rounds, np.uint32)
    for t in range(rounds):
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            score = known[arm, 0] + radius[t] * known[arm, 1]
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        own = known[arm]
        weight, total = own[2] + 1.0, own[3] + (theta[arm] + noise[t, best])
        own[0], own[1], own[2], own[3] = total / weight, 1.0 / np.sqrt(weight), weight, total
    return chosen


@kernel
def _until_full(start, lower, rows, core, slot, members, estimate, diagonal, arms, noise, theta, radius, chosen):
    """Play rounds until another distinct arm would overflow the block; return (round, size of the block).

    Of V^-1 only the diagonal is kept for all arms, with the estimate.
    """
    rounds, m = arms.shape
    n = len(theta)
    size = 0
    h, u = np.empty(len(rows)), np.empty(n)
    for t in range(start, rounds):
        place, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            score = estimate[arm] + radius[t] * np.sqrt(max(diagonal[arm], 0.0))
            if score > top:
                place, top = c, score
        best = arms[t, place]
        if slot[best] < 0:
            if size == len(rows):
                return t, size
            enter(lower, rows, core, slot, members, size, best)
            size += 1
        column(rows, core, slot, size, best, h, u)
        scale = 1.0 / (1.0 + u[best])
        step = (theta[best] + noise[t, place] - estimate[best]) * scale
        fold(core, h, scale, size)
        for j in range(n):
            estimate[j] += step * u[j]
            diagonal[j] -= scale * u[j] * u[j]
        chosen[t] = best
    return rounds, size


def node_space(v0_inverse, theta, arms, noise, radius, block: int = BLOCK):
    """Run LinUCB with one-hot arms and a dense V_0 (SpectralUCB, Laplacian-regularised LinUCB).

    Return the arms chosen, the final estimate and the final diagonal of V^-1.
    """
    kept = blocked(v0_inverse, block)
    estimate, diagonal = np.zeros(len(theta)), kept.lower.diagonal().copy()
    chosen, noise = np.empty(len(arms), np.uint32), by_candidate(Stream(arms, noise))
    t = 0
    while True:
        t, size = _until_full(t, *kept, estimate, diagonal, arms, noise, theta, radius, chosen)
        if t == len(arms):
            return chosen, estimate, diagonal
        flush(kept, size)


@kernel
def regret(theta, arms, chosen, every):
    """Return the cumulative pseudo-regret against the best candidate of the round, at the checkpoints."""
    out = np.empty(len(arms) // every)
    total = 0.0
    for at in range(len(out)):
        for t in range(at * every, (at + 1) * every):
            best = -np.inf
            for arm in arms[t]:
                best = max(best, theta[arm])
            total += best - theta[chosen[t]]
        out[at] = total
    return out


class Run(NamedTuple):
    """One run of a bandit: a reward, rounds, and what a method knows of the arms.

    Attributes
    ----------
    theta : ndarray of shape (n,)
        The expected reward of every arm.
    stream : Stream
        The rounds, as ``graphdr.draw_rounds`` returns them.
    features : ndarray of shape (n, k), optional
        None for one-hot arms: full LinUCB.
    v0_inverse : ndarray of shape (k, k), optional
        V_0^-1; None for that of a ridge.
    residual : ndarray of shape (n,), optional
        The part of every arm's reward that its features cannot express: with it, SRL_t and CRW_t are measured.
    roughness : ndarray of shape (k,), optional
        That of every column of the features, for the graph prior.
    edges : Edges, optional
        Edges between arms, for some rivals.
    beside : tuple of two ndarrays, optional
        Columns of a second basis and their roughness, for the graph prior.
    """

    theta: np.ndarray
    stream: Stream
    features: np.ndarray | None = None
    v0_inverse: np.ndarray | None = None
    residual: np.ndarray | None = None
    roughness: np.ndarray | None = None
    edges: Edges | None = None
    beside: tuple[np.ndarray, np.ndarray] | None = None


def play(
    runs: list[Run], radius: float | np.ndarray, *, ridge: float = 1.0, inflation: float = 0.0, every: int = EVERY
) -> list[Outcome]:
    """Play LinUCB on runs of one shape: as many features, rounds and candidates per round.

    In every round the candidate of the largest x^T theta-hat + radius ||x|| in the norm of V^-1 is played (Algorithm 1;
    Li et al., 2010). The regret is against the best candidate of every round.

    Parameters
    ----------
    runs : list of Run
        SRL and CRW are those of the residual of a run.
    radius : float or ndarray
        One number, or one per round.
    ridge : float, default=1.0
        V starts as ridge I.
    inflation : float, default=0.0
        How much of the largest leverage of the residual so far is added to the radius.
    every : int
        Sums are kept for every so many rounds.

    Returns
    -------
    list of Outcome
        One for each run.

    Examples
    --------
    >>> graph = graphdr.largest_component(graphdr.sbm(60, graphdr.stream(0, "graph"), blocks=3, p_in=0.5, p_out=0.05))
    >>> arms = graphdr.arm_features("laplacian_low", graphdr.low_eigenpairs(graph, 4).vectors, k=3)
    >>> theta = graphdr.smooth_reward(arms, graphdr.stream(0, "theta"))
    >>> spec = {"arms": 5, "candidates": "uniform", "horizon": 2000, "noise": 0.1}
    >>> rounds = graphdr.draw_rounds(0, spec, graph.n, instance=0, seed=0)
    >>> graphdr_run, full_run = graphdr.Run(theta, rounds, arms), graphdr.Run(theta, rounds)
    >>> [reduced], [full] = graphdr.run_linucb([graphdr_run], 1.0), graphdr.run_linucb([full_run], 1.0)
    >>> bool(5 * reduced.regret[-1] < full.regret[-1])
    True
    """
    runs = [_checked(run, ridge, inflation) for run in runs]
    if len({run.residual is None for run in runs}) > 1:
        raise ValueError("runs played together have all a residual or none")
    rounds, features = len(runs[0].stream.arms), runs[0].features
    radius = np.full(rounds, radius, float) if np.ndim(radius) == 0 else np.ascontiguousarray(radius, float)
    if features is None:
        return [measure(run, _choose_nodes(run, radius, ridge), every=every) for run in runs]
    traces = []
    for start in range(0, len(runs), linucb_batched.LANES):
        group = [
            (run.features, run.v0_inverse, run.theta, *run.stream, NOTHING if run.residual is None else run.residual)
            for run in runs[start : start + linucb_batched.LANES]
        ]
        many = len(group) >= linucb_batched.FEWEST and all(noise.ndim == 1 for *_, noise, _ in group)
        if many and features.shape[1] <= UNROLLED and features.nbytes <= FAR:
            traces += linucb_batched.side_by_side(group, radius, float(inflation), every)
        else:
            traces += [projected(*arrays, radius, inflation, residual, every) for *arrays, residual in group]
    return [measure(run, arms, every=every, leverage=of) for run, (arms, *of) in zip(runs, traces, strict=True)]


def measure(
    run: Run, arms: np.ndarray, *, ridge: float = 1.0, every: int = EVERY, leverage: Sequence[np.ndarray] | None = None
) -> Outcome:
    """Measure the regret of a run along the arms chosen and, if it has a residual, SRL, CRW and widths.

    ``leverage`` is (SRL, widths) where the kernel that played kept them.
    """
    lost = regret(run.theta, run.stream.arms, arms, every)
    outcome = Outcome(every * np.arange(1, 1 + len(lost)), lost, arms=arms)
    if run.residual is None:
        return outcome
    if leverage is None:
        v0_inverse = np.eye(run.features.shape[1]) / ridge if run.v0_inverse is None else run.v0_inverse
        leverage = residual_leverage(run.features, v0_inverse, arms, run.residual, every)
    srl, widths = leverage
    return outcome._replace(srl=srl, crw=residual_width(run.residual, run.stream.arms, every), widths=widths)


def _choose_nodes(run: Run, radius: np.ndarray, ridge: float) -> np.ndarray:
    if run.v0_inverse is None:
        return one_hot(float(ridge), run.theta, *run.stream, radius)
    return node_space(run.v0_inverse, run.theta, *run.stream, radius)[0]


def _checked(run: Run, ridge: float, inflation: float) -> Run:
    """Return the run with V_0^-1 filled in where it has features; refuse what does not fit together."""
    dimension = len(run.theta) if run.features is None else run.features.shape[1]
    if run.v0_inverse is not None and run.v0_inverse.shape != (dimension, dimension):
        raise ValueError(f"V_0 has shape {run.v0_inverse.shape}, the arms have dimension {dimension}")
    if run.features is None and (run.residual is not None or inflation):
        raise ValueError("one-hot arms leave no residual: residual and inflation need features")
    if run.features is None or run.v0_inverse is not None:
        return run
    return run._replace(v0_inverse=np.eye(dimension) / ridge)
