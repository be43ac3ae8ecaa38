"""What the policies of several reducers would have earned, estimated from a log of rounds that another policy played.

A policy is learned by ridge regression of the rewards on the features of the arms played, which is valid whoever chose
them, and plays the candidate of the largest estimate. It is never judged by a round that it was learned from: rounds
are split into folds, and those of one fold are judged with what was learned from the others. The reward model of the
doubly robust estimate is the policy's own, from the same other folds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from graphdr import offpolicy
from graphdr.advise.log_files import Log, read
from graphdr.errors import UserError, no_such
from graphdr.offpolicy import Estimate, Terms

__all__ = ["Log", "Row", "as_dicts", "evaluate", "read", "text", "warnings"]

LOGGED, RANDOM = "logged", "random"  # the policy of the log itself, and one that plays any candidate
ESTIMATORS = {"ips": "IPS", "snips": "SNIPS", "doubly_robust": "doubly robust"}
FEW, SHARE = 30, 0.05  # effective rounds, and their share of all: below either, an interval is not to be trusted
NOTHING = Estimate(*[np.nan] * 4, offpolicy.NORMAL, 0.0)


class Row(NamedTuple):
    """An estimate of a policy's mean reward a round, or of what it earns more than the policy ``against``.

    ``ess`` is the effective sample size. Where a policy would have played nothing that was logged, it is 0 and the
    numbers are nan.
    """

    policy: str
    against: str | None
    estimator: str
    value: float
    sem: float
    low: float
    high: float
    ess: float
    rounds: int
    level: float


class Rounds(NamedTuple):
    """A log on the nodes of a graph, in folds: each round has a set of candidates, and each set belongs to one fold."""

    rewards: np.ndarray
    propensities: np.ndarray
    played: np.ndarray
    fold: np.ndarray
    offered: np.ndarray  # the set of each round
    members: np.ndarray  # the nodes of all sets, ascending in each: what was played must not decide a tie
    starts: np.ndarray
    fold_of_set: np.ndarray


class Policy(NamedTuple):
    """In each round: how probable the arm played is under a policy, what the model says of it, and of the policy."""

    target: np.ndarray
    model: np.ndarray
    value: np.ndarray


def evaluate(
    log: Log,
    arms: Mapping[str, np.ndarray | None],
    names: Sequence[str | int],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    ridge: float = 1.0,
    folds: int = 5,
    epsilon: float = 0.0,
    against: Sequence[str] | None = None,
) -> list[Row]:
    """Estimate the value of every reducer's policy, of random play and of the log, and paired differences.

    ``arms`` has the features (n x k) of each reducer by its label, None for one-hot ones, and ``names`` the n nodes.
    ``ridge`` is in units of the features' mean squared length. A policy plays at random with probability ``epsilon``.
    Differences are to the policies ``against``, by default the one with one-hot features and the logged one.
    """
    _check(arms, len(names), ridge, folds, epsilon)
    rounds = placed(log, names, split(len(log.rewards), folds, rng))
    terms = {LOGGED: _terms_of_log(rounds)}  # first, since it refuses what is no log
    for label, features, chance in ((RANDOM, None, 1.0), *((*item, epsilon) for item in arms.items())):
        terms[label] = _terms(rounds, greedy(rounds, estimated(rounds, features, ridge, len(names)), chance))
    if against is None:
        against = [*(label for label, features in arms.items() if features is None), LOGGED]
    if unknown := [label for label in against if label not in terms]:
        raise no_such("against", "policy", unknown[0], terms)
    pairs = [(label, None) for label in terms]
    pairs += [(label, other) for other in against for label in arms if label != other]
    return [_row(terms, *pair, name, level) for pair in pairs for name in ESTIMATORS]


def split(rounds: int, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each round: at random, so that every fold has rounds of all times of the log."""
    return rng.permutation(rounds) % folds


