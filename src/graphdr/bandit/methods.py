"""Methods: LinUCB with a basis and a penalty, or random play, as their line in config.yaml says."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.bandit import linucb
from graphdr.bandit.radii import RADII, Known
from graphdr.graphs import arm_features
from graphdr.theory import constants


class Arms(NamedTuple):
    """What LinUCB works with: n x k features (None for one-hot arms) and V_0^-1 (None for ridge times identity)."""

    features: np.ndarray | None
    v0_inverse: np.ndarray | None


def arms(method: dict, problem: dict, vectors: np.ndarray | None, laplacian: np.ndarray | None, k: int) -> Arms:
    """Set two of the three knobs: features from the basis, V_0 = ridge I + weight L restricted to them."""
    chosen = None if vectors is None else arm_features.select(method["basis"], vectors, k)
    if not method["laplacian"]:
        return Arms(chosen, None)
    restricted = laplacian if chosen is None else chosen.T @ laplacian @ chosen
    return Arms(chosen, np.linalg.inv(problem["ridge"] * np.eye(len(restricted)) + method["laplacian"] * restricted))


class Played(NamedTuple):
    """What one run did up to its checkpoints: regret and, with a residual, SRL, CRW (of a pilot's, too) and widths."""

    regret: np.ndarray
    srl: np.ndarray | None = None
    crw: np.ndarray | None = None
    widths: np.ndarray | None = None
    srl_pilot: np.ndarray | None = None
    crw_pilot: np.ndarray | None = None


def known(problem: dict, vectors: np.ndarray, theta: np.ndarray, facts: dict, theta_hat: np.ndarray) -> Known:
    """Collect what the third knob, a radius rule, may use: the theorems' constants, the residual, and a pilot's.

    ``vectors`` are the features. The facts are zeta, eps_l and interior_gap, and the reward has unit norm.
    """
    zeta = facts["zeta"]
    s_k = float(np.sqrt(max(1 - zeta**2, 0.0)))
    size, residual = constants.inside(vectors, theta)
    seen = constants.inside(vectors, theta_hat)[1]
    return Known(
        rounds=problem["horizon"],
        constants=constants.Constants(
            vectors.shape[1], problem["noise"], problem["delta"], problem["ridge"], constants.LONGEST, size
        ),
        nu_k=constants.nu(zeta, s_k, facts["eps_l"], facts["interior_gap"]),
        s_k_bar=constants.s_bar(s_k, zeta),
        residual=residual,
        pilot=seen,
        error=constants.pilot_error(seen, residual),
    )


def play(
    method: dict, problem: dict, games: list[linucb.Game], choices: list[Callable], known: Known | None = None
) -> list[Played]:
    """Play games of one shape; ``choices`` are those of random play, and a theorem's radius needs what is ``known``.

    The residual of a game is the true one, whatever the one that the radius uses.
    """
    every = problem["checkpoint"]
    if method["policy"] == "random":
        return [Played(_random(game, choose(), every)) for game, choose in zip(games, choices, strict=True)]
    if method["k"] == arm_features.ADAPTIVE:
        return [Played(_adaptive(game, problem)) for game in games]
    known = known or Known(problem["horizon"], alpha=problem["alpha"])
    radius, inflation, residual = RADII[method["radius"]](known)
    seated = [game._replace(residual=residual) if inflation else game for game in games]
    played = linucb.play(seated, radius, ridge=problem["ridge"], inflation=inflation, every=every)
    pilot = known.pilot if method["radius"] == "estimated" else None
    return [_measure(game, trace, pilot, problem["ridge"], every) for game, trace in zip(games, played, strict=True)]


def _measure(game: linucb.Game, trace: linucb.Trace, pilot: np.ndarray | None, ridge: float, every: int) -> Played:
    """Measure a run with its true residual; if it was played with a pilot's, with that as well."""
    if game.residual is None:
        return Played(linucb.regret(game.theta, game.stream.arms, trace.arms, every))
    if pilot is None:
        run = linucb.measured(game, trace, every)
        return Played(run.regret, run.srl, run.crw, run.widths)
    run = linucb.realised(game, trace.arms, game.residual, ridge=ridge, every=every)
    seen = linucb.measured(game._replace(residual=pilot), trace, every)
    return Played(run.regret, run.srl, run.crw, run.widths, seen.srl, seen.crw)


def _random(game: linucb.Game, columns: np.ndarray, every: int) -> np.ndarray:
    arms = game.stream.arms
    return linucb.regret(game.theta, arms, np.take_along_axis(arms, columns[:, None], axis=1)[:, 0], every)


def _adaptive(game: linucb.Game, problem: dict) -> np.ndarray:
    from graphdr.bandit import adaptive_k  # whose kernel most jobs can do without

    constants = {"ridge": problem["ridge"], "sigma": problem["noise"], "delta": problem["delta"]}
    met = game.theta, *game.stream
    played = adaptive_k.play(game.features, problem["k_grid"], *met, problem["alpha"], **constants)
    return linucb.regret(game.theta, game.stream.arms, played.arms, problem["checkpoint"])
