"""Trials of `graphdr advise`: how often it is right where the truth is known, and on data of your own.

python -m trust.advice planted 100        where the truth is known: outcomes, and whether intervals hold it
python -m trust.advice clicks 12          on few and many clicks, where the graph knows the click rates
python -m trust.advice permuted 20 FILE   outcomes with the rewards given to other items
python -m trust.advice fresh 10 FILE      the advised method on splits of the data that it was not chosen on
python -m trust.advice books 1 FILE       write generated ratings in the form of Book-Crossing, for the trials above
python -m trust.advice --tiny             all of them, very small

With edges and rewards, give both files. --nodes and --rounds make a trial smaller; --first N takes other draws.
"""

import argparse
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphdr.advise import reading
from graphdr.advise.data import Data, Edges, Interactions, Rewards
from graphdr.advise.simulation.methods import Method
from graphdr.advise.simulation.problems import Source, select_source
from graphdr.advise.simulation.tournament import SimulationConfig, Tournament, TournamentResult, play_run, set_up
from graphdr.advise.simulation.verdict import DOES_NOT, HELPS, UNKNOWN, Verdict, judge, shares
from graphdr.core.rng import stream
from graphdr.graphs import model, random_graphs, spectral
from graphdr.graphs.records import TRANSFORMS

SMALL = SimulationConfig(horizon=4000)
TINY = SimulationConfig(horizon=300, splits=3, comparing=1, judging_runs=3, controls=1)
# The share of the expected rewards' variance that is smooth on the graph, and what the graph then saves.
PLANTED = {0.0: "nothing", 0.38: "10 %", 0.65: "30 %"}
RATED = 0.7  # … where users rate items
SHOWN = (40, 400, 4000)  # how often an item is shown, for about as many clicks on all 80 …
KNOWN = 20_000  # … and for click rates that are known well
RUNS, STEP, MOST = 6, 20, 200  # of every method on a fresh split; further ones, and so many at most, of near methods
WORSE = 3.0  # standard errors of the difference: a method so far behind the advised one is not better
PRECISE = 0.01  # of the regret: what near methods are away from the advised one is known so well


class Outcome(NamedTuple):
    """What one advice says, and the savings behind it, splits x runs."""

    verdict: Verdict
    savings: np.ndarray


def advised(
    data: Data, config: SimulationConfig, seed: int, nodes: int | None = None
) -> tuple[TournamentResult, Verdict]:
    """Advise on data in one thread."""
    source = select_source(data, nodes)
    result = Tournament(source, config, seed).run(workers=1)
    return result, judge(result, source.split.spread)


def graph_data(smooth: float, draw: int, n: int = 200, rewards: int = 20) -> Data:
    """Draw noisy rewards on a graph of eight blocks; a share of the expected rewards' variance is smooth on it.

    Graph and expected rewards are always the same ones, so that the graph helps by as much in every draw.
    """
    rng = stream(0, "planted graph")
    graph = model.largest_component(random_graphs.sbm(n, rng, blocks=8, p_in=0.3, p_out=0.01))
    low = spectral.low_eigenpairs(graph, 9).vectors[:, 1:] @ rng.standard_normal(8)
    expected = np.sqrt(smooth) * low / low.std() + np.sqrt(1 - smooth) * rng.standard_normal(graph.n)
    item = np.repeat(np.arange(graph.n), rewards)
    value = expected[item] + stream(draw, "planted rewards", smooth=str(smooth)).standard_normal(len(item))
    i, j, _ = model.edges(graph)
    return Data(_keys(graph.n), edges=Edges(i, j), rewards=Rewards(item, value))


