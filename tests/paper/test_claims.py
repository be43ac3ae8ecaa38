"""The verdicts on claims: instances, subsets of the data sets, data that are not the paper's, and the page."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.cache import paths
from graphdr.paper import claims
from graphdr.paper.claims import ClaimSpec
from graphdr.paper.predicates import PREDICATES, Rows, cell_names
from graphdr.plan import design, jobs
from graphdr.scores import cells
from tests.support.project import ROOT

WORDS = pd.read_csv(ROOT / paths.PAPER_CLAIMS, dtype=str, keep_default_na=False)
COLUMNS = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]
BELOW = [{"ratio": {"of": "regret@a", "to": "regret@b", "below": 1}}]
BOUNDED = [{"bounded": {"of": "bound_ratio@a", "at_most": 1}}]


def measured(rows: dict[tuple, float], n: int = 5) -> pd.DataFrame:
    """Build measurements from {(problem, instance, cell): value}."""
    judgement = []
    for (problem, instance, cell), value in rows.items():
        quantity, _, key = cell.partition("@")
        judgement.append((problem, instance, 0, key or None, None, quantity, value, np.nan, n))
    return pd.DataFrame(judgement, columns=COLUMNS)


def duel(ratios: dict[str, list[float]]) -> pd.DataFrame:
    """Build measurements of two methods with these ratios of regret, by problem and instance."""
    pairs = [(name, at, ratio) for name, values in ratios.items() for at, ratio in enumerate(values)]
    cells = [((name, at, "regret@a"), ratio) for name, at, ratio in pairs if not np.isnan(ratio)]
    return measured(dict(cells) | {(name, at, "regret@b"): 1.0 for name, at, _ in pairs})


def spec(checks=BELOW, datasets=(), built=None, **more) -> ClaimSpec:
    """Build how a claim is judged, on all of its data sets unless some are not built."""
    built = datasets if built is None else built
    sources = {} if "evaluation" in more else {"experiments": ["e"]}
    return ClaimSpec(checks, list(datasets), list(built), **sources, **more)


def judge(claim: ClaimSpec, frame: pd.DataFrame, other=(), evaluation: bool = False) -> claims.Judgement:
    problems = {name: {"dataset": name} for name in frame["problem"].unique()}
    sources = ({}, {"e": frame}) if evaluation else ({"e": frame}, {})
    return claims.judge(claim, claims.tidy(*sources, problems), other)


@pytest.mark.parametrize(
    ("good", "expected"), [(20, "holds"), (19, "holds"), (18, "mixed"), (2, "mixed"), (1, "fails")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_share_of_instances_decides_whichever_is_the_first(good, expected, turned):
    ratios = [0.5] * good + [2.0] * (20 - good)
    frame = duel({"sbm": ratios[::-1] if turned else ratios})
    further_draws = frame.assign(draw=1, value=9.0)  # which do not count
    judgement = judge(spec(datasets=["sbm"]), pd.concat([frame, further_draws]))
    assert judgement.verdict == expected
    assert_allclose(judgement.share, good / 20)
    first = "2 / 1 = 2" if turned and good < 20 else "0.5 / 1 = 0.5"
    assert judgement.measured == f"a / b = {first}; holds in {good} of 20 instances"


@pytest.mark.parametrize(("good", "expected"), [(20, "holds"), (19, "holds"), (18, "fails")])
def test_a_theorem_needs_a_share_of_all_instances_that_have_its_number(good, expected):
    rows = {("sbm", at, "bound_ratio@a"): 0.4 if at < good else 1.2 for at in range(20)}
    judgement = judge(spec(BOUNDED, ["sbm"], share=0.95), measured(rows | {("sbm", 20, "eps"): 1}))
    assert judgement.verdict == expected
    assert judgement.measured == f"bound_ratio@a = 0.4; holds in {good} of 20 instances"
    assert_allclose(judgement.share, good / 20)
    later = measured({("sbm", 3, "bound_ratio@a"): 0.4})  # a claim that is no theorem needs the number of instance 0
    assert judge(spec(BOUNDED, ["sbm"]), later).verdict == "no data"


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
    judgement = judge(claim, measured(cells))
    assert judgement.verdict == expected
    assert ("times the regret of the worst policy" in judgement.measured) == (expected != "holds")
    broken = judge(claim, measured(cells | {("sbm", 1, "bound_ratio@a"): 1.5}))
    assert broken.verdict == "fails"  # a realised regret above its bound is one, however large the bound


def test_all_checks_must_hold():
    both = [*BELOW, {"ratio": {"of": "regret@a", "to": "regret@b", "below": 0.4}}]
    judgement = judge(spec(both, ["sbm"]), duel({"sbm": [0.5, 0.3]}))
    assert judgement.verdict == "mixed"
    assert_allclose(judgement.share, 0.5)
    assert judgement.measured.count("a / b") == 2


SIX = {"ml": [0.5], "lastfm": [0.6], "arxiv": [1.5]}
EACH = {"each": "dataset", "exceptions": ["arxiv"]}
ALL_BUILT, ONE_MISSING = list(SIX), ["ml", "mind", "lastfm", "arxiv"]


@pytest.mark.parametrize(
    ("datasets", "changed", "verdict", "measured"),
    [
        (ALL_BUILT, {}, "holds", "arxiv (a / b = 1.5 / 1 = 1.5)"),
        (ALL_BUILT, {"arxiv": [0.9]}, "fails", "not as claimed: arxiv ("),  # a win more
        (ALL_BUILT, {"ml": [1.1]}, "fails", "not as claimed: ml ("),  # a win less
        (ALL_BUILT, {"arxiv": [np.nan]}, "holds on 2 of 2 available (missing: arxiv)", "arxiv (no regret@a)"),
        (ONE_MISSING, {}, "holds on 3 of 3 available (missing: mind)", "no data: mind (not built)"),
        (ONE_MISSING, {"ml": [2.0]}, "fails on 1 of 3 available (missing: mind)", "not as claimed: ml ("),
    ],
)
def test_a_claim_on_each_data_set_wins_on_exactly_these(datasets, changed, verdict, measured):
    judgement = judge(spec(datasets=datasets, built=list(SIX), **EACH), duel(SIX | changed))
    missing = [name for name in datasets if f"missing: {name}" in verdict]
    assert (judgement.verdict, judgement.missing) == (verdict, missing)
    assert judgement.available == [name for name in SIX if name not in missing]
    assert measured in judgement.measured
    assert np.isnan(judgement.share)  # of one instance


@pytest.mark.parametrize(("ratio", "word"), [(0.5, "as claimed"), (2, "not as claimed")])
def test_other_data_are_shown_but_decide_nothing(ratio, word):
    claim = spec(datasets=[*SIX, "amazon"], **EACH)
    judgement = judge(claim, duel(SIX | {"amazon": [ratio]}), other=["amazon"])
    assert judgement.verdict == "holds on 3 of 3 available (missing: amazon)"
    assert judgement.measured.endswith(f"other data, not counted: amazon (a / b = {ratio} / 1 = {ratio}, {word})")
    assert judge(spec(datasets=["amazon"]), duel({"amazon": [0.5]}), other=["amazon"]).verdict == "no data"


def test_a_pool_is_judged_without_other_data_and_shown_with_them():
    checks = [{"median": {"of": "bound", "above": 1}}]
    rows = {("ml", 0, "bound"): 2.0, ("lastfm", 0, "bound"): 3.0, ("amazon", 0, "bound"): 0.1}
    judgement = judge(spec(checks, ["ml", "lastfm", "amazon", "arxiv"]), measured(rows), other=["amazon"])
    assert judgement.verdict == "holds on 2 of 2 available (missing: amazon, arxiv)"
    assert judgement.available == ["ml", "lastfm"]
    assert judgement.measured.startswith(
        "median of bound = 2.5 of 2 … 3 (2 values); with other data (amazon), not counted"
    )


def test_the_share_is_that_of_the_random_graphs():
    frame = duel({"sbm": [0.5, 0.5, 2, 2], "ml": [0.5]})
    for more in ({"each": "dataset"}, {}):
        judgement = judge(spec(datasets=["sbm", "ml"], **more), frame)
        assert judgement.verdict == "mixed"
        assert_allclose(judgement.share, 0.5)


def test_a_part_of_a_pool_can_confirm_a_claim_but_not_refute_it():
    checks = [{"inseparable": {"of": "regret@a", "to": "regret@b", "by": "zeta"}}]
    zetas = measured({("sbm", 0, "zeta"): 0.1, ("sbm", 1, "zeta"): 0.1, ("ml", 0, "zeta"): 0.2})
    rows = pd.concat([duel({"sbm": [0.5, 0.5], "ml": [2.0]}), zetas])
    part = judge(spec(checks, ["sbm", "ml", "fm"], ["sbm", "ml"], min_problems=3), rows)
    assert part.verdict == "no data (fails on 2 of 2 available (missing: fm))"
    whole = judge(spec(checks, ["sbm", "ml"], min_problems=2), rows)
    assert whole.verdict == "fails"
    assert np.isnan(whole.share)  # a random graph alone cannot be judged


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
        (4, 4, {"built": ["a"]}, [], "holds on 4 of 6 pooled (missing: b)"),
        (5, 6, {}, ["b", "elsewhere"], "no data (other data: b)"),
        (3, 5, {"built": ["b"]}, ["b"], "no data (missing: a; other data: b)"),
    ],
)
def test_a_score_says_what_its_pool_lacks_and_what_in_it_is_not_the_papers(right, n, more, other, expected):
    claim = spec(SCORE, ["a", "b"], evaluation="e", min_problems=6, **more)
    assert judge(claim, score(right, n), other, evaluation=True).verdict == expected


def test_other_criteria_are_counted_and_decide_nothing():
    stricter = [{"ratio": {"of": "regret@a", "to": "regret@b", "below": 0.4}}]
    unmeasured = [{"ratio": {"of": "regret@a", "to": "regret@c", "below": 1}}]
    claim = spec(datasets=["sbm"], alternatives={"below 0.4": stricter, "against c": unmeasured})
    judgement = judge(claim, duel({"sbm": [0.5, 0.3]}))
    assert judgement.verdict == "holds"
    assert judgement.measured.endswith("; holds in 2 of 2 instances; below 0.4: holds in 1 of 2 instances")


def test_an_evaluation_that_is_not_there_is_no_data():
    judgement = judge(spec(SCORE, ["a", "b"], evaluation="e", built=[]), score(5, 6)[:0], evaluation=True)
    assert (judgement.verdict, judgement.missing) == ("no data", ["a", "b"])
    judgement = judge(spec(SCORE, ["a"], evaluation="e"), measured({("pooled", 0, "x@gamma"): 1}), evaluation=True)
    assert (judgement.verdict, judgement.measured) == ("no data", "no data: no right@gamma")


def test_an_experiment_and_an_evaluation_may_share_a_name():
    table = claims.tidy({"e": duel({"sbm": [0.5]})}, {"e": score(6, 6)}, {"sbm": {"dataset": "sbm", "n": 200}})
    assert claims.judge(spec(datasets=["sbm"]), table, []).verdict == "holds"
    assert claims.judge(spec(SCORE, ["sbm"], evaluation="e"), table, []).verdict == "holds"
    assert set(table.loc[table["experiment"] == "e", "n"]) == {200}  # the factor
    assert set(table.loc[table["evaluation"] == "e", "count"]) == {6}


def test_claims_stand_in_the_order_of_the_paper_with_how_to_build_what_they_lack():
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
        "further": spec(datasets=["sbm"], where="Elsewhere", statement="one more"),
        "theory": spec(BOUNDED, datasets=["sbm"]),
        "a_wins": spec(datasets=["ml", "amazon", "mind"], built=["ml", "amazon"], each="dataset", **raw),
    }
    frame = duel({"ml": [0.5], "amazon": [0.5], "sbm": [2.0, 0.5]})
    table = claims.tidy({"e": frame}, {}, {name: {"dataset": name} for name in ("ml", "amazon", "sbm")})
    judged = claims.judge_all(words, specs, table, ["amazon"], "results/claims.md")
    assert judged.columns.tolist() == list(claims.COLUMNS)
    assert judged[["claim", "verdict", "available"]].to_numpy().tolist() == [
        ["a_wins", "holds on 1 of 1 available (missing: amazon, mind)", "ml"],
        ["unjudged", "no data", ""],
        ["theory", "no data", ""],
        ["further", "mixed", "sbm"],
    ]
    lacking = judged.set_index("claim")["build"]
    assert "`snakemake --cores all mind results/claims.md`" in lacking["a_wins"]
    assert "`snakemake --cores all --forcerun amazon/receipt -- results/claims.md`" in lacking["a_wins"]
    assert lacking["unjudged"] == "not in config.yaml: claims.unjudged"
    assert lacking["further"] == ""
    text = claims.markdown(judged)
    assert "4 claims: 1 hold (1 with a reservation), 1 mixed, 2 have no data." in text
    assert "| `a_wins` | Here \\| there: a is better<br><sub>a < b</sub> | " in text
    assert "| mixed | 50 % |" in text


# The configuration.


def test_every_claim_of_the_paper_is_judged_once_and_every_predicate_is_used(config):
    assert WORDS["claim"].is_unique
    assert set(config["claims"]) == set(WORDS["claim"])
    assert (WORDS[["where", "statement", "criterion", "needs"]] != "").all(axis=None)
    assert {name for spec in config["claims"].values() for name, _ in cells.named(spec["checks"])} == set(PREDICATES)


def test_every_check_can_be_judged_where_all_its_numbers_are_there(config, whole_plan):
    specs = jobs.judge_claims(whole_plan, paths.CLAIMS).params.claims
    factors = {name: [0, 0.1, 0.2] for name in claims.factors(specs)}
    assert {"flip", "k", "n", "tail"} <= set(factors)
    problems = {f"p{i}": {"dataset": f"d{i}"} | {name: at[i] for name, at in factors.items()} for i in range(3)}
    for claim in config["claims"].values():
        for name, arguments in cells.named(claim["checks"]):
            wanted = cell_names(arguments)
            wanted += [f"{wanted[0].partition('@')[0]}@{key}" for key in arguments.get("among", [])]
            wanted += [arguments["by"]] if "by" in arguments else []
            rows = {(p, 0, cell): 1.0 + (i + j) % 3 for i, p in enumerate(problems) for j, cell in enumerate(wanted)}
            table = claims.tidy({"e": measured(rows)}, {}, problems)
            part = table if {"along", "by", "where"} & set(arguments) else table[table["problem"] == "p0"]
            assert PREDICATES[name](Rows(part.to_dict("records")), **arguments).measured


def test_the_job_says_what_a_claim_is_about(config):
    built = design.expand(config, ["lastfm"])
    job = jobs.judge_claims(built, paths.CLAIMS)
    claim = job.params.claims["cross_beats_full"]
    assert claim.datasets == ["ml_100k", "ml_1m", "amazon", "lastfm", "ogbn_arxiv", "mind_small"]
    assert set(claim.datasets) - set(claim.built) == {"lastfm"}
    assert claim.raw["lastfm"] == paths.receipt("lastfm")
    assert job.params.claims["ml1m_2x"].datasets == ["ml_1m"]
    assert job.params.claims["main_wins"].raw == {}
    assert not [path for path in job.files() if "lastfm" in path]
