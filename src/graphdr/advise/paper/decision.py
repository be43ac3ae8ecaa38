"""From the regrets of all methods to a recommendation: which reducer, which k, how sure, and what it would save.

Everything is chosen on some seeds and judged on the others, so that luck in the choice does not count as a gain.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

GRAPH, CONTENT, FULL, RANDOM = ("graphdr", "graph_pca"), "content_pca", "linucb_full", "random"
CONTROLS = {method: f"{method}_shuffled" for method in (*GRAPH, CONTENT)}  # the same, its rows given to other nodes
SHUFFLED = tuple(CONTROLS.values())
LENGTH = "graphdr_length"  # rows as long as GraphDR's, in random directions
LONGEST = {"graphdr": "graphdr_longest", "graph_pca": "graph_pca_longest"}  # play the longest row, and learn nothing
COPIES = (*SHUFFLED, LENGTH)  # controls that are drawn several times
SURE = {"sure": 0.99, "fairly sure": 0.95}  # the level at which all intervals behind an advice exclude 0
UNSURE = "not sure"
LEVEL = 0.95  # of the intervals that are shown


class Interval(NamedTuple):
    """An estimated difference of regrets, the ends of its interval at ``LEVEL``, and how sure its sign is."""

    estimate: float
    low: float
    high: float
    sure: str


class Saving(NamedTuple):
    """The share of another method's regret that is saved, with its interval."""

    share: float
    low: float
    high: float


class Advice(NamedTuple):
    """What is advised, why and how sure it is; differences and savings are by method, on the judging seeds."""

    use_graph: bool
    reason: str
    method: str
    k: int | None
    sure: str
    at_edge: list[str]  # methods that are best at the largest k
    best_graph_method: str
    best_without_graph: str
    runner_up: str
    against: dict[str, Interval]  # regret of others, less that of the best graph method
    saves: dict[str, Saving]
    chosen_k: dict[str, int]
    judged: dict[str, float]  # mean regret


def interval(differences: np.ndarray, of_one: bool = False) -> Interval:
    """Return the t interval of a mean difference or, for ``of_one`` further value, of that value (a prediction)."""
    count, estimate = len(differences), float(np.mean(differences))
    if count < 2:
        return Interval(estimate, -np.inf, np.inf, UNSURE)
    error = float(np.std(differences, ddof=1)) * np.sqrt(1 / count + of_one)
    half = {level: stats.t.ppf(0.5 + level / 2, count - 1) * error for level in {LEVEL, *SURE.values()}}
    sure = next((word for word, level in SURE.items() if abs(estimate) > half[level]), UNSURE)
    return Interval(estimate, estimate - half[LEVEL], estimate + half[LEVEL], sure)


def best_k(regrets: Mapping[int, np.ndarray], choosing: int, draw: int = 0) -> int:
    """Return the k of least mean regret over the choosing seeds, the smallest on a tie; arrays are draws x seeds."""
    return min(sorted(regrets), key=lambda k: regrets[k][draw, :choosing].mean())


def order(regrets: Mapping[str, Mapping[int, np.ndarray]], choosing: int, methods: Sequence[str]) -> list[str]:
    """Return methods by their mean regret on the choosing seeds, each at its best k, the least first."""
    least = {method: regrets[method][best_k(regrets[method], choosing)][0, :choosing].mean() for method in methods}
    return sorted(least, key=lambda method: (least[method], method))


def weigh(regrets: Mapping[str, Mapping[int, np.ndarray]], choosing: int) -> Advice:
    """Weigh all methods; ``regrets`` are by method and k, draws x seeds, and the first ``choosing`` seeds choose."""
    weighed = [method for method in regrets if method not in (*COPIES, *LONGEST.values())]
    chosen = {method: best_k(regrets[method], choosing) for method in weighed}
    judged = {method: regrets[method][k][0, choosing:] for method, k in chosen.items()}
    ranked = order(regrets, choosing, [method for method in weighed if method != RANDOM])
    graph = next(method for method in ranked if method in GRAPH)
    helps = CONTENT in ranked and interval(judged[FULL] - judged[CONTENT]).low > 0
    helps = helps and control(regrets[CONTROLS[CONTENT]], judged[CONTENT], choosing).low > 0
    plain = CONTENT if helps else FULL
    against = {method: interval(judged[method] - judged[graph]) for method in ranked if method != graph}
    against[CONTROLS[graph]] = control(regrets[CONTROLS[graph]], judged[graph], choosing)
    longest = regrets[LONGEST[graph]]
    against[LONGEST[graph]] = interval(longest[best_k(longest, choosing)][0, choosing:] - judged[graph])
    rivals = {method: gap for method, gap in against.items() if method not in GRAPH}
    if graph == "graphdr" and LENGTH in regrets:  # shown beside, since what it shares with the others is shown by them
        against[LENGTH] = control(regrets[LENGTH], judged[graph], choosing)
    reason = _reason(rivals, graph, plain, interval(judged[RANDOM] - judged[plain]))
    winner = {"graph": graph, "nothing": FULL}.get(reason, plain)
    others = [method for method in ranked if method != winner]
    return Advice(
        use_graph=reason == "graph",
        reason=reason,
        method=winner,
        k=None if winner in (FULL, RANDOM) else chosen[winner],
        sure=_sure(reason, rivals, plain),
        at_edge=[m for m in sorted({winner, plain}) if m != FULL and chosen[m] == max(regrets[m])],
        best_graph_method=graph,
        best_without_graph=plain,
        runner_up=others[0],
        against=against,
        saves={m: Saving(*interval(1 - judged[winner] / judged[m])[:3]) for m in (*others, RANDOM)},
        chosen_k={method: k for method, k in chosen.items() if method not in (FULL, RANDOM)},
        judged={method: float(regret.mean()) for method, regret in judged.items()},
    )


def control(shuffled: Mapping[int, np.ndarray], regret: np.ndarray, choosing: int) -> Interval:
    """Compare a method with copies of a control, each at the k that is best for it.

    If its dimensions said nothing about the reward, it would be like one more of them. Hence the interval is that of
    one further copy, and not of their mean.
    """
    chosen = [best_k(shuffled, choosing, draw) for draw in range(len(next(iter(shuffled.values()))))]
    gaps = [(shuffled[k][draw, choosing:] - regret).mean() for draw, k in enumerate(chosen)]
    return interval(np.array(gaps), of_one=True)


def _reason(against: Mapping[str, Interval], graph: str, plain: str, learns: Interval) -> str:
    """Say what decides: the graph must beat its controls and all that do without it."""
    if all(gap.low > 0 for gap in against.values()):
        return "graph"
    if learns.low <= 0:
        return "nothing"
    if against[CONTROLS[graph]].low <= 0:
        return "control"
    if against[LONGEST[graph]].low <= 0:
        return "length"
    if against[plain].high < 0:
        return "content" if plain == CONTENT else "full"
    return "tie"


def _sure(reason: str, against: Mapping[str, Interval], plain: str) -> str:
    """Return how sure an advice is: as sure as the least sure of what it rests on."""
    if reason == "graph":
        return max((gap.sure for gap in against.values()), key=[*SURE, UNSURE].index)
    settled = reason in ("control", "length", "content", "full") and against[plain].high < 0
    return against[plain].sure if settled else UNSURE
