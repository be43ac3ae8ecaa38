"""From a trial to a verdict: does the graph help, does it not, or can that not be told from this much data?

Savings are shares of the regret of the best method without the graph. Both methods were chosen on other rounds than
those that judge, so that luck in the choice does not count as a gain.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.simulation import field
from graphdr.advise.simulation.field import Settings
from graphdr.advise.simulation.trial import Trial

LEVEL = 0.95  # of the intervals
SURE = {"sure": 0.99, "fairly sure": 0.95}  # levels at which an outcome holds
UNSURE = "not sure"
PRACTICAL = 0.05  # a saving below this share is not worth a graph …
SLIGHT = 0.01  # … though from this one on its method is the better one, if a graph is there anyway
RELIABLE = 0.5  # share of the variance of held-out means that must be signal before a graph is given up
HELPS, DOES_NOT, UNKNOWN = "helps", "does not help", "cannot be told"
DRAWS = 20_000  # of variances behind an interval
HOPELESS = 100  # times as much data as there are


class Interval(NamedTuple):
    """An estimate, and the ends of its interval."""

    estimate: float
    low: float
    high: float


class Saving(NamedTuple):
    """A share of another method's regret that is saved, with its interval, and the mean regrets that it is made of."""

    estimate: float
    low: float
    high: float
    regret: float
    other_regret: float  # in the same runs


class Verdict(NamedTuple):
    """The outcome for the graph, what it rests on, and the method to use."""

    outcome: str
    reason: str
    sure: str
    method: str
    settings: Settings
    best_graph: str
    best_without: str
    saves: Saving  # of the best graph method, in the regret of the best without the graph …
    saves_full: Saving  # … of full LinUCB, which learns every item by itself …
    over_shuffled: Saving  # … and of its own controls
    over_length: Saving
    over_longest: Saving
    sharing: Saving  # what the best without the graph saves of the regret of full LinUCB
    over_random: Saving  # what the method to use saves of that of random play
    pays_after: int | None  # rounds after which the graph is ahead for good
    times_the_data: float | None  # that would decide, if the saving is as it seems; or that would be RELIABLE
    reliability: float | None  # share of the variance of held-out means that is signal; None: not known


