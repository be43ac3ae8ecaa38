"""Policies to evaluate on a log, and their replay on its rounds, block by block.

Each learns from the rounds before a block, and chooses the arms of that block. A policy needs one method, ``learn``.
Those here are ridge regression and the graph prior on the features of arms, a fixed policy, and a served policy that
learns from rewards.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from graphdr.advise.ope.reading import Log
from graphdr.bandit.graph_prior import evidence, model
from graphdr.core.errors import UserError, quote
from graphdr.raw.sheets import encode

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
        return model.predict(fit, statistics, bases[fit.basis])[0]


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


class Rounds(NamedTuple):
    """A log on the nodes of a graph: each round has a set of candidates, and each set belongs to one block."""

    names: Sequence[Name]
    rewards: np.ndarray
    propensities: np.ndarray
    played: np.ndarray
    position: np.ndarray  # on the page: all 0 if the log has none
    block: np.ndarray
    offered: np.ndarray  # the set of each round
    members: np.ndarray  # the nodes of all sets, ascending in each: what was played must not decide a tie
    starts: np.ndarray
    block_of_set: np.ndarray


class Plays(NamedTuple):
    """For every round: the probability of the arm played, and the modelled reward of that arm and of the policy."""

    target: np.ndarray
    of_played: np.ndarray
    of_policy: np.ndarray


def find_arms(log: Log, names: Sequence[Name], remedy: str = "") -> np.ndarray:
    """Return the place of every arm of a log among the names of items; refuse unknown ones."""
    place = {str(name): node for node, name in enumerate(names)}
    if len(place) < len(names):
        raise UserError(f"{len(names) - len(place)} of the {len(names)} items have the name of another")
    if unknown := [arm for arm in log.arms if arm not in place]:
        count = f"{len(unknown):,} of its {len(log.arms):,} arms are not among the {len(names):,} items"
        example = f"the first is {quote(unknown[0], 2)}; the items have names such as {quote(next(iter(place), ''), 2)}"
        raise UserError(f"{log.name}: {count}, {example}{remedy}")
    return np.array([place[arm] for arm in log.arms], np.int64)


def place_rounds(log: Log, names: Sequence[Name], blocks: int, rng: np.random.Generator | None = None) -> Rounds:
    """Find the arms of a log among the nodes, and split the rounds into blocks of whole pages."""
    node = find_arms(log, names)
    rounds = np.arange(len(log.rewards))
    page = rounds if log.pages is None else encode(pa.array(log.pages))[1]  # numbered as they come
    page_count = page.max() + 1
    order = np.arange(page_count) if rng is None else rng.permutation(page_count)
    block = (order * blocks // page_count)[page]
    position = np.zeros(len(block), np.int64) if log.positions is None else log.positions
    common = names, log.rewards, log.propensities, node[log.played], position, block
    if log.candidates is None or log.starts is None:  # all arms in every round: one set per block
        sets = np.arange(blocks)
        members, starts = np.tile(np.arange(len(names)), blocks), np.arange(blocks + 1) * len(names)
        return Rounds(*common, block, members, starts, sets)
    by_node = np.sort(np.repeat(rounds, np.diff(log.starts)) * len(names) + node[log.candidates])
    return Rounds(*common, rounds, by_node % len(names), log.starts, block)


def play(rounds: Rounds, policy: Policy, label: str, epsilon: float, ridge: float) -> Plays:
    """Replay a policy: before each block it learns from all earlier blocks, and then plays that block.

    The first block is only learned from, and its plays mean nothing. With probability ``epsilon`` the policy draws one
    of the candidates uniformly. A modelled reward is the mean at the position on the page plus the policy's estimate
    of the arm; for a policy that only chooses, estimates are those of ridge regression, one per arm.
    """
    sizes, firsts = np.diff(rounds.starts), rounds.starts[:-1]
    block_count, n = rounds.block_of_set.max() + 1, len(rounds.names)
    estimates, position_means = np.zeros((block_count, n)), np.zeros(len(rounds.block))
    best, chooses = firsts.copy(), False  # where the arm that the policy plays is, in each set
    for block in range(1, block_count):
        past, here = _past(rounds, block), rounds.block == block
        position_means[here] = past.position_means[rounds.position[here]]
        answer = policy.learn(past)
        if callable(answer):
            chooses = True
            for each in np.flatnonzero(rounds.block_of_set == block):
                best[each] += _choose(answer, rounds, each, label)
            answer = Ridge(None, ridge).learn(past)
        elif np.shape(answer) != (n,) or not np.isfinite(answer).all():
            raise UserError(f"policy {label!r}: 'learn' returned neither {n} finite estimates nor a function")
        estimates[block] = answer
    of_members = estimates[np.repeat(rounds.block_of_set, sizes), rounds.members]
    if not chooses:  # the candidate of the largest estimate, the first node on a tie
        largest = np.flatnonzero(of_members == np.repeat(np.maximum.reduceat(of_members, firsts), sizes))
        best = largest[np.searchsorted(largest, firsts)]
    of_sets = (1 - epsilon) * of_members[best] + epsilon * np.add.reduceat(of_members, firsts) / sizes
    is_best = rounds.members[best][rounds.offered] == rounds.played
    return Plays(
        target=(1 - epsilon) * is_best + epsilon / sizes[rounds.offered],
        of_played=position_means + estimates[rounds.block, rounds.played],
        of_policy=position_means + of_sets[rounds.offered],
    )


def _past(rounds: Rounds, block: int) -> Past:
    """Return the rounds before a block, with the mean reward at every position."""
    before = rounds.block < block
    rewards, position = rounds.rewards[before], rounds.position[before]
    size = rounds.position.max() + 1
    count, total = np.bincount(position, minlength=size), np.bincount(position, rewards, size)
    position_means = np.where(count > 0, total / np.maximum(count, 1), rewards.mean())
    return Past(rounds.names, rounds.played[before], rewards, position, position_means)


def _choose(choose: Choose, rounds: Rounds, at: np.intp, label: str) -> int:
    """Return the place in a set of candidates of the one that a policy chooses."""
    names = [rounds.names[node] for node in rounds.members[rounds.starts[at] : rounds.starts[at + 1]]]
    choice = choose(names)
    if choice not in names:
        raise UserError(f"policy {label!r} chose {quote(choice)}, which is none of the candidates")
    return names.index(choice)
