"""Trials of advice where the truth is known, on a very small scale."""

import re
from functools import partial

import numpy as np
import pytest

from graphdr.advise.simulation.tournament import SimulationConfig
from graphdr.advise.simulation.verdict import DOES_NOT, HELPS, UNKNOWN
from trust import advice

TINY = SimulationConfig(horizon=500, splits=3, comparing=1, judging_runs=3, controls=1)


@pytest.fixture
def small(monkeypatch):
    """Make all trials tiny, in this process."""
    monkeypatch.setattr(advice, "_all", lambda task, numbers: [task(number) for number in numbers])


@pytest.mark.slow
def test_a_graph_that_plainly_helps_is_never_said_not_to(small, monkeypatch):
    monkeypatch.setattr(advice, "graph_data", partial(advice.graph_data, n=120))
    monkeypatch.setattr(advice, "rating_data", partial(advice.rating_data, n=40, users=60, each=20))
    monkeypatch.setattr(advice, "PLANTED", {0.0: "nothing", 0.95: "much"})
    lines = list(advice.planted(2, config=TINY))
    counts = {
        line.partition(":")[0]: {word: int(re.search(rf"{word} (\d)", line)[1]) for word in (HELPS, UNKNOWN, DOES_NOT)}
        for line in lines
        if not line.startswith(" ")
    }
    assert list(counts) == ["a graph that saves nothing", "a graph that saves much", "users who rate"]
    assert all(sum(count.values()) == 2 for count in counts.values())
    assert counts["a graph that saves much"][DOES_NOT] == 0
    assert counts["a graph that saves nothing"][HELPS] == 0
    saved = [
        float(re.search(r"saves (\S+) %", line)[1]) for line in lines if " on average, ± " in line and "saves" in line
    ]
    assert saved[1] > 20 > saved[0]


@pytest.mark.slow
@pytest.mark.parametrize("draw", [100, 101])
def test_a_graph_that_saves_most_of_the_regret_is_not_given_up_on_few_clicks(draw):
    """In these draws the interval on held-out means excludes a saving, but most of these means is noise."""
    _, verdict = advice.advised(advice.click_data(40, draw), SimulationConfig(), draw)
    assert (verdict.outcome, verdict.reason) == (UNKNOWN, "noise")
    assert verdict.reliability < 0.4


def test_permuted_rewards_are_the_same_ones_on_other_items():
    data = advice.graph_data(0.95, 0, n=100)
    moved = advice.permuted(data, 1)
    np.testing.assert_array_equal(np.sort(moved.rewards.value), np.sort(data.rewards.value))
    assert np.mean(moved.rewards.item == data.rewards.item) < 0.1
    assert advice.advised(moved, TINY, 0)[1].outcome != HELPS
