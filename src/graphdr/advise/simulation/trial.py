"""The trial, on three sets of rounds of every split: one chooses settings, one the best methods, and one judges these.

A method with many settings looks better than it is in the rounds that chose among them, and so does the best of many
methods in the rounds that chose it. Luck decides between near methods in few rounds, so these play more of them.

Splits are played side by side in threads: compiled kernels and linear algebra leave the interpreter alone.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from graphdr.advise.simulation import field
from graphdr.advise.simulation.field import Method, Settings
from graphdr.advise.simulation.splits import Source
from graphdr.advise.simulation.worlds import World, rounds, world
from graphdr.bandit.graph_prior import evidence, model
from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis

PULLS = 2000  # random rewards behind the first look
POINTS = 100  # of a curve
BEHIND = 2.0  # standard errors behind the best, in the same rounds: such a method is not the best
Regrets = dict[str, np.ndarray]


class Game(NamedTuple):
    """How much is played: rounds, candidates of a round and how they are drawn, splits, and runs on each of them."""

    horizon: int = 20_000
    arms: int = 10
    candidates: str = "uniform"
    splits: int = 8
    choosing: int = 1  # runs that choose settings …
    comparing: int = 2  # … that compare all methods …
    deciding: int = 6  # … further ones, at most, of those that may be the best …
    judging: int = 6  # … and that judge the best two: luck decides a single run
    controls: int = 2  # … of which controls play so many

    @property
    def every(self) -> int:
        """Return the rounds between two points of a curve."""
        return max(self.horizon // POINTS, 1)


class Table(NamedTuple):
    """One split: its world, its bases, what random rewards say for its graph, and who can play."""

    number: int
    world: World
    bases: dict[str, Basis]
    log_bayes: float
    methods: dict[str, Method]


class Trial(NamedTuple):
    """What came out: settings by method, and regrets by method."""

    game: Game
    tables: list[Table]
    settings: dict[str, Settings]
    curves: Regrets  # of all methods where they are compared, splits x runs x points; near ones have further runs
    best_graph: str
    best_without: str
    judged: Regrets  # of these two, full LinUCB, random play and controls, splits x runs x points

    @property
    def reliability(self) -> float | None:
        """Return the share of the variance of held-out means that is signal, over all splits; None: not known."""
        known = [table.world.reliability for table in self.tables if table.world.reliability is not None]
        return max(float(np.mean(known)), 0.0) if known else None


def set_up(given: Source, game: Game, seed: int, number: int) -> Table:
    """Make the world of a split and its bases, and look what random rewards say for its graph."""
    made = world(given, game.arms, seed, number)
    methods = field.present(made)
    names = {basis for method in methods.values() for basis in (method.basis, method.beside) if basis}
    rng = stream(seed, "basis", split=number)
    known = {name: field.compute_basis(name, made, rng) for name in sorted(names)}
    pulled = rounds(made, "uniform", PULLS, 1, stream(seed, "first look", split=number))
    arms = pulled.arms[:, 0]
    seen = model.statistics(len(made.theta), arms, made.theta[arms] + pulled.noise.reshape(PULLS, -1)[:, 0])
    factor = evidence.log_bayes_factor(seen, model.columns(*arm_features.graded(field.GRAPH, known[field.GRAPH])))
    return Table(number, made._replace(ratings=None, content=None), known, factor, methods)


def play(table: Table, game: Game, seed: int, number: int, who: Mapping[str, tuple[Method, Settings]]) -> Regrets:
    """Let methods with their settings meet the same rounds of a split; return the regret of each along them."""
    horizon = game.every * (game.horizon // game.every)
    key = {"split": table.number, "number": number}
    drawn = rounds(table.world, game.candidates, horizon, game.arms, stream(seed, "rounds", **key))
    curves = {}
    for name, (method, given) in who.items():
        parts = (table.bases.get(basis) if basis else None for basis in (method.basis, method.beside))
        luck = stream(seed, "policy", **key)
        curves[name] = field.play(method, given, table.world, *parts, drawn, luck, game.every)
    return curves


def trial(
    given: Source,
    game: Game,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
    look: Callable[[float], None] = lambda log_bayes: None,
    workers: int | None = None,
) -> Trial:
    """Play all splits, saying what is going on; ``look`` is told what the first split's random rewards say."""
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:

        def every_split(task: Callable, what: str, among: list, told: Callable[[list], str] = lambda done: "") -> list:
            done: list = []

            def one(split):
                own = task(split)
                done.append(own)  # its last may be another thread's by now
                say(f"{what}: {len(done)} of {len(among)} splits{told(done)}")
                return own

            return list(pool.map(one, among))

        def seat(number: int) -> Table:
            table = set_up(given, game, seed, number)
            if number == 0:
                look(table.log_bayes)
            return table

        tables = every_split(seat, "making graphs and features", list(range(game.splits)))
        methods = _of_all(tables)
        size = min(table.world.graph.n for table in tables)
        grids = {name: field.grid(method, size) for name, method in methods.items()}

        def runs_of(who: Mapping, numbers: range, what: str, among: list) -> Regrets:
            return _stacked(every_split(lambda table: _runs(table, game, seed, who, numbers), what, among))

        settings = {name: grid[0] for name, grid in grids.items()}
        left = {name: [(name, given) for given in grid] for name, grid in grids.items() if len(grid) > 1}
        tried: Regrets = {}
        # A setting that is clearly behind in the first half of the splits does not play the second.
        for what, half in {"choosing settings": tables[::2], "choosing near settings": tables[1::2]}.items():
            them = {key: (methods[key[0]], key[1]) for keys in left.values() for key in keys}
            more = runs_of(them, range(game.choosing), what, half)
            tried = {key: np.concatenate([tried[key], own]) if tried else own for key, own in more.items()}
            left = {name: near(tried, keys) for name, keys in left.items()}
        settings |= {name: _best(tried, keys)[1] for name, keys in left.items()}
        who = {name: (method, settings[name]) for name, method in methods.items()}

        def compare(names: Iterable[str], what: str, first: int) -> Regrets:
            return runs_of({name: who[name] for name in names}, range(first, first + game.comparing), what, tables)

        curves = compare(who, "comparing methods", game.choosing)
        # Random play learns nothing.
        kinds = [
            [name for name in who if methods[name].sees_graph == graph and name != field.RANDOM]
            for graph in (True, False)
        ]
        for first in range(game.comparing, game.deciding + 1, game.comparing):
            kinds = [near(curves, names) for names in kinds]
            if not (close := [name for names in kinds if len(names) > 1 for name in names]):
                break
            further = compare(close, "deciding between near methods", game.choosing + first)
            curves |= {name: np.concatenate([curves[name], further[name]], axis=1) for name in close}
        finalists = [_best(curves, names) for names in kinds]
        best = {name: who[name] for name in (*finalists, field.FULL, field.RANDOM)}
        controls = {name: (one, settings[finalists[0]]) for name, one in field.controls(methods[finalists[0]]).items()}

        def saved(done: list) -> str:
            mine, other = (np.mean([split[name][:, -1] for split in done]) for name in finalists)
            return f"; the graph saves {100 * (1 - mine / other):.0f} % so far"

        judged = every_split(lambda table: _judge(table, game, seed, best, controls), "judging the best", tables, saved)
    return Trial(game, tables, settings, curves, *finalists, _stacked(judged))


