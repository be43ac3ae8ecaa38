"""What the benchmarks measure, on sizes that take no time."""

import pytest

from benchmarks import many_arms, methods
from graphdr.plan import config
from tests.support.project import ROOT

pytestmark = pytest.mark.slow  # ten seconds each


def test_the_graph_prior_on_many_arms_reports_seconds_refits_and_memory():
    size = many_arms.parts(300, 5, 500)
    assert set(size["seconds"]) == {"UCB", "Thompson sampling"}
    assert len(size["refits"]) == 5  # after 20, 40, 80, 160 and 320 rounds
    assert size["features"] == 300 * 5 * 8 < size["peak"]
    policies, (refits, longest) = many_arms.rows_of(size)[:2], many_arms.rows_of(size)[2:]
    assert all("rounds per second" in row.note for row in policies)
    assert 0 < longest.value < refits.value


def test_every_method_of_the_leaderboard_is_timed():
    settings = config.load(ROOT / "config.yaml")
    times = methods.time_a_round(settings, repetitions=1, n=150, rounds=200)
    blocks = [block for name, block in settings.experiments.items() if name.startswith("leaderboard_")]
    assert set(times) == {name for block in blocks for name in block.methods} > {"graphdr", "graph_prior", "graph_ucb"}
    assert all(time > 0 for time in times.values())
    parts = methods.time_parts(methods.pose(settings, 150, 200), repetitions=1)
    assert set(parts) == {"graph_prior", "graph_prior_thompson"}
    assert all(part.a_refit > part.a_round for part in parts.values())
