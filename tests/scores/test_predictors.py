"""Scores of a predictor against scipy and by hand, and the stage that pools problems."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.cache import io
from graphdr.scores.predictors import SCORES, binned_rise, ranks, spearman
from graphdr.stages import evaluate_predictors

few = st.integers(-3, 3).map(float)  # many ties
any_number = st.floats(-1e6, 1e6)
pairs = st.lists(st.tuples(few, few) | st.tuples(any_number, any_number), min_size=2, max_size=30)


@given(pairs=pairs)
def test_spearman_and_ranks_are_those_of_scipy(pairs):
    a, b = np.array(pairs).T
    assert_allclose(ranks(a), scipy.stats.rankdata(a))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)
        expected = scipy.stats.spearmanr(a, b).statistic
    assert_allclose(spearman(a, b), expected, atol=1e-12)


@given(pairs=pairs)
def test_spearman_sees_order_only(pairs):
    a, b = np.array(pairs).T
    assert_allclose(spearman(a, b), spearman(b, a), atol=1e-12)
    assert_allclose(spearman(-a, b), -spearman(a, b), atol=1e-12)
    assert_allclose(spearman(ranks(a) ** 3, b), spearman(a, b), atol=1e-12)


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
def test_medians_over_four_bins_of_the_predictor(target, rises):
    shuffle = np.random.default_rng(0).permutation(len(target))
    assert binned_rise(shuffle, np.array(target)[shuffle]) == rises


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_highest_for_a_perfect_predictor(name):
    target = np.random.default_rng(0).random(16)
    assert_allclose(SCORES[name](target, target), 1)
    assert SCORES[name](-target, target) < 1


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
