"""The verdicts of the comparison, rule by rule and at every border."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.paper.compare import (
    KINDS,
    OTHER,
    VERDICTS,
    compare,
    half_digit,
    headline,
    identify,
    markdown,
    percentile,
    verdict,
)

NAN = float("nan")
RULES = {
    "no data": [("100", 1.0, NAN, NAN, [], None), ("0.5", NAN, NAN, NAN, [0.4, 0.6], 0.01)],
    "match": [
        ("100", NAN, 100.0, NAN, [], None),
        ("100", NAN, 103.0, NAN, [], None),  # 3 %
        ("100", NAN, 97.0, 0.0, [], None),
        ("-100", NAN, -103.0, NAN, [], None),
        ("100", 4.0, 110.0, 3.0, [], None),  # two joint errors: 2 sqrt(4^2 + 3^2) = 10
        ("100", 4.0, 108.0 + 3.3, 400.0, [], None),  # ours counts at most as the paper's: 2 sqrt(2) 4 = 11.31
        ("100", 5.0, 110.0, NAN, [], None),  # we have none
        ("0", NAN, 0.0, NAN, [], None),
        ("0.83", NAN, 0.84, NAN, [], 0.01),  # by difference
        ("0.83", NAN, 0.82, NAN, [], 0.01),
        ("0.8", NAN, 0.85, NAN, [], 0.01),  # half of the last digit, where that is more
        ("0.0025", NAN, 0.00255, NAN, [], 0),
        ("4", NAN, 4.5, NAN, [], 0),
    ],
    "close": [
        ("100", NAN, 103.1, NAN, [], None),
        ("100", NAN, 110.0, NAN, [], None),  # 10 %
        ("100", NAN, 90.0, 0.1, [], None),
        ("-100", NAN, -110.0, NAN, [], None),
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
    assert verdict(*case) == expected


def test_every_verdict_has_a_rule_here():
    assert {*RULES, "other data"} == set(VERDICTS)  # other data are recognised by their marks, below


@given(
    paper=st.decimals(-1000, 1000, places=2),
    ours=st.floats(-1000, 1000),
    sem=st.floats(0, 10),
    closer=st.floats(0, 1),
    tolerance=st.sampled_from([None, 0, 0.01]),
)
def test_moving_towards_the_paper_never_worsens_a_verdict(paper, ours, sem, closer, tolerance):
    nearer = float(paper) + closer * (ours - float(paper))
    far, near = (verdict(str(paper), NAN, value, sem, [-500.0, 500.0], tolerance) for value in (ours, nearer))
    assert VERDICTS.index(near) <= VERDICTS.index(far)


@pytest.mark.parametrize(
    ("printed", "half"),
    [("4", 0.5), ("31.3", 0.05), ("0.0025", 0.00005), ("-0.26", 0.005), ("480.0", 0.05), ("1e3", 500)],
)
def test_half_of_the_last_printed_digit(printed, half):
    assert_allclose(half_digit(printed), half, rtol=1e-12)


@given(panel=st.lists(st.integers(0, 9), min_size=1), value=st.integers(0, 9))
def test_percentile_counts_ties_half(panel, value):
    below, equal = sum(x < value for x in panel), sum(x == value for x in panel)
    assert_allclose(percentile(value, panel), 100 * (below + equal / 2) / len(panel))


REFERENCE = pd.DataFrame(
    [
        ("main", "graphdr", "regret", "31.3", "0.7"),
        ("noise", "light", "k_hat", "4", ""),
        ("main", "gaussian", "regret", "777.8", ""),
        ("elsewhere", "a", "b", "1", ""),
        ("main", "graphdr", "zero", "0", ""),
    ],
    columns=["artifact", "row", "column", "value", "sem"],
)


def cell(row, column, quantity, value, sem, panel):
    low, median, high = np.quantile(panel, [0.05, 0.5, 0.95])
    spread = {"panel_low": low, "panel_median": median, "panel_high": high, "panel": panel}
    return {"row": row, "column": column, "quantity": quantity, "value": value, "sem": sem} | spread


@pytest.fixture(scope="module")
def comparison() -> pd.DataFrame:
    main = [
        cell("graphdr", "regret", "regret", 62.6, 1.0, [20.0, 62.6]),
        cell("graphdr", "zero", "zeta", 1.0, NAN, [1.0]),
    ]
    noise = [cell("0.05", "k_hat", "k_hat_naive", 4.0, NAN, [1.0, 4.0, 4.0, 4.0])]
    specs = {
        "main": {"paper_rows": {}, "tolerance": {"zeta": 0.01}, "datasets": {"graphdr": ["sbm"]}},
        "noise": {"paper_rows": {"light": "0.05"}, "tolerance": {"k_hat_naive": 0}, "datasets": {"0.05": ["sbm"]}},
    }
    found = compare(REFERENCE, {"main": pd.DataFrame(main), "noise": pd.DataFrame(noise)}, specs, {})
    return identify(found, {}, specs, ["films"])


def test_every_printed_number_has_its_row_in_the_order_of_the_paper(comparison):
    keys = ["artifact", "row", "column"]
    assert comparison[keys].to_numpy().tolist() == REFERENCE[keys].to_numpy().tolist()
    assert comparison["verdict"].tolist() == ["not contradicted", "match", "no data", "no data", "differs"]


def test_numbers_stand_beside_each_other(comparison):
    assert_allclose(comparison["paper"], [31.3, 4, 777.8, 1, 0])
    assert_allclose(comparison["paper_sem"], [0.7, NAN, NAN, NAN, NAN])
    assert_allclose(comparison["ours"], [62.6, 4, NAN, NAN, 1])
    assert_allclose(comparison["sem"], [1, NAN, NAN, NAN, NAN])
    assert_allclose(comparison["ratio"], [2, 1, NAN, NAN, NAN])
    assert_allclose(comparison["percentile"], [50, 62.5, NAN, NAN, NAN])
    assert_allclose(comparison["panel_median"], [41.3, 4, NAN, NAN, 1])


def test_the_page_counts_what_is_built_and_names_what_is_not(comparison):
    text = markdown(comparison)
    assert "| synthetic | 3 | 3 | 1 | 0 | 1 | 1 |" in text
    assert "| real | 0 | 0 | 0 | 0 | 0 | 0 |" in text
    assert "No data for 2 numbers of: main (1), elsewhere (1)" in text
    assert text.count("\n| graphdr |") == 2
    assert "not judged" not in text


ON_DATA = pd.DataFrame(
    [("real", row, "regret", "10", "") for row in ("Films", "songs", "absent")],
    columns=["artifact", "row", "column", "value", "sem"],
)


def on_data(**marks) -> pd.DataFrame:
    """Compare two data sets, the first of which the paper calls otherwise, and one that has no number."""
    table = [cell("films", "regret", "regret", 10.0, NAN, [10.0]), cell("songs", "regret", "regret", 99.0, NAN, [99.0])]
    datasets = {name: [name] for name in ("films", "songs", "absent")}
    specs = {"real": {"paper_rows": {"Films": "films"}, "tolerance": {}, "datasets": datasets}}
    return identify(compare(ON_DATA, {"real": pd.DataFrame(table)}, specs, marks), {}, specs, list(datasets))


@pytest.mark.parametrize("word", ["release", "incomplete", "unverified", "absent"])
def test_numbers_from_other_data_are_shown_but_not_judged(word):
    films = "other data" if word in OTHER else "match"
    assert on_data()["verdict"].tolist() == ["match", "differs", "no data"]
    found = on_data(films={word: "so"}, absent={word: "so"}, elsewhere={"release": "2014"})
    assert found["verdict"].tolist() == [films, "differs", "no data"]
    assert_allclose(found["ours"], [10, 99, NAN])
    assert_allclose(found["ratio"], [1, 9.9, NAN])


def test_a_score_over_a_pool_is_judged_if_all_of_the_pool_is_the_papers():
    table = pd.DataFrame([cell("films", "regret", "regret", 10.0, NAN, [10.0])])
    spec = {"paper_rows": {"Films": "films"}, "tolerance": {}, "datasets": {"films": ["a", "b"]}}

    def judge(marks, missing=()):
        return compare(ON_DATA[:1], {"real": table}, {"real": spec}, marks, missing)["verdict"].tolist()

    assert judge({}) == judge({"a": {"unverified": "so"}}, ["c"]) == ["match"]
    assert judge({"b": {"release": "2014"}}) == judge({}, ["a"]) == ["other data"]


def test_the_page_counts_other_data_apart():
    judged, unjudged = (markdown(on_data(**marks)) for marks in ({}, {"songs": {"release": "2014"}}))
    assert "| real | 2 | 2 | 1 | 0 | 0 | 1 |" in judged
    assert "not judged" not in judged
    assert "| real | 1 | 1 | 1 | 0 | 0 | 0 |" in unjudged
    assert "| synthetic | 0 |" in unjudged
    assert "\n1 more are shown but not judged: they come from other data.\n" in unjudged
    assert "| songs | regret | 10 | 99 | 9.90 | – | – | other data |" in unjudged
    assert "No data for 1 numbers of: real (1)" in unjudged


def test_a_line_shows_all_digits_of_large_numbers_and_a_panel_of_several_values(comparison):
    shown = {"row": "r", "column": "c", "paper": 12345.6, "paper_sem": 7.25, "ours": 1e-12, "sem": NAN, "ratio": 0.5}
    shown |= {"panel_low": 1.0, "panel_median": 2.0, "panel_high": 98765.4, "percentile": 50.0, "verdict": "differs"}
    alone = shown | {"row": "one", "percentile": NAN}
    lines = markdown(pd.DataFrame([shown, alone]).assign(artifact="t", cell="c", kind="real")).splitlines()
    assert "| r | c | 12346 ± 7.2 | 0 | 0.50 | 2 (1 … 98765) | 50 | differs |" in lines
    assert "| one | c | 12346 ± 7.2 | 0 | 0.50 | – | – | differs |" in lines


PRINTED = pd.DataFrame(
    [
        ("main", "graphdr", "regret", "31.3", ""),
        ("again", "sbm", "graphdr", "31.3", ""),  # the same cell once more …
        ("again", "sbm", "rounded", "31", ""),  # … and with another number
        ("main", "gaussian", "regret", "31.3", ""),  # the same digits of another method
        ("again", "films", "graphdr", "31.3", ""),  # … and on other data
    ],
    columns=["artifact", "row", "column", "value", "sem"],
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
        "main": {"paper_rows": {}, "tolerance": {}, "datasets": {"graphdr": ["sbm"], "gaussian": ["sbm"]}},
        "again": {"paper_rows": {}, "tolerance": {}, "datasets": {"sbm": ["sbm"], "films": ["films"]}},
    }
    tables = {
        name: pd.DataFrame([cell(row, column, "regret", 31.3, NAN, [31.3]) for row in rows for column in rows[row]])
        for name, rows in CELLS.items()
    }
    found = identify(compare(PRINTED, tables, specs, {}), CELLS, specs, ["films"])
    assert found["kind"].tolist() == ["synthetic"] * 4 + ["real"]
    counts = headline(found.to_dict("records"))
    assert list(counts) == list(KINDS)
    assert (counts["synthetic"]["printed"], counts["synthetic"]["match"]) == (4, 3)
    assert (counts["real"]["printed"], counts["real"]["match"]) == (1, 1)
    assert sum(sum(count.values()) for count in counts.values()) == 5 + 4  # printed, and distinct ones


def test_a_verdict_on_a_repeated_number_is_that_of_its_first_place():
    lines = [{"kind": "real", "paper": 1.0, "cell": "c", "verdict": word} for word in ("close", "match", "other data")]
    counts = headline(lines)["real"]
    assert (counts["printed"], counts["close"], counts["match"], counts["other data"]) == (2, 1, 0, 0)
