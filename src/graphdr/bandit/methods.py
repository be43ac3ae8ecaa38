"""Methods: LinUCB with a basis and a penalty, a graph prior, a rival or random play, as a line of config.yaml says."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.bandit import linucb
from graphdr.bandit.environment import Edges, Luck
from graphdr.bandit.pool import Pool, covariance
from graphdr.bandit.radii import ERROR_BOUND, RADII, RadiusInputs
from graphdr.core.errors import check_dense
from graphdr.graphs import arm_features, filters
from graphdr.graphs.arm_features import Basis
from graphdr.theory import constants
from graphdr.theory.gaussian import thompson_bound, ucb_bound
from graphdr.theory.outcome import Fit, Outcome

PER_SEGMENT = "per_segment"  # one LinUCB for every segment of users
GRAPH_PRIORS = ("graph_prior", "graph_prior_thompson")  # policies that find all weights by themselves
GRAPH_UCB = "graph_ucb"


class Arms(NamedTuple):
    """What LinUCB works with: n x k features (None for one-hot arms) and V_0^-1 (None for ridge times identity).

    A graph prior works with all features of a basis and the roughness of each, and with those of a second basis
    ``beside`` it, if there is one; a rival on the graph works with its edges.
    """

    features: np.ndarray | None
    v0_inverse: np.ndarray | None = None
    roughness: np.ndarray | None = None
    edges: Edges | None = None
    beside: tuple[np.ndarray, np.ndarray] | None = None


def arms(
    method: dict,
    problem: dict,
    basis: Basis | None,
    laplacian: np.ndarray | None,
    k: int,
    edges: Edges | None = None,
    beside: Basis | None = None,
) -> Arms:
    """Set all knobs but the radius: filtered features of the basis, V_0 = ridge I + weight L restricted to them."""
    if method["policy"] in GRAPH_PRIORS:
        features, roughness = _graded(method["basis"], basis, problem)
        second = None if beside is None else _graded(method["beside"], beside, problem)
        return Arms(features, roughness=roughness, beside=second)
    features = None if basis is None else _filtered(method, basis, k)
    if not method["laplacian"]:
        return Arms(features, edges=edges)
    restricted = laplacian if features is None else features.T @ laplacian @ features
    v0 = _ridge(method, problem) * np.eye(len(restricted)) + method["laplacian"] * restricted
    return Arms(features, np.linalg.inv(v0), edges=edges)


def _graded(name: str, basis: Basis, problem: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return as many columns as the problem asks for, though more may be stored, and how rough each is."""
    features, roughness = arm_features.graded(name, basis)
    most = problem.get("components")
    return features[:, :most], roughness[:most]


def _ridge(method: dict, problem: dict) -> float:
    if method["policy"] != GRAPH_UCB:
        return problem["ridge"]
    from graphdr.bandit.rivals import graph_ucb

    return graph_ucb.RIDGE


def _filtered(method: dict, basis: Basis, k: int) -> np.ndarray:
    """Return k columns of a basis, each times the root of its prior variance."""
    weights = None
    if method["filter"] != filters.CUT:
        roughness = arm_features.roughness(method["basis"], basis.values, k)
        weights = filters.column_weights(method["filter"], roughness, method["rho"])
    return arm_features.select(method["basis"], basis.vectors, k, weights)


def on_pool(method: dict, problem: dict, given: Arms, pool: Pool) -> Arms:
    """Turn what LinUCB works with on nodes into what it works with on the contexts of a pool.

    Full LinUCB keeps one covariance per pair of contexts. A model for every segment is one on features of which each
    segment has its own.
    """
    if method["policy"] == PER_SEGMENT:
        given = given._replace(features=apart(given.features, pool.blocks))
    if pool.rows is None:
        return given
    if given.features is not None:
        beside = given.beside and (pool(given.beside[0]), given.beside[1])
        return given._replace(features=pool(given.features), beside=beside)
    check_dense("a method without features", pool.rows.shape[0], "contexts")
    return Arms(None, covariance(pool.rows, given.v0_inverse, problem["ridge"]))


