"""The verdicts on claims: instances, subsets of the data sets, data that are not the paper's, and the page."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.cache import io, paths
from graphdr.paper import claims
from graphdr.paper.predicates import PREDICATES, cell_names, rows_of
from graphdr.plan import design, jobs
from graphdr.scores import cells
from graphdr.stages import judge_claims
from tests.support.project import ROOT

WORDS = pd.read_csv(ROOT / paths.PAPER_CLAIMS, dtype=str, keep_default_na=False)
COLUMNS = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]
BELOW = [{"ratio": {"of": "regret@a", "to": "regret@b", "below": 1}}]
BOUNDED = [{"bounded": {"of": "bound_ratio@a", "at_most": 1}}]


def measured(rows: dict[tuple, float], n: int = 5) -> pd.DataFrame:
    """Build measurements from {(problem, instance, cell): value}."""
    found = []
    for (problem, instance, cell), value in rows.items():
        quantity, _, key = cell.partition("@")
        found.append((problem, instance, 0, key or None, None, quantity, value, np.nan, n))
    return pd.DataFrame(found, columns=COLUMNS)


def duel(ratios: dict[str, list[float]]) -> pd.DataFrame:
    """Build measurements of two methods with these ratios of regret, by problem and instance."""
    pairs = [(name, at, ratio) for name, values in ratios.items() for at, ratio in enumerate(values)]
    cells = [((name, at, "regret@a"), ratio) for name, at, ratio in pairs if not np.isnan(ratio)]
    return measured(dict(cells) | {(name, at, "regret@b"): 1.0 for name, at, _ in pairs})


def spec(checks=BELOW, datasets=(), here=None, **more) -> dict:
    """Build what a job says about a claim."""
    here = datasets if here is None else here
    known = {"datasets": list(datasets), "here": list(here), "raw": {}, "unknown": []}
    return {"experiment": "e", "checks": checks} | known | more


def judge(claim: dict, frame: pd.DataFrame, other=(), evaluation: bool = False) -> dict:
    problems = {name: {"dataset": name} for name in frame["problem"].unique()}
    sources = ({}, {"e": frame}) if evaluation else ({"e": frame}, {})
    return claims.judge(claim, claims.tidy(*sources, problems), other)


@pytest.mark.parametrize(
    ("good", "expected"), [(20, "holds"), (19, "holds"), (18, "mixed"), (2, "mixed"), (1, "fails")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_share_of_instances_decides_whichever_is_the_first(good, expected, turned):
    ratios = [0.5] * good + [2.0] * (20 - good)
    found = judge(spec(datasets=["sbm"]), duel({"sbm": ratios[::-1] if turned else ratios}))
    assert found["verdict"] == expected
    assert_allclose(found["share"], good / 20)
    first = "2 / 1 = 2" if turned and good < 20 else "0.5 / 1 = 0.5"
    assert found["measured"] == f"a / b = {first}; holds in {good} of 20 instances"


def test_further_draws_of_a_basis_do_not_count():
    frame = duel({"sbm": [0.5]})
    found = judge(spec(datasets=["sbm"]), pd.concat([frame, frame.assign(draw=1, value=9.0)]))
    assert found["verdict"] == "holds"


@pytest.mark.parametrize(("good", "expected"), [(20, "holds"), (19, "holds"), (18, "fails")])
def test_a_theorem_needs_a_share_of_all_instances(good, expected):
    rows = {("sbm", at, "bound_ratio@a"): 0.4 if at < good else 1.2 for at in range(20)}
    found = judge(spec(BOUNDED, ["sbm"], share=0.95), measured(rows))
    assert found["verdict"] == expected
    assert found["measured"] == f"bound_ratio@a = 0.4; holds in {good} of 20 instances"
    assert_allclose(found["share"], good / 20)


def test_an_instance_without_the_number_does_not_count_for_a_theorem():
    found = judge(spec(BOUNDED, ["sbm"], share=1), measured({("sbm", 3, "bound_ratio@a"): 0.4, ("sbm", 0, "eps"): 1}))
    assert (found["verdict"], found["share"]) == ("holds", 1)
    assert judge(spec(BOUNDED, ["sbm"]), measured({("sbm", 3, "bound_ratio@a"): 0.4}))["verdict"] == "no data"


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([50.0, 60.0], "holds, vacuous"),
        ([50.0, 30.0], "holds, vacuous in 1 of 2 runs"),
        ([20.0, 30.0], "holds"),
    ],
)
def test_a_bound_that_no_policy_could_break_is_vacuous(bounds, expected):
    cells = {("sbm", at, "bound@a"): bound for at, bound in enumerate(bounds)}
    cells |= {("sbm", at, "bound_ratio@a"): 0.5 for at in (0, 1)} | {("sbm", at, "regret@worst"): 40.0 for at in (0, 1)}
    claim = spec(BOUNDED, ["sbm"], share=1, vacuous="bound@a")
    found = judge(claim, measured(cells))
    assert found["verdict"] == expected
    assert ("times the regret of the worst policy" in found["measured"]) == (expected != "holds")
    broken = judge(claim, measured(cells | {("sbm", 1, "bound_ratio@a"): 1.5}))
    assert broken["verdict"] == "fails"  # a realised regret above its bound is one, however large the bound


def test_one_instance_is_no_panel():
    assert np.isnan(judge(spec(datasets=["ml"]), duel({"ml": [0.5]}))["share"])


def test_all_checks_must_hold():
    both = [*BELOW, {"ratio": {"of": "regret@a", "to": "regret@b", "below": 0.4}}]
    found = judge(spec(both, ["sbm"]), duel({"sbm": [0.5, 0.3]}))
    assert found["verdict"] == "mixed"
    assert_allclose(found["share"], 0.5)
    assert found["measured"].count("a / b") == 2


SIX = {"ml": [0.5], "lastfm": [0.6], "arxiv": [1.5]}
EACH = {"each": "dataset", "except": ["arxiv"]}


def test_wins_on_exactly_these_data_sets():
    found = judge(spec(datasets=list(SIX), **EACH), duel(SIX))
    assert found["verdict"] == "holds"
    assert found["available"] == list(SIX)
    assert not found["missing"]
    assert "arxiv (a / b = 1.5 / 1 = 1.5)" in found["measured"]


@pytest.mark.parametrize("changed", [{"arxiv": [0.9]}, {"ml": [1.1]}])
def test_a_win_more_or_a_win_less_is_not_as_claimed(changed):
    found = judge(spec(datasets=list(SIX), **EACH), duel(SIX | changed))
    assert found["verdict"] == "fails"
    assert f"not as claimed: {next(iter(changed))} (" in found["measured"]


def test_a_subset_is_never_silently_enough():
    claim = spec(datasets=["ml", "mind", "lastfm", "arxiv"], here=list(SIX), **EACH)
    found = judge(claim, duel(SIX))
    assert found["verdict"] == "holds on 3 of 3 available (missing: mind)"
    assert found["missing"] == ["mind"]
    assert found["measured"].endswith("no data: mind (not built)")
    found = judge(claim, duel(SIX | {"ml": [2.0]}))
    assert found["verdict"] == "fails on 1 of 3 available (missing: mind)"


def test_a_data_set_without_the_number_is_missing():
    found = judge(spec(datasets=list(SIX), **EACH), duel(SIX | {"arxiv": [np.nan]}))
    assert found["verdict"] == "holds on 2 of 2 available (missing: arxiv)"
    assert "arxiv (no regret@a)" in found["measured"]


@pytest.mark.parametrize(("ratio", "told"), [(0.5, "as claimed"), (2, "not as claimed")])
def test_other_data_are_shown_but_decide_nothing(ratio, told):
    claim = spec(datasets=[*SIX, "amazon"], **EACH)
    found = judge(claim, duel(SIX | {"amazon": [ratio]}), other=["amazon"])
    assert found["verdict"] == "holds on 3 of 3 available (missing: amazon)"
    assert found["measured"].endswith(f"other data, not counted: amazon (a / b = {ratio} / 1 = {ratio}, {told})")
    assert judge(spec(datasets=["amazon"]), duel({"amazon": [0.5]}), other=["amazon"])["verdict"] == "no data"


def test_a_pool_is_judged_without_other_data_and_shown_with_them():
    checks = [{"median": {"of": "bound", "above": 1}}]
    rows = {("ml", 0, "bound"): 2.0, ("lastfm", 0, "bound"): 3.0, ("amazon", 0, "bound"): 0.1}
    found = judge(spec(checks, ["ml", "lastfm", "amazon", "arxiv"]), measured(rows), other=["amazon"])
    assert found["verdict"] == "holds on 2 of 2 available (missing: amazon, arxiv)"
    assert found["available"] == ["ml", "lastfm"]
    assert found["measured"].startswith(
        "median of bound = 2.5 of 2 … 3 (2 values); with other data (amazon), not counted"
    )


def test_the_share_is_that_of_the_random_graphs():
    frame = duel({"sbm": [0.5, 0.5, 2, 2], "ml": [0.5]})
    for more in ({"each": "dataset"}, {}):
        found = judge(spec(datasets=["sbm", "ml"], **more), frame)
        assert found["verdict"] == "mixed"
        assert_allclose(found["share"], 0.5)


def test_nothing_built_is_no_data():
    found = claims.judge_all(WORDS, {"main_15x": spec(datasets=["sbm"], here=[])}, claims.tidy({}, {}, {}), [], "page")
    assert set(found["verdict"]) == {"no data"}
    assert found.set_index("claim").at["main_15x", "build"] == "`snakemake --cores all page`"


def test_a_share_needs_random_graphs_that_can_be_judged_by_themselves():
    pool = [{"inseparable": {"of": "regret@a", "to": "regret@b", "by": "zeta"}}]
    zetas = measured({("sbm", 0, "zeta"): 0.1, ("sbm", 1, "zeta"): 0.1, ("ml", 0, "zeta"): 0.2})
    found = judge(spec(pool, ["sbm", "ml"]), pd.concat([duel({"sbm": [0.5, 0.5], "ml": [2.0]}), zetas]))
    assert found["verdict"] == "fails"
    assert np.isnan(found["share"])


def test_a_part_of_a_pool_can_confirm_a_claim_but_not_refute_it():
    pool = [{"inseparable": {"of": "regret@a", "to": "regret@b", "by": "zeta"}}]
    zetas = measured({("sbm", 0, "zeta"): 0.1, ("ml", 0, "zeta"): 0.2})
    rows = pd.concat([duel({"sbm": [0.5], "ml": [2.0]}), zetas])
    found = judge(spec(pool, ["sbm", "ml", "fm"], ["sbm", "ml"], pool=3), rows)
    assert found["verdict"] == "no data (fails on 2 of 2 available (missing: fm))"
    assert judge(spec(pool, ["sbm", "ml"], pool=2), rows)["verdict"] == "fails"


def test_what_is_not_configured_is_missing():
    found = judge(spec(datasets=[], unknown=["theory"]), duel({"sbm": [0.5]}))
    assert (found["verdict"], found["measured"]) == ("no data", "no data: theory")
    found = judge(spec(datasets=["sbm"], unknown=["theory"], each="dataset"), duel({"sbm": [0.5]}))
    assert found["verdict"] == "holds on 1 of 1 available (missing: theory)"
    found = judge(spec(datasets=["sbm"], unknown=["theory"]), duel({"sbm": [0.5]}))
    assert found["verdict"] == "holds on 1 of 1 available (missing: theory)"


SCORE = [{"correct": {"of": "right@gamma", "wrong": 1}}]


def score(right: float, n: int) -> pd.DataFrame:
    frame = measured({("pooled", 0, "right@gamma"): right}, n)
    return frame.assign(predictor=frame["method"], method=None)


@pytest.mark.parametrize(
    ("right", "n", "more", "other", "expected"),
    [
        (5, 6, {}, [], "holds"),
        (4, 6, {}, [], "fails"),
        (4, 5, {}, [], "holds on 5 of 6 pooled"),  # a data set lacks what the score needs
        (4, 4, {"here": ["a"]}, [], "holds on 4 of 6 pooled (missing: b)"),
        (5, 6, {}, ["b", "elsewhere"], "no data (other data: b)"),
        (3, 5, {"here": ["b"]}, ["b"], "no data (missing: a; other data: b)"),
    ],
)
def test_a_score_says_what_its_pool_lacks_and_what_in_it_is_not_the_papers(right, n, more, other, expected):
    claim = spec(SCORE, ["a", "b"], evaluation="e", pool=6, **more)
    assert judge(claim, score(right, n), other, evaluation=True)["verdict"] == expected


def test_other_criteria_are_counted_beside_and_decide_nothing():
    stricter = [{"ratio": {"of": "regret@a", "to": "regret@b", "below": 0.4}}]
    unmeasured = [{"ratio": {"of": "regret@a", "to": "regret@c", "below": 1}}]
    claim = spec(datasets=["sbm"], beside={"below 0.4": stricter, "against c": unmeasured})
    found = judge(claim, duel({"sbm": [0.5, 0.3]}))
    assert found["verdict"] == "holds"
    assert found["measured"].endswith("; holds in 2 of 2 instances; below 0.4: holds in 1 of 2 instances")
    several = spec(
        SCORE, ["a"], evaluation="e", beside={"none wrong": [{"correct": {"of": "right@gamma", "wrong": 0}}]}
    )
    found = judge(several, score(5, 6), evaluation=True)
    assert (found["verdict"], "none wrong: holds in 0 of 1 instances" in found["measured"]) == ("holds", True)


def test_an_evaluation_that_is_not_there_is_no_data():
    claim = spec(SCORE, ["a", "b"], evaluation="e", here=[])
    found = judge(claim, score(5, 6)[:0], evaluation=True)
    assert (found["verdict"], found["missing"]) == ("no data", ["a", "b"])
    found = judge(spec(SCORE, ["a"], evaluation="e"), measured({("pooled", 0, "other@gamma"): 1}), evaluation=True)
    assert (found["verdict"], found["measured"]) == ("no data", "no data: no right@gamma")


def test_an_experiment_and_an_evaluation_may_share_a_name():
    table = claims.tidy({"e": duel({"sbm": [0.5]})}, {"e": score(6, 6)}, {"sbm": {"dataset": "sbm", "n": 200}})
    assert claims.judge(spec(datasets=["sbm"]), table, [])["verdict"] == "holds"
    assert claims.judge(spec(SCORE, ["sbm"], evaluation="e"), table, [])["verdict"] == "holds"
    assert set(table.loc[table["experiment"] == "e", "n"]) == {200}  # the factor
    assert set(table.loc[table["evaluation"] == "e", "count"]) == {6}


@pytest.fixture(scope="module")
def page() -> tuple[pd.DataFrame, str]:
    words = pd.DataFrame(
        [
            ("a_wins", "Here | there", "a is better", "a < b"),
            ("unjudged", "There", "b is better", "b < a"),
            ("theory", "There", "a bound holds", "ratio <= 1"),
        ],
        columns=["claim", "where", "statement", "criterion"],
    )
    raw = {"raw": {"amazon": "amazon/receipt", "mind": "mind/receipt"}}
    specs = {
        "own": spec(datasets=["sbm"], where="My own", statement="one more"),
        "theory": spec(BOUNDED, unknown=["theory_exact"]),
        "a_wins": spec(datasets=["ml", "amazon", "mind"], here=["ml", "amazon"], each="dataset", **raw),
    }
    frame = duel({"ml": [0.5], "amazon": [0.5], "sbm": [2.0, 0.5]})
    table = claims.tidy({"e": frame}, {}, {name: {"dataset": name} for name in ("ml", "amazon", "sbm")})
    found = claims.judge_all(words, specs, table, ["amazon"], "results/claims.md")
    return found, claims.markdown(found)


def test_claims_stand_in_the_order_of_the_paper(page):
    found, _ = page
    assert found.columns.tolist() == list(claims.COLUMNS)
    assert found["claim"].tolist() == ["a_wins", "unjudged", "theory", "own"]
    assert found["verdict"].tolist() == [
        "holds on 1 of 1 available (missing: amazon, mind)",
        "no data",
        "no data",
        "mixed",
    ]
    assert found["statement"].tolist() == ["a is better", "b is better", "a bound holds", "one more"]
    assert found["available"].tolist() == ["ml", "", "", "sbm"]


def test_every_claim_says_how_to_build_what_it_lacks(page):
    lacks = page[0].set_index("claim")["build"]
    assert lacks["a_wins"] == (
        "`snakemake --cores all mind results/claims.md`; with the paper's own files of amazon in place: "
        "`snakemake --cores all --forcerun amazon/receipt -- results/claims.md`"
    )
    assert lacks["theory"] == "not in config.yaml: theory_exact"
    assert lacks["unjudged"] == "not in config.yaml: claims.unjudged"
    assert lacks["own"] == ""


def test_the_page_counts_verdicts_and_escapes_pipes(page):
    _, text = page
    assert "4 claims: 1 hold (1 with a reservation), 1 mixed, 2 have no data." in text
    assert "| `a_wins` | Here \\| there: a is better<br><sub>a < b</sub> | " in text
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) in (6, 4) for line in rows)
    assert "| mixed | 50 % |" in text
    assert text.endswith("|\n")


# The configuration.


def test_every_claim_of_the_paper_is_judged_once(config):
    assert len(WORDS) == 48
    assert WORDS["claim"].is_unique
    assert set(config["claims"]) == set(WORDS["claim"])
    assert (WORDS[["where", "statement", "criterion", "needs"]] != "").all(axis=None)


def test_every_predicate_is_used(config):
    assert {name for spec in config["claims"].values() for name, _ in cells.named(spec["checks"])} == set(PREDICATES)


def test_every_check_can_be_judged_where_all_its_numbers_are_there(config):
    factors = {name: [0, 0.1, 0.2] for name in claims.factors(config["claims"])}
    problems = {f"p{i}": {"dataset": f"d{i}"} | {name: at[i] for name, at in factors.items()} for i in range(3)}
    for claim in config["claims"].values():
        for name, arguments in cells.named(claim["checks"]):
            wanted = cell_names(arguments)
            wanted += [f"{wanted[0].partition('@')[0]}@{key}" for key in arguments.get("among", [])]
            wanted += [arguments["by"]] if "by" in arguments else []
            rows = {(p, 0, cell): 1.0 + (i + j) % 3 for i, p in enumerate(problems) for j, cell in enumerate(wanted)}
            table = claims.tidy({"e": measured(rows)}, {}, problems)
            one = table if {"along", "by", "where"} & set(arguments) else table[table["problem"] == "p0"]
            assert PREDICATES[name](rows_of(one), **arguments).measured


def test_the_job_says_what_a_claim_is_about(config):
    built = design.expand(config, ["lastfm"])
    job = jobs.judge_claims(built, paths.CLAIMS)
    about = job.params.claims["cross_beats_full"]
    assert about["datasets"] == ["ml_100k", "ml_1m", "amazon", "lastfm", "ogbn_arxiv", "mind_small"]
    assert set(about["datasets"]) - set(about["here"]) == {"lastfm"}
    assert about["raw"]["lastfm"] == paths.receipt("lastfm")
    assert job.params.claims["ml1m_2x"]["datasets"] == ["ml_1m"]
    assert job.params.claims["main_wins"]["raw"] == {}
    assert {"flip", "k", "n", "tail"} <= claims.factors(config["claims"])
    assert not [path for path in job.files() if "lastfm" in path]


def test_the_stage_writes_a_row_for_every_claim(whole_plan, workdir):
    """Two methods on one random graph are all that was built: one claim can be judged, the others have no data."""
    main = measured({("sbm", at, cell): value for at in (0, 1) for cell, value in
                     {"regret@linucb_full": 500.0, "regret@graphdr": 20.0 + 20 * at}.items()})  # fmt: skip
    io.write("measurements", main, "main.parquet")
    WORDS.to_csv("claims.csv", index=False)
    params = jobs.judge_claims(whole_plan, paths.CLAIMS).params
    input = judge_claims.Input("claims.csv", measurements={"main": ["main.parquet"]}, evaluations={}, runs={})
    output = judge_claims.Output("claims.parquet", "claims.md")
    judge_claims.main(input, output, params)
    found = io.read("claims", output.parquet).to_pandas().set_index("claim")
    assert found.index.tolist() == WORDS["claim"].tolist()
    assert found.at["main_15x", "verdict"] == "mixed"
    assert_allclose(found.at["main_15x", "share"], 0.5)
    assert set(found["verdict"].drop("main_15x")) == {"no data"}
    table, _, rest = Path(output.md).read_text().partition("## What is missing")
    assert len(re.findall(r"^\| `", table, re.M)) == 48
    assert len(re.findall(r"^\| `", rest, re.M)) == 47 - found["build"].eq("").sum() + 1
