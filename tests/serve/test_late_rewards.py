"""Rewards that come after their arm was removed are refused, or skipped where that is asked for."""

import numpy as np
import pytest

from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import GRAPH, NAMES, assert_same

GIVEN = {"prior": "ridge", "ridge": 0.5, "radius": 1.0}
GONE = ["item 1", "item 2"]


def fit(**knobs) -> GraphDRLinUCB:
    """Fit a policy, and remove two arms."""
    policy = GraphDRLinUCB(5, random_state=0, **knobs).fit(GRAPH, names=NAMES)
    policy.remove(GONE)
    return policy


@pytest.mark.parametrize("shape", [list, tuple, np.array, iter])
def test_rewards_of_arms_that_are_not_there_are_skipped(shape):
    policy, other = fit(), fit()
    rng = np.random.default_rng(0)
    arms, paid, weights = rng.choice(NAMES[:6], 100), rng.standard_normal(100), rng.integers(1, 4, 100)
    stays = ~np.isin(arms, GONE)
    policy.update_many(shape(arms.tolist()), paid, weights=weights, unknown="ignore")
    other.update_many(arms[stays], paid[stays], weights=weights[stays])
    assert_same(policy, other)
    assert policy.rounds == stays.sum() < 100
    policy.update("item 2", 9.0, unknown="ignore")
    policy.update_many(GONE, [9.0, 9.0], unknown="ignore")
    assert_same(policy, other)
    policy.update("item 3", 1.0, unknown="ignore")
    other.update("item 3", 1.0)
    assert_same(policy, other)


def test_each_reward_keeps_its_segment():
    ages = {"young": {"old": 1.0}, "old": {}}
    policy, other = fit(segments=ages), fit(segments=ages)
    policy.update_many(["item 1", "item 3", "item 4"], [1, 2, 3], segment=["old", "young", "old"], unknown="ignore")
    other.update_many(["item 3", "item 4"], [2, 3], segment=["young", "old"])
    assert_same(policy, other)
    with pytest.raises(ValueError, match="no segment 'middle'"):
        policy.update("item 3", 1.0, segment="middle", unknown="ignore")


def test_rewards_of_contexts_with_such_an_arm_are_skipped():
    policy, other = fit(**GIVEN), fit(**GIVEN)
    baskets = [{"item 1": 0.5, "item 3": 0.5}, {"item 3": 0.5, "item 4": 0.5}]
    policy.update_many(vectors=baskets, rewards=[1.0, 2.0], unknown="ignore")
    policy.update(reward=3.0, vector=baskets[0], unknown="ignore")
    policy.update(reward=4.0, vector=np.eye(GRAPH.n - 2)[[5]], unknown="ignore")  # a matrix has no other arms
    other.update_many(vectors=baskets[1:], rewards=[2.0])
    other.update(reward=4.0, vector=np.eye(GRAPH.n - 2)[[5]])
    assert_same(policy, other)


MISTAKES = {
    r"no arm 'item 1'; unknown='ignore' skips the rewards of arms that are not there$": {
        "arms": ["item 1"], "rewards": [1.0], "unknown": "raise",
    },
    "unknown is 'raise' or 'ignore', not 'skip'": {"arms": ["item 3"], "rewards": [1.0], "unknown": "skip"},
    "2 arms, but rewards of shape": {"arms": ["item 1", "item 3"], "rewards": [1.0]},
    "a reward is nan": {"arms": ["item 1", "item 3"], "rewards": [np.nan, 1.0]},
    "a weight is -1": {"arms": ["item 1", "item 3"], "rewards": [1.0, 1.0], "weights": [1.0, -1.0]},
    "2 arms, but weights of shape": {"arms": ["item 1", "item 3"], "rewards": [1.0, 1.0], "weights": [1.0]},
    "not as 'item 3'": {"arms": "item 3", "rewards": [1.0]},
    "not as 3": {"arms": 3, "rewards": [1.0]},
    "sequence of their names": {"arms": [["item 3"]], "rewards": [1.0]},
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_other_mistakes_are_refused_all_the_same(message):
    policy = fit()
    with pytest.raises(ValueError, match=message) as caught:
        policy.update_many(**{"unknown": "ignore"} | MISTAKES[message])
    assert "\n" not in str(caught.value)
    assert policy.rounds == 0


def test_a_delta_is_refused_or_merged_without_arms_that_are_not_there():
    policy, other = fit(), fit()
    worker = GraphDRLinUCB(5, random_state=0).fit(GRAPH, names=NAMES).worker()
    worker.update_many(["item 1", "item 3", "item 3"], [9.0, 1.0, 2.0])
    delta = worker.delta()
    with pytest.raises(
        ValueError, match="no arm 'item 1'; unknown='ignore' skips the rewards of arms that are not there"
    ):
        policy.merge(delta)
    with pytest.raises(ValueError, match="unknown is 'raise' or 'ignore', not None"):
        policy.merge(delta, unknown=None)
    assert policy.rounds == 0
    policy.merge(delta, unknown="ignore")
    other.update_many(["item 3", "item 3"], [1.0, 2.0])
    assert_same(policy, other)
    assert policy.rounds == 2
