"""What the policies of several reducers would have earned, estimated from a log of rounds that another policy played.

A policy is learned by ridge regression of the rewards on the features of the arms played, which is valid whoever chose
them, and plays the candidate of the largest estimate. It is never judged by a round that it was learned from: rounds
are split into blocks, and those of a block are judged with what was learned from the blocks before; the first is only
learned from. Cross-fitting would judge more rounds, but there every round helps to choose the policies by which others
are judged: errors of different folds go together, and intervals come out too narrow (nominal 95 %, 92 % observed). Here
each term is unbiased given all before it, so that intervals hold, even if the logging policy learned on the way. The
reward model of the doubly robust estimate is the policy's own, from the same blocks.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from graphdr.advise.log_files import Log, enough, read
from graphdr.core import terminal
from graphdr.core.errors import UserError, no_such
from graphdr.raw.text import short
from graphdr.scores import offpolicy
from graphdr.scores.offpolicy import Estimate, Terms

__all__ = ["Log", "Row", "as_dicts", "evaluate", "read", "tables", "text", "warnings"]

LOGGED, RANDOM = "logged", "random"  # the policy of the log itself, and one that plays any candidate
ESTIMATORS = {"ips": "IPS", "snips": "SNIPS", "doubly_robust": "doubly robust"}
FEW, SHARE = 30, 0.05  # effective rounds, and their share of all: below either, an interval is not to be trusted
DOUBTFUL = 4  # standard errors of the mean weight from one
CHANCE = 3  # rounds unlike the first and unlike the last, below which an order may be sorted by chance
MOST = 50  # blocks
ROUNDING = 1e-9  # of a probability
NOTHING = Estimate(*[np.nan] * 4, offpolicy.NORMAL, 0.0)


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


class Rounds(NamedTuple):
    """A log on the nodes of a graph: each round has a set of candidates, and each set belongs to one block."""

    rewards: np.ndarray
    propensities: np.ndarray
    played: np.ndarray
    block: np.ndarray
    offered: np.ndarray  # the set of each round
    members: np.ndarray  # the nodes of all sets, ascending in each: what was played must not decide a tie
    starts: np.ndarray
    block_of_set: np.ndarray


def evaluate(
    log: Log,
    arms: Mapping[str, np.ndarray | None],
    names: Sequence[str | int],
    *,
    level: float = 0.95,
    ridge: float = 1.0,
    blocks: int = 5,
    epsilon: float = 0.0,
    against: Sequence[str] | None = None,
    rng: np.random.Generator | None = None,
) -> list[Row]:
    """Estimate the value of every reducer's policy, of random play and of the log, and paired differences.

    ``arms`` has the features (n x k) of each reducer by its label, None for one-hot ones, and ``names`` the n nodes.
    ``ridge`` is in units of the features' mean squared length. A policy plays at random with probability ``epsilon``.
    Differences are to the policies ``against``, by default the one with one-hot features and the logged one. Blocks
    follow the order of the log; with ``rng`` a random one, for files that are sorted by something else than time.
    """
    enough(log)
    _check(arms, len(names), ridge, blocks, epsilon)
    if rng is None:
        _check_order(log)
    order = np.arange(len(log.rewards)) if rng is None else rng.permutation(len(log.rewards))
    rounds = placed(log, names, order * blocks // len(order))
    terms = {LOGGED: _terms_of_log(rounds)}
    for label, features, chance in ((RANDOM, None, 1.0), *((*item, epsilon) for item in arms.items())):
        terms[label] = _terms(rounds, greedy(rounds, estimated(rounds, features, ridge, len(names)), chance))
    if against is None:
        against = [*(label for label, features in arms.items() if features is None), LOGGED]
    if unknown := [label for label in against if label not in terms]:
        raise no_such("against", "policy", unknown[0], terms)
    pairs = [(label, None) for label in terms]
    for other in against:
        pairs += [(label, other) for label in arms if label != other and (other, label) not in pairs]
    return [_row(terms, *pair, name, level) for pair in pairs for name in ESTIMATORS]


def placed(log: Log, names: Sequence[str | int], block: np.ndarray) -> Rounds:
    """Find the arms of a log among the nodes; refuse unknown ones."""
    place = {str(name): node for node, name in enumerate(names)}
    if len(place) < len(names):
        raise UserError(f"{len(names) - len(place)} of the {len(names)} nodes have the name of another")
    if unknown := [arm for arm in log.arms if arm not in place]:
        count = f"{len(unknown):,} of its {len(log.arms):,} arms are not in the graph"
        example = f"the first is {short(unknown[0])}; the graph has such as {short(next(iter(place), ''))}"
        raise UserError(f"{log.name}: {count}, {example}")
    node = np.array([place[arm] for arm in log.arms], np.int64)
    common = log.rewards, log.propensities, node[log.played], block
    if log.candidates is None:  # all arms in every round: one set per block
        sets = np.arange(block.max() + 1)
        members, starts = np.tile(np.arange(len(names)), len(sets)), np.append(sets, len(sets)) * len(names)
        return Rounds(*common, block, members, starts, sets)
    rounds = np.arange(len(block))
    by_node = np.sort(np.repeat(rounds, np.diff(log.starts)) * len(names) + node[log.candidates])
    return Rounds(*common, rounds, by_node % len(names), log.starts, block)


def estimated(rounds: Rounds, features: np.ndarray | None, ridge: float, n: int) -> np.ndarray:
    """Return the ridge estimate of every node's reward (blocks x n), each from the blocks before.

    Rewards are centred first, since features such as u_2, u_3, … have no constant among them.
    """
    blocks, cell = rounds.block.max() + 1, rounds.block * n + rounds.played
    pulls, paid = (np.bincount(cell, weights, blocks * n).reshape(blocks, n) for weights in (None, rounds.rewards))
    pulls, paid = pulls.cumsum(axis=0) - pulls, paid.cumsum(axis=0) - paid
    middle = paid.sum(axis=1, keepdims=True) / np.maximum(pulls.sum(axis=1, keepdims=True), 1)
    paid = paid - middle * pulls
    if features is None:
        return middle + paid / (pulls + ridge)
    penalty = ridge * np.mean(np.sum(features**2, axis=1)) * np.eye(features.shape[1])
    design = np.array([(features.T * count) @ features for count in pulls]) + penalty
    return middle + np.linalg.solve(design, (paid @ features)[..., None])[..., 0] @ features.T


def greedy(rounds: Rounds, estimates: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play the candidate of the largest estimate, the first node on a tie, and with probability epsilon any of them.

    Return for each round how probable the arm played is then, what the model says of it, and of the policy.
    """
    sizes, firsts = np.diff(rounds.starts), rounds.starts[:-1]
    values = estimates[np.repeat(rounds.block_of_set, sizes), rounds.members]
    largest = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, firsts), sizes))
    best = largest[np.searchsorted(largest, firsts)]
    value = (1 - epsilon) * values[best] + epsilon * np.add.reduceat(values, firsts) / sizes
    hit = rounds.members[best][rounds.offered] == rounds.played
    target = (1 - epsilon) * hit + epsilon / sizes[rounds.offered]
    return target, estimates[rounds.block, rounds.played], value[rounds.offered]


