"""With many features, a run has the same bits wherever its candidates stand and however many threads BLAS has."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from graphdr.bandit import linucb, linucb_core

WIDTHS = [linucb_core.UNROLLED + 1, 20, 64, 256]
ROUNDS = 60


def draw(k: int, m: int):
    """Draw the arguments of a run with a residual, up to the candidates, and the candidates."""
    rng = np.random.default_rng(k)
    features, theta = rng.standard_normal((80, k)) / np.sqrt(k), rng.standard_normal(80)
    arms = np.array([rng.permutation(80)[:m] for _ in range(ROUNDS)], np.uint32)
    return (features, np.eye(k), theta), arms


def play(run, arms):
    """Return arms, SRL and summed widths of every round."""
    noise = np.sin(np.arange(ROUNDS))
    return linucb.projected(*run, arms, noise, np.full(ROUNDS, 0.3), 1.0, run[2] - run[2].mean(), 1)


def assert_same_bits(traces):
    for trace in traces[1:]:
        assert all(map(np.array_equal, trace, traces[0]))


@pytest.mark.parametrize("k", WIDTHS)
@pytest.mark.parametrize("m", [2, linucb_core.LANES, 2 * linucb_core.LANES + 3])
def test_the_place_of_a_candidate_changes_no_bit(k, m):
    run, arms = draw(k, m)
    shuffled = np.random.default_rng(0).permuted(arms, axis=1)
    assert_same_bits([play(run, order) for order in (arms, shuffled, arms[:, ::-1].copy())])


@pytest.mark.parametrize("k", WIDTHS)
def test_threads_of_blas_change_no_bit(k):
    run, arms = draw(k, 20)
    traces = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {threads}
            traces.append(play(run, arms))
    assert_same_bits(traces)