def placed(log: Log, names: Sequence[str | int], fold: np.ndarray) -> Rounds:
    """Find the arms of a log among the nodes; refuse unknown ones."""
    place = {str(name): node for node, name in enumerate(names)}
    if len(place) < len(names):
        raise UserError(f"{len(names) - len(place)} of the {len(names)} nodes have the name of another")
    if unknown := [arm for arm in log.arms if arm not in place]:
        count = f"{len(unknown):,} of its {len(log.arms):,} arms are not in the graph"
        raise UserError(f"{log.name}: {count}, the first of them {unknown[0]!r}; nodes are such as {str(names[0])!r}")
    node = np.array([place[arm] for arm in log.arms], np.int64)
    common = log.rewards, log.propensities, node[log.played], fold
    if log.candidates is None:  # all arms in every round: one set a fold
        sets = np.arange(fold.max() + 1)
        members, starts = np.tile(np.arange(len(names)), len(sets)), np.append(sets, len(sets)) * len(names)
        return Rounds(*common, fold, members, starts, sets)
    rounds = np.arange(len(fold))
    by_node = np.sort(np.repeat(rounds, np.diff(log.starts)) * len(names) + node[log.candidates])
    return Rounds(*common, rounds, by_node % len(names), log.starts, fold)


def estimated(rounds: Rounds, features: np.ndarray | None, ridge: float, n: int) -> np.ndarray:
    """Return the ridge estimate of every node's reward (folds x n), each from the rounds of the other folds.

    Rewards are centred first, since features such as u_2, u_3, … have no constant among them.
    """
    folds, cell = rounds.fold.max() + 1, rounds.fold * n + rounds.played
    pulls, paid = (np.bincount(cell, weights, folds * n).reshape(folds, n) for weights in (None, rounds.rewards))
    pulls, paid = pulls.sum(axis=0) - pulls, paid.sum(axis=0) - paid
    middle = paid.sum(axis=1, keepdims=True) / pulls.sum(axis=1, keepdims=True)
    paid = paid - middle * pulls
    if features is None:
        return middle + paid / (pulls + ridge)
    penalty = ridge * np.mean(np.sum(features**2, axis=1)) * np.eye(features.shape[1])
    design = np.array([(features.T * own) @ features for own in pulls]) + penalty
    return middle + np.linalg.solve(design, (paid @ features)[..., None])[..., 0] @ features.T


def greedy(rounds: Rounds, estimates: np.ndarray, epsilon: float) -> Policy:
    """Play the candidate of the largest estimate, the first node on a tie, and with probability epsilon any of them."""
    sizes = np.diff(rounds.starts)
    values = estimates[np.repeat(rounds.fold_of_set, sizes), rounds.members]
    best = _first_best(values, rounds.starts)
    value = (1 - epsilon) * values[best] + epsilon * np.add.reduceat(values, rounds.starts[:-1]) / sizes
    hit = rounds.members[best][rounds.offered] == rounds.played
    target = (1 - epsilon) * hit + epsilon / sizes[rounds.offered]
    return Policy(target, estimates[rounds.fold, rounds.played], value[rounds.offered])


