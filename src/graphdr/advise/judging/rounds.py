"""The rounds of a log on the nodes of a graph, in blocks, and what a policy plays in each of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphdr.advise.judging.policies import Choose, Name, Past, Policy, Ridge
from graphdr.advise.judging.reading import Log
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
    """What a policy does in every round: how probable the arm played is, and the model's reward of it and of all."""

    target: np.ndarray
    of_played: np.ndarray
    of_policy: np.ndarray


def placed(log: Log, names: Sequence[Name], blocks: int, rng: np.random.Generator | None = None) -> Rounds:
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
    if log.candidates is None:  # all arms in every round: one set per block
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


def play(rounds: Rounds, policy: Policy, label: str, epsilon: float, ridge: float) -> Plays:
    """Let a policy learn from the blocks before each block, and play that block; the first is only learned from.

    With probability ``epsilon`` it plays any candidate. The model is the policy's own; of a policy that only
    chooses, it is ridge regression with one estimate per arm.
    """
    blocks, n = rounds.block_of_set.max() + 1, len(rounds.names)
    estimates, usual = np.zeros((blocks, n)), np.zeros(len(rounds.block))
    choosers: dict[int, Choose] = {}
    for block in range(1, blocks):
        past, now = past_of(rounds, block)
        usual[rounds.block == block] = now
        answer = policy.learn(past)
        if callable(answer):
            choosers[block], answer = answer, Ridge(None, ridge).learn(past)
        elif np.shape(answer) != (n,) or not np.isfinite(answer).all():
            raise UserError(f"policy {label!r}: 'learn' returned neither {n} finite estimates nor a function")
        estimates[block] = answer
    sizes, firsts = np.diff(rounds.starts), rounds.starts[:-1]
    values = estimates[np.repeat(rounds.block_of_set, sizes), rounds.members]
    best = _chosen(rounds, choosers, label) if choosers else _largest(values, firsts, sizes)
    value = (1 - epsilon) * values[best] + epsilon * np.add.reduceat(values, firsts) / sizes
    hit = rounds.members[best][rounds.offered] == rounds.played
    target = (1 - epsilon) * hit + epsilon / sizes[rounds.offered]
    return Plays(target, usual + estimates[rounds.block, rounds.played], usual + value[rounds.offered])


def past_of(rounds: Rounds, block: int) -> tuple[Past, np.ndarray]:
    """Return the rounds before a block, and for each round in it the mean reward at its position before."""
    before = rounds.block < block
    rewards, position = rounds.rewards[before], rounds.position[before]
    size = rounds.position.max() + 1
    count, total = np.bincount(position, minlength=size), np.bincount(position, rewards, size)
    usual = np.where(count > 0, total / np.maximum(count, 1), rewards.mean())
    return Past(rounds.names, rounds.played[before], rewards, position, usual), usual[
        rounds.position[rounds.block == block]
    ]


def _largest(values: np.ndarray, firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return where the candidate of the largest estimate is in each set, the first node on a tie."""
    largest = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, firsts), sizes))
    return largest[np.searchsorted(largest, firsts)]


def _chosen(rounds: Rounds, choosers: dict[int, Choose], label: str) -> np.ndarray:
    """Return where the candidate that a policy chooses is in each set; nobody asks it about the first block."""
    best = rounds.starts[:-1].copy()
    for each in np.flatnonzero(rounds.block_of_set > 0):
        names = [rounds.names[node] for node in rounds.members[rounds.starts[each] : rounds.starts[each + 1]]]
        choice = choosers[rounds.block_of_set[each]](names)
        if choice not in names:
            raise UserError(f"policy {label!r} chose {quote(choice)}, which is none of the candidates")
        best[each] += names.index(choice)
    return best
