"""What the benchmarks measure, on sizes that take no time."""

from benchmarks import many_arms


def test_the_graph_prior_on_many_arms_tells_seconds_refits_and_memory():
    size = many_arms.parts(300, 5, 500)
    assert set(size["seconds"]) == {"UCB", "Thompson sampling"}
    assert len(size["refits"]) == 5  # after 20, 40, 80, 160 and 320 rounds
    assert size["features"] == 300 * 5 * 8 < size["peak"]
    policies, (refits, longest) = many_arms.rows_of(size)[:2], many_arms.rows_of(size)[2:]
    assert all("rounds per second" in row.note for row in policies)
    assert 0 < longest.value < refits.value