def _terms(rounds: Rounds, policy: tuple[np.ndarray, ...]) -> dict[str, Terms]:
    """Return the terms of every estimate; none where the policy would have played nothing that was logged."""
    judged = rounds.block > 0
    target, played, value = (part[judged] for part in policy)
    if not target.any():
        return {}
    logged = rounds.rewards[judged], rounds.propensities[judged]
    rest = 1 - target  # all candidates that were not played count as one, worth what the policy makes of them
    others = np.divide(value - target * played, rest, out=played.copy(), where=rest > ROUNDING)
    pairs = np.column_stack([target, rest]), np.zeros(len(rest), int), np.column_stack([played, others])
    return {
        "ips": offpolicy.ips_terms(*logged, target),
        "snips": offpolicy.snips_terms(*logged, target),
        "doubly_robust": offpolicy.robust_terms(*logged, *pairs),
    }


def _terms_of_log(rounds: Rounds) -> dict[str, Terms]:
    """Return the terms of the logging policy: its mean reward, whatever the estimate."""
    propensities = rounds.propensities[rounds.block > 0]
    return dict.fromkeys(ESTIMATORS, offpolicy.ips_terms(rounds.rewards[rounds.block > 0], propensities, propensities))


def _row(terms: dict[str, dict[str, Terms]], policy: str, against: str | None, estimator: str, level: float) -> Row:
    gain, weight = NOTHING, NOTHING
    compared = [terms[label].get(estimator) for label in (policy, against) if label is not None]
    if None not in compared:
        gain = (offpolicy.estimate if against is None else offpolicy.difference)(*compared, level=level)
        weights = compared[0].weights
        weight = offpolicy.estimate(Terms(weights, np.ones_like(weights), weights), level=level)
    numbers = gain.value, gain.sem, gain.low, gain.high, gain.ess, weight.value, weight.sem
    return Row(policy, against, estimator, *numbers, len(terms[LOGGED][estimator].above), level)


