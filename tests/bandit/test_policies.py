"""The contract of a policy: every registered one keeps it, and each way to break it is found."""

from types import SimpleNamespace

import numpy as np
import pytest

import graphdr
from graphdr.bandit.environment import PolicyRng, Rounds, RoundsSpec
from graphdr.bandit.method import Choices
from graphdr.bandit.policies.linucb import LinUCB, PerSegment
from graphdr.bandit.registry import POLICIES
from graphdr.core.records import from_json, to_json

PROBLEM = SimpleNamespace(alpha=0.3, ridge=0.5, delta=0.05, k=4, k_grid=[1, 2, 4], components=4, pilot=3)
FURTHER = {
    "adaptive": LinUCB(basis="laplacian_low", k="adaptive"),
    "spectral": LinUCB(basis="identity", laplacian=1, radius="spectral"),
    "penalised": LinUCB(basis="laplacian_low", laplacian=2),
    "spectral_ts": POLICIES["thompson"](laplacian=1),
}
METHODS = {name: policy() for name, policy in POLICIES.items()} | FURTHER


@pytest.mark.parametrize("name", METHODS)
def test_every_policy_keeps_the_contract(name):
    graphdr.check_policy(METHODS[name])


@pytest.mark.parametrize("name", METHODS)
def test_a_resolved_method_has_all_its_settings_and_survives_json(name):
    method = METHODS[name].resolve(PROBLEM)
    assert all(getattr(method, setting) is not None for setting in method.inherited)
    assert method.policy
    assert method.citation
    assert method.resolve(SimpleNamespace()) == method
    assert from_json(type(method).__mro__[-2], to_json(method)) == method
    assert {field.name for field in method.__dataclass_fields__.values()} >= set(method.tunable)


@pytest.mark.parametrize("name", METHODS)
def test_a_policy_names_the_streams_that_it_draws(name):
    from graphdr.bandit.check_policy import HORIZON, _Trial

    drawn = set()

    class Recorded(PolicyRng):
        def generator(self, purpose):
            drawn.add(purpose)
            return super().generator(purpose)

    trial = _Trial(METHODS[name])
    trial.policy.play(trial.problem, trial.rounds, Recorded(0, RoundsSpec(HORIZON, 5), 12, 0, 0))
    assert drawn == set(METHODS[name].streams)


def column(choose):
    """Make a policy of a function that chooses columns."""

    class Columns:
        def play(self, problem, rounds, rng):
            return rounds.arms[np.arange(len(rounds.arms)), choose(problem, rounds, rng)]

    return Columns


class Learner:
    """Play the candidate of the largest mean reward so far, the last of several if asked to."""

    def __init__(self, last: bool = False, other: bool = False):
        self.last, self.other = last, other

    def play(self, problem, rounds, rng):
        rewards = problem.theta[rounds.arms] + rounds.noise
        sums, chosen = np.zeros(len(problem.theta)), np.empty(len(rounds.arms), np.uint32)
        for t, offered in enumerate(rounds.arms):
            values = sums[offered]
            best = len(values) - 1 - values[::-1].argmax() if self.last else values.argmax()
            chosen[t] = offered[best]
            seen = slice(None) if self.other else slice(best, best + 1)
            sums[offered[seen]] += rewards[t, seen]
        return chosen


class Spoiler(Learner):
    def play(self, problem, rounds, rng):
        chosen = super().play(problem, rounds, rng)
        rounds.noise[0] += 1
        return chosen


class Remembering:
    calls = 0

    def play(self, problem, rounds, rng):
        self.calls += 1
        return rounds.arms[:, self.calls % 2]


BROKEN = {
    "not among its candidates": lambda: SimpleNamespace(play=lambda p, r, rng: np.full(len(r.arms), 3)),
    "an array of shape": lambda: SimpleNamespace(play=lambda p, r, rng: r.arms),
    "not whole ones": lambda: SimpleNamespace(play=lambda p, r, rng: r.arms[:, 0].astype(float)),
    "changes its inputs: noise": Spoiler,
    "is not deterministic": Remembering,
    "looks at later rounds": column(lambda p, r, rng: np.roll(r.noise, -1, axis=0).argmax(axis=1)),
    "looks at rewards of candidates": lambda: Learner(other=True),
    "looks at expected rewards": column(lambda p, r, rng: p.theta[r.arms].argmax(axis=1)),
    "first of equal candidates": lambda: Learner(last=True),
}


@pytest.mark.parametrize("message", BROKEN)
def test_each_violation_is_found(message):
    with pytest.raises(AssertionError, match=message):
        graphdr.check_policy(BROKEN[message]())


def test_a_policy_of_a_stranger_is_checked_and_simulated():
    graphdr.check_policy(Learner)
    graphdr.check_policy(column(lambda p, r, rng: rng.columns(r)))
    rounds = Rounds(np.array([[0, 1], [1, 2]], np.uint32), np.zeros((2, 2)))
    problem = graphdr.BanditProblem(np.array([1.0, 0.5, 0.0]))
    result = graphdr.simulate(problem, Learner(), rounds, checkpoint=1)
    assert result.arms.tolist() == [0, 1]
    assert result.regret.tolist() == [0.0, 0.0]
    kept = graphdr.simulate(
        problem, SimpleNamespace(play=lambda p, r, rng: Choices(r.arms[:, 1])), rounds, checkpoint=1
    )
    assert kept.regret.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1}, "alpha: -1 should be at least 0"),
        ({"alpha": float("nan")}, "alpha: nan should be a number"),
        ({"ridge": "1"}, "ridge: '1' should be a number"),
        ({"ridge": True}, "ridge: True should be a number"),
        ({"delta": 1.0}, "delta: 1.0 should be less than 1"),
        ({"k_grid": [0]}, "k_grid: .* should be a list of whole numbers of at least 1"),
        ({"noise_units": 1}, "noise_units: 1 should be true or false"),
        ({"radius": "wide"}, "radius: no radius 'wide'; there are: a_priori, "),
    ],
)
def test_a_mistake_in_a_setting_starts_with_its_name(settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        LinUCB(**settings)


def test_width_and_ridge_are_in_units_of_the_noise_if_asked_for():
    method = PerSegment(alpha=2.0, ridge=3.0, noise_units=True).in_units_of(0.5)
    assert (method.alpha, method.ridge, method.noise_units) == (1.0, 0.75, False)


def test_a_grid_beyond_the_features_is_refused():
    problem = graphdr.BanditProblem(np.zeros(3), features=np.eye(3)[:, :2])
    rounds = Rounds(np.zeros((1, 1), np.uint32), np.zeros(1))
    with pytest.raises(ValueError, match="3 columns are needed"):
        graphdr.simulate(problem, POLICIES["corral"](k_grid=[1, 3]), rounds)