def rating_data(smooth: float, draw: int, n: int = 150, users: int = 200, each: int = 40) -> Data:
    """Draw users who rate items of six kinds, each kind to the taste of some: the items are always the same ones."""
    items, rng = stream(0, "rated items"), stream(draw, "users", smooth=str(smooth))
    kind = items.integers(6, size=n)
    features = np.eye(6)[kind] + 0.3 * items.standard_normal((n, 6))
    shared = items.standard_normal(6)[kind]
    shared = (shared - shared.mean()) / shared.std()
    expected = np.sqrt(smooth) * shared + np.sqrt(1 - smooth) * items.standard_normal(n)
    user = np.repeat(np.arange(users), each)
    item = np.concatenate([rng.choice(n, each, replace=False) for _ in range(users)])
    liked = np.sum(rng.standard_normal((users, 6))[user] * features[item], axis=1)
    value = 3 + expected[item] + liked + rng.standard_normal(len(item))
    return Data(_keys(n), Interactions(user, item, np.clip(np.round(value), 0, 8)))


def click_data(shown: int, draw: int, brands: int = 4, each: int = 20) -> Data:
    """Draw clicks on items that are shown so often each; the brand alone decides the click rate, and is the graph.

    Half of the pairs of a brand are linked, and one link leads from each brand to the next. Graph and rates are always
    the same ones. The rates are 1.3 % on average: 80 items that are shown 40 times make about 40 clicks.
    """
    brand = np.repeat(np.arange(brands), each)
    rate = np.geomspace(0.004, 0.027, brands)[brand]
    i, j = np.triu_indices(len(brand), k=1)
    inside = (brand[i] == brand[j]) & (stream(0, "brands").random(len(i)) < 0.5)
    linked = inside | ((j == i + 1) & (brand[i] < brand[j]))
    item = np.repeat(np.arange(len(brand)), shown)
    clicked = stream(draw, "clicks", shown=shown).random(len(item)) < rate[item]
    return Data(_keys(len(brand)), edges=Edges(i[linked], j[linked]), rewards=Rewards(item, clicked.astype(float)))


def _keys(n: int) -> pa.Array:
    return pa.array([str(number) for number in range(n)])


def books(path: Path, users: int = 6000, n: int = 3000, count: int = 120_000) -> None:
    """Write ratings of books of twelve kinds by generated users, as Book-Crossing is published: Latin-1, ;, quotes."""
    rng = stream(0, "books")
    shares = (rng.lognormal(0, 1.2, users), 1 / np.arange(1, n + 1) ** 0.8)
    user, book = (rng.choice(len(share), 2 * count, p=share / share.sum()) for share in shares)
    pairs = rng.permutation(np.unique(user * n + book))[:count]
    user, book = pairs // n, pairs % n
    kind = rng.integers(12, size=n)
    liked = 0.5 * rng.standard_normal(12)[kind] + 0.5 * rng.standard_normal(n)
    taste, mood = rng.standard_normal((users, 12)), rng.standard_normal(users)
    value = 7.5 + liked[book] + taste[user, kind[book]] + mood[user] + 1.2 * rng.standard_normal(len(pairs))
    rows = zip(276_000 + user, book, np.clip(np.round(value), 1, 10).astype(int), strict=True)
    lines = (f'"{user}";"{book:09d}{"é" if book % 100 == 0 else "X"}";"{value}"' for user, book, value in rows)
    path.write_bytes("\r\n".join(['"User-ID";"ISBN";"Book-Rating"', *lines, ""]).encode("latin-1"))


def permuted(data: Data, draw: int) -> Data:
    """Give the rewards to other items: no graph and no feature knows anything about them then."""
    rows, order = data.rewards, stream(draw, "permuted").permutation(len(data.keys))
    if rows is None:
        rows = Rewards(data.interactions.item, TRANSFORMS[data.transform](data.interactions.value))
    return data._replace(rewards=Rewards(order[rows.item], rows.value))