def _of_all(tables: list[Table]) -> dict[str, Method]:
    """Return the methods that every split has data for."""
    return {name: method for name, method in tables[0].methods.items() if all(name in one.methods for one in tables)}


def _runs(table: Table, game: Game, seed: int, who: Mapping[str, tuple[Method, Settings]], numbers: range) -> Regrets:
    """Return the curves of methods in some runs, runs x points."""
    return _stacked([play(table, game, seed, number, who) for number in numbers])


def _stacked(parts: list[Regrets]) -> Regrets:
    """Put the regrets of splits or runs into one array for each method."""
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


def _best(curves: Regrets, names: Iterable[str]) -> str:
    """Return the method of the least mean final regret."""
    return min(names, key=lambda name: curves[name][:, :, -1].mean())


def near(curves: Regrets, names: Iterable) -> list:
    """Return the methods, or settings of one, that may be the best: luck may have put them behind it.

    All meet the same rounds. In a single run, all may be the best.
    """
    final = {name: curves[name][:, :, -1] for name in names}
    best = final[_best(curves, names)]
    behind = {name: regret - best for name, regret in final.items()}
    return [
        name
        for name, more in behind.items()
        if more.size < 2 or more.mean() <= BEHIND * more.std(ddof=1) / np.sqrt(more.size)
    ]


def _judge(table: Table, game: Game, seed: int, best: dict, controls: dict) -> Regrets:
    """Return the curves of the best methods in all runs, and of controls in the first ones."""
    drawn = {one.basis for one, _ in controls.values()} & arm_features.CONTROLS.keys()
    rng = stream(seed, "controls", split=table.number)
    extra = {name: field.compute_control(name, table.bases, rng) for name in sorted(drawn)}
    table = table._replace(bases=table.bases | extra)
    first = game.choosing + game.comparing + game.deciding
    middle, last = first + game.controls, first + game.judging
    with_controls = _runs(table, game, seed, best | controls, range(first, middle))
    further = _runs(table, game, seed, best, range(middle, last)) if middle < last else {}
    return with_controls | {name: np.concatenate([with_controls[name], own]) for name, own in further.items()}
