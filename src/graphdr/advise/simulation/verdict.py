"""Judge a tournament: the graph helps, does not help, or that cannot be told from this much data.

Savings are shares of the regret of the best method without the graph. Both methods were chosen on other runs than
those that judge, so that chance in the choice does not count as a gain.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.simulation import methods
from graphdr.advise.simulation.methods import Settings
from graphdr.advise.simulation.tournament import TournamentResult
from graphdr.graphs.arm_features import RANDOM_DIRECTIONS, SHUFFLED

LEVEL = 0.95  # of the intervals
SURE = {"sure": 0.99, "fairly sure": 0.95}  # levels at which an outcome holds
UNSURE = "not sure"
PRACTICAL = 0.05  # a saving below this share is not worth a graph …
SLIGHT = 0.01  # … but a method that saves this share is the better one, if a graph is there anyway
RELIABLE = 0.5  # share of the variance of held-out means that must be signal before a graph is rejected
HELPS, DOES_NOT, UNKNOWN = "helps", "does not help", "cannot be told"
DRAWS = 20_000  # of variances behind an interval
HOPELESS = 100  # times the data: more is not asked for


class Saving(NamedTuple):
    """A share of another method's regret that is saved, with its interval, and the mean regrets that it is made of."""

    estimate: float
    low: float
    high: float
    regret: float
    other_regret: float  # in the same runs


class Verdict(NamedTuple):
    """The outcome for the graph, the savings behind it, and the method to use."""

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
    over_random_directions: Saving
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


def interval(values: np.ndarray, spread: float, level: float = LEVEL) -> tuple[float, float, float]:
    """Return a mean over data sets and the ends of its interval, from values on splits of one of them (splits x runs).

    The variance between splits beyond the chance of their rounds is partly that between data sets: ``spread`` says
    how much of it, after Nadeau and Bengio (2003). Both variances are uncertain, with few splits: the interval is a
    generalised one (Weerahandi, 1993), over draws of both from what the values say about them.
    """
    splits, runs = values.shape
    rng = np.random.default_rng(0)  # the same values have the same interval
    between = values.mean(axis=1).var(ddof=1) * (splits - 1) / rng.chisquare(splits - 1, DRAWS)
    within = 0.0
    if runs > 1:
        free = splits * (runs - 1)
        within = values.var(axis=1, ddof=1).mean() / runs * free / rng.chisquare(free, DRAWS)
    between = np.maximum(between, within)
    error = np.sqrt(between / splits + spread * (between - within)) * rng.standard_normal(DRAWS)
    middle, half = float(values.mean()), float(np.quantile(np.abs(error), level))
    return middle, middle - half, middle + half


def decide(gain: Saving, over_shuffled: Saving, over_longest: Saving) -> tuple[str, str]:
    """Return the outcome for the graph and the comparison that decides it."""
    if gain.high < PRACTICAL:
        return DOES_NOT, "without"
    if over_shuffled.high < PRACTICAL:
        return DOES_NOT, "shuffled"
    if gain.low <= 0:
        return UNKNOWN, "without"
    if over_shuffled.low <= 0:
        return UNKNOWN, "shuffled"
    if over_longest.low <= 0:
        return (DOES_NOT if over_longest.high < PRACTICAL else UNKNOWN), "longest"
    return HELPS, "graph"


def judge(result: TournamentResult, spread: float) -> Verdict:
    """Judge a tournament; ``spread`` is that of the split."""
    graph, without, reliability = result.best_graph, result.best_without, result.reliability

    def saving(method: str, other: str, level: float = LEVEL) -> Saving:
        """Return what a method saves of the regret of another one."""
        other_regret = result.judged[other][:, :, -1]
        regret = result.judged[method][:, : other_regret.shape[1], -1]  # controls play fewer runs
        # If the graph told nothing, it would be one more of its shuffled copies.
        share = interval(shares(regret, other_regret), max(spread, 1.0) if other == SHUFFLED else spread, level)
        return Saving(*share, float(regret.mean()), float(other_regret.mean()))

    def decided(level: float) -> tuple[str, str]:
        return decide(*(saving(graph, other, level) for other in (without, SHUFFLED, methods.LONGEST)))

    outcome, reason = decided(LEVEL)
    sure = next((word for word, level in SURE.items() if decided(level) == (outcome, reason)), UNSURE)
    gain = saving(graph, without)
    method = graph if gain.estimate > (SLIGHT if outcome == DOES_NOT else 0.0) else without
    over_random = saving(method, methods.RANDOM)
    # Noise in the means that stand for the true rewards hides what a graph predicts, but no graph predicts the noise.
    if reliability is not None and reliability < RELIABLE and outcome != HELPS:
        outcome, reason = UNKNOWN, "noise"
    if over_random.low <= 0:
        outcome, reason = UNKNOWN, "nothing"
    return Verdict(
        outcome=outcome,
        reason=reason,
        sure=UNSURE if outcome == UNKNOWN else sure,
        method=method,
        settings=result.methods[method].settings,
        best_graph=graph,
        best_without=without,
        saves=gain,
        saves_full=saving(graph, methods.FULL),
        over_shuffled=saving(graph, SHUFFLED),
        over_random_directions=saving(graph, RANDOM_DIRECTIONS),
        over_longest=saving(graph, methods.LONGEST),
        sharing=saving(without, methods.FULL),
        over_random=over_random,
        pays_after=pays_after(result.judged[graph], result.judged[without], result.config.every),
        times_the_data=_times_the_data(reason, gain, reliability) if outcome == UNKNOWN else None,
        reliability=reliability,
    )


def pays_after(regret: np.ndarray, other: np.ndarray, every: int) -> int | None:
    """Return the rounds after which the mean regret stays below that of the other method, if it does."""
    behind = np.flatnonzero((regret - other).mean(axis=(0, 1)) >= 0)
    if not len(behind):
        return every
    return None if behind[-1] + 1 == regret.shape[-1] else int(behind[-1] + 2) * every


def _times_the_data(reason: str, gain: Saving, reliability: float | None) -> float | None:
    """Return how many times the data would decide; None where that is unknown or unrealistic."""
    times = np.inf
    if reason == "without":  # the interval narrows until it decides, if the estimate stays
        margin = gain.estimate if gain.estimate > PRACTICAL / 2 else PRACTICAL - gain.estimate
        times = float(((gain.high - gain.estimate) / margin) ** 2)
    elif reason == "noise" and reliability:  # the formula of Spearman and Brown
        times = RELIABLE / (1 - RELIABLE) * (1 - reliability) / reliability
    return times if times < HOPELESS else None
