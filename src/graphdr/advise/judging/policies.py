"""Policies that a log can judge: each is told the rounds before a block, and says what to play in that block.

What a policy of your own needs is one method, ``learn``. Those here are ridge regression and the graph prior on the
features of arms, a policy that is fixed, and one that is served and learns from rewards.
"""

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from graphdr.bandit.graph_prior import evidence, model, posterior
from graphdr.core.errors import UserError

Name = str | int
Choose = Callable[[list[Name]], Name]


class Past(NamedTuple):
    """The rounds that a policy may learn from: ``names[arms[t]]`` was played and paid ``rewards[t]``.

    ``usual[position[t]]`` is the mean reward at the position on the page; a log without positions has only one.
    """

    names: Sequence[Name]
    arms: np.ndarray
    rewards: np.ndarray
    position: np.ndarray
    usual: np.ndarray

    @property
    def centred(self) -> np.ndarray:
        """The rewards less the mean reward at their position."""
        return self.rewards - self.usual[self.position]


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

    def __init__(self, features: np.ndarray | None, ridge: float = 1.0):
        self.features, self.ridge = features, ridge

    def learn(self, past: Past) -> np.ndarray:
        """Return the estimate of every arm."""
        features, shape = self.features, (len(past.names), len(past.usual))
        shown = np.bincount(past.arms * shape[1] + past.position, minlength=np.prod(shape)).reshape(shape)
        pulls = shown.sum(axis=1)
        # Not a sum of centred rewards: arms with the same rewards would differ by rounding, which then decides a tie.
        paid = np.bincount(past.arms, past.rewards, len(pulls)) - shown @ past.usual
        if features is None:
            return paid / (pulls + self.ridge)
        penalty = self.ridge * np.mean(np.sum(features**2, axis=1)) * np.eye(features.shape[1])
        return features @ np.linalg.solve((features.T * pulls) @ features + penalty, features.T @ paid)


class GraphPrior:
    """The posterior mean of the graph prior on the features (n x J) of a graph and the roughness of each column.

    ``graphdr.graded_features`` makes both. There is nothing to set: the rewards say how far to trust the graph. With
    those of a second basis ``beside``, they also take the first, the second or both.
    """

    def __init__(self, features: np.ndarray, roughness: np.ndarray, beside: model.Graded | None = None):
        self.features, self.roughness = np.asarray(features, float), np.asarray(roughness, float)
        self.beside = beside

    def learn(self, past: Past) -> np.ndarray:
        """Return the posterior mean of every arm."""
        bases = model.candidates((self.features, self.roughness), self.beside)
        seen = model.statistics(len(past.names), past.arms, past.centred)
        found = evidence.fit(seen, *bases)
        return posterior.predict(found, seen, bases[found.basis])[0]


class Fixed:
    """A policy that does not learn from the log: ``choose`` is given a round's candidates and returns one of them.

    It must not have learned from the same log before, or its value comes out too high.
    """

    def __init__(self, choose: Choose):
        self.choose = choose

    def learn(self, past: Past) -> Choose:
        """Return the same choices after any rounds."""
        return self.choose


class Served:
    """A policy as it is served, such as ``graphdr.GraphDRLinUCB``, told the rewards of the rounds before a block.

    It has ``update_many(arms, rewards)`` and ``recommend(candidates)``. A copy of it learns, from the rewards as they
    were logged; the policy itself stays as it is.
    """

    def __init__(self, policy):
        self.policy = policy

    def learn(self, past: Past) -> Choose:
        """Return the choices of a copy that was told the rewards."""
        told = copy.deepcopy(self.policy)
        told.update_many([past.names[arm] for arm in past.arms], past.rewards)
        return told.recommend


def as_policy(label: str, given: np.ndarray | Policy | None, n: int, ridge: float) -> Policy:
    """Return the policy that stands behind a label: features and None are ridge regression."""
    if hasattr(given, "learn"):
        if hasattr(given, "features") and given.features is not None:
            _check_features(label, given.features, n)
        if isinstance(given, GraphPrior) and given.roughness.shape != given.features.shape[1:]:
            raise UserError(f"arms: {label!r} has {given.features.shape[1]} features and not a roughness for each")
        return given
    if given is not None and not isinstance(given, np.ndarray):
        raise UserError(f"arms: {label!r} is neither an array of features, None, nor a policy with a method 'learn'")
    if given is not None:
        _check_features(label, given, n)
    return Ridge(given, ridge)


def _check_features(label: str, features: np.ndarray, n: int) -> None:
    if np.ndim(features) != 2 or len(features) != n or not np.isfinite(features).all() or not features.any():
        raise UserError(f"arms: the features of {label!r} are not {n} rows of finite numbers, one for every node")