def apart(features: np.ndarray, blocks: int) -> np.ndarray:
    """Give every block of rows columns of its own."""
    n, k = features.shape
    own = np.zeros((blocks, n // blocks, blocks, k))
    own[np.arange(blocks), :, np.arange(blocks)] = features.reshape(blocks, -1, k)
    return own.reshape(n, blocks * k)


def radius_inputs(
    problem: dict, vectors: np.ndarray, theta: np.ndarray, facts: dict, theta_hat: np.ndarray, pool: Pool
) -> RadiusInputs:
    """Collect what the third knob, a theorem's radius, may use: the theorems' constants, the residual, and a pilot's.

    ``vectors`` are the features of the nodes, ``theta_hat`` is the pilot's estimate. The facts are those behind the
    rule, and the reward has unit norm. The error of the pilot is the true one, unless a bound on it is among the facts.
    """
    zeta = facts["zeta"]
    s_k = float(np.sqrt(max(1 - zeta**2, 0.0)))
    size, residual = constants.split(theta, vectors)
    pilot_residual = arm_features.residual(theta_hat, vectors)
    settings = problem["noise"], problem["delta"], problem["ridge"]
    error = float(np.linalg.norm(pilot_residual - residual))  # pilot.pilot_error in another order of rounding
    return RadiusInputs(
        rounds=problem["horizon"],
        constants=constants.Constants(vectors.shape[1], *settings, pool.longest, size),
        nu_k=constants.nu(zeta, s_k, facts["eps_l"], facts["interior_gap"], pool.longest),
        s_k_bar=s_k + zeta,  # the bound of the generic theorem on the norm of the reward
        residual=pool(residual),
        pilot_residual=pool(pilot_residual),
        error=facts.get(ERROR_BOUND, error),
    )


def spectral_inputs(problem: dict, given: Arms) -> RadiusInputs:
    """Collect what the radius of SpectralUCB uses: the eigenvalues of V_0."""
    settings = problem["noise"], problem["delta"], problem["ridge"]
    if given.v0_inverse is None:
        spectrum = np.full(given.features.shape[1], float(problem["ridge"]))
    else:
        spectrum = np.sort(1.0 / np.linalg.eigvalsh(given.v0_inverse))
    return RadiusInputs(problem["horizon"], constants.Constants(len(spectrum), *settings), spectrum=spectrum)


def play(
    method: dict, problem: dict, runs: list[linucb.Run], lucks: list[Luck], inputs: RadiusInputs | None = None
) -> list[Outcome]:
    """Play runs of one shape; ``lucks`` are the random numbers of a policy, ``inputs`` those of a radius rule.

    The residual of a run is the true one, whatever the one that the radius uses. The arms are not kept: those of a
    batch would fill the memory.
    """
    choose = POLICIES[method["policy"]].choose if method["k"] != arm_features.ADAPTIVE else _adaptive
    if choose is None:
        inputs = inputs or RadiusInputs(problem["horizon"], alpha=problem["alpha"])
        outcomes = _linucb(method["radius"], problem, runs, inputs)
    else:
        options = {"ridge": problem["ridge"], "every": problem["checkpoint"]}
        chosen = (choose(method, problem, run, luck) for run, luck in zip(runs, lucks, strict=True))
        outcomes = [
            linucb.measure(run, arms, **options)._replace(fit=fit)
            for run, (arms, fit) in zip(runs, chosen, strict=True)
        ]
    return [outcome._replace(arms=None) for outcome in outcomes]


def _linucb(rule: str, problem: dict, runs: list[linucb.Run], inputs: RadiusInputs) -> list[Outcome]:
    radius, inflation, residual = RADII[rule](inputs)
    options = {"ridge": problem["ridge"], "every": problem["checkpoint"]}
    seated = [run._replace(residual=residual) if inflation else run for run in runs]
    outcomes = linucb.play(seated, radius, inflation=inflation, **options)
    if rule not in constants.OF_PILOT:
        return outcomes
    true = [linucb.measure(run, seen.arms, **options) for run, seen in zip(runs, outcomes, strict=True)]
    return [of._replace(srl_pilot=seen.srl, crw_pilot=seen.crw) for of, seen in zip(true, outcomes, strict=True)]


class Chosen(NamedTuple):
    """The arm of every round and, of a policy that fits its own weights, what it found."""

    arms: np.ndarray
    fit: Fit | None = None


# Policies besides LinUCB: the arm of every round from a method, a problem, a run and luck. Each imports its kernel
# where it plays: most jobs can do without.


def random(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play a uniformly random candidate."""
    return Chosen(run.stream.arms[np.arange(len(run.stream.arms)), luck.columns()])


def longest(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play the candidate whose features are the longest, the first of several, whatever it pays."""
    lengths = np.linalg.norm(run.features, axis=1)
    return Chosen(run.stream.arms[np.arange(len(run.stream.arms)), lengths[run.stream.arms].argmax(axis=1)])


def worst(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play the candidate of the least expected reward: no policy has more regret."""
    return Chosen(run.stream.arms[np.arange(len(run.stream.arms)), run.theta[run.stream.arms].argmin(axis=1)])


def _adaptive(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    from graphdr.bandit import adaptive_k

    constants = {"ridge": problem["ridge"], "sigma": problem["noise"], "delta": problem["delta"]}
    return Chosen(adaptive_k.play(run, problem["k_grid"], problem["alpha"], **constants).arms)


def graph_prior(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play the largest upper bound of a graph prior."""
    from graphdr.bandit.graph_prior import known, play

    choices = play.play(run, luck.columns())
    return Chosen(choices.arms, known.describe(run, choices, ucb_bound))


def graph_prior_thompson(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play the best candidate under rewards drawn from a graph prior."""
    from graphdr.bandit.graph_prior import known, play

    choices = play.play(run, luck.columns(), luck.normals())
    return Chosen(choices.arms, known.describe(run, choices, thompson_bound))


def thompson(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play LinTS, or SpectralTS with a penalty."""
    from graphdr.bandit.rivals import thompson

    return Chosen(thompson.play(run, problem["alpha"], problem["ridge"], luck.normals()))


def graph_ucb(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play GraphUCB, with the method's penalty as the weight of its Laplacian."""
    from graphdr.bandit.rivals import graph_ucb

    return Chosen(graph_ucb.play(run, problem["alpha"], method["laplacian"], problem["noise"], problem["delta"]))


def club(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play CLUB on arms."""
    from graphdr.bandit.rivals import club

    return Chosen(club.play(run, problem["alpha"]))


def corral(method: dict, problem: dict, run: linucb.Run, luck: Luck) -> Chosen:
    """Play Corral over LinUCB with every k of the grid."""
    from graphdr.bandit.rivals import corral

    return Chosen(corral.play(run, problem["k_grid"], problem["alpha"], problem["ridge"], luck.learners()))


BASIS, GRAPH, NOTHING = "basis", "graph", "nothing"


class Policy(NamedTuple):
    """How a policy plays one run (None: LinUCB, which plays several at a time), and what it asks for."""

    choose: Callable[[dict, dict, linucb.Run, Luck], Chosen] | None
    knobs: tuple[str, ...] = ()  # settings that may be chosen for it
    space: str = BASIS  # what its arms are described by: a basis, a graph, or nothing
    penalty: bool = False  # whether a Laplacian may be part of it
    factors: tuple[str, ...] = ()  # of a problem that it is told, besides those that all are told
    streams: tuple[str, ...] = ()  # of random numbers of its own


WIDTH = ("alpha", "ridge")
POLICIES = {
    "linucb": Policy(None, (*WIDTH, "k"), penalty=True),
    PER_SEGMENT: Policy(None, (*WIDTH, "k")),
    "random": Policy(random, space=NOTHING, streams=("random",)),
    "worst": Policy(worst, space=NOTHING),
    "longest": Policy(longest),
    "graph_prior": Policy(graph_prior, factors=("components",), streams=("random",)),
    "graph_prior_thompson": Policy(graph_prior_thompson, factors=("components",), streams=("random", "thompson")),
    "thompson": Policy(thompson, (*WIDTH, "k"), penalty=True, streams=("thompson",)),
    GRAPH_UCB: Policy(graph_ucb, ("alpha",), GRAPH, penalty=True, factors=("delta",)),
    "club": Policy(club, ("alpha",), GRAPH),
    "corral": Policy(corral, WIDTH, factors=("k_grid",), streams=("learners",)),
}


def on_graph(policy: str) -> bool:
    """Tell whether a policy plays on the edges of the graph."""
    return POLICIES[policy].space == GRAPH


def over_grid(policy: str, k: int | str | None) -> bool:
    """Tell whether a method plays with every k of a grid."""
    return k == arm_features.ADAPTIVE or "k_grid" in POLICIES[policy].factors
