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
    rounds = page = np.arange(len(log.rewards))
    if log.pages is not None:  # numbered as they come
        _, first, page = np.unique(log.pages, return_index=True, return_inverse=True)
        page = np.argsort(np.argsort(first))[page]
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
