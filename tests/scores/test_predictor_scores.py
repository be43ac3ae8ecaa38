"""Scores of a predictor and rules held out by group: against scipy, brute force, and the paper's own numbers."""

import warnings
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.cache import io, paths
from graphdr.facts import registry
from graphdr.scores import predictor_scores
from graphdr.scores.predictor_scores import FITS, RULES, SCORES, PredictorData, evaluate
from graphdr.stages import evaluate_predictors
from tests.support.project import ROOT

few = st.integers(-3, 3).map(float)  # many ties
some = st.floats(-10, 10).map(lambda x: round(x, 3))
datasets = st.builds(
    lambda rows, sign: PredictorData(*(np.array(column) for column in zip(*rows, strict=True)), sign),
    st.lists(st.tuples(few | some, few | some, st.sampled_from("abc")), min_size=1, max_size=25),
    st.sampled_from([1, -1]),
)

any_number = st.floats(-1e6, 1e6)
wide_data = st.builds(
    lambda rows: PredictorData(*np.array(rows).T, np.zeros(len(rows)), 1),
    st.lists(st.tuples(few, few) | st.tuples(any_number, any_number), min_size=2, max_size=30),
)


def example(n: int = 30, d: int = 1, sign: int = -1, seed: int = 0) -> PredictorData:
    """Make a data of three groups whose first column says something about the gap."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n, d))
    gap = -sign * values[:, 0] + rng.standard_normal(n)
    return PredictorData(values[:, 0] if d == 1 else values, gap, np.arange(n) % 3, sign)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_best_for_a_perfect_predictor(name, sign):
    gap = np.random.default_rng(0).permutation([*np.linspace(-2, -1, 8), *np.linspace(1, 2, 8)])
    best = 16 if name.endswith("correct") else 1
    value, n = evaluate(name, PredictorData(-sign * gap, gap, np.arange(16) % 4, sign))
    assert n == 16
    # A correlation knows no favourable sign, and neither do its bins.
    bins = {name: sign < 0 for name in SCORES if name.startswith("binned_rise")}
    assert_allclose(value, ({"spearman": -sign, "kendall": -sign} | bins).get(name, best))


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=25)  # of each, and logistic models are slow
@given(data=datasets, seed=st.integers(0, 999))
def test_every_score_is_a_number_that_the_order_of_problems_does_not_change(name, data, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bins of fewer than four problems are empty
        value, n = evaluate(name, data)
        order = np.random.default_rng(seed).permutation(n)
        shuffled, _ = evaluate(name, PredictorData(*(column[order] for column in data[:3]), data.sign))
    assert n == len(data.gaps)
    if name.startswith("binned_rise"):
        return  # sorts equal values by their place
    assert_allclose(value, shuffled, rtol=1e-9, atol=1e-9)
    assert np.isnan(value) or abs(value) <= (n if name.endswith("correct") else 1 + 1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_missing_values_do_not_count_and_only_the_logistic_model_takes_several_columns(name):
    data = example()
    values, gap = (np.insert(column, [3, 10], [np.nan, 0.5]) for column in (data.values, data.gaps))
    gap[11] = np.nan
    holes = PredictorData(values, gap, np.insert(data.groups, [3, 10], [9, 0]), data.sign)
    assert evaluate(name, holes) == evaluate(name, data)
    nothing, n = evaluate(name, data._replace(values=np.full(30, np.nan)))
    assert np.isnan(nothing)
    assert n == 0
    value, n = evaluate(name, example(d=2))
    assert n == 30
    assert np.isnan(value) == (not name.startswith("logistic"))


@given(data=datasets | wide_data)
def test_correlations_are_those_of_scipy(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)
        tau = scipy.stats.kendalltau(data.values, data.gaps).statistic if len(data.gaps) > 1 else np.nan
        rho = scipy.stats.spearmanr(data.values, data.gaps).statistic if len(data.gaps) > 1 else np.nan
    assert_allclose(SCORES["kendall"](data), tau, atol=1e-12)
    assert_allclose(SCORES["spearman"](data), rho, atol=1e-12)
    assert_allclose(SCORES["abs_spearman"](data), abs(rho), atol=1e-12)


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
    data = PredictorData(shuffle, np.array(target)[shuffle], shuffle, 1)
    assert SCORES["binned_rise"](data) == rises
    for bins in (2, 3):
        medians = [np.median(part) for part in np.array_split(np.array(target), bins)]
        assert SCORES[f"binned_rise_{bins}"](data) == all(np.diff(medians) > 0)


@settings(max_examples=30)
@given(data=datasets)
def test_auc_is_the_mann_whitney_count(data):
    won, lost = data.values[data.gaps < 0].tolist(), data.values[data.gaps >= 0].tolist()
    if not won or not lost:
        assert np.isnan(SCORES["auc"](data))
        return
    ahead = [data.sign * (a - b) for a, b in product(won, lost)]
    expected = sum((x > 0) + 0.5 * (x == 0) for x in ahead) / len(ahead)
    assert_allclose(SCORES["auc"](data), expected)
    u = scipy.stats.mannwhitneyu(data.sign * np.array(won), data.sign * np.array(lost), method="asymptotic").statistic
    assert_allclose(SCORES["auc"](data), u / (len(won) * len(lost)))
    assert_allclose(SCORES["auc"](data._replace(sign=-data.sign)), 1 - expected)


def brute_force(data: PredictorData, free: bool) -> tuple[float, int]:
    """Try every threshold from below, in the direction of the theory first; return the first of the best."""
    distinct = sorted(set(data.values.tolist()))
    thresholds = [(a + b) / 2 for a, b in pairwise(distinct)] or distinct
    tried = [*product(thresholds, (data.sign, -data.sign) if free else (data.sign,))]
    return max(tried, key=lambda rule: np.sum(above(data.values, *rule) == data.wins))


def above(values: np.ndarray, threshold: float, direction: int) -> np.ndarray:
    return values > threshold if direction > 0 else values <= threshold


@pytest.mark.parametrize(("rule", "free"), [("loo", False), ("loo_free", True)])
@given(data=datasets)
def test_thresholds_are_those_of_brute_force(rule, free, data):
    probes = np.concatenate([data.values, np.add.outer(data.values, data.values).ravel() / 2, [-99.0, 99.0]])
    expected = above(probes, *brute_force(data, free))
    assert np.array_equal(FITS[rule](data.values, data.wins, probes, data.sign), expected)


@pytest.mark.parametrize("rule", FITS)
@settings(max_examples=25)
@given(data=datasets)
def test_a_group_is_predicted_by_the_others_alone(rule, data):
    predicted = RULES[rule](data)
    for group in set(data.groups):
        out = data.groups == group
        if out.all():
            assert np.isnan(predicted).all()
            assert np.isnan(SCORES[f"{rule}_accuracy"](data))
            continue
        expected = FITS[rule](data.values[~out], data.wins[~out], data.values[out], data.sign)
        assert np.array_equal(predicted[out], expected)
        hidden = data._replace(gaps=np.where(out, -data.gaps, data.gaps))  # its own outcome is not seen
        assert np.array_equal(RULES[rule](hidden)[out], predicted[out])


@pytest.mark.parametrize(
    ("rule", "values", "wins", "unseen", "sign", "expected"),
    [
        ("loo", [1, 2], [1, 0], [1.5, 1.6], -1, [1, 0]),  # the threshold itself counts as small
        ("loo_free", [0, 0, 0, 0], [1, 0, 0, 1], [1.0], -1, [0]),  # right twice either way: the theory decides
        ("logistic", range(4), [1, 1, 1, 1], [1.5, 3.0], 1, [1, 1]),  # all alike
        ("logistic", [1, 1, 1, 1], [0, 0, 0, 0], [1.0], 1, [0]),
    ],
)
def test_a_rule_predicts_by_hand(rule, values, wins, unseen, sign, expected):
    predicted = FITS[rule](np.array(values, float), np.array(wins) > 0, np.array(unseen, float), sign)
    assert predicted.tolist() == [bool(x) for x in expected]


def test_the_sign_rule_needs_a_value_beyond_zero_and_a_gap_below_it():
    data = PredictorData(np.array([0.1, -0.1, 0.0, 0.0]), np.array([-1.0, -1.0, 1.0, 0.0]), np.arange(4), 1)
    assert predictor_scores.hits("sign", data).tolist() == [1, 0, 1, 1]
    assert predictor_scores.hits("sign", data._replace(sign=-1)).tolist() == [0, 1, 1, 1]
    assert [SCORES[f"sign_{kind}"](data) for kind in ("correct", "accuracy")] == [3, 0.75]


def test_the_logistic_model_is_the_minimum_of_its_loss():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 2)) * [1, 9] + [5, 0]
    columns = (values - values.mean(axis=0)) / values.std(axis=0)
    side = np.where(columns @ [1, -2] + 0.3 + rng.logistic(size=60) > 0, 1.0, -1.0)

    def loss(weights):
        penalty = predictor_scores.RIDGE / 2 * weights[1:] @ weights[1:]
        return np.logaddexp(0, -side * (weights[0] + columns @ weights[1:])).sum() + penalty

    expected = scipy.optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-7}).x
    odds = predictor_scores.logistic_model(values, side > 0).decision_function(values)
    assert_allclose(odds, expected[0] + columns @ expected[1:], atol=1e-4)


SIX = ["ml_100k", "ml_1m", "amazon", "lastfm", "ogbn_arxiv", "mind_small"]


def printed(artifact: str, column: str) -> np.ndarray:
    """Return what the paper prints for the six data sets."""
    table = pd.read_csv(ROOT / paths.PAPER).set_index(["artifact", "row", "column"])["value"]
    return np.array([table[artifact, name, column] for name in SIX])


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
    data = PredictorData(printed(artifact, predictor), gap, np.array(SIX), registry.FAVOURABLE[predictor])
    for name, value in scores.items():
        result, n = evaluate(name, data)
        assert (round(result, 2), n) == (value, 6)
    missed = [name for name, hit in zip(SIX, predictor_scores.hits("sign", data), strict=True) if not hit]
    assert predictor != "gamma" or missed == ["mind_small"]


@pytest.mark.parametrize("missing", [{}, {"c": []}])  # the last has no batch: all of its data are missing
def test_the_stage_pools_the_problems_of_all_experiments(workdir, missing):
    """Two experiments share a problem's name, one has two batches; each instance is scored by itself."""
    batches = {"a": {"a-0.parquet": {"x": (1.0, 10.0)}, "a-1.parquet": {"y": (3.0, 40.0)}}}
    batches["b"] = {"b.parquet": {"x": (2.0, 20.0), "z": (4.0, 30.0)}}
    columns = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]
    for path, problems in (batches["a"] | batches["b"]).items():
        rows = []
        for (problem, (fact, cost)), (instance, sign) in product(problems.items(), ((0, 1), (1, -1))):
            rows.append((problem, instance, 0, None, None, "rho", fact, None, 1))
            rows.append((problem, instance, 0, "graphdr", None, "regret", sign * cost, 0.1, 5))
            rows.append((problem, instance, 1, "graphdr", None, "regret", -99 * cost, 0.1, 5))  # a further draw
            rows.append((problem, instance, 0, "other", None, "regret", -sign * cost, 0.1, 5))
        io.write("measurements", pd.DataFrame(rows, columns=columns), path)
    params = {"label": "pooled", "method": "graphdr", "predictor_method": "graphdr", "target": "regret"}
    params |= {"predictors": {"rho": ["rho"]}, "signs": {"rho": -1}, "scores": ["spearman"]}
    params |= {"means": ["rho"], "groups": {"x": "one", "y": "two", "z": "two"}}
    evaluate_predictors.main(
        evaluate_predictors.Input({name: list(files) for name, files in batches.items()} | missing),
        evaluate_predictors.Output("scores.parquet"),
        evaluate_predictors.Params(**params),
    )
    table = io.read("measurements", "scores.parquet").to_pandas()
    means = table[(table["quantity"] == "mean") & (table["instance"] == 0)].set_index("predictor")["value"]
    assert means[["rho_one", "rho_two"]].tolist() == [1.5, 3.5]
    expected = scipy.stats.spearmanr([1, 3, 2, 4], [10, 40, 20, 30]).statistic
    scores = table[table["quantity"] == "spearman"]
    assert scores[["predictor", "problem", "n", "draw"]].to_numpy().tolist() == [["rho", "pooled", 4, 0]] * 2
    assert_allclose(scores["value"], [expected, -expected])
