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

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from graphdr.advise.ope import policies
from graphdr.advise.ope.policies import Fixed, GraphPrior, Past, Plays, Policy, Ridge, Rounds, Served
from graphdr.advise.ope.reading import Log, enough, read
from graphdr.core import terminal
from graphdr.core.errors import UserError, no_such
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
    played = {label: policies.as_policy(label, policy, len(names), ridge) for label, policy in arms.items()}
    if rng is None:
        _check_order(log)
    rounds = policies.place_rounds(log, names, blocks, rng)
    logged = rounds.propensities[rounds.block > 0]
    of_log = offpolicy.ips_terms(rounds.rewards[rounds.block > 0], logged, logged)  # its mean, whatever the estimate
    terms = {
        LOGGED: dict.fromkeys(ESTIMATORS, of_log),
        RANDOM: _terms(rounds, policies.play(rounds, Ridge(None, ridge), RANDOM, 1.0, ridge)),
    }
    for label, policy in played.items():
        terms[label] = _terms(rounds, policies.play(rounds, policy, label, epsilon, ridge))
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


def _terms(rounds: Rounds, plays: Plays) -> dict[str, Terms]:
    """Return the terms of every estimate; none where the policy would have played nothing that was logged."""
    judged = rounds.block > 0
    target, played, value = (part[judged] for part in plays)
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
    differences: dict[str, list[str]] = {}
    for row in rows:
        interval = f"{row.value:.{digits}f} ({row.low:.{digits}f} … {row.high:.{digits}f})" if row.ess else "–"
        if row.against is None:
            estimates.setdefault(row.policy, [f"{row.ess:,.0f}"]).append(interval)
        else:
            differences.setdefault(f"{row.policy} − {row.against}", []).append(interval)
    level, names = f"{100 * rows[0].level:g} % intervals", ESTIMATORS.values()
    caption = f"Mean reward a round, from {rows[0].rounds:,} rounds of the log, with {level}"
    body = [[label, *intervals, ess] for label, (ess, *intervals) in estimates.items()]
    shown = [(caption, ["policy", *names, "effective rounds"], body)]
    if differences:
        caption = f"One policy minus another in the same rounds, with {level}"
        shown.append(
            (caption, ["difference", *names], [[label, *intervals] for label, intervals in differences.items()])
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