def shares(regret: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return what is saved of another method's regret, split by split and run by run.

    Their mean is one less the ratio r of the mean regrets a and b. The values are that share linearised around the
    means, 1 - r - (regret - r other) / b: they vary as the ratio does (the delta method).
    """
    ratio = regret.mean() / other.mean()
    return 1.0 - ratio - (regret - ratio * other) / other.mean()


def interval(values: np.ndarray, spread: float, level: float = LEVEL) -> Interval:
    """Return the interval of a mean over data sets from values on splits of one of them (splits x runs).

    The variance between splits beyond the luck of their rounds is partly that between data sets: ``spread`` says how
    much of it, after Nadeau and Bengio (2003). Both variances are uncertain, with few splits: the interval is a
    generalised one (Weerahandi, 1993), over draws of both from what the values say about them.
    """
    splits, runs = values.shape
    rng = np.random.default_rng(0)  # the same values have the same interval
    between = values.mean(axis=1).var(ddof=1) * (splits - 1) / rng.chisquare(splits - 1, DRAWS)
    luck = 0.0
    if runs > 1:
        free = splits * (runs - 1)
        luck = values.var(axis=1, ddof=1).mean() / runs * free / rng.chisquare(free, DRAWS)
    between = np.maximum(between, luck)
    error = np.sqrt(between / splits + spread * (between - luck)) * rng.standard_normal(DRAWS)
    middle, half = float(values.mean()), float(np.quantile(np.abs(error), level))
    return Interval(middle, middle - half, middle + half)


def judge(trial: Trial, spread: float) -> Verdict:
    """Judge a trial; ``spread`` is that of the split."""
    graph, without = trial.best_graph, trial.best_without
    judged = {name: curve[:, :, -1] for name, curve in trial.judged.items()}

    def saves(other: str, level: float = LEVEL, least: float = 0.0, of: str = graph) -> Saving:
        other_regret = judged[other]
        regret = judged[of][:, : other_regret.shape[1]]  # controls play fewer runs
        found = interval(shares(regret, other_regret), max(spread, least), level)
        return Saving(*found, float(regret.mean()), float(other_regret.mean()))

    def outcome(level: float) -> tuple[str, str]:
        gain = saves(without, level)
        # If the graph said nothing, it would be one more of its shuffled copies.
        shuffled = saves(field.SHUFFLED, level, least=1.0)
        longest = saves(field.LONGEST, level)
        if gain.high < PRACTICAL:
            return DOES_NOT, "without"
        if shuffled.high < PRACTICAL:
            return DOES_NOT, "shuffled"
        if gain.low <= 0:
            return UNKNOWN, "without"
        if shuffled.low <= 0:
            return UNKNOWN, "shuffled"
        if longest.low <= 0:
            return (DOES_NOT if longest.high < PRACTICAL else UNKNOWN), "longest"
        return HELPS, "graph"

    found, reason = outcome(LEVEL)
    sure = next((word for word, level in SURE.items() if outcome(level) == (found, reason)), UNSURE)
    gain = saves(without)
    use = graph if gain.estimate > (SLIGHT if found == DOES_NOT else 0.0) else without
    learns = saves(field.RANDOM, of=use)
    # Noise in the means that stand for the true rewards hides what a graph knows, but no graph knows the noise.
    noisy = trial.reliability is not None and trial.reliability < RELIABLE
    if noisy and found != HELPS:
        found, reason = UNKNOWN, "noise"
    if learns.low <= 0:
        found, reason, sure = UNKNOWN, "nothing", UNSURE
    return Verdict(
        outcome=found,
        reason=reason,
        sure=UNSURE if found == UNKNOWN else sure,
        method=use,
        settings=trial.settings[use],
        best_graph=graph,
        best_without=without,
        saves=gain,
        saves_full=saves(field.FULL),
        over_shuffled=saves(field.SHUFFLED, least=1.0),
        over_length=saves(field.LENGTH),
        over_longest=saves(field.LONGEST),
        sharing=saves(field.FULL, of=without),
        over_random=learns,
        pays_after=pays_after(trial.judged[graph], trial.judged[without], trial.game.every),
        times_the_data=_times_the_data(reason, gain, trial.reliability) if found == UNKNOWN else None,
        reliability=trial.reliability,
    )


def pays_after(regret: np.ndarray, other: np.ndarray, every: int) -> int | None:
    """Return the rounds after which the mean regret stays below that of the other method, if it does."""
    behind = np.flatnonzero((regret - other).mean(axis=(0, 1)) >= 0)
    if not len(behind):
        return every
    return None if behind[-1] + 1 == regret.shape[-1] else int(behind[-1] + 2) * every


def _times_the_data(reason: str, gain: Saving, reliability: float | None) -> float | None:
    """Return how many times the data would decide: None where that is not known, or too many."""
    if reason == "without":
        times = _to_narrow(gain)
    elif reason == "noise":
        times = _to_be_reliable(reliability)
    else:
        return None
    return times if times < HOPELESS else None


def _to_narrow(gain: Saving) -> float:
    """Return how many times the data would narrow the interval until it decides, if the estimate stays."""
    half = gain.high - gain.estimate
    room = gain.estimate if gain.estimate > PRACTICAL / 2 else PRACTICAL - gain.estimate
    return float((half / room) ** 2)


def _to_be_reliable(reliability: float) -> float:
    """Return how many times the rewards would make the means reliable, by the formula of Spearman and Brown."""
    if reliability <= 0:
        return np.inf
    return RELIABLE / (1 - RELIABLE) * (1 - reliability) / reliability
