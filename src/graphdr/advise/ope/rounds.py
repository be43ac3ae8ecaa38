"""The rounds of a log on the nodes of a graph, in blocks, and the replay of a policy on them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphdr.advise.ope.policies import Choose, Name, Past, Policy, Ridge
from graphdr.advise.ope.reading import Log
from graphdr.core.errors import UserError, quote


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


def place_rounds(log: Log, names: Sequence[Name], blocks: int, rng: np.random.Generator | None = None) -> Rounds:
    """Find the arms of a log among the nodes, refuse unknown ones, and split the rounds into blocks of whole pages."""
    place = {str(name): node for node, name in enumerate(names)}
    if len(place) < len(names):
        raise UserError(f"{len(names) - len(place)} of the {len(names)} nodes have the name of another")
    if unknown := [arm for arm in log.arms if arm not in place]:
        count = f"{len(unknown):,} of its {len(log.arms):,} arms are not in the graph"
        example = f"the first is {quote(unknown[0], 2)}; the graph has such as {quote(next(iter(place), ''), 2)}"
        raise UserError(f"{log.name}: {count}, {example}")
    node = np.array([place[arm] for arm in log.arms], np.int64)
    page = _pages(log)
    count = page.max() + 1
    order = np.arange(count) if rng is None else rng.permutation(count)
    block = (order * blocks // count)[page]
    position = np.zeros(len(block), np.int64) if log.positions is None else log.positions
    common = names, log.rewards, log.propensities, node[log.played], position, block
    if log.candidates is None or log.starts is None:  # all arms in every round: one set per block
        sets = np.arange(blocks)
        members, starts = np.tile(np.arange(len(names)), len(sets)), np.append(sets, len(sets)) * len(names)
        return Rounds(*common, block, members, starts, sets)
    rounds = np.arange(len(block))
    by_node = np.sort(np.repeat(rounds, np.diff(log.starts)) * len(names) + node[log.candidates])
    return Rounds(*common, rounds, by_node % len(names), log.starts, block)


def _pages(log: Log) -> np.ndarray:
    """Return the page of every row, numbered as they come; without pages every row is one."""
    if log.pages is None:
        return np.arange(len(log.rewards))
    _, first, page = np.unique(log.pages, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[page]


class _History(NamedTuple):
    """What a policy learned before each block; nothing before the first."""

    estimates: np.ndarray  # blocks x arms: the reward of an arm above the mean at its position
    choosers: dict[int, Choose]  # by block, where the policy only chooses
    position_means: np.ndarray  # for each round, the mean reward at its position in earlier blocks


def play(rounds: Rounds, policy: Policy, label: str, epsilon: float, ridge: float) -> Plays:
    """Replay a policy: before each block it learns from all earlier blocks, and then plays that block.

    The first block is only learned from, and its plays mean nothing. With probability ``epsilon`` the policy draws one
    of the candidates uniformly. A modelled reward is the mean at the position on the page plus the policy's estimate
    of the arm; for a policy that only chooses, estimates are those of ridge regression, one per arm.
    """
    estimates, choosers, position_means = _learn(rounds, policy, label, ridge)
    sizes, firsts = np.diff(rounds.starts), rounds.starts[:-1]
    of_members = estimates[np.repeat(rounds.block_of_set, sizes), rounds.members]
    best = _chosen(rounds, choosers, label) if choosers else _largest(of_members, firsts, sizes)
    of_sets = (1 - epsilon) * of_members[best] + epsilon * np.add.reduceat(of_members, firsts) / sizes
    is_best = rounds.members[best][rounds.offered] == rounds.played
    return Plays(
        target=(1 - epsilon) * is_best + epsilon / sizes[rounds.offered],
        of_played=position_means + estimates[rounds.block, rounds.played],
        of_policy=position_means + of_sets[rounds.offered],
    )


def _learn(rounds: Rounds, policy: Policy, label: str, ridge: float) -> _History:
    block_count, n = rounds.block_of_set.max() + 1, len(rounds.names)
    history = _History(np.zeros((block_count, n)), {}, np.zeros(len(rounds.block)))
    for block in range(1, block_count):
        past, here = past_of(rounds, block), rounds.block == block
        history.position_means[here] = past.position_means[rounds.position[here]]
        answer = policy.learn(past)
        if callable(answer):
            history.choosers[block] = answer
            answer = Ridge(None, ridge).learn(past)  # without features: one estimate per arm
        elif np.shape(answer) != (n,) or not np.isfinite(answer).all():
            raise UserError(f"policy {label!r}: 'learn' returned neither {n} finite estimates nor a function")
        history.estimates[block] = answer
    return history


def past_of(rounds: Rounds, block: int) -> Past:
    """Return the rounds before a block, with the mean reward at every position."""
    before = rounds.block < block
    rewards, position = rounds.rewards[before], rounds.position[before]
    size = rounds.position.max() + 1
    count, total = np.bincount(position, minlength=size), np.bincount(position, rewards, size)
    position_means = np.where(count > 0, total / np.maximum(count, 1), rewards.mean())
    return Past(rounds.names, rounds.played[before], rewards, position, position_means)


def _largest(values: np.ndarray, firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return where the candidate of the largest estimate is in each set, the first node on a tie."""
    largest = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, firsts), sizes))
    return largest[np.searchsorted(largest, firsts)]


def _chosen(rounds: Rounds, choosers: dict[int, Choose], label: str) -> np.ndarray:
    """Return where the candidate that a policy chooses is in each set; it is not asked about the first block."""
    best = rounds.starts[:-1].copy()
    for each in np.flatnonzero(rounds.block_of_set > 0):
        names = [rounds.names[node] for node in rounds.members[rounds.starts[each] : rounds.starts[each + 1]]]
        choice = choosers[rounds.block_of_set[each]](names)
        if choice not in names:
            raise UserError(f"policy {label!r} chose {quote(choice)}, which is none of the candidates")
        best[each] += names.index(choice)
    return best
