"""The verdicts of the comparison, rule by rule and at every border."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.cache import paths
from graphdr.paper import reference
from graphdr.paper.compare import (
    KINDS,
    OTHER,
    VERDICTS,
    ComparedTable,
    Ours,
    compare,
    half_digit,
    headline,
    markdown,
    percentile,
    verdict,
)
from tests.support.project import ROOT

NAN = float("nan")
RULES = {
    "no data": [("100", 1.0, NAN, NAN, [], None), ("0.5", NAN, NAN, NAN, [0.4, 0.6], 0.01)],
    "match": [
        ("100", NAN, 100.0, NAN, [], None),
        ("100", NAN, 103.0, NAN, [], None),  # 3 %
        ("-100", NAN, -103.0, NAN, [], None),
        ("100", 4.0, 110.0, 3.0, [], None),  # two joint errors: 2 sqrt(4^2 + 3^2) = 10
        ("100", 4.0, 108.0 + 3.3, 400.0, [], None),  # ours counts at most as the paper's: 2 sqrt(2) 4 = 11.31
        ("100", 5.0, 110.0, NAN, [], None),  # we have none
        ("0", NAN, 0.0, NAN, [], None),
        ("0.83", NAN, 0.84, NAN, [], 0.01),  # by difference
        ("0.8", NAN, 0.85, NAN, [], 0.01),  # half of the last digit, where that is more
        ("4", NAN, 4.5, NAN, [], 0),
    ],
    "close": [
        ("100", NAN, 103.1, NAN, [], None),
        ("100", NAN, 110.0, NAN, [], None),  # 10 %
        ("100", 3.0, 110.0, 4.0, [90, 120], None),  # beyond two joint errors; close goes before the panel
        ("100", NAN, 103.1, 50.0, [], None),  # the paper prints no error, so that ours does not count
        ("0.83", NAN, 0.8401, 5.0, [], 0.01),  # errors do not count in a difference
    ],
    "not contradicted": [
        ("100", 0.1, 150.0, 50.0, np.linspace(0, 200, 21), None),  # a large error of ours makes no match
        ("100", NAN, 110.1, NAN, np.linspace(100, 200, 21) - 5, None),  # the border of the 5-95 % range
        ("100", NAN, 150.0, 0.1, np.linspace(0, 100, 21) + 5, None),
        ("4", NAN, 1.0, NAN, [1, 2, 4, 5, 6], 0),
    ],
    "differs": [
        ("100", NAN, 110.1, NAN, [], None),
        ("100", NAN, 110.1, NAN, [100.0], None),  # one instance is no panel
        ("100", NAN, 110.1, NAN, np.linspace(100, 200, 21) - 4.9, None),
        ("100", NAN, 150.0, 0.1, np.linspace(0, 100, 21) + 4.9, None),
        ("0", NAN, 0.1, NAN, [], None),
        ("4", NAN, 1.0, NAN, [], 0),
    ],
}


@pytest.mark.parametrize(("expected", "case"), [(name, case) for name, cases in RULES.items() for case in cases])
def test_verdict(expected, case):
    assert {*RULES, "other data"} == set(VERDICTS)  # other data are recognised by their marks, below
    printed, paper_sem, value, sem, instances, tolerance = case
    assert verdict(printed, paper_sem, Ours(value, sem, instances), tolerance) == expected


@given(
    paper=st.decimals(-1000, 1000, places=2),
    ours=st.floats(-1000, 1000),
    sem=st.floats(0, 10),
    closer=st.floats(0, 1),
    tolerance=st.sampled_from([None, 0, 0.01]),
)
def test_moving_towards_the_paper_never_worsens_a_verdict(paper, ours, sem, closer, tolerance):
    nearer = float(paper) + closer * (ours - float(paper))
    far, near = (verdict(str(paper), NAN, Ours(value, sem, [-500.0, 500.0]), tolerance) for value in (ours, nearer))
    assert VERDICTS.index(near) <= VERDICTS.index(far)


@given(instances=st.lists(st.integers(0, 9), min_size=1), value=st.integers(0, 9), digits=st.integers(0, 4))
def test_percentiles_count_ties_half_and_a_printed_number_stands_for_half_a_digit(instances, value, digits):
    below, equal = sum(x < value for x in instances), sum(x == value for x in instances)
    assert_allclose(percentile(value, instances), 100 * (below + equal / 2) / len(instances))
    assert_allclose(half_digit(f"{-value:.{digits}f}"), 0.5 * 10.0**-digits)


def paper_numbers(*rows: tuple) -> pd.DataFrame:
    """Build numbers of the paper."""
    return pd.DataFrame(rows, columns=["artifact", "row", "column", "value", "sem"])


REFERENCE = paper_numbers(
    ("main", "graphdr", "regret", "31.3", "0.7"),
    ("noise", "light", "k_hat", "4", ""),
    ("main", "gaussian", "regret", "777.8", ""),
    ("elsewhere", "a", "b", "1", ""),
    ("main", "graphdr", "zero", "0", ""),
)


def cell(row, column, quantity, value, sem, instances):
    low, median, high = np.quantile(instances, [0.05, 0.5, 0.95])
    spread = {"panel_low": low, "panel_median": median, "panel_high": high, "panel": instances}
    return {"row": row, "column": column, "quantity": quantity, "value": value, "sem": sem} | spread


@pytest.fixture(scope="module")
def comparison() -> pd.DataFrame:
    main = [
        cell("graphdr", "regret", "regret", 62.6, 1.0, [20.0, 62.6]),
        cell("graphdr", "zero", "zeta", 1.0, NAN, [1.0]),
    ]
    noise = [cell("0.05", "k_hat", "k_hat_naive", 4.0, NAN, [1.0, 4.0, 4.0, 4.0])]
    specs = {
        "main": ComparedTable({}, {"zeta": 0.01}, {"graphdr": ["sbm"]}),
        "noise": ComparedTable({"light": "0.05"}, {"k_hat_naive": 0}, {"0.05": ["sbm"]}),
    }
    return compare(REFERENCE, {"main": pd.DataFrame(main), "noise": pd.DataFrame(noise)}, specs, {})


def test_every_printed_number_stands_beside_ours_in_the_order_of_the_paper(comparison):
    keys = ["artifact", "row", "column"]
    assert comparison[keys].to_numpy().tolist() == REFERENCE[keys].to_numpy().tolist()
    assert comparison["verdict"].tolist() == ["not contradicted", "match", "no data", "no data", "differs"]
    assert_allclose(comparison["paper"], [31.3, 4, 777.8, 1, 0])
    assert_allclose(comparison["paper_sem"], [0.7, NAN, NAN, NAN, NAN])
    assert_allclose(comparison["ours"], [62.6, 4, NAN, NAN, 1])
    assert_allclose(comparison["sem"], [1, NAN, NAN, NAN, NAN])
    assert_allclose(comparison["ratio"], [2, 1, NAN, NAN, NAN])
    assert_allclose(comparison["percentile"], [50, 62.5, NAN, NAN, NAN])
    assert_allclose(comparison["panel_median"], [41.3, 4, NAN, NAN, 1])


ON_DATA = paper_numbers(*(("real", row, "regret", "10", "") for row in ("Films", "songs", "absent")))


def on_data(**marks) -> pd.DataFrame:
    """Compare two data sets, the first of which the paper calls otherwise, and one that has no number."""
    table = [cell("films", "regret", "regret", 10.0, NAN, [10.0]), cell("songs", "regret", "regret", 99.0, NAN, [99.0])]
    datasets = {name: [name] for name in ("films", "songs", "absent")}
    specs = {"real": ComparedTable({"Films": "films"}, {}, datasets, [*datasets])}
    return compare(ON_DATA, {"real": pd.DataFrame(table)}, specs, marks)


@pytest.mark.parametrize("word", ["release", "incomplete", "unverified", "absent"])
def test_numbers_from_other_data_are_shown_but_not_judged(word):
    films = "other data" if word in OTHER else "match"
    assert on_data()["verdict"].tolist() == ["match", "differs", "no data"]
    result = on_data(films={word: "so"}, absent={word: "so"}, elsewhere={"release": "2014"})
    assert result["verdict"].tolist() == [films, "differs", "no data"]
    assert_allclose(result["ours"], [10, 99, NAN])
    assert_allclose(result["ratio"], [1, 9.9, NAN])


def test_a_score_over_a_pool_is_judged_if_all_of_the_pool_is_the_papers():
    table = pd.DataFrame([cell("films", "regret", "regret", 10.0, NAN, [10.0])])
    spec = ComparedTable({"Films": "films"}, {}, {"films": ["a", "b"]})

    def judge(marks, missing=()):
        return compare(ON_DATA[:1], {"real": table}, {"real": spec}, marks, missing)["verdict"].tolist()

    assert judge({}) == judge({"a": {"unverified": "so"}}, ["c"]) == ["match"]
    assert judge({"b": {"release": "2014"}}) == judge({}, ["a"]) == ["other data"]


def test_the_page_counts_what_is_built_and_other_data_apart_and_names_what_is_not(comparison):
    text = markdown(comparison)
    assert "| synthetic | 3 | 3 | 1 | 0 | 1 | 1 |" in text
    assert "No data for 2 numbers of: main (1), elsewhere (1)" in text
    assert "not judged" not in text
    text = markdown(on_data(songs={"release": "2014"}))
    assert "| real | 1 | 1 | 1 | 0 | 0 | 0 |" in text
    assert "\n1 more are shown but not judged: they come from other data.\n" in text
    assert "| songs | regret | 10 | 99 | 9.90 | – | – | other data |" in text


PRINTED = paper_numbers(
    ("main", "graphdr", "regret", "31.3", ""),
    ("again", "sbm", "graphdr", "31.3", ""),  # the same cell once more …
    ("again", "sbm", "rounded", "31", ""),  # … and with another number
    ("main", "gaussian", "regret", "31.3", ""),  # the same digits of another method
    ("again", "films", "graphdr", "31.3", ""),  # … and on other data
)
CELLS = {
    "main": {name: {"regret": f"regret, {name}, on sbm"} for name in ("graphdr", "gaussian")},
    "again": {
        "sbm": dict.fromkeys(("graphdr", "rounded"), "regret, graphdr, on sbm"),
        "films": {"graphdr": "regret, graphdr, on films"},
    },
}


def test_a_number_that_several_tables_print_of_one_cell_counts_once():
    specs = {
        "main": ComparedTable(cells=CELLS["main"]),
        "again": ComparedTable(real=["films"], cells=CELLS["again"]),
    }
    tables = {
        name: pd.DataFrame([cell(row, column, "regret", 31.3, NAN, [31.3]) for row in rows for column in rows[row]])
        for name, rows in CELLS.items()
    }
    result = compare(PRINTED, tables, specs, {})
    assert result["kind"].tolist() == ["synthetic"] * 4 + ["real"]
    counts = headline(result.to_dict("records"))
    assert list(counts) == list(KINDS)
    assert (counts["synthetic"]["printed"], counts["synthetic"]["match"]) == (4, 3)
    assert (counts["real"]["printed"], counts["real"]["match"]) == (1, 1)
    assert sum(sum(count.values()) for count in counts.values()) == 5 + 4  # printed, and distinct ones
    lines = [{"kind": "real", "paper": 1.0, "cell": "c", "verdict": word} for word in ("close", "match", "other data")]
    counts = headline(lines)["real"]  # a repeated number counts as in its first place
    assert (counts["printed"], counts["close"], counts["match"], counts["other data"]) == (2, 1, 0, 0)


def test_every_reason_is_about_a_number_of_the_paper():
    printed = reference.numbers(str(ROOT / paths.PAPER))
    reasons = reference.reasons(str(ROOT / paths.PAPER_REASONS))
    assert reasons
    for (artifact, row, column), why in reasons.items():
        about = printed[printed["artifact"] == artifact]
        assert not row or row in set(about["row"]), row
        assert not column or column in set(about["column"]), column
        assert len(about), artifact
        assert why.endswith(".")