def planted(draws: int, first: int = 1000, config: SimulationConfig = SMALL) -> Iterator[str]:
    """Count the outcomes, and how often the interval holds the mean saving over data sets of the same items."""
    kinds = {f"a graph that saves {size}": partial(graph_data, smooth) for smooth, size in PLANTED.items()}
    for kind, maker in (kinds | {"users who rate": partial(rating_data, RATED)}).items():
        outcomes = list(_all(partial(_planted, maker, config), range(first, first + draws)))
        saving, low, high = np.array([outcome.verdict.saves[:3] for outcome in outcomes]).T
        truth, spread = 100 * saving.mean(), 100 * saving.std(ddof=1)
        held = 100 * np.mean((low <= saving.mean()) & (saving.mean() <= high))
        yield f"{kind}: {_counts(outcomes)}"
        yield f"  saves {truth:.1f} % on average, ± {spread:.1f} from data set to data set"
        yield f"  intervals, ± {50 * np.mean(high - low):.1f} on average, hold that in {held:.0f} of 100 data sets"


def clicks(draws: int, config: SimulationConfig, first: int = 0) -> Iterator[str]:
    """Count the outcomes on few and many clicks, and how many means were mostly noise."""
    result, verdict = advised(click_data(KNOWN, 0), config, 0)
    yield f"rates known to {result.reliability:.2f}: {_counts([_outcome(result, verdict)])}"
    yield f"  saves {100 * verdict.saves.estimate:.0f} %"
    for shown in SHOWN:
        outcomes = list(_all(partial(_clicked, config, shown), range(first, first + draws)))
        count = np.mean([click_data(shown, draw).rewards.value.sum() for draw in range(first, first + draws)])
        saving = 100 * np.mean([outcome.verdict.saves.estimate for outcome in outcomes])
        reliability = [outcome.verdict.reliability for outcome in outcomes]
        yield f"{count:,.0f} clicks: {_counts(outcomes)}"
        yield f"  saves {saving:.0f} % on held-out means; reliability {min(reliability):.2f} to {max(reliability):.2f}"


def _counts(outcomes: list[Outcome]) -> str:
    counts = Counter(outcome.verdict.outcome for outcome in outcomes)
    return ", ".join(f"{outcome} {counts[outcome]}" for outcome in (HELPS, UNKNOWN, DOES_NOT))


def permutations(count: int, data: Data, config: SimulationConfig, nodes: int | None, first: int = 0) -> Iterator[str]:
    """Count the outcomes with permuted rewards."""
    outcomes = []
    for outcome in _all(partial(_permuted, data, config, nodes), range(first, first + count)):
        outcomes.append(outcome)
        yield f"permuted rewards: {_counts(outcomes)}"


def fresh(
    count: int, data: Data, config: SimulationConfig, nodes: int | None, first: int = 1000, most: int = MOST
) -> Iterator[str]:
    """Play all methods on splits that no choice was made on; say how the advised one compares with the best.

    Half of the runs choose the best, and the others compare: where it was chosen, the best looks better than it is.
    """
    source = select_source(data, nodes)
    result = Tournament(source, config).run()
    verdict = judge(result, source.split.spread)
    yield f"advised: {verdict.method}; the graph {verdict.outcome} ({verdict.saves.estimate:+.3f})"
    regrets = _all(
        partial(_on_split, source, config, result.methods, verdict.method, most=most), range(first, first + count)
    )
    ratios = []
    for regret in regrets:
        best = min(regret, key=lambda name: regret[name][::2].mean())
        mine, other = (regret[name][1::2].mean() for name in (verdict.method, best))
        ratios.append(mine / other)
        runs = len(regret[best])
        yield f"  {verdict.method} {mine:.1f}, {best} {other:.1f}: {ratios[-1]:.3f} ({runs} runs, {len(regret)} near)"
    yield f"within 5 % of the least regret in {np.sum(np.array(ratios) <= 1.05)} of {count} splits"


def _planted(maker: partial, config: SimulationConfig, draw: int) -> Outcome:
    return _outcome(*advised(maker(draw), config, draw))


