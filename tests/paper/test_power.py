"""What the verdicts can notice: its tests against plain ones, and protocols that are planted."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from graphdr.paper import power
from graphdr.paper.power import ERRORS, NUMBERS, OURS, PAPER, REGRETS, TESTS, Papers
from tests.support.project import ROOT

METHODS, SIZE = 4, 25


def papers(count: int, seed: int, regret: float = 1.0, noise: float = 1.0) -> Papers:
    """Draw what papers print: regrets that go up and down together from instance to instance, and standard errors."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.3, (count, 1))
    values = 100 * np.arange(1, METHODS + 1) * np.exp(shared + rng.normal(0, 0.03, (count, METHODS)))
    values[:, 0] *= regret
    return Papers(values, noise * np.exp(rng.normal(0, 0.27, (count, METHODS))))


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], power.Row]:
    others = {
        "as ours": papers(SIZE, 2),
        "noise doubled": papers(SIZE, 3, noise=2),
        "one method better": papers(SIZE, 4, regret=0.7),
    }
    result = power.power(papers(2 * SIZE, 1), others, SIZE, papers(1, 5, noise=2))
    return {(row.protocol, row.test): row for row in result}


def test_doubled_noise_is_noticed_by_the_standard_errors_and_ours_by_nothing(rows):
    assert rows["noise doubled", ERRORS].p < 0.05
    assert rows["noise doubled", ERRORS].share > 5 * rows[OURS, ERRORS].share
    assert rows["noise doubled", REGRETS].p > 0.05
    assert all(rows["as ours", test].p > 0.05 for test in TESTS)


def test_a_regret_inside_of_its_own_range_is_noticed_by_all_regrets_together(rows):
    assert rows["one method better", REGRETS].p < 0.05
    assert rows["one method better", REGRETS].share > 0.9
    assert rows["one method better", NUMBERS].share < 0.5


def test_the_papers_own_line_and_its_p_under_every_protocol(rows):
    assert rows[PAPER, NUMBERS].judged == METHODS
    assert rows[OURS, ERRORS].paper_p < 0.05 < rows["noise doubled", ERRORS].paper_p
    assert rows[OURS, REGRETS].paper_p > 0.05 > rows["one method better", REGRETS].paper_p


def test_no_paper_is_judged_against_its_own_instance(rows):
    assert (rows[OURS, NUMBERS].papers, rows[OURS, NUMBERS].judged) == (SIZE, SIZE * METHODS)  # the further instances
    assert (rows["as ours", REGRETS].papers, rows["as ours", REGRETS].judged) == (SIZE - 1,) * 2  # all but instance 0
    instances = papers(3, 6)
    instances.values[2] = 1e6 * np.arange(1, METHODS + 1)
    result = power.power(papers(3, 6), {"far": instances}, 3, papers(1, 7))
    far = {row.test: row for row in result if row.protocol == "far"}
    assert far[NUMBERS].caught >= METHODS  # far from all others; its own number would make it one of the range


def test_the_joint_test_is_hotellings_and_needs_all_its_numbers():
    rng = np.random.default_rng(0)
    instances, vector = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 3)), rng.normal(size=3)
    off = vector - instances.mean(axis=0)
    squared = off @ np.linalg.inv(np.cov(instances.T)) @ off / (1 + 1 / 20)
    assert_allclose(power.joint_p(vector, instances), stats.f.sf(squared * 17 / (3 * 19), 3, 17), rtol=1e-9)
    assert np.isnan(power.joint_p(np.zeros(3), np.eye(4, 3)))  # as many instances as methods
    assert np.isnan(power.joint_p(np.array([0, np.nan]), rng.normal(size=(9, 2))))


def test_an_exchange_of_papers_counts_every_way():
    caught, control = np.array([2, 0, 3]), np.array([1, 0, 0, 2])
    pooled = [*caught, *control]
    sums = [sum(pooled[i] for i in chosen) for chosen in combinations(range(7), 3)]
    assert_allclose(power.exchange_p(caught, control), np.mean(np.array(sums) >= 5))


def test_papers_are_read_by_instance_and_method():
    columns = ["problem", "instance", "draw", "method", "quantity", "value", "sem"]
    lines = [("p", i, 0, m, "regret", 10.0 * i + len(m), 0.5) for i in (1, 0) for m in ("b", "aa")]
    lines += [(*place, 9.0, 1.0) for place in (("p", 0, 1, "b", "regret"), ("q", 0, 0, "b", "regret"))]
    lines += [("p", 0, 0, "b", "zeta", 9.0, 1.0)]
    result = power.by_instance(pd.DataFrame(lines, columns=columns), "p", ["aa", "b"])
    assert result.values.tolist() == [[2, 1], [12, 11]]
    assert result.sems.tolist() == [[0.5, 0.5]] * 2


def test_the_page_names_what_notices_a_protocol_and_what_nothing_notices(rows):
    records = [{"table": "main"} | row._asdict() for row in rows.values()]
    text = "\n".join(power.markdown(records))
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in text.splitlines() if line.startswith("| ")}
    assert lines["noise doubled"].split(" | ")[5] == ERRORS
    assert lines[OURS].split(" | ")[5] == "–"
    assert "No test notices: as ours." in text
    assert f"{100 - 100 * rows[OURS, NUMBERS].share:.0f} % of the numbers" in power.sentence(records)
    assert (power.markdown([]), power.sentence([])) == ([], "")


def test_the_committed_table_notices_doubled_noise_and_not_our_protocol():
    lines = (ROOT / "docs/comparison.md").read_text(encoding="utf-8").splitlines()
    notices = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[5] for line in lines if line.count(" | ") > 5}
    assert notices[OURS] == "–"
    assert ERRORS in notices["noise of standard deviation 0.2"]
