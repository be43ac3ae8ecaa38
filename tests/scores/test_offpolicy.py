"""Off-policy estimates: formulas against slow twins, unbiased and covered on simulated logs, wrong logs refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.core.errors import UserError
from graphdr.scores import offpolicy
from graphdr.scores.offpolicy import doubly_robust, ips, snips
from tests.support.simulated_logs import CANDIDATES, ESTIMATES, ROUNDS, VALUE, WRONG_MODEL, draw

SIMULATIONS = 300
LOGS = [draw(seed) for seed in range(SIMULATIONS)]


# Formulas


def test_every_formula_has_its_slow_twin():
    log = draw(7)
    weighted, weights, robust = [], [], []
    for y, p, pi, arm, q in zip(log.rewards, log.propensities, log.target, log.played, WRONG_MODEL, strict=True):
        w = pi[arm] / p
        weights.append(w)
        weighted.append(w * y)
        robust.append(sum(pi[a] * q[a] for a in range(CANDIDATES)) + w * (y - q[arm]))
    n = len(weights)
    mean = {name: sum(values) / n for name, values in {"ips": weighted, "dr": robust}.items()}
    ratio = sum(weighted) / sum(weights)
    assert_allclose(ips(*log.single).value, mean["ips"])
    assert_allclose(log.robust(WRONG_MODEL).value, mean["dr"])
    assert_allclose(snips(*log.single).value, ratio)
    assert_allclose(ips(*log.single).sem, np.std(weighted, ddof=1) / np.sqrt(n))
    assert_allclose(log.robust(WRONG_MODEL).sem, np.std(robust, ddof=1) / np.sqrt(n))
    variance = sum(w**2 * (y - ratio) ** 2 for w, y in zip(weights, log.rewards, strict=True)) / sum(weights) ** 2
    assert_allclose(snips(*log.single).sem, np.sqrt(variance * n / (n - 1)))
    assert_allclose(ips(*log.single).ess, sum(weights) ** 2 / sum(w**2 for w in weights))
    assert ips(*log.single).ess == snips(*log.single).ess == log.robust(WRONG_MODEL).ess


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_normal_interval_is_the_value_and_quantiles_of_its_error(level):
    estimate = ips(*draw(1).single, level=level)
    reach = {0.5: 0.674490, 0.95: 1.959964}[level] * estimate.sem
    assert_allclose([estimate.low, estimate.high], [estimate.value - reach, estimate.value + reach], rtol=1e-6)
    assert estimate.interval == "normal"


@pytest.mark.parametrize("shift", [-3.0, 0.1, 100.0])
def test_a_shift_of_the_rewards_shifts_estimates_and_not_their_errors(shift):
    log = draw(3)
    rewards, propensities, target = log.single
    plain, shifted = snips(*log.single), snips(rewards + shift, propensities, target)
    assert_allclose([shifted.value, shifted.sem], [plain.value + shift, plain.sem])
    assert log.rewards.min() <= plain.value <= log.rewards.max()
    assert_allclose(snips(rewards, propensities / 2, target)[:4], plain[:4])  # a common factor does not matter
    plain, shifted = log.robust(WRONG_MODEL), log._replace(rewards=rewards + shift).robust(WRONG_MODEL + shift)
    assert_allclose([shifted.value, shifted.sem], [plain.value + shift, plain.sem])
    assert tuple(log.robust(np.zeros((ROUNDS, CANDIDATES)))) == tuple(ips(*log.single))  # a model of zeros


def test_on_policy_every_round_counts_and_a_sharper_target_leaves_fewer():
    log = draw(5, on_policy=True)
    for estimate in (ips(*log.single), snips(*log.single)):
        assert_allclose(estimate.ess, ROUNDS)
        assert_allclose([estimate.value, estimate.sem], [log.rewards.mean(), log.rewards.std(ddof=1) / np.sqrt(ROUNDS)])
    constant = np.full((ROUNDS, CANDIDATES), 0.7)  # what it says of a round and of the arm played cancels
    assert_allclose(log.robust(constant).value, log.rewards.mean())
    log = draw(6)
    greedy = np.eye(CANDIDATES)[np.argmax(log.target, axis=1)]
    assert 1 <= log._replace(target=greedy).robust(log.truth).ess < ips(*log.single).ess < ROUNDS


# Simulated logs


@pytest.mark.parametrize("name", ESTIMATES)
def test_estimates_are_unbiased_and_their_errors_and_intervals_right(name):
    """Over many logs the mean error is within three of its standard errors; the bias of snips is far below that."""
    estimates = [ESTIMATES[name](log) for log in LOGS]
    values = np.array([each.value for each in estimates])
    assert abs(values.mean() - VALUE) < 3 * values.std() / np.sqrt(SIMULATIONS)
    assert_allclose(np.mean([each.sem for each in estimates]), values.std(), rtol=0.12)
    assert 0.90 <= np.mean([each.low <= VALUE <= each.high for each in estimates]) <= 0.99


def test_the_true_model_has_the_lowest_variance():
    spread = {name: np.std([estimate(log).value for log in LOGS]) for name, estimate in ESTIMATES.items()}
    assert spread["doubly robust, true model"] < 0.7 * spread["ips"]
    assert spread["doubly robust, true model"] < spread["doubly robust, wrong model"]
    assert spread["doubly robust, true model"] < spread["snips"]


@pytest.mark.parametrize("name", ["ips", "snips"])
def test_bootstrap_intervals_cover_the_value(name):
    rng = np.random.default_rng(0)
    estimates = [ESTIMATES[name](log, rng=rng, draws=100) for log in LOGS]
    assert 0.90 <= np.mean([each.low <= VALUE <= each.high for each in estimates]) <= 0.99
    assert {each.interval for each in estimates} == {"bootstrap"}


@pytest.mark.parametrize("name", ESTIMATES)
def test_a_bootstrap_is_seeded_and_near_the_normal_interval(name):
    log = draw(9)
    estimate, again = (ESTIMATES[name](log, rng=np.random.default_rng(1), draws=2000) for _ in range(2))
    normal = ESTIMATES[name](log)
    assert estimate == again
    assert (estimate.value, estimate.sem, estimate.ess) == (normal.value, normal.sem, normal.ess)
    assert_allclose([estimate.low, estimate.high], [normal.low, normal.high], atol=0.25 * normal.sem)
    terms = offpolicy.Terms(np.array([2.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))  # draws without weight
    assert offpolicy.bootstrap(terms, 0.9, np.random.default_rng(0), 50) == (2.0, 2.0)


# Refusals


def single(at: int, wrong: float):
    """Return what ips takes, with one wrong number."""
    arrays = [array.copy() for array in draw(0).single]
    arrays[at][5] = wrong
    return arrays


def robust(**changed):
    log = draw(0)
    arguments = {"target": log.target, "played": log.played, "model": log.truth} | changed
    return doubly_robust(log.rewards, log.propensities, **arguments)


REFUSED = {
    r"not shapes \(50,\), \(\), \(50,\)": lambda: ips(np.ones(50), None, np.ones(50)),
    "propensities: 1 are not probabilities .* the first in round 5: nan": lambda: ips(*single(1, np.nan)),
    "propensities: 1 are not .*: 0.0": lambda: ips(*single(1, 0.0)),
    "propensities: 1 are not .*: -0.2": lambda: snips(*single(1, -0.2)),
    "propensities: 1 are not .*: 1.2": lambda: snips(*single(1, 1.2)),
    "target probabilities: 1 are not between": lambda: ips(*single(2, 1.2)),
    "rewards: 1 are not finite numbers": lambda: ips(*single(0, np.inf)),
    "29 rounds are too few .* at least 30": lambda: ips(*(array[:29] for array in draw(0).single)),
    "0 rounds are too few": lambda: snips([], [], []),
    "plays nothing that was logged": lambda: snips(np.ones(50), np.ones(50), np.zeros(50)),
    "one of each per round, not shapes": lambda: ips(np.ones(50), np.ones(49), np.ones(50)),
    "0.95 is": lambda: ips(*draw(0).single, level=95),
    "rounds x candidates twice": lambda: robust(model=np.ones(ROUNDS)),
    "played: the number of a candidate, from 0 to 3": lambda: robust(played=np.full(ROUNDS, 4)),
    "rows that sum to one": lambda: robust(target=np.full((ROUNDS, CANDIDATES), 0.3)),
    "model: 1 are not rows": lambda: robust(model=np.vstack([np.ones((ROUNDS - 1, 4)), [[0, 0, np.nan, 0]]])),
}


@pytest.mark.parametrize("message", REFUSED)
def test_logs_without_an_answer_are_refused_in_one_line(message):
    with pytest.raises(UserError, match=message) as caught:
        REFUSED[message]()
    assert "\n" not in str(caught.value)
