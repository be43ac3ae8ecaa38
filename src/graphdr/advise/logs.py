"""Logs of past rounds: read them, estimate what policies would have earned, and print the estimates.

A policy is never evaluated on a round that it learned from: rounds are split into blocks, and those of a block are
evaluated with a policy that learned from the blocks before; the first is only learned from. Learning is valid whatever
chose the arms, since a reward is that of its arm. Cross-fitting would evaluate more rounds, but there every round helps
to choose the policies that others evaluate: errors of different folds are correlated, and intervals come out too narrow
(nominal 95 %, 92 % observed). Here each term is unbiased given all before it, so that intervals hold, even if the
logging policy learned on the way. The reward model of the doubly robust estimate is that of the policy, from the same
blocks.

Rows of one page are rounds of their own, each at its position. Rewards differ by position, whatever is played there:
the reward model has the mean of each position in it. Rows of one page may depend on each other: they are in one block,
and intervals are over pages.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from graphdr.advise.log_files import Log, enough, read
from graphdr.bandit.graph_prior import evidence, model
from graphdr.core import terminal
from graphdr.core.errors import UserError, no_such, quote
from graphdr.raw.sheets import encode
from graphdr.scores import offpolicy
from graphdr.scores.offpolicy import Estimate, Terms

__all__ = ["Fixed", "GraphPrior", "Log", "Past", "Policy", "Ridge", "Served", "evaluate", "read", "text", "warnings"]
LOGGED, RANDOM = "logged", "random"  # the policy of the log itself, and one that plays any candidate
ESTIMATORS = {"ips": "IPS", "snips": "SNIPS", "doubly_robust": "doubly robust"}
CHANCE = 3  # rounds unlike the first and unlike the last, below which an order may be sorted by chance
MOST = 50  # blocks
ROUNDING = 1e-9  # of a probability
NOTHING = Estimate(np.nan, np.nan, np.nan, np.nan, offpolicy.NORMAL, 0.0)
FEW, SHARE = 30, 0.05  # effective rounds, and their share of all: below either, an interval is not to be trusted
DOUBTFUL = 4  # standard errors of the mean weight from one
ONE_PAGE = (
    "nothing says which rows were on one page (no usable time, and no column such as 'impression'); intervals take the "
    "rows as independent, and may be too narrow"
)
Name = str | int
Choose = Callable[[list[Name]], Name]


# Policies


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


def play(rounds: Rounds, policy: Policy, label: str, epsilon: float, ridge: float) -> dict[str, Terms]:
    """Replay a policy: before each block it learns from all earlier blocks, and then plays that block.

    Return the terms of every estimate on all blocks but the first, which is only learned from; nothing where the policy
    would have played nothing that was logged. With probability ``epsilon`` the policy draws one of the candidates
    uniformly. A modelled reward is the mean at the position on the page plus the policy's estimate of the arm; for a
    policy that only chooses, estimates are those of ridge regression, one per arm.
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
    judged = rounds.block > 0
    target = ((1 - epsilon) * is_best + epsilon / sizes[rounds.offered])[judged]
    if not target.any():
        return {}
    logged = rounds.rewards[judged], rounds.propensities[judged]
    of_played = (position_means + estimates[rounds.block, rounds.played])[judged]
    value = (position_means + of_sets[rounds.offered])[judged]
    rest = 1 - target  # all candidates that were not played count as one, worth what the policy makes of them
    others = np.divide(value - target * of_played, rest, out=of_played.copy(), where=rest > ROUNDING)
    pairs = np.column_stack([target, rest]), np.zeros(len(rest), int), np.column_stack([of_played, others])
    return {
        "ips": offpolicy.ips_terms(*logged, target),
        "snips": offpolicy.snips_terms(*logged, target),
        "doubly_robust": offpolicy.robust_terms(*logged, *pairs),
    }


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


# Estimates


