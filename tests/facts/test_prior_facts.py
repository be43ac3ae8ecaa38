"""The Bayes factor of a graph: large for a reward on it, small for copies with shuffled nodes."""

import numpy as np
from scipy import sparse

from graphdr.bandit.arm_set import ArmSet
from graphdr.facts.prior_facts import COPIES
from tests.support.instances import pose, value
from tests.support.project import draw_sbm


def test_rewards_speak_for_their_graph_and_not_for_its_shuffled_copies():
    true, largest, misled = (
        [value(name, pose(draw_sbm(seed), tail=0.3, seed=seed)) for seed in range(3)]
        for name in ("log_bayes", "log_bayes_shuffled", "log_bayes_misled")
    )
    assert min(true) > 10
    assert max(largest) < min(true)
    assert np.mean(misled) <= 0.02


def test_copies_are_shuffled_graphs(small_graph):
    """A reward that no graph explains tells no copy from the graph itself: its rank among them is any."""
    instance = pose(small_graph)
    rng = np.random.default_rng(0)
    ranks = []
    for number in range(12):
        posed = instance._replace(theta=rng.standard_normal(small_graph.n) / 5, number=number, memo={})
        value("log_bayes", posed)
        true, *copies = posed.memo["bayes"]
        assert len(copies) == COPIES
        ranks.append(np.mean(np.array(copies) < true))
    assert 0.25 < np.mean(ranks) < 0.75


def test_the_arms_of_a_pool_are_what_is_pulled(small_graph):
    nodes = pose(small_graph, tail=0.3)
    same = nodes._replace(arm_set=ArmSet(sparse.eye_array(small_graph.n, format="csr")), memo={})
    mixed = nodes._replace(
        arm_set=ArmSet(sparse.csr_array(np.full((5, small_graph.n), 0.1))), memo={}
    )  # all arms alike
    assert value("log_bayes", same) == value("log_bayes", nodes)
    assert value("log_bayes", mixed) < 2 < value("log_bayes", nodes)
