"""The trial: settings are chosen on some rounds of every split, and all methods are judged on others.

Splits are played side by side in threads: compiled kernels and linear algebra leave the interpreter alone.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from graphdr.advise.simulation import field
from graphdr.advise.simulation.field import Method, Settings
from graphdr.advise.simulation.worlds import Source, World, rounds, world
from graphdr.bandit.graph_prior import evidence, model
from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis

PULLS = 2000  # random rewards behind the first look
POINTS = 100  # of a curve
Regrets = dict[str, np.ndarray]


class Game(NamedTuple):
    """How much is played: rounds, candidates of a round and how they are drawn, splits, and runs on each of them."""

    horizon: int = 20_000
    arms: int = 10
    candidates: str = "uniform"
    splits: int = 8
    choosing: int = 1  # runs that choose settings and methods …
    judging: int = 2  # … that judge …
    closely: int = 5  # … and that judge the best two besides: luck decides a single run

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
    chosen_on: Regrets  # final regrets in the rounds that chose, splits
    curves: Regrets  # splits x runs x points
    best_graph: str
    best_without: str
    finalists: Regrets  # final regrets of these two, splits x more runs
    controls: Regrets  # … and of the controls of the first

    @property
    def finals(self) -> Regrets:
        """Return the final regrets of the judged rounds, splits x runs."""
        return {name: curve[:, :, -1] for name, curve in self.curves.items()}


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
    looked: list[float] = []
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:

        def every_split(task: Callable, what: str, told: Callable[[list], str] = lambda done: "") -> list:
            done: list = []

            def one(split):
                done.append(task(split))
                say(f"{what}: {len(done)} of {game.splits} splits{told(done)}")
                return done[-1]

            return list(pool.map(one, tables))

        def seat(number: int) -> Table:
            table = set_up(given, game, seed, number)
            looked.append(table.log_bayes)
            if len(looked) == 1:
                look(table.log_bayes)
            return table

        tables: list = list(range(game.splits))
        tables = every_split(seat, "making graphs and features")
        methods = _of_all(tables)
        size = min(table.world.graph.n for table in tables)
        grids = {name: field.grid(method, size) for name, method in methods.items()}
        tried = every_split(lambda table: _try_all(table, game, seed, methods, grids), "choosing settings")
        found = {name: np.array([one[name] for one in tried]) for name in methods}  # splits x settings
        best = {name: int(regret.mean(axis=0).argmin()) for name, regret in found.items()}
        settings = {name: grids[name][best[name]] for name in methods}
        chosen_on = {name: regret[:, best[name]] for name, regret in found.items()}
        finalists = [
            min(
                (name for name, method in methods.items() if method.sees_graph == graph and name != field.RANDOM),
                key=lambda name: chosen_on[name].mean(),
            )
            for graph in (True, False)
        ]
        who = {name: (method, settings[name]) for name, method in methods.items()}
        controls = {name: (one, settings[finalists[0]]) for name, one in field.controls(methods[finalists[0]]).items()}

        def saved(done: list) -> str:
            mine, other = (np.mean([final[name] for _, final in done]) for name in finalists)
            return f"; the graph saves {100 * (1 - mine / other):.0f} % so far"

        judged = every_split(lambda table: _judge(table, game, seed, who, finalists, controls), "playing", saved)
    curves = {name: np.array([split[name] for split, _ in judged]) for name in methods}
    final = {name: np.array([split[name] for _, split in judged]) for name in (*finalists, *controls)}
    closest = {name: final.pop(name) for name in finalists}
    return Trial(game, tables, settings, chosen_on, curves, *finalists, closest, final)


def _of_all(tables: list[Table]) -> dict[str, Method]:
    """Return the methods that every split has data for."""
    return {name: method for name, method in tables[0].methods.items() if all(name in one.methods for one in tables)}


def _try_all(
    table: Table, game: Game, seed: int, methods: dict[str, Method], grids: dict[str, list[Settings]]
) -> Regrets:
    """Return the mean final regret of every method with every setting."""
    who = {(name, at): (methods[name], given) for name, grid in grids.items() for at, given in enumerate(grid)}
    runs = [play(table, game, seed, number, who) for number in range(game.choosing)]
    mean = {key: np.mean([run[key][-1] for run in runs]) for key in who}
    return {name: np.array([mean[name, at] for at in range(len(grid))]) for name, grid in grids.items()}


def _judge(table: Table, game: Game, seed: int, who: dict, finalists: list[str], controls: dict) -> tuple[dict, dict]:
    """Return the curves of all methods and the final regrets of the best two and of controls."""
    drawn = {one.basis for one, _ in controls.values()} & arm_features.CONTROLS.keys()
    rng = stream(seed, "controls", split=table.number)
    extra = {name: field.compute_control(name, table.bases, rng) for name in sorted(drawn)}
    table = table._replace(bases=table.bases | extra)
    first = game.choosing
    runs = [play(table, game, seed, first + at, who | controls) for at in range(game.judging)]
    close = {name: who[name] for name in finalists}
    more = [play(table, game, seed, first + game.judging + at, close) for at in range(game.closely)]
    curves = {name: np.array([run[name] for run in runs]) for name in who}
    final = {
        name: np.array([run[name][-1] for run in (*runs, *(more if name in close else []))])
        for name in (*finalists, *controls)
    }
    return curves, final
