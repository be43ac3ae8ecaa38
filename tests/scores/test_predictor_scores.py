"""Scores of a predictor and rules held out by group: against scipy, brute force, and the paper's own numbers."""

import csv
import subprocess
import sys
import warnings
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.cache import io
from graphdr.facts import registry
from graphdr.scores import predictor_scores
from graphdr.scores.predictor_scores import FITS, RULES, SCORES, Pool, evaluate
from graphdr.stages import evaluate_predictors

few = st.integers(-3, 3).map(float)  # many ties
some = st.floats(-10, 10).map(lambda x: round(x, 3))
pools = st.builds(
    lambda rows, sign: Pool(*(np.array(column) for column in zip(*rows, strict=True)), sign),
    st.lists(st.tuples(few | some, few | some, st.sampled_from("abc")), min_size=1, max_size=25),
    st.sampled_from([1, -1]),
)

any_number = st.floats(-1e6, 1e6)
wide_pools = st.builds(
    lambda rows: Pool(*np.array(rows).T, np.zeros(len(rows)), 1),
    st.lists(st.tuples(few, few) | st.tuples(any_number, any_number), min_size=2, max_size=30),
)


def example(n: int = 30, d: int = 1, sign: int = -1, seed: int = 0) -> Pool:
    """Make a pool of three groups whose first column says something about the gap."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n, d))
    gap = -sign * values[:, 0] + rng.standard_normal(n)
    return Pool(values[:, 0] if d == 1 else values, gap, np.arange(n) % 3, sign)


def same(one: float, two: float) -> bool:
    return one == two or (np.isnan(one) and np.isnan(two))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_best_for_a_perfect_predictor(name, sign):
    gap = np.random.default_rng(0).permutation([*np.linspace(-2, -1, 8), *np.linspace(1, 2, 8)])
    best = 16 if name.endswith("correct") else 1
    value, n = evaluate(name, Pool(-sign * gap, gap, np.arange(16) % 4, sign))
    assert n == 16
    # A correlation knows no favourable sign, and neither do its bins.
    bins = {name: sign < 0 for name in SCORES if name.startswith("binned_rise")}
    assert_allclose(value, ({"spearman": -sign, "kendall": -sign} | bins).get(name, best))


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=40)  # of each, and logistic models are slow
@given(pool=pools, seed=st.integers(0, 999))
def test_every_score_is_a_number_that_the_order_of_problems_does_not_change(name, pool, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bins of fewer than four problems are empty
        value, n = evaluate(name, pool)
        order = np.random.default_rng(seed).permutation(n)
        shuffled, _ = evaluate(name, Pool(*(column[order] for column in pool[:3]), pool.sign))
    assert n == len(pool.gap)
    if name.startswith("binned_rise"):
        return  # sorts equal values by their place
    assert same(round(value, 9), round(shuffled, 9))
    assert np.isnan(value) or abs(value) <= (n if name.endswith("correct") else 1 + 1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_missing_values_do_not_count(name):
    pool = example()
    values, gap = (np.insert(column, [3, 10], [np.nan, 0.5]) for column in (pool.values, pool.gap))
    gap[11] = np.nan
    holes = Pool(values, gap, np.insert(pool.group, [3, 10], [9, 0]), pool.sign)
    assert evaluate(name, holes) == evaluate(name, pool)
    nothing, n = evaluate(name, pool._replace(values=np.full(30, np.nan)))
    assert np.isnan(nothing)
    assert n == 0


@pytest.mark.parametrize("name", SCORES)
def test_only_the_logistic_model_takes_several_columns(name):
    value, n = evaluate(name, example(d=2))
    assert n == 30
    assert np.isnan(value) == (not name.startswith("logistic"))


@given(pool=pools | wide_pools)
def test_correlations_are_those_of_scipy(pool):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)
        tau = scipy.stats.kendalltau(pool.values, pool.gap).statistic if len(pool.gap) > 1 else np.nan
        rho = scipy.stats.spearmanr(pool.values, pool.gap).statistic if len(pool.gap) > 1 else np.nan
    assert_allclose(SCORES["kendall"](pool), tau, atol=1e-12)
    assert_allclose(SCORES["spearman"](pool), rho, atol=1e-12)
    assert_allclose(SCORES["abs_spearman"](pool), abs(rho), atol=1e-12)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(pool=pools | wide_pools)
def test_correlations_see_order_only(name, pool):
    value = SCORES[name](pool)
    changes = {"swapped": (pool.gap, pool.values), "cubed": (scipy.stats.rankdata(pool.values) ** 3, pool.gap)}
    for values, gap in changes.values():
        assert_allclose(SCORES[name](pool._replace(values=values, gap=gap)), value, atol=1e-12)
    assert_allclose(SCORES[name](pool._replace(values=-pool.values)), -value, atol=1e-12)


@pytest.mark.parametrize(
    ("target", "rises"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8], 1),
        ([2, 1, 4, 3, 6, 5, 8, 7], 1),  # disorder within the bins
        ([1, 2, 3, 4, 7, 8, 5, 6], 0),
        ([1, 2, 3, 4, 3, 4, 7, 8], 0),  # equal medians do not increase
        ([8, 7, 6, 5, 4, 3, 2, 1], 0),
        ([1, 2, 99, 3, 4, 5, 6, 7, 8, 9, 10, 11], 1),  # medians, not means
    ],
)
def test_medians_over_bins_of_the_predictor(target, rises):
    shuffle = np.random.default_rng(0).permutation(len(target))
    pool = Pool(shuffle, np.array(target)[shuffle], shuffle, 1)
    assert SCORES["binned_rise"](pool) == rises
    for bins in (2, 3):
        medians = [np.median(part) for part in np.array_split(np.array(target), bins)]
        assert SCORES[f"binned_rise_{bins}"](pool) == all(np.diff(medians) > 0)


@given(pool=pools)
def test_auc_is_the_mann_whitney_count(pool):
    won, lost = pool.values[pool.gap < 0].tolist(), pool.values[pool.gap >= 0].tolist()
    if not won or not lost:
        assert np.isnan(SCORES["auc"](pool))
        return
    ahead = [pool.sign * (a - b) for a, b in product(won, lost)]
    expected = sum((x > 0) + 0.5 * (x == 0) for x in ahead) / len(ahead)
    assert_allclose(SCORES["auc"](pool), expected)
    u = scipy.stats.mannwhitneyu(pool.sign * np.array(won), pool.sign * np.array(lost), method="asymptotic").statistic
    assert_allclose(SCORES["auc"](pool), u / (len(won) * len(lost)))
    assert_allclose(SCORES["auc"](pool._replace(sign=-pool.sign)), 1 - expected)


def brute_force(values, wins, sign: int, free: bool) -> tuple[float, int]:
    """Try every threshold from below, in the direction of the theory first; return the first of the best."""
    distinct = sorted(set(values.tolist()))
    between = [(a + b) / 2 for a, b in pairwise(distinct)] or distinct
    best, found = -1, None
    for threshold in between:
        for direction in (sign, -sign) if free else (sign,):
            right = sum(
                ((x > threshold) if direction > 0 else (x <= threshold)) == win
                for x, win in zip(values.tolist(), wins.tolist(), strict=True)
            )
            if right > best:
                best, found = right, (threshold, direction)
    return found


@pytest.mark.parametrize(("rule", "free"), [("loo", False), ("loo_free", True)])
@given(pool=pools)
def test_thresholds_are_those_of_brute_force(rule, free, pool):
    probes = np.concatenate([pool.values, predictor_scores.midpoints(pool.values), [-99.0, 99.0]])
    threshold, direction = brute_force(pool.values, pool.wins, pool.sign, free)
    expected = [(x > threshold) if direction > 0 else (x <= threshold) for x in probes.tolist()]
    assert FITS[rule](pool.values, pool.wins, probes, pool.sign).tolist() == expected


@pytest.mark.parametrize("rule", FITS)
@settings(max_examples=40)
@given(pool=pools)
def test_a_group_is_predicted_by_the_others_alone(rule, pool):
    predicted = RULES[rule](pool)
    for group in set(pool.group):
        out = pool.group == group
        if out.all():
            assert np.isnan(predicted).all()
            assert np.isnan(SCORES[f"{rule}_accuracy"](pool))
            continue
        expected = FITS[rule](pool.values[~out], pool.wins[~out], pool.values[out], pool.sign)
        assert np.array_equal(predicted[out], expected)
        hidden = pool._replace(gap=np.where(out, -pool.gap, pool.gap))  # its own outcome is not seen
        assert np.array_equal(RULES[rule](hidden)[out], predicted[out])


@pytest.mark.parametrize(
    ("values", "wins", "unseen", "sign", "expected"),
    [
        ([1, 2, 3, 4], [0, 1, 0, 1], [1.4, 1.6, 3.4], 1, [0, 1, 1]),  # 1.5 and 3.5 are both right thrice
        ([1, 2, 3, 4], [1, 0, 1, 0], [1.4, 1.6, 3.4], -1, [1, 0, 0]),
        ([1, 2], [1, 0], [1.5, 1.6], -1, [1, 0]),  # the threshold itself counts as small
        ([1, 2], [0, 1], [1.5, 1.6], 1, [0, 1]),
        ([2, 2, 2], [1, 1, 0], [1, 2, 3], 1, [0, 0, 1]),  # equal values are their own threshold
    ],
)
def test_ties_go_to_the_lowest_threshold(values, wins, unseen, sign, expected):
    found = FITS["loo"](np.array(values), np.array(wins) > 0, np.array(unseen), sign)
    assert found.tolist() == [bool(x) for x in expected]


def test_a_free_threshold_finds_the_direction_that_the_theory_has_wrong():
    values, wins = np.arange(6.0), np.arange(6) < 4
    assert FITS["loo_free"](values, wins, np.array([3.4, 3.6]), 1).tolist() == [True, False]
    assert FITS["loo_free"](values, wins, np.array([3.4, 3.6]), -1).tolist() == [True, False]
    even = np.array([True, False, False, True])  # right twice in both directions: the theory decides
    assert FITS["loo_free"](np.zeros(4), even, np.array([1.0]), 1).tolist() == [True]
    assert FITS["loo_free"](np.zeros(4), even, np.array([1.0]), -1).tolist() == [False]


def test_the_sign_rule_needs_a_value_beyond_zero_and_a_gap_below_it():
    pool = Pool(np.array([0.1, -0.1, 0.0, 0.0]), np.array([-1.0, -1.0, 1.0, 0.0]), np.arange(4), 1)
    assert predictor_scores.hits("sign", pool).tolist() == [1, 0, 1, 1]
    assert predictor_scores.hits("sign", pool._replace(sign=-1)).tolist() == [0, 1, 1, 1]
    assert SCORES["sign_correct"](pool) == 3
    assert SCORES["sign_accuracy"](pool) == 0.75


@pytest.mark.parametrize("seed", range(5))
def test_the_logistic_model_is_the_minimum_of_its_loss(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((60, 2)) * [1, 9] + [5, 0]
    columns = (values - values.mean(axis=0)) / values.std(axis=0)
    side = np.where(columns @ [1, -2] + 0.3 + rng.logistic(size=60) > 0, 1.0, -1.0)

    def loss(weights):
        penalty = predictor_scores.RIDGE / 2 * weights[1:] @ weights[1:]
        return np.logaddexp(0, -side * (weights[0] + columns @ weights[1:])).sum() + penalty

    expected = scipy.optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-7}).x
    odds = predictor_scores.logistic_model(values, side > 0).decision_function(values)
    assert_allclose(odds, expected[0] + columns @ expected[1:], atol=1e-4)


def test_the_logistic_model_sees_what_no_single_column_shows():
    rng = np.random.default_rng(0)
    values = rng.uniform(-1, 1, (60, 2)) * [1, 1000] + [5, 0]
    gap = (values[:, 0] - 5) - values[:, 1] / 1000
    pool = Pool(values, gap, np.arange(60) % 5, -1)
    assert SCORES["logistic_correct"](pool) >= 57  # separable: only next to the line may it err
    assert max(SCORES["loo_free_correct"](pool._replace(values=column)) for column in values.T) < 54


@pytest.mark.parametrize("wins", [[True] * 4, [False] * 4])
def test_where_all_are_alike_the_logistic_model_predicts_just_that(wins):
    values = np.arange(4.0)
    assert predictor_scores.logistic(values, np.array(wins), np.array([1.5, 3.0]), 1).tolist() == wins[:2]
    assert predictor_scores.logistic(np.ones(4), np.array(wins), np.array([1.0]), 1).tolist() == wins[:1]


PAPER = Path(__file__).parents[2] / "data" / "paper" / "reference.csv"
SIX = ["ml_100k", "ml_1m", "amazon", "lastfm", "ogbn_arxiv", "mind_small"]


def printed(artifact: str, column: str) -> np.ndarray:
    """Return what the paper prints for the six data sets."""
    with open(PAPER, encoding="utf-8", newline="") as file:
        values = {(row["artifact"], row["row"], row["column"]): float(row["value"]) for row in csv.DictReader(file)}
    return np.array([values[artifact, name, column] for name in SIX])


@pytest.mark.parametrize(
    ("artifact", "predictor", "scores"),
    [
        ("capture_margin", "gamma", {"spearman": -0.49, "sign_correct": 5, "loo_correct": 6, "loo_free_correct": 6}),
        ("k_selection", "eigengap", {"spearman": -0.26, "loo_correct": 2, "loo_free_correct": 0}),
        ("k_selection", "zeta", {"spearman": -0.26, "loo_correct": 2, "loo_free_correct": 0}),
    ],
)
def test_scores_of_the_numbers_that_the_paper_prints(artifact, predictor, scores):
    gap = printed("capture_margin", "regret_gap")
    pool = Pool(printed(artifact, predictor), gap, np.array(SIX), registry.FAVOURABLE[predictor])
    for name, value in scores.items():
        found, n = evaluate(name, pool)
        assert (round(found, 2), n) == (value, 6)
    missed = [name for name, hit in zip(SIX, predictor_scores.hits("sign", pool), strict=True) if not hit]
    assert predictor != "gamma" or missed == ["mind_small"]


@pytest.mark.parametrize("missing", [{}, {"c": []}])  # the last has no batch: all of its data are missing
def test_the_stage_pools_the_problems_of_all_experiments(workdir, missing):
    """Two experiments share a problem's name, one has two batches; each instance is scored on its own."""
    facts = {"a": {"x": 1.0, "y": 3.0}, "b": {"x": 2.0, "z": 4.0}}
    costs = {"a": {"x": 10.0, "y": 40.0}, "b": {"x": 20.0, "z": 30.0}}
    columns = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]
    batches = {"a": {"a-0.parquet": ["x"], "a-1.parquet": ["y"]}, "b": {"b.parquet": ["x", "z"]}}
    for experiment in facts:
        for path, problems in batches[experiment].items():
            rows = []
            for instance, sign in ((0, 1), (1, -1)):
                for problem in problems:
                    fact, cost = facts[experiment][problem], costs[experiment][problem]
                    rows.append((problem, instance, 0, None, None, "rho", fact, None, 1))
                    rows.append((problem, instance, 0, "graphdr", None, "regret", sign * cost, 0.1, 5))
                    rows.append((problem, instance, 1, "graphdr", None, "regret", -99 * cost, 0.1, 5))  # a further draw
                    rows.append((problem, instance, 0, "other", None, "regret", -sign * cost, 0.1, 5))
            io.write("measurements", pd.DataFrame(rows, columns=columns), path)
    params = {"label": "pooled", "method": "graphdr", "predictor_method": "graphdr", "target": "regret"}
    params |= {"predictors": {"rho": ["rho"]}, "signs": {"rho": -1}, "scores": ["spearman"]}
    params |= {"means": ["rho"], "groups": {"x": "one", "y": "two", "z": "two"}}
    evaluate_predictors.main(
        evaluate_predictors.Input({name: list(batches[name]) for name in facts} | missing),
        evaluate_predictors.Output("scores.parquet"),
        evaluate_predictors.Params(**params),
    )
    found = io.read("measurements", "scores.parquet").to_pandas()
    means = found[(found["quantity"] == "mean") & (found["instance"] == 0)].set_index("predictor")
    pooled = [(problem, fact) for own in facts.values() for problem, fact in own.items()]
    for name, problems in (("rho_one", "x"), ("rho_two", "yz")):
        assert means.at[name, "value"] == np.mean([fact for problem, fact in pooled if problem in problems])
    scores = found[found["quantity"] == "spearman"]
    expected = scipy.stats.spearmanr([1, 3, 2, 4], [10, 40, 20, 30]).statistic
    assert scores["predictor"].tolist() == ["rho", "rho"]
    assert scores["problem"].tolist() == ["pooled", "pooled"]
    assert scores["n"].tolist() == [4, 4]
    assert scores["draw"].tolist() == [0, 0]
    assert_allclose(scores["value"], [expected, -expected])


def test_scikit_learn_is_imported_where_it_is_used():
    code = "import sys, graphdr.scores.predictor_scores; print({'sklearn', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"set()\n"
