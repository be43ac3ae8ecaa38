"""The tournament of methods, on three disjoint sets of runs of every split: tune, compare, and judge the best.

A method with many settings looks better than it is on the runs that chose among them, and so does the best of many
methods on the runs that chose it. Few runs cannot tell near methods apart, so these play more of them.

Splits are played in parallel threads: compiled kernels and linear algebra release the interpreter lock.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from graphdr.advise.simulation import methods
from graphdr.advise.simulation.methods import ConfiguredMethod, Method, Settings
from graphdr.advise.simulation.playing import Key, Regrets, SimulationConfig, SplitSetup, play_run, set_up
from graphdr.advise.simulation.splits import Source
from graphdr.core.rng import stream
from graphdr.graphs import arm_features

BEHIND = 2.0  # standard errors behind the best on the same rounds, beyond which a method is not the best
Task = TypeVar("Task")
Result = TypeVar("Result")


class TournamentResult(NamedTuple):
    """The settings, regrets and finalists of a tournament; curves are splits x runs x points."""

    config: SimulationConfig
    setups: list[SplitSetup]
    settings: dict[str, Settings]
    curves: Regrets  # of all methods on the runs that compare them; near methods have further runs
    best_graph: str
    best_without: str
    judged: Regrets  # of these two, full LinUCB, random play and controls

    @property
    def reliability(self) -> float | None:
        """Return the share of the variance of held-out means that is signal, over all splits; None: unknown."""
        by_split = [setup.problem.reward_model.reliability for setup in self.setups]
        values = [value for value in by_split if value is not None]
        return max(float(np.mean(values)), 0.0) if values else None


class Tournament:
    """Set up all splits, then tune, compare and judge the methods on them.

    ``progress`` receives what is being done, and ``first_look`` the log evidence of the first split.
    """

    def __init__(
        self,
        source: Source,
        config: SimulationConfig,
        seed: int = 0,
        progress: Callable[[str], None] = lambda text: None,
        first_look: Callable[[float], None] = lambda log_bayes: None,
    ) -> None:
        self.source, self.config, self.seed = source, config, seed
        self.progress, self.first_look = progress, first_look
        self.setups: list[SplitSetup] = []
        self.methods: dict[str, Method] = {}

    def run(self, workers: int | None = None) -> TournamentResult:
        """Play the whole tournament."""
        with ThreadPoolExecutor(workers or os.cpu_count()) as self.executor:
            numbers = range(self.config.splits)
            self.setups = self._on_splits(self._set_up, numbers, "making graphs and features")
            self.methods = _common_methods(self.setups)
            settings = self.tune()
            curves, best_graph, best_without = self.compare(settings)
            judged = self.judge(settings, best_graph, best_without)
        return TournamentResult(self.config, self.setups, settings, curves, best_graph, best_without, judged)

    def _set_up(self, number: int) -> SplitSetup:
        setup = set_up(self.source, self.config.arms, self.seed, number)
        if number == 0:
            self.first_look(setup.log_bayes)
        return setup

    def tune(self) -> dict[str, Settings]:
        """Choose the settings of every method by its regret.

        A setting that is clearly behind on the first half of the splits does not play the second half.
        """
        size = min(setup.problem.graph.n for setup in self.setups)
        grids = {name: methods.grid(method, size) for name, method in self.methods.items()}
        chosen = {name: grid[0] for name, grid in grids.items()}
        left = {name: grid for name, grid in grids.items() if len(grid) > 1}
        curves: dict[str, dict[Settings, np.ndarray]] = {name: {} for name in left}
        halves = {"choosing settings": self.setups[::2], "choosing near settings": self.setups[1::2]}
        for task, setups in halves.items():
            entries = {
                (name, settings): ConfiguredMethod(self.methods[name], settings)
                for name, candidates in left.items()
                for settings in candidates
            }
            played = self._play(entries, range(self.config.choosing), task, setups)
            for (name, settings), curve in played.items():
                earlier = curves[name].get(settings)
                curves[name][settings] = curve if earlier is None else np.concatenate([earlier, curve])
            left = {name: near(curves[name], candidates) for name, candidates in left.items()}
        return chosen | {name: _best(curves[name], candidates) for name, candidates in left.items()}

    def compare(self, settings: Mapping[str, Settings]) -> tuple[Regrets, str, str]:
        """Return the curves of all methods, and the best method with the graph and the best without it.

        Methods that may be the best of their kind play further runs, a few at a time.
        """
        config = self.config
        runs = range(config.choosing, config.choosing + config.comparing)
        curves = self._play(self._configured(self.methods, settings), runs, "comparing methods", self.setups)
        learning = [name for name in self.methods if name != methods.RANDOM]
        with_graph = [name for name in learning if self.methods[name].sees_graph]
        without = [name for name in learning if not self.methods[name].sees_graph]
        for start in range(config.comparing, config.deciding + 1, config.comparing):
            with_graph, without = near(curves, with_graph), near(curves, without)
            close = [name for names in (with_graph, without) if len(names) > 1 for name in names]
            if not close:
                break
            runs = range(config.choosing + start, config.choosing + start + config.comparing)
            entries = self._configured(close, settings)
            further = self._play(entries, runs, "deciding between near methods", self.setups)
            for name in close:
                curves[name] = np.concatenate([curves[name], further[name]], axis=1)
        return curves, _best(curves, with_graph), _best(curves, without)

    def judge(self, settings: Mapping[str, Settings], best_graph: str, best_without: str) -> Regrets:
        """Return the curves of the best two, full LinUCB, random play and controls, on runs that chose nothing."""
        best = self._configured((best_graph, best_without, methods.FULL, methods.RANDOM), settings)
        controls = {
            name: ConfiguredMethod(control, settings[best_graph])
            for name, control in methods.controls(self.methods[best_graph]).items()
        }

        def saved_so_far(done: list[Regrets]) -> str:
            graph, other = (np.mean([split[name][:, -1] for split in done]) for name in (best_graph, best_without))
            return f"; the graph saves {100 * (1 - graph / other):.0f} % so far"

        def judge_split(setup: SplitSetup) -> Regrets:
            return self._judge_split(setup, best, controls)

        by_split = self._on_splits(judge_split, self.setups, "judging the best", saved_so_far)
        return _stack(by_split)

    def _judge_split(
        self, setup: SplitSetup, best: Mapping[str, ConfiguredMethod], controls: Mapping[str, ConfiguredMethod]
    ) -> Regrets:
        """Play the best methods in all runs that judge, and controls in the first of them."""
        config = self.config
        control_names = {basis for entry in controls.values() for basis in entry.method.bases}
        drawn = [name for name in sorted(control_names) if arm_features.find(name).control]
        rng = stream(self.seed, "controls", split=setup.number)
        control_bases = {name: methods.compute_control(name, setup.bases, rng) for name in drawn}
        setup = setup._replace(bases=setup.bases | control_bases)
        first = config.choosing + config.comparing + config.deciding
        middle, last = first + config.controls, first + config.judging_runs
        curves = self._play_split(setup, {**best, **controls}, range(first, middle))
        if middle < last:
            further = self._play_split(setup, best, range(middle, last))
            for name, curve in further.items():
                curves[name] = np.concatenate([curves[name], curve])
        return curves

    def _configured(self, names: Iterable[str], settings: Mapping[str, Settings]) -> dict[str, ConfiguredMethod]:
        return {name: ConfiguredMethod(self.methods[name], settings[name]) for name in names}

    def _play(
        self, entries: Mapping[Key, ConfiguredMethod], runs: range, task: str, setups: Sequence[SplitSetup]
    ) -> dict[Key, np.ndarray]:
        """Return the curves of methods on some splits, splits x runs x points."""
        return _stack(self._on_splits(lambda setup: self._play_split(setup, entries, runs), setups, task))

    def _play_split(
        self, setup: SplitSetup, entries: Mapping[Key, ConfiguredMethod], runs: range
    ) -> dict[Key, np.ndarray]:
        """Return the curves of methods on one split, runs x points."""
        return _stack([play_run(setup, self.config, self.seed, number, entries) for number in runs])

    def _on_splits(
        self,
        function: Callable[[Task], Result],
        splits: Sequence[Task],
        task: str,
        describe: Callable[[list[Result]], str] = lambda done: "",
    ) -> list[Result]:
        """Apply a function to every split in parallel, and report each one that is done."""
        done: list[Result] = []

        def report(split: Task) -> Result:
            result = function(split)
            done.append(result)
            self.progress(f"{task}: {len(done)} of {len(splits)} splits{describe(done)}")
            return result

        return list(self.executor.map(report, splits))


def _common_methods(setups: Sequence[SplitSetup]) -> dict[str, Method]:
    """Return the methods that every split has data for."""
    return {
        name: method for name, method in setups[0].methods.items() if all(name in setup.methods for setup in setups)
    }


def _stack(parts: Sequence[Mapping[Key, np.ndarray]]) -> dict[Key, np.ndarray]:
    """Put the regrets of splits or runs into one array for each method."""
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


def _best(curves: Mapping[Key, np.ndarray], names: Iterable[Key]) -> Key:
    """Return the name with the lowest mean final regret."""
    return min(names, key=lambda name: curves[name][:, :, -1].mean())


def near(curves: Mapping[Key, np.ndarray], names: Sequence[Key]) -> list[Key]:
    """Return the methods, or settings of a method, that may be the best and are behind only by chance.

    All play the same rounds. After a single run, all may be the best.
    """
    best = curves[_best(curves, names)][:, :, -1]
    kept = []
    for name in names:
        behind = curves[name][:, :, -1] - best
        if behind.size < 2 or behind.mean() <= BEHIND * behind.std(ddof=1) / np.sqrt(behind.size):
            kept.append(name)
    return kept