def _first_best(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return where each set has its largest value, the first of them on a tie."""
    largest = np.maximum.reduceat(values, starts[:-1])
    places = np.flatnonzero(values == np.repeat(largest, np.diff(starts)))
    return places[np.searchsorted(places, starts[:-1])]


def _terms(rounds: Rounds, policy: Policy) -> dict[str, Terms]:
    """Return the terms of every estimate; none where the policy would have played nothing that was logged."""
    if not policy.target.any():
        return {}
    logged = rounds.rewards, rounds.propensities
    rest = 1 - policy.target  # all candidates that were not played count as one, worth what the policy makes of them
    others = np.divide(policy.value - policy.target * policy.model, rest, out=policy.model.copy(), where=rest > 1e-9)
    target, model = np.column_stack([policy.target, rest]), np.column_stack([policy.model, others])
    return {
        "ips": offpolicy.ips_terms(*logged, policy.target),
        "snips": offpolicy.snips_terms(*logged, policy.target),
        "doubly_robust": offpolicy.robust_terms(*logged, target, np.zeros(len(rest), int), model),
    }


def _terms_of_log(rounds: Rounds) -> dict[str, Terms]:
    """Return the terms of the logging policy: its mean reward, whatever the estimate."""
    return dict.fromkeys(ESTIMATORS, offpolicy.ips_terms(rounds.rewards, rounds.propensities, rounds.propensities))


def _row(terms: dict[str, dict[str, Terms]], policy: str, against: str | None, estimator: str, level: float) -> Row:
    one, other = terms[policy], terms[against] if against else None
    if not one or other == {}:
        found = NOTHING
    elif other:
        found = offpolicy.difference(one[estimator], other[estimator], level=level)
    else:
        found = offpolicy.estimate(one[estimator], level=level)
    rounds = len(terms[LOGGED][estimator].above)
    return Row(policy, against, estimator, found.value, found.sem, found.low, found.high, found.ess, rounds, level)


def _check(arms: Mapping[str, np.ndarray | None], n: int, ridge: float, folds: int, epsilon: float) -> None:
    if taken := sorted(arms.keys() & {LOGGED, RANDOM}):
        raise UserError(f"arms: {taken[0]!r} is the name of a policy that is always there; take another label")
    for label, features in arms.items():
        if features is not None and not (features.ndim == 2 and len(features) == n and np.isfinite(features).all()):
            raise UserError(f"arms: the features of {label!r} are not {n} rows of finite numbers, one for every node")
    if not (np.isfinite(ridge) and ridge > 0):
        raise UserError(f"ridge: {ridge} is not a finite number above 0")
    if folds not in range(2, offpolicy.FEWEST + 1):
        raise UserError(f"folds: {folds} is not a whole number from 2 to {offpolicy.FEWEST}")
    if not 0 <= epsilon <= 1:
        raise UserError(f"epsilon: {epsilon} is not a probability, from 0 to 1")


# What is shown


def as_dicts(rows: Sequence[Row]) -> list[dict]:
    """Return the rows for JSON, with None for a number that there is none of."""
    return [{name: None if value != value else value for name, value in row._asdict().items()} for row in rows]


def text(rows: Sequence[Row]) -> list[str]:
    """Lay out the estimates, then the differences, then what to be careful about."""
    if not rows:
        return []
    level, digits = f"{100 * rows[0].level:g} % intervals", _digits(rows)
    values, differences = ([row for row in rows if (row.against is None) == alone] for alone in (True, False))
    lines = [f"Mean reward a round, from {rows[0].rounds:,} logged rounds, with {level}:", ""]
    lines += _table(["policy", *ESTIMATORS.values(), "effective rounds"], values, digits)
    if differences:
        lines += ["", f"One policy minus another in the same rounds, with {level}:", ""]
        lines += _table(["difference", *ESTIMATORS.values()], differences, digits)
    found = warnings(rows)
    return lines + [""] * bool(found) + found


def warnings(rows: Sequence[Row]) -> list[str]:
    """Say in a line each of which policies the log says too little."""
    lines = []
    for policy, ess, rounds in dict.fromkeys((row.policy, row.ess, row.rounds) for row in rows if row.against is None):
        if ess == 0:
            lines.append(f"{policy}: no estimate, for it would have played no arm that was logged")
        elif ess < max(FEW, SHARE * rounds):
            share = f"{ess:.0f} effective rounds of {rounds:,} ({100 * ess / rounds:.1f} %)"
            lines.append(f"{policy}: {share}: its intervals rest on few rounds; log more random ones")
    return lines


def _table(head: list[str], rows: Sequence[Row], digits: int) -> list[str]:
    from graphdr.cli import terminal

    cells: dict[str, list[str]] = {}
    for row in rows:
        label = row.policy if row.against is None else f"{row.policy} − {row.against}"
        interval = f"{row.value:.{digits}f} ({row.low:.{digits}f} … {row.high:.{digits}f})"
        cells.setdefault(label, [f"{row.ess:,.0f}"]).append(interval if row.ess else "–")
    body = [[label, *intervals, ess][: len(head)] for label, (ess, *intervals) in cells.items()]
    return terminal.table(head, body, [False] + [True] * (len(head) - 1), terminal.width())


def _digits(rows: Sequence[Row]) -> int:
    """Return how many decimals show two digits of a typical error."""
    errors = [row.sem for row in rows if row.sem > 0]
    return int(np.clip(1 - np.floor(np.log10(np.median(errors))), 0, 9)) if errors else 3
