"""A contract over every spectral filter, and the published methods that are cases of them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.bandit.environment import RoundsSpec, draw_rounds
from graphdr.bandit.method import ArmFeatures, BanditProblem, GraphInputs
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.simulate import simulate
from graphdr.graphs import filters, spectral
from graphdr.graphs.model import laplacian
from tests.support.project import draw_sbm

SPEC = RoundsSpec(400, 6, noise=0.1)
ROUGH = np.linspace(0, 2, 50)


@pytest.mark.parametrize("name", filters.FILTERS)
def test_a_filter_is_one_at_zero_positive_and_falls(name):
    for rho in (0.1, 1, 30):
        values = filters.FILTERS[name](ROUGH, rho)
        assert values.shape == ROUGH.shape
        assert values[0] == 1
        assert (values > 0).all()
        assert (np.diff(values) < 0).all() or name == "cut"
        assert_allclose(filters.column_weights(name, ROUGH, rho) ** 2, values)
        if name != "cut":
            assert (filters.FILTERS[name](ROUGH[1:], 2 * rho) < values[1:]).all()  # rho is its strength
    kernel = (2 * 1.5 / 7 + ROUGH) ** -1.5
    assert_allclose(filters.matern(ROUGH, 7), kernel / kernel[0])


def choices(arms: ArmFeatures, theta: np.ndarray, alpha: float, ridge: float, seed: int) -> np.ndarray:
    rounds = draw_rounds(0, SPEC, len(theta), instance=0, seed=seed)
    return simulate(BanditProblem(theta, **arms._asdict()), LinUCB(alpha=alpha, ridge=ridge), rounds).arms


@pytest.mark.parametrize("weight", [1, 3])  # SpectralUCB, and Laplacian-regularised LinUCB
@pytest.mark.parametrize("ridge", [1.0, 0.5])
def test_a_penalty_in_node_space_is_the_smooth_filter_on_all_eigenvectors(weight, ridge):
    graph = draw_sbm(4)
    low, theta = spectral.low_eigenpairs(graph, graph.n), np.random.default_rng(1).standard_normal(graph.n)
    inputs = GraphInputs(laplacian=laplacian(graph).toarray())
    penalised = LinUCB(basis="identity", laplacian=weight, ridge=ridge).features(inputs)
    smooth = LinUCB(basis="laplacian_first", filter="smooth", rho=weight / ridge, k=graph.n)
    filtered = smooth.features(GraphInputs(low))
    for seed in range(3):
        played = [choices(arms, theta, 1.0, ridge, seed) for arms in (penalised, filtered)]
        assert np.array_equal(*played)
        assert len(np.unique(played[0])) > 5


@pytest.mark.parametrize("name", ["heat", "matern"])
def test_a_filter_with_width_and_ridge_in_noise_is_gp_ucb(name):
    """The posterior of a Gaussian process with the kernel U g U^T, computed densely, in every round."""
    graph, sigma, beta, rng = draw_sbm(4), 0.2, 1.5, np.random.default_rng(0)
    low = spectral.low_eigenpairs(graph, 12)
    found = LinUCB(basis="laplacian_first", filter=name, rho=4, k=12).features(GraphInputs(low))
    kernel = low.vectors @ np.diag(filters.FILTERS[name](np.maximum(low.values, 0), 4)) @ low.vectors.T
    theta = rng.standard_normal(graph.n)
    stream = draw_rounds(0, replace(SPEC, horizon=60), graph.n, instance=0, seed=0)
    method = LinUCB(alpha=beta * sigma, ridge=sigma**2)
    played = simulate(BanditProblem(theta, found.features), method, stream).arms
    for t, arm in enumerate(played):
        seen, rewards = played[:t], theta[played[:t]] + stream.noise[:t]
        gain = kernel[:, seen] @ np.linalg.inv(kernel[np.ix_(seen, seen)] + sigma**2 * np.eye(t))
        width = np.sqrt(np.maximum(np.diag(kernel) - np.sum(gain * kernel[:, seen], axis=1), 0))
        score = (gain @ rewards + beta * width)[stream.arms[t]]
        assert score[list(stream.arms[t]).index(arm)] >= score.max() - 1e-9