def _check(arms: Mapping[str, np.ndarray | None], n: int, ridge: float, blocks: int, epsilon: float) -> None:
    if taken := sorted(arms.keys() & {LOGGED, RANDOM}):
        raise UserError(f"arms: {taken[0]!r} is the name of a policy that is always there; take another label")
    for label, features in ((label, features) for label, features in arms.items() if features is not None):
        if features.ndim != 2 or len(features) != n or not np.isfinite(features).all() or not features.any():
            raise UserError(f"arms: the features of {label!r} are not {n} rows of finite numbers, one for every node")
    if not (np.isfinite(ridge) and ridge > 0):
        raise UserError(f"ridge: {ridge} is not a finite number above 0")
    if blocks not in range(2, MOST + 1):
        raise UserError(f"blocks: {blocks} is not a whole number from 2 to {MOST}")
    if not 0 <= epsilon <= 1:
        raise UserError(f"epsilon: {epsilon} is not a probability, from 0 to 1")


def _check_order(log: Log) -> None:
    """Refuse rounds in an order that tells what was played or paid next, for propensities would be wrong then."""
    distinct, steps = len(np.unique(log.played)), np.diff(log.rewards)
    grouped = 2 * distinct <= len(log.played) and 1 + np.count_nonzero(np.diff(log.played)) == distinct
    monotone = (steps >= 0).all() or (steps <= 0).all()
    for what, values, is_sorted in (("arm played", log.played, grouped), ("reward", log.rewards, monotone)):
        others = min(np.count_nonzero(values != end) for end in (values[0], values[-1]))
        if others >= CHANCE and is_sorted:
            raise UserError(f"{log.name}: its rounds are sorted by the {what}; they must be in the order of time")


def as_dicts(rows: Sequence[Row]) -> list[dict]:
    """Return the rows for JSON, with None for a number that there is none of."""
    return [{name: None if value != value else value for name, value in row._asdict().items()} for row in rows]


def text(rows: Sequence[Row]) -> list[str]:
    """Lay out the estimates, then the differences, then what to be careful about."""
    lines = []
    for caption, head, body in tables(rows):
        lines += [f"{caption}:", "", *terminal.table(head, body, terminal.figures(head), terminal.width()), ""]
    return [*lines, *warnings(rows)] if warnings(rows) else lines[:-1]


def tables(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the estimates and the differences as tables of text: a caption, a head and rows each."""
    if not rows:
        return []
    level, digits = f"{100 * rows[0].level:g} % intervals", _digits(rows)
    values, differences = ([row for row in rows if (row.against is None) == alone] for alone in (True, False))
    head = ["policy", *ESTIMATORS.values(), "effective rounds"]
    caption = f"Mean reward a round, from {rows[0].rounds:,} rounds of the log, with {level}"
    shown = [(caption, head, _body(values, digits, len(head)))]
    if differences:
        head = ["difference", *ESTIMATORS.values()]
        caption = f"One policy minus another in the same rounds, with {level}"
        shown.append((caption, head, _body(differences, digits, len(head))))
    return shown


def warnings(rows: Sequence[Row]) -> list[str]:
    """Say in a line each what is doubtful: policies that the log says little of, and weights that cannot be right."""
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


def _body(rows: Sequence[Row], digits: int, columns: int) -> list[list[str]]:
    cells: dict[str, list[str]] = {}
    for row in rows:
        label = row.policy if row.against is None else f"{row.policy} − {row.against}"
        interval = f"{row.value:.{digits}f} ({row.low:.{digits}f} … {row.high:.{digits}f})"
        cells.setdefault(label, [f"{row.ess:,.0f}"]).append(interval if row.ess else "–")
    return [[label, *intervals, ess][:columns] for label, (ess, *intervals) in cells.items()]


def _digits(rows: Sequence[Row]) -> int:
    """Return how many decimals show two digits of a typical error."""
    errors = [row.sem for row in rows if row.sem > 0]
    return int(np.clip(1 - np.floor(np.log10(np.median(errors))), 0, 9)) if errors else 3
