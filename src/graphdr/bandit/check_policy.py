"""Check that a policy keeps the contract of the simulator, in the manner of scikit-learn's ``check_estimator``."""

from dataclasses import replace
from typing import Any

import numpy as np

from graphdr.bandit.environment import Edges, OneGenerator, Rounds
from graphdr.bandit.method import BanditProblem, Choices, GraphInputs, Method, Policy
from graphdr.bandit.simulate import Defaults
from graphdr.core.errors import required
from graphdr.graphs.arm_features import Basis

ARMS, COLUMNS, CANDIDATES, HORIZON = 12, 4, 5, 80
CHANGED = (1, 10, 30, 50, 70)  # first rounds that are changed
GRAIN = 1 / 64  # rewards are multiples of it, so that their sums are exact


def check_policy(policy: Any) -> None:
    """Check a policy on small problems; raise an AssertionError that says what is wrong.

    It must play only candidates, one in each round; be deterministic given its random numbers; play the first of equal
    candidates, unless it draws among them; change none of its inputs; and look neither at later rounds, nor at rewards
    of candidates that it did not play, nor at expected rewards. A policy with ``sees_theta = True`` may do the last.

    Parameters
    ----------
    policy : Policy or type
        An object with ``play(problem, rounds, rng)`` that returns the arm of every round, or its class.

    Raises
    ------
    AssertionError
        In one sentence, the part of the contract that it breaks.

    Examples
    --------
    >>> class First:
    ...     def play(self, problem, rounds, rng):
    ...         return rounds.arms[:, 0]
    >>> graphdr.check_policy(First())
    >>> class Clairvoyant:
    ...     def play(self, problem, rounds, rng):
    ...         best = problem.theta[rounds.arms].argmax(axis=1)
    ...         return rounds.arms[np.arange(len(best)), best]
    >>> graphdr.check_policy(Clairvoyant())
    Traceback (most recent call last):
    AssertionError: Clairvoyant looks at expected rewards: equal rewards with another mean changed its choices
    """
    trial = _Trial(policy() if isinstance(policy, type) else policy)
    arms = trial.play(trial.problem, trial.rounds)
    trial.check_shape(arms)
    trial.check_inputs_unchanged()
    trial.check_same(trial.rounds, arms, HORIZON, "is not deterministic: equal random numbers gave other choices")
    trial.check_later_rounds(arms)
    trial.check_other_rewards(arms)
    if not getattr(policy, "sees_theta", False):
        trial.check_expected_rewards(arms)
    trial.check_ties()


class _Settings(Defaults):
    k = COLUMNS
    k_grid = (1, 2, COLUMNS)


