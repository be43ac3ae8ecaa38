"""The trial: settings are chosen on some rounds of every split, and all methods are judged on others.

Splits are played side by side in threads: compiled kernels and linear algebra leave the interpreter alone.
"""

import os
from collections.abc import Callable
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

PULLS = 2000  # random rewards behind the screen
POINTS = 100  # of a curve


class Game(NamedTuple):
    """How much is played: rounds, candidates of a round and how they are drawn, splits, and rounds of each to judge."""

    horizon: int = 20_000
    arms: int = 10
    candidates: str = "uniform"
    splits: int = 6
    choosing: int = 1
    judging: int = 2  # … and further ones of those that are compared most closely
    closely: int = 4

    @property
    def every(self) -> int:
        """Return the rounds between two points of a curve."""
        return max(self.horizon // POINTS, 1)


class Table(NamedTuple):
    """One split: its world, its bases, what random rewards say for its graph, and who plays."""

    number: int
    world: World
    bases: dict[str, Basis]
    log_bayes: float
    methods: dict[str, Method]


class Trial(NamedTuple):
    """What came out: settings by method, and regrets by method, splits x runs x points of a curve.

    ``chosen_on`` are the final regrets, with the settings chosen, in the rounds that chose them.
    """

    game: Game
    tables: list[Table]
    settings: dict[str, Settings]
    chosen_on: dict[str, np.ndarray]
    curves: dict[str, np.ndarray]
    best_graph: str
    best_without: str
    finalists: dict[str, np.ndarray]  # final regrets of these two, splits x more runs
    controls: dict[str, np.ndarray]  # … and of the controls of the first

    @property
    def every(self) -> int:
        """Return the rounds between two points of a curve."""
        return self.game.every

    @property
    def finals(self) -> dict[str, np.ndarray]:
        """Return the final regrets of the judged rounds, splits x runs."""
        return {name: curve[:, :, -1] for name, curve in self.curves.items()}


def trial(
    given: Source,
    game: Game,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
    look: Callable[[float], None] = lambda log_bayes: None,
    workers: int | None = None,
) -> Trial:
    """Play all splits, saying what is going on; ``look`` is told what the first split's random rewards say."""
    every = game.every
    horizon = every * (game.horizon // every)
    done: list[float] = []
    chosen: list[int] = []
    played: list[float] = []

    def set_up(number: int) -> Table:
        table = _table(given, game, seed, number)
        done.append(table.log_bayes)
        if len(done) == 1:
            look(table.log_bayes)
        say(f"graphs and features: {len(done)} of {game.splits} splits")
        return table

    def run(table: Table, method: Method, settings: Settings, number: int, drawn, extra=None) -> np.ndarray:
        known = table.bases | (extra or {})
        rng = stream(seed, "policy", split=table.number, number=number)
        parts = (known.get(basis) if basis else None for basis in (method.basis, method.beside))
        return field.play(method, settings, table.world, *parts, drawn, rng, every)

    def draw(table: Table, number: int):
        rng = stream(seed, "rounds", split=table.number, number=number)
        return rounds(table.world, game.candidates, horizon, game.arms, rng)

    def choose(table: Table) -> dict[str, np.ndarray]:
        found: dict[str, list] = {name: [] for name in table.methods}
        for number in range(game.choosing):
            drawn = draw(table, number)
            for name, method in table.methods.items():
                found[name].append([run(table, method, one, number, drawn)[-1] for one in field.grid(method, size)])
        chosen.append(table.number)
        say(f"choosing settings: {len(chosen)} of {game.splits} splits")
        return {name: np.mean(values, axis=0) for name, values in found.items()}

    def judge(table: Table) -> tuple[dict[str, list], dict[str, list]]:
        curves: dict[str, list] = {name: [] for name in table.methods}
        final: dict[str, list] = {name: [] for name in (*finalists, *controls)}
        rng = stream(seed, "controls", split=table.number)
        drawn_ones = {one.basis for one in controls.values()} & arm_features.CONTROLS.keys()
        extra = {name: field.compute_control(name, table.bases, rng) for name in sorted(drawn_ones)}
        for number in range(game.choosing, game.choosing + game.judging + game.closely):
            drawn = draw(table, number)
            closely = number >= game.choosing + game.judging
            for name in finalists if closely else table.methods:
                curve = run(table, table.methods[name], settings[name], number, drawn)
                curves[name] += [] if closely else [curve]
                if name in finalists:
                    final[name].append(curve[-1])
            for name, method in () if closely else controls.items():
                final[name].append(run(table, method, settings[best_graph], number, drawn, extra)[-1])
        played.append(1 - np.mean(final[best_graph]) / np.mean(final[best_without]))
        so_far = f"the graph saves {100 * np.mean(played):.0f} % so far"
        say(f"playing: {len(played)} of {game.splits} splits; {so_far}")
        return curves, final

    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        tables = list(pool.map(set_up, range(game.splits)))
        size = min(table.world.graph.n for table in tables)
        grids = list(pool.map(choose, tables))
        methods = {name: method for name, method in tables[0].methods.items() if all(name in t.methods for t in tables)}
        settings, chosen_on = {}, {}
        for name, method in methods.items():
            found = np.array([one[name] for one in grids])
            best = int(found.mean(axis=0).argmin())
            settings[name], chosen_on[name] = field.grid(method, size)[best], found[:, best]
        best_graph, best_without = (
            min(
                (n for n, m in methods.items() if m.sees_graph == graph and n != field.RANDOM),
                key=lambda n: chosen_on[n].mean(),
            )
            for graph in (True, False)
        )
        tables = [table._replace(methods=methods) for table in tables]
        finalists, controls = (best_graph, best_without), field.controls(methods[best_graph])
        judged = list(pool.map(judge, tables))
    curves, final = ({name: np.array([part[at][name] for part in judged]) for name in judged[0][at]} for at in (0, 1))
    best = {name: final.pop(name) for name in finalists}
    return Trial(game, tables, settings, chosen_on, curves, best_graph, best_without, best, final)


def _table(given: Source, game: Game, seed: int, number: int) -> Table:
    made = world(given, game.arms, seed, number)
    methods = field.present(made)
    names = {basis for method in methods.values() for basis in (method.basis, method.beside) if basis}
    rng = stream(seed, "basis", split=number)
    known = {name: field.compute_basis(name, made, rng) for name in sorted(names)}
    pulled = rounds(made, "uniform", PULLS, 1, stream(seed, "screen", split=number))
    arms = pulled.arms[:, 0]
    seen = model.statistics(len(made.theta), arms, made.theta[arms] + pulled.noise.reshape(PULLS, -1)[:, 0])
    columns = model.columns(*arm_features.graded("laplacian_low", known["laplacian_low"]))
    factor = evidence.log_bayes_factor(seen, columns)
    return Table(number, made._replace(ratings=None, content=None), known, factor, methods)
