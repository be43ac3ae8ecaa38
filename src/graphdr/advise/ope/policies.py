"""Policies to evaluate on a log: each learns from the rounds before a block, and chooses the arms of that block.

A policy needs one method, ``learn``. Those here are ridge regression and the graph prior on the features of arms, a
fixed policy, and a served policy that learns from rewards.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from graphdr.bandit.graph_prior import evidence, model, posterior
from graphdr.core.errors import UserError

Name = str | int
Choose = Callable[[list[Name]], Name]


class Past(NamedTuple):
    """The rounds that a policy may learn from: ``names[arms[t]]`` was played, with the reward ``rewards[t]``.

    ``position_means[position[t]]`` is the mean reward at a position on the page; a log without positions has one.
    """

    names: Sequence[Name]
    arms: np.ndarray
    rewards: np.ndarray
    position: np.ndarray
    position_means: np.ndarray

    @property
    def centred(self) -> np.ndarray:
        """The rewards less the mean reward at their position."""
        return self.rewards - self.position_means[self.position]


class Policy(Protocol):
    """Anything that learns from past rounds."""

    def learn(self, past: Past) -> np.ndarray | Choose:
        """Return by how much each name's reward is estimated to be above the mean, or a function that chooses.

        Of estimates, the candidate of the largest is played. A function is given the names of a round's candidates
        and returns one of them. It must not draw at random: for that there is ``epsilon``.
        """


class Ridge:
    """Ridge regression of the rewards on the features (n x k) of the arms played; one estimate per arm without them.

    ``ridge`` is in units of the features' mean squared length.
    """

    def __init__(self, features: np.ndarray | None, ridge: float = 1.0) -> None:
        self.features, self.ridge = features, ridge

    def learn(self, past: Past) -> np.ndarray:
        """Return the estimate of every arm."""
        features, shape = self.features, (len(past.names), len(past.position_means))
        shown = np.bincount(past.arms * shape[1] + past.position, minlength=np.prod(shape)).reshape(shape)
        pulls = shown.sum(axis=1)
        # Not a sum of centred rewards: arms with the same rewards would differ by rounding, which then decides a tie.
        sums = np.bincount(past.arms, past.rewards, len(pulls)) - shown @ past.position_means
        if features is None:
            return sums / (pulls + self.ridge)
        penalty = self.ridge * np.mean(np.sum(features**2, axis=1)) * np.eye(features.shape[1])
        return features @ np.linalg.solve((features.T * pulls) @ features + penalty, features.T @ sums)


class GraphPrior:
    """The posterior mean of the graph prior on the features (n x J) of a graph and the roughness of each column.

    ``graphdr.graded_features`` makes both. There is nothing to set: the rewards decide how far to trust the graph, and
    with a second basis also whether to use the first, the second or both.
    """

    def __init__(self, features: np.ndarray, roughness: np.ndarray, second_basis: model.Graded | None = None) -> None:
        self.features, self.roughness = np.asarray(features, float), np.asarray(roughness, float)
        self.second_basis = second_basis

    def learn(self, past: Past) -> np.ndarray:
        """Return the posterior mean of every arm."""
        bases = model.candidates((self.features, self.roughness), self.second_basis)
        statistics = model.statistics(len(past.names), past.arms, past.centred)
        fit = evidence.fit(statistics, *bases)
        return posterior.predict(fit, statistics, bases[fit.basis])[0]


class Fixed:
    """A policy that does not learn from the log: ``choose`` is given a round's candidates and returns one of them.

    It must not have learned from the same log before, or its value comes out too high.
    """

    def __init__(self, choose: Choose) -> None:
        self.choose = choose

    def learn(self, past: Past) -> Choose:
        """Return the same choices after any rounds."""
        return self.choose


class Served:
    """A served policy, such as ``graphdr.GraphDRLinUCB``, updated with the rewards of the rounds before a block.

    It has ``update_many(arms, rewards)`` and ``recommend(candidates)``. A copy of it learns, from the rewards as they
    were logged; the policy itself stays as it is.
    """

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def learn(self, past: Past) -> Choose:
        """Return the choices of a copy that learned from the rewards."""
        policy = copy.deepcopy(self.policy)
        policy.update_many([past.names[arm] for arm in past.arms], past.rewards)
        return policy.recommend


def as_policy(label: str, policy: np.ndarray | Policy | None, n: int, ridge: float) -> Policy:
    """Return a policy; features, and None for one estimate per arm, become ridge regression."""
    if policy is None or isinstance(policy, np.ndarray):
        policy = Ridge(policy, ridge)
    elif not hasattr(policy, "learn"):
        raise UserError(f"arms: {label!r} is neither an array of features, None, nor a policy with a method 'learn'")
    x = getattr(policy, "features", None)
    if x is not None and (np.ndim(x) != 2 or len(x) != n or not np.isfinite(x).all() or not x.any()):
        raise UserError(f"arms: the features of {label!r} are not {n} rows of finite numbers, one for every node")
    if isinstance(policy, GraphPrior) and policy.roughness.shape != policy.features.shape[1:]:
        raise UserError(f"arms: {label!r} has {policy.features.shape[1]} features and not a roughness for each")
    return policy