class _Trial:
    """A policy on a small problem that has all that a policy may ask for."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, getattr(policy, "policy", type(policy).__name__)
        rng = np.random.default_rng(0)
        if isinstance(policy, Method):
            self.policy = policy.resolve(_Settings)
        columns = np.linalg.qr(rng.standard_normal((ARMS, COLUMNS)))[0]
        self.problem = self._described(_in_grains(rng.standard_normal(ARMS)), columns)
        candidates = np.array([rng.permutation(ARMS)[:CANDIDATES] for _ in range(HORIZON)], np.uint32)
        self.rounds = Rounds(candidates, _in_grains(0.2 * rng.standard_normal((HORIZON, CANDIDATES))))

    def _described(self, theta: np.ndarray, columns: np.ndarray) -> BanditProblem:
        """Return a problem with the features that the policy asks for, on a ring of arms."""
        roughness = np.linspace(0.1, 1.0, COLUMNS)
        around = np.sort([(np.arange(ARMS) - 1) % ARMS, (np.arange(ARMS) + 1) % ARMS], axis=0).T
        edges = Edges(2 * np.arange(ARMS + 1), around.ravel(), np.ones(2 * ARMS))
        problem = BanditProblem(theta, columns, None, roughness, edges, noise=0.2)
        if not isinstance(self.policy, Method) or not self.policy.uses_laplacian:
            return problem
        laplacian = np.eye(ARMS) - (np.eye(ARMS)[around[:, 0]] + np.eye(ARMS)[around[:, 1]]) / 2
        basis = Basis(columns, roughness, roughness) if self.policy.bases else None
        arms = self.policy.features(GraphInputs(basis, None, laplacian, edges))
        # Rounded, so that the inverse of a ring tells no two arms apart.
        return replace(problem, features=arms.features, v0_inverse=np.round(required(arms.v0_inverse, "v0_inverse"), 9))

    def play(self, problem: BanditProblem, rounds: Rounds, seed: int = 1) -> np.ndarray:
        """Return the arms that the policy chooses."""
        played = self.policy.play(problem, rounds, OneGenerator(np.random.default_rng(seed)))
        return np.asarray(played.arms if isinstance(played, Choices) else played)

    def check_shape(self, arms: np.ndarray) -> None:
        """Check that there is one candidate for every round."""
        assert arms.shape == (HORIZON,), f"{self.name} returns an array of shape {arms.shape}, not ({HORIZON},)"
        assert np.issubdtype(arms.dtype, np.integer), f"{self.name} returns {arms.dtype} numbers, not whole ones"
        wrong = np.flatnonzero(~(self.rounds.arms == arms[:, None]).any(axis=1))
        assert not len(wrong), f"{self.name} plays an arm in round {wrong[0]} that is not among its candidates"

    def check_inputs_unchanged(self) -> None:
        """Check that all arrays that the policy got are as they were."""
        fresh = _Trial(self.policy)
        for inputs, others in ((self.problem, fresh.problem), (self.rounds, fresh.rounds)):
            for name in inputs.__annotations__:
                same = _equal(getattr(inputs, name), getattr(others, name))
                assert same, f"{self.name} changes its inputs: {name} is not as it was"

    def check_same(self, rounds: Rounds, arms: np.ndarray, until: int, message: str) -> None:
        """Check that the policy chooses the same arms in the first rounds."""
        assert np.array_equal(self.play(self.problem, rounds)[:until], arms[:until]), f"{self.name} {message}"

    def check_later_rounds(self, arms: np.ndarray) -> None:
        """Check that choices do not depend on later candidates and rewards."""
        for start in CHANGED:
            offered, noise = self.rounds.arms.copy(), self.rounds.noise.copy()
            offered[start:], noise[start:] = offered[start:, ::-1], noise[start:] + GRAIN * offered[start:]
            self.check_same(Rounds(offered, noise), arms, start, "looks at later rounds: changing them changed choices")

    def check_other_rewards(self, arms: np.ndarray) -> None:
        """Check that choices do not depend on rewards of candidates that were not played."""
        noise = np.where(self.rounds.arms == arms[:, None], self.rounds.noise, self.rounds.noise + 3.0)
        message = "looks at rewards of candidates that it did not play"
        self.check_same(Rounds(self.rounds.arms, noise), arms, HORIZON, message)

    def check_expected_rewards(self, arms: np.ndarray) -> None:
        """Check that choices depend on rewards alone, not on how much of them is expected."""
        shift = 16 * GRAIN * np.arange(ARMS)
        rounds = Rounds(self.rounds.arms, self.rounds.noise + shift[self.rounds.arms])
        again = self.play(replace(self.problem, theta=self.problem.theta - shift), rounds)
        message = "looks at expected rewards: equal rewards with another mean changed its choices"
        assert np.array_equal(again, arms), f"{self.name} {message}"

    def check_ties(self) -> None:
        """Check that the first of equal candidates is played, unless the policy draws among them."""
        alike = self._described(np.zeros(ARMS), np.full((ARMS, COLUMNS), 0.25))
        rounds = Rounds(self.rounds.arms[:1], np.zeros((1, CANDIDATES)))
        drawn = {int(self.play(alike, rounds, seed)[0]) for seed in range(8)}
        first = drawn == {int(rounds.arms[0, 0])} or len(drawn) > 1
        assert first, f"{self.name} does not play the first of equal candidates"


def _in_grains(values: np.ndarray) -> np.ndarray:
    return np.round(values / GRAIN) * GRAIN


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, tuple):
        return all(_equal(part, whole) for part, whole in zip(first, second, strict=True))
    return bool(np.array_equal(first, second))
