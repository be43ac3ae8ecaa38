"""Methods: LinUCB with a basis and a penalty, a graph prior, or random play, as their line in config.yaml says."""

from typing import NamedTuple

import numpy as np

from graphdr.bandit import linucb
from graphdr.bandit.environment import Luck
from graphdr.bandit.pool import Pool, covariance
from graphdr.bandit.radii import ERROR_BOUND, RADII, RadiusInputs
from graphdr.core.errors import check_dense
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis
from graphdr.theory import constants
from graphdr.theory.gaussian import thompson_bound, ucb_bound
from graphdr.theory.outcome import Outcome

PER_SEGMENT = "per_segment"  # one LinUCB for every segment of users
THOMPSON = "graph_prior_thompson"
GRAPH_PRIORS = ("graph_prior", THOMPSON)  # policies that find all weights by themselves


class Arms(NamedTuple):
    """What LinUCB works with: n x k features (None for one-hot arms) and V_0^-1 (None for ridge times identity).

    A graph prior works with all features of a basis and the roughness of each.
    """

    features: np.ndarray | None
    v0_inverse: np.ndarray | None = None
    roughness: np.ndarray | None = None


def arms(method: dict, problem: dict, basis: Basis | None, laplacian: np.ndarray | None, k: int) -> Arms:
    """Set two of the three knobs: features from the basis, V_0 = ridge I + weight L restricted to them."""
    if method["policy"] in GRAPH_PRIORS:
        features, roughness = arm_features.graded(method["basis"], basis)
        return Arms(features, roughness=roughness)
    features = None if basis is None else arm_features.select(method["basis"], basis.vectors, k)
    if not method["laplacian"]:
        return Arms(features)
    restricted = laplacian if features is None else features.T @ laplacian @ features
    return Arms(features, np.linalg.inv(problem["ridge"] * np.eye(len(restricted)) + method["laplacian"] * restricted))


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
        return given._replace(features=pool(given.features))
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
    """Collect what the third knob, a radius rule, may use: the theorems' constants, the residual, and a pilot's.

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


def play(
    method: dict, problem: dict, runs: list[linucb.Run], lucks: list[Luck], inputs: RadiusInputs | None = None
) -> list[Outcome]:
    """Play runs of one shape; ``lucks`` are the random numbers of a policy, ``inputs`` those of a theorem's radius.

    The residual of a run is the true one, whatever the one that the radius uses. The arms are not kept: those of a
    batch would fill the memory.
    """
    if method["policy"] in ("random", *BY_SIGHT):
        outcomes = []
        for run, luck in zip(runs, lucks, strict=True):
            columns = luck.columns() if method["policy"] == "random" else BY_SIGHT[method["policy"]](run)
            arms = run.stream.arms[np.arange(len(run.stream.arms)), columns]
            outcomes.append(linucb.measure(run, arms, ridge=problem["ridge"], every=problem["checkpoint"]))
    elif method["policy"] in GRAPH_PRIORS:
        outcomes = [_graph_prior(method, run, problem, luck) for run, luck in zip(runs, lucks, strict=True)]
    elif method["k"] == arm_features.ADAPTIVE:
        outcomes = [_adaptive(run, problem) for run in runs]
    else:
        inputs = inputs or RadiusInputs(problem["horizon"], alpha=problem["alpha"])
        outcomes = _linucb(method["radius"], problem, runs, inputs)
    return [outcome._replace(arms=None) for outcome in outcomes]


def longest(run: linucb.Run) -> np.ndarray:
    """Play the candidate whose features are the longest, the first of several, whatever it pays."""
    return np.linalg.norm(run.features, axis=1)[run.stream.arms].argmax(axis=1)


def worst(run: linucb.Run) -> np.ndarray:
    """Play the candidate of the least expected reward: no policy has more regret."""
    return run.theta[run.stream.arms].argmin(axis=1)


BY_SIGHT = {"longest": longest, "worst": worst}  # policies that learn nothing, besides random play


def _linucb(rule: str, problem: dict, runs: list[linucb.Run], inputs: RadiusInputs) -> list[Outcome]:
    radius, inflation, residual = RADII[rule](inputs)
    options = {"ridge": problem["ridge"], "every": problem["checkpoint"]}
    seated = [run._replace(residual=residual) if inflation else run for run in runs]
    outcomes = linucb.play(seated, radius, inflation=inflation, **options)
    if rule not in constants.OF_PILOT:
        return outcomes
    true = [linucb.measure(run, seen.arms, **options) for run, seen in zip(runs, outcomes, strict=True)]
    return [of._replace(srl_pilot=seen.srl, crw_pilot=seen.crw) for of, seen in zip(true, outcomes, strict=True)]


def _adaptive(run: linucb.Run, problem: dict) -> Outcome:
    from graphdr.bandit import adaptive_k  # whose kernel most jobs can do without

    constants = {"ridge": problem["ridge"], "sigma": problem["noise"], "delta": problem["delta"]}
    choices = adaptive_k.play(run, problem["k_grid"], problem["alpha"], **constants)
    return linucb.measure(run, choices.arms, every=problem["checkpoint"])


def _graph_prior(method: dict, run: linucb.Run, problem: dict, luck: Luck) -> Outcome:
    from graphdr.bandit.graph_prior import known, play  # whose kernels most jobs can do without

    normals = luck.normals() if method["policy"] == THOMPSON else None
    choices = play.play(run, luck.columns(), normals)
    outcome = linucb.measure(run, choices.arms, every=problem["checkpoint"])
    return outcome._replace(fit=known.describe(run, choices, thompson_bound if normals else ucb_bound))
