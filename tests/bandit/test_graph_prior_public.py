"""The graph prior on plain arrays: the same as inside, and mistakes said in one line."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import graphdr
from graphdr.bandit.graph_prior import evidence, model, play
from graphdr.bandit.policies.graph_prior import GraphPrior, GraphPriorThompson
from tests.support.playing import run_of

N, COLUMNS, ROUNDS = 40, 6, 300


@pytest.fixture
def run():
    rng = np.random.default_rng(3)
    features = rng.standard_normal((N, COLUMNS))
    rounds = graphdr.draw_rounds(0, graphdr.RoundsSpec(ROUNDS, 5, noise=0.1), N, instance=0, seed=0)
    return run_of(features @ rng.standard_normal(COLUMNS), rounds, features, roughness=np.arange(COLUMNS) / 2)


@pytest.mark.parametrize("thompson", [False, True])
def test_a_run_is_played_as_inside(run, thompson):
    policy = GraphPriorThompson() if thompson else GraphPrior()
    outcome = graphdr.simulate(run.problem, policy, run.rounds, np.random.default_rng(1), checkpoint=50)
    rng = np.random.default_rng(1)
    choices = play.play(run.problem, run.rounds, rng.integers(5, size=ROUNDS), rng if thompson else None)
    assert_array_equal(outcome.arms, choices.arms)
    assert outcome.fit.fit_columns == choices.fits[-1][1].columns
    assert outcome.t.tolist() == [50, 100, 150, 200, 250, 300]
    best = run.problem.theta[run.rounds.arms].max(axis=1).sum()
    assert outcome.regret[-1] == pytest.approx(best - run.problem.theta[choices.arms].sum())


def test_a_run_too_short_for_a_fit_is_random(run):
    short = type(run.rounds)(run.rounds.arms[:10], run.rounds.noise[:10])
    outcome = graphdr.simulate(run.problem, GraphPrior(), short, np.random.default_rng(1), checkpoint=5)
    assert outcome.fit is None
    assert len(outcome.arms) == 10


def test_the_bayes_factor_is_that_of_the_evidence_whatever_holds_the_numbers(run):
    arms = run.rounds.arms[:, 0].astype(int)
    rewards = run.problem.theta[arms] + run.rounds.noise
    given = run.problem.features, run.problem.roughness
    seen = model.statistics(N, arms, rewards)
    expected = evidence.log_bayes_factor(seen, model.columns(*given))
    assert graphdr.log_bayes_factor(arms, rewards, *given) == expected
    lists = arms.tolist(), rewards.tolist(), run.problem.features.tolist(), run.problem.roughness.tolist()
    assert graphdr.log_bayes_factor(*lists) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": None}, "needs features and their roughness"),
        ({"roughness": None}, "needs features and their roughness"),
        ({"roughness": np.zeros(COLUMNS + 1)}, "a column for each roughness"),
        ({"roughness": np.full(COLUMNS, -1.0)}, "at least zero"),
        ({"features": np.full((N, COLUMNS), np.nan)}, "finite"),
        ({"features": np.zeros((N - 1, COLUMNS))}, "features of 40 arms"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(run, change, message):
    with pytest.raises(graphdr.UserError, match=message):
        graphdr.simulate(replace(run.problem, **change), GraphPrior(), run.rounds)


@pytest.mark.parametrize(
    ("arms", "rewards", "message"),
    [
        ([], [], "one reward for every arm"),
        ([0, 1], [1.0], "one reward for every arm"),
        ([0, N], [1.0, 1.0], "from 0 to 39"),
        ([0, -1], [1.0, 1.0], "from 0 to 39"),
        ([0.0, 1.0], [1.0, 1.0], "whole numbers"),
        ([0, 1], [1.0, np.inf], "finite"),
    ],
)
def test_a_log_that_does_not_fit_is_refused(run, arms, rewards, message):
    with pytest.raises(graphdr.UserError, match=message):
        graphdr.log_bayes_factor(arms, rewards, run.problem.features, run.problem.roughness)