class Row(NamedTuple):
    """An estimate of a policy's mean reward per round, or of what it earns more than the policy ``against``.

    ``ess`` is the effective sample size and ``weight`` the mean weight of the policy, one in expectation. Where a
    policy would have played nothing that was logged, ``ess`` is 0 and the other numbers are nan.
    """

    policy: str
    against: str | None
    estimator: str
    value: float
    sem: float
    low: float
    high: float
    ess: float
    weight: float
    weight_sem: float
    rounds: int
    level: float


class ByLog(NamedTuple):
    """The estimates of every policy from a log, and warnings about them."""

    estimates: list[Row]
    warnings: list[str]


def evaluate(
    log: Log,
    arms: Mapping[str, np.ndarray | Policy | None],
    names: Sequence[str | int],
    *,
    level: float = 0.95,
    ridge: float = 1.0,
    blocks: int = 5,
    epsilon: float = 0.0,
    against: Sequence[str] | None = None,
    rng: np.random.Generator | None = None,
) -> list[Row]:
    """Estimate the value of every policy, of random play and of the log, and paired differences.

    ``arms`` has by label features (n x k) for ridge regression, None for one estimate per arm, or a ``Policy``.
    ``names`` are the n nodes. ``ridge`` is in units of the features' mean squared length. A policy plays at random with
    probability ``epsilon``. Differences are to the policies ``against``, by default the one with one estimate per arm
    and the logged one. Blocks follow the order of the log; with ``rng`` a random one, for files that are sorted by
    something else than time.
    """
    enough(log)
    _check(arms, ridge, blocks, epsilon)
    played = {label: as_policy(label, policy, len(names), ridge) for label, policy in arms.items()}
    if rng is None:
        _check_order(log)
    rounds = place_rounds(log, names, blocks, rng)
    logged = rounds.propensities[rounds.block > 0]
    of_log = offpolicy.ips_terms(rounds.rewards[rounds.block > 0], logged, logged)  # its mean, whatever the estimate
    terms = {
        LOGGED: dict.fromkeys(ESTIMATORS, of_log),
        RANDOM: play(rounds, Ridge(None, ridge), RANDOM, 1.0, ridge),
    }
    for label, policy in played.items():
        terms[label] = play(rounds, policy, label, epsilon, ridge)
    if against is None:
        against = [*(label for label, policy in arms.items() if policy is None), LOGGED]
    if unknown := [label for label in against if label not in terms]:
        raise no_such("against", "policy", unknown[0], terms)
    pairs: list[tuple[str, str | None]] = [(label, None) for label in terms]
    for second in against:
        pairs += [(label, second) for label in arms if label != second and (second, label) not in pairs]
    pages = None if log.pages is None else log.pages[rounds.block > 0]
    rows = []
    for label, other in pairs:
        compared = [terms[label]] if other is None else [terms[label], terms[other]]
        for name in ESTIMATORS:
            gain = weight = NOTHING
            if all(compared):
                estimate = offpolicy.estimate if other is None else offpolicy.difference
                gain = estimate(*(each[name] for each in compared), level=level, groups=pages)
                weights = compared[0][name].weights
                weight = offpolicy.estimate(Terms(weights, np.ones_like(weights), weights), level=level, groups=pages)
            rows.append(Row(label, other, name, *gain[:4], gain.ess, weight.value, weight.sem, len(logged), level))
    return rows


def _check(arms: Mapping[str, object], ridge: float, blocks: int, epsilon: float) -> None:
    if taken := sorted(arms.keys() & {LOGGED, RANDOM}):
        raise UserError(f"arms: {taken[0]!r} is the name of a policy that is always there; take another label")
    if not (np.isfinite(ridge) and ridge > 0):
        raise UserError(f"ridge: {ridge} is not a finite number above 0")
    if blocks not in range(2, MOST + 1):
        raise UserError(f"blocks: {blocks} is not a whole number from 2 to {MOST}")
    if not 0 <= epsilon <= 1:
        raise UserError(f"epsilon: {epsilon} is not a probability, from 0 to 1")


