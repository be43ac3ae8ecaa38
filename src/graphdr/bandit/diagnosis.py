"""What a pilot is diagnosed with: the residual over held-out rounds (G_k) and the capture margin Gamma_k."""

import numpy as np

from graphdr.bandit.arm_set import NODES, ArmSet
from graphdr.bandit.pilot import Pilot
from graphdr.bandit.residuals import residual_leverage, residual_width
from graphdr.core.errors import required
from graphdr.graphs import arm_features


def greedy_play(arms: np.ndarray, theta: np.ndarray, vectors: np.ndarray, arm_set: ArmSet = NODES) -> np.ndarray:
    """Choose the candidate of every round with the largest z^T E^T theta (the first of several)."""
    value = arm_set(vectors @ (vectors.T @ theta))
    return arms[np.arange(len(arms)), value[arms].argmax(axis=1)]


def g(crw: float, srl: float, k: int, rounds: int, ridge: float = 1.0, longest: float = 1.0) -> float:
    """Return G_k = CRW + 2 sqrt(2 k log(1 + M L_x^2 / (ridge k)) / M) SRL after M rounds of arms up to that length."""
    return crw + 2.0 * float(np.sqrt(2.0 * k * np.log1p(rounds * longest**2 / (ridge * k)) / rounds)) * srl


def diagnose(
    theta: np.ndarray, vectors: np.ndarray, arms: np.ndarray, ridge: float = 1.0, arm_set: ArmSet = NODES
) -> dict[str, float]:
    """Diagnose the residual of a reward, true or estimated, over held-out rounds; G_k is that of greedy play.

    ``theta`` and ``vectors`` are the nodes', ``arms`` are those of the arm_set.
    """
    vectors = np.ascontiguousarray(vectors)
    on_nodes = arm_features.residual(theta, vectors)
    residual, features = arm_set(on_nodes), arm_set(vectors)
    crw = float(residual_width(residual, arms, len(arms))[0] / len(arms))  # mean range per candidate set
    chosen, v0_inverse = greedy_play(arms, theta, vectors, arm_set), np.eye(vectors.shape[1]) / ridge
    srl = float(residual_leverage(features, v0_inverse, chosen, residual, len(chosen))[0][0])  # over all rounds
    return {
        "zeta_hat": float(np.linalg.norm(on_nodes) / np.linalg.norm(theta)),
        "crw_hat": crw,
        "srl_hat": srl,
        "g": g(crw, srl, vectors.shape[1], len(arms), ridge, arm_set.longest),
        "g_unnormalised": crw + 2.0 * srl,
    }


def energy(theta: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return ||U^T theta||^2, of every row if theta has several."""
    return ((theta @ vectors) ** 2).sum(axis=-1)


def gamma(theta: np.ndarray, graph: np.ndarray, other: np.ndarray | None) -> np.ndarray:
    """Return the capture margin Gamma_k: the energy inside the graph's columns minus that inside the competitor's.

    Without columns the competitor keeps all of the reward.
    """
    return energy(theta, graph) - ((theta**2).sum(axis=-1) if other is None else energy(theta, other))


def energy_bias(pulls: np.ndarray, noise: float, vectors: np.ndarray) -> float:
    """Return the energy that the noise of a pilot adds on average: tr(U^T C U), C the covariance of the estimate.

    Means of nodes are independent, of variance sigma^2 / pulls; nodes never played share the overall mean, which
    has the variance sigma^2 / rounds and the same covariance with every mean.
    """
    played = pulls > 0
    of_means = ((vectors[played] ** 2).sum(axis=1) / pulls[played]).sum()
    total, part = vectors.sum(axis=0), vectors[played].sum(axis=0)
    return float(noise**2 * (of_means + (total @ total - part @ part) / pulls.sum()))


def gamma_debiased(pilot: Pilot, noise: float, graph: np.ndarray, other: np.ndarray) -> float:
    """Return Gamma_k of a pilot less what its noise adds to the two energies."""
    added = energy_bias(pilot.pulls, noise, graph) - energy_bias(pilot.pulls, noise, other)
    return float(gamma(pilot.theta, graph, other) - added)


def resample(pilot: Pilot, count: int, rng: np.random.Generator) -> np.ndarray:
    """Estimate again from resampled rewards, ``count`` times (count x n): a bootstrap of residuals.

    Every round keeps its node and draws its deviation from the node's mean out of those of all rounds, scaled for
    the means that were fitted: a node played once would show no noise of its own. All is nan if no node was played
    twice.
    """
    again, rewards = np.tile(pilot.theta, (count, 1)), required(pilot.rewards, "rewards")
    rounds, played = len(rewards), pilot.pulls > 0
    if played.sum() == rounds:
        return np.full_like(again, np.nan)
    pulls = pilot.pulls[played]
    starts = np.concatenate([[0], np.cumsum(pulls)[:-1]]).astype(np.int64)
    deviation = (rewards - pilot.theta[pilot.nodes]) * np.sqrt(rounds / (rounds - len(pulls)))
    for estimate in again:
        drawn = deviation[rng.integers(rounds, size=rounds)]  # alike in every round, so the first are the first node's
        estimate[played] += np.add.reduceat(drawn, starts) / pulls
        estimate[~played] += drawn.mean()
    return again


def gamma_interval(
    pilot: Pilot, again: np.ndarray, graph: np.ndarray, other: np.ndarray | None, level: float = 0.95
) -> tuple[float, float]:
    """Return the basic bootstrap interval of Gamma_k from the estimates of :func:`resample`.

    Resampling adds the same bias to the pilot's Gamma_k that noise has added to the true one. Reflecting the
    quantiles takes it off, so that the interval lies around the debiased Gamma_k.
    """
    low, high = np.quantile(gamma(again, graph, other), [(1 - level) / 2, (1 + level) / 2])
    centre = 2 * gamma(pilot.theta, graph, other)
    return float(centre - high), float(centre - low)
