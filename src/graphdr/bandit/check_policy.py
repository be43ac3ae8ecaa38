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
    problem, rounds = trial.problem, trial.rounds
    arms = trial.play(problem, rounds)

    def check(holds: bool, message: str) -> None:
        assert holds, f"{trial.name} {message}"

    def check_same(problem: BanditProblem, rounds: Rounds, message: str, until: int = HORIZON) -> None:
        check(np.array_equal(trial.play(problem, rounds)[:until], arms[:until]), message)

    check(arms.shape == (HORIZON,), f"returns an array of shape {arms.shape}, not ({HORIZON},)")
    check(np.issubdtype(arms.dtype, np.integer), f"returns {arms.dtype} numbers, not whole ones")
    wrong = np.flatnonzero(~(rounds.arms == arms[:, None]).any(axis=1))
    check(not len(wrong), f"plays an arm in round {wrong.min(initial=HORIZON)} that is not among its candidates")
    fresh = _Trial(trial.policy)
    for inputs, others in ((problem, fresh.problem), (rounds, fresh.rounds)):
        for name in inputs.__annotations__:
            check(_equal(getattr(inputs, name), getattr(others, name)), f"changes its inputs: {name} is not as it was")
    check_same(problem, rounds, "is not deterministic: equal random numbers gave other choices")
    for start in CHANGED:
        offered, noise = rounds.arms.copy(), rounds.noise.copy()
        offered[start:], noise[start:] = offered[start:, ::-1], noise[start:] + GRAIN * offered[start:]
        later = Rounds(offered, noise)
        check_same(problem, later, "looks at later rounds: changing them changed choices", until=start)
    noise = np.where(rounds.arms == arms[:, None], rounds.noise, rounds.noise + 3.0)
    check_same(problem, Rounds(rounds.arms, noise), "looks at rewards of candidates that it did not play")
    if not getattr(policy, "sees_theta", False):
        shift = 16 * GRAIN * np.arange(ARMS)
        shifted = Rounds(rounds.arms, rounds.noise + shift[rounds.arms])
        message = "looks at expected rewards: equal rewards with another mean changed its choices"
        check_same(replace(problem, theta=problem.theta - shift), shifted, message)
    alike = trial.described(np.zeros(ARMS), np.full((ARMS, COLUMNS), 0.25))
    first_round = Rounds(rounds.arms[:1], np.zeros((1, CANDIDATES)))
    drawn = {int(trial.play(alike, first_round, seed)[0]) for seed in range(8)}
    check(drawn == {int(rounds.arms[0, 0])} or len(drawn) > 1, "does not play the first of equal candidates")


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
        self.problem = self.described(_in_grains(rng.standard_normal(ARMS)), columns)
        candidates = np.array([rng.permutation(ARMS)[:CANDIDATES] for _ in range(HORIZON)], np.uint32)
        self.rounds = Rounds(candidates, _in_grains(0.2 * rng.standard_normal((HORIZON, CANDIDATES))))

    def described(self, theta: np.ndarray, columns: np.ndarray) -> BanditProblem:
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


def _in_grains(values: np.ndarray) -> np.ndarray:
    return np.round(values / GRAIN) * GRAIN


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, tuple):
        return all(_equal(part, whole) for part, whole in zip(first, second, strict=True))
    return bool(np.array_equal(first, second))