def _clicked(config: SimulationConfig, shown: int, draw: int) -> Outcome:
    return _outcome(*advised(click_data(shown, draw), config, draw))


def _permuted(data: Data, config: SimulationConfig, nodes: int | None, draw: int) -> Outcome:
    return _outcome(*advised(permuted(data, draw), config, draw, nodes))


def _outcome(result: TournamentResult, verdict: Verdict) -> Outcome:
    finals = (result.judged[name][:, :, -1] for name in (verdict.best_graph, verdict.best_without))
    return Outcome(verdict, shares(*finals))


def _on_split(
    source: Source, config: SimulationConfig, methods: dict[str, Method], advised: str, number: int, most: int = MOST
) -> dict[str, np.ndarray]:
    """Return the regrets on one split of the advised method and of all that may be better, run by run.

    Few runs depend on chance: they play until the difference is precise, or so many runs are played.
    """
    setup = set_up(source, config.arms, 0, number)
    regrets = {name: np.empty(0) for name in methods}
    while True:
        first = len(regrets[advised])
        entries = {name: methods[name] for name in regrets}
        runs = [play_run(setup, config, 0, at, entries) for at in range(first, first + (STEP if first else RUNS))]
        regrets = {name: np.append(regret, [run[name][-1] for run in runs]) for name, regret in regrets.items()}
        mine = regrets[advised]
        behind = {name: regret - mine for name, regret in regrets.items()}
        error = {name: gap.std(ddof=1) / np.sqrt(len(gap)) for name, gap in behind.items()}
        regrets = {name: regret for name, regret in regrets.items() if behind[name].mean() <= WORSE * error[name]}
        precise = first and max(error[name] for name in regrets) <= PRECISE * mine.mean()
        if len(regrets) == 1 or precise or len(mine) >= most:
            return regrets


def _all(task: Callable, numbers: range) -> Iterator:
    """Do a task for all numbers, in a process for every core; what comes out is there as soon as it is known."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(task, numbers)


def tiny() -> Iterator[str]:
    """Run every kind of trial on little data; refuse advice that is plainly wrong."""
    yield from planted(2, config=TINY)
    yield from clicks(1, TINY)
    with tempfile.TemporaryDirectory() as folder:
        books(path := Path(folder, "books.csv"), users=80, n=60, count=2000)
        data = reading.read(reading.Request(interactions=path))
    yield from permutations(2, data, TINY, None)
    yield from fresh(1, data, TINY, None, most=RUNS + STEP)
    *_, verdict = advised(graph_data(0.95, 0, n=120), TINY, 0)
    if verdict.outcome == DOES_NOT:
        raise SystemExit(f"error: a graph that explains 95 % of the rewards {verdict.outcome}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one kind of trial, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=("planted", "clicks", "permuted", "fresh", "books"))
    parser.add_argument("count", nargs="?", type=int, default=1)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--nodes", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=SimulationConfig().horizon)
    parser.add_argument("--first", type=int)
    parser.add_argument("--tiny", action="store_true", help="every kind, very small")
    asked = parser.parse_args(arguments)
    if not asked.kind and not asked.tiny:
        parser.error("give a kind of trial, or --tiny")
    numbered = {} if asked.first is None else {"first": asked.first}
    if asked.kind == "books":
        return books(*asked.files)
    if asked.tiny:
        lines = tiny()
    elif asked.kind == "planted":
        lines = planted(asked.count, **numbered)
    elif asked.kind == "clicks":
        lines = clicks(asked.count, SimulationConfig(horizon=asked.rounds), **numbered)
    else:
        names = ("edges", "rewards") if len(asked.files) > 1 else ("interactions",)
        data = reading.read(reading.Request(**dict(zip(names, asked.files, strict=True))))
        trials = {"permuted": permutations, "fresh": fresh}
        lines = trials[asked.kind](asked.count, data, SimulationConfig(horizon=asked.rounds), asked.nodes, **numbered)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
