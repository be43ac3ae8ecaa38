"""Over whole runs of the paper's length, kernels choose the arms of plain NumPy in every single round."""

import numpy as np
import pytest

from benchmarks import plain
from graphdr.bandit import environment, linucb
from graphdr.graphs import model, random_graphs

ROUNDS = 20_000


def meet(n: int, m: int, rounds: int = ROUNDS):
    """Draw a reward and the rounds of one seed."""
    theta = np.random.default_rng(n).standard_normal(n)
    spec = environment.RoundsSpec(rounds, m, noise=0.1)
    return theta / np.linalg.norm(theta), *environment.draw_rounds(0, spec, n, instance=0, seed=0), np.ones(rounds)


SMALL = [(200, 5, 10, ROUNDS), (60, 3, 3, ROUNDS), (1500, 10, 20, ROUNDS)]
LARGE = [(400, 13, 7, ROUNDS), (1500, 20, 20, ROUNDS), (300, 64, 45, 8000), (300, 128, 20, 4000), (400, 256, 20, 1000)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "m", "length"), SMALL + LARGE)
def test_projected_arms_chooses_the_same(n, k, m, length):
    features, _ = np.linalg.qr(np.random.default_rng(k).standard_normal((n, k)))
    rounds = meet(n, m, length)
    expected = plain.sherman_morrison(features, np.eye(k), *rounds)
    assert np.array_equal(linucb.projected(features, np.eye(k), *rounds)[0], expected)


@pytest.mark.parametrize(("n", "m"), [(200, 10), (1500, 20)])
def test_one_hot_arms_chooses_the_same(n, m):
    rounds = meet(n, m)
    assert np.array_equal(linucb.one_hot(1.0, *rounds), plain.diagonal(1.0, *rounds))


@pytest.mark.parametrize(("n", "m", "weight"), [(100, 10, 1), (160, 5, 3)])
def test_a_dense_penalty_chooses_the_same(n, m, weight):
    graph = random_graphs.sbm(n, np.random.default_rng(0), blocks=4, p_in=0.5, p_out=0.05)
    inverse = np.linalg.inv(np.eye(n) + weight * model.laplacian(graph).toarray())
    rounds = meet(n, m)
    assert np.array_equal(linucb.node_space(inverse, *rounds)[0], plain.node_space(inverse, *rounds))