def _check_order(log: Log) -> None:
    """Refuse rounds in an order that tells the next arm or reward, since propensities would then be wrong."""
    distinct, steps = len(np.unique(log.played)), np.diff(log.rewards)
    grouped = 2 * distinct <= len(log.played) and 1 + np.count_nonzero(np.diff(log.played)) == distinct
    monotone = (steps >= 0).all() or (steps <= 0).all()
    for key, values, is_sorted in (("arm played", log.played, grouped), ("reward", log.rewards, monotone)):
        others = min(np.count_nonzero(values != end) for end in (values[0], values[-1]))
        if others >= CHANCE and is_sorted:
            raise UserError(f"{log.name}: its rounds are sorted by the {key}; they must be in the order of time")


def evaluate_by_log(
    log: Log, names: Sequence[str | int], arms: Mapping[str, np.ndarray | Policy | None], against: Sequence[str]
) -> ByLog:
    """Estimate from a log what policies would have earned, with warnings."""
    rows = evaluate(log, arms, names, against=against)
    pages_unknown = log.positions is not None and log.pages is None and log.positions.max() > 0
    return ByLog(rows, [*warnings(rows), *([f"{log.name}: {ONE_PAGE}"] if pages_unknown else [])])


def text(rows: Sequence[Row]) -> list[str]:
    """Lay out the estimates, then the differences, then the warnings."""
    lines: list[str] = []
    for caption, head, body in tables(rows):
        lines += [f"{caption}:", "", *terminal.table(head, body, terminal.figures(head), terminal.width()), ""]
    return [*lines, *warnings(rows)] if warnings(rows) else lines[:-1]


def tables(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the estimates and the differences as tables of text: a caption, a head and rows each."""
    if not rows:
        return []
    errors = [row.sem for row in rows if row.sem > 0]  # shown with two digits
    digits = int(np.clip(1 - np.floor(np.log10(np.median(errors))), 0, 9)) if errors else 3
    estimates: dict[str, list[str]] = {}
    comparisons: dict[str, list[str]] = {}
    for row in rows:
        interval = f"{row.value:.{digits}f} ({row.low:.{digits}f} … {row.high:.{digits}f})" if row.ess else "–"
        if row.against is None:
            estimates.setdefault(row.policy, [f"{row.ess:,.0f}"]).append(interval)
        else:
            comparisons.setdefault(f"{row.policy} − {row.against}", []).append(interval)
    level, names = f"{100 * rows[0].level:g} % intervals", ESTIMATORS.values()
    caption = f"Mean reward a round, from {rows[0].rounds:,} rounds of the log, with {level}"
    body = [[label, *intervals, ess] for label, (ess, *intervals) in estimates.items()]
    shown = [(caption, ["policy", *names, "effective rounds"], body)]
    if comparisons:
        caption = f"One policy minus another in the same rounds, with {level}"
        shown.append(
            (caption, ["difference", *names], [[label, *intervals] for label, intervals in comparisons.items()])
        )
    return shown


def warnings(rows: Sequence[Row]) -> list[str]:
    """Warn of policies with few effective rounds, and of weights that cannot be right, in a line each."""
    lines = []
    for row in {row.policy: row for row in rows if row.against is None}.values():
        if row.ess == 0:
            lines.append(f"{row.policy}: no estimate, for it would have played no arm that was logged")
        elif row.ess >= FEW and abs(row.weight - 1) > DOUBTFUL * row.weight_sem + ROUNDING:
            why = "propensities are wrong, or some candidates could never be played"
            lines.append(f"{row.policy}: its weights are {row.weight:.2f} on average, not 1: {why}")
        elif row.ess < max(FEW, SHARE * row.rounds):
            share = f"{row.ess:.0f} effective rounds of {row.rounds:,} ({100 * row.ess / row.rounds:.1f} %)"
            lines.append(f"{row.policy}: {share}: take its intervals with care, and log more random rounds")
    return lines
