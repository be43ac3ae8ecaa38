"""The tournament of methods, on three disjoint sets of runs of every split: tune, compare, and judge the best.

A method with many settings looks better than it is on the runs that chose among them, and so does the best of many
methods on the runs that chose it. Few runs cannot tell near methods apart, so these play more of them.

Splits are played in parallel threads: compiled kernels and linear algebra release the interpreter lock.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import NamedTuple, TypeVar

import numpy as np

from graphdr.advise.simulation import methods
from graphdr.advise.simulation.methods import Method
from graphdr.advise.simulation.problems import SimulatedProblem, Source, draw_rounds, simulated_problem
from graphdr.bandit.environment import Rounds
from graphdr.bandit.graph_prior import evidence, model
from graphdr.bandit.method import BanditProblem
from graphdr.bandit.simulate import simulate
from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis

BEHIND = 2.0  # standard errors behind the best on the same rounds, beyond which a method is not the best
PULLS = 2000  # random rewards behind the first look
POINTS = 100  # of a regret curve
Regrets = dict[str, np.ndarray]  # by method
Key = TypeVar("Key", bound=Hashable)
Task = TypeVar("Task")
Result = TypeVar("Result")


class SimulationConfig(NamedTuple):
    """Rounds of a run, candidates of a round and how they are drawn, splits of the data, and runs on each split."""

    horizon: int = 20_000
    arms: int = 10
    candidates: str = "uniform"
    splits: int = 8
    choosing: int = 1  # runs that choose settings
    comparing: int = 2  # runs that compare all methods
    deciding: int = 6  # at most so many further runs of the methods that may be the best
    judging_runs: int = 6  # runs that judge the best two; a single run depends on chance
    controls: int = 2  # of these, runs that controls play

    @property
    def every(self) -> int:
        """Return the rounds between two points of a curve."""
        return max(self.horizon // POINTS, 1)


class SplitSetup(NamedTuple):
    """One split: its problem, its bases, and the log evidence for its graph."""

    number: int
    problem: SimulatedProblem
    bases: dict[str, Basis]
    log_bayes: float


def set_up(source: Source, arms: int, seed: int, number: int) -> SplitSetup:
    """Make the problem of a split and its bases, and compute the log evidence of random rewards for its graph."""
    problem = simulated_problem(source, arms, seed, number)
    names = {basis for method in methods.available(source.data).values() for basis in method.policy.bases}
    rng = stream(seed, "basis", split=number)
    bases = {name: methods.compute_basis(name, problem, rng) for name in sorted(names)}
    pulls = draw_rounds(problem, "uniform", PULLS, 1, stream(seed, "first look", split=number))
    pulled = pulls.arms[:, 0]
    observed = problem.theta[pulled] + pulls.noise.reshape(PULLS, -1)[:, 0]
    statistics = model.statistics(len(problem.theta), pulled, observed)
    columns = model.columns(*arm_features.graded(methods.GRAPH, bases[methods.GRAPH]))
    log_bayes = evidence.log_bayes_factor(statistics, columns)
    return SplitSetup(number, problem._replace(ratings=None, content=None), bases, log_bayes)


def play_run(
    setup: SplitSetup, config: SimulationConfig, seed: int, number: int, entries: Mapping[Key, Method]
) -> dict[Key, np.ndarray]:
    """Play methods on the same rounds of a split; return the regret of each along the rounds."""
    horizon = config.every * (config.horizon // config.every)
    key = {"split": setup.number, "number": number}
    rounds = draw_rounds(setup.problem, config.candidates, horizon, config.arms, stream(seed, "rounds", **key))
    return {
        name: play_method(method, setup, rounds, stream(seed, "policy", **key), config.every)
        for name, method in entries.items()
    }


def play_method(method: Method, setup: SplitSetup, rounds: Rounds, rng: np.random.Generator, every: int) -> np.ndarray:
    """Play a method through all rounds; return its regret after every so many of them."""
    theta, noise = setup.problem.theta, setup.problem.reward_model.noise
    if method.settings.width is not None:
        method = method.set(alpha=method.settings.width * noise)
    if "k" in method.policy.missing:  # the longest row of a prior has all columns
        method = method.set(k=len(setup.bases[method.policy.bases[0]].values))
    problem = BanditProblem(theta, **method.arms(setup.bases)._asdict(), noise=noise)
    return simulate(problem, method.policy, rounds, rng, checkpoint=every).regret


class TournamentResult(NamedTuple):
    """The methods at their settings, regrets and finalists of a tournament; curves are splits x runs x points."""

    config: SimulationConfig
    setups: list[SplitSetup]
    methods: dict[str, Method]
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
        self.methods = methods.available(source.data)
        self.setups: list[SplitSetup] = []

    def run(self, workers: int | None = None) -> TournamentResult:
        """Play the whole tournament."""
        with ThreadPoolExecutor(workers or os.cpu_count()) as self.executor:
            self.setups = self._on_splits(self._set_up, range(self.config.splits), "making graphs and features")
            self.methods = self.tune()
            curves, best_graph, best_without = self.compare()
            judged = self.judge(best_graph, best_without)
        return TournamentResult(self.config, self.setups, self.methods, curves, best_graph, best_without, judged)

    def _set_up(self, number: int) -> SplitSetup:
        setup = set_up(self.source, self.config.arms, self.seed, number)
        if number == 0:
            self.first_look(setup.log_bayes)
        return setup

    def tune(self) -> dict[str, Method]:
        """Choose the settings of every method by its regret.

        A setting that is clearly behind on the first half of the splits does not play the second half.
        """
        size = min(setup.problem.graph.n for setup in self.setups)
        grids = {name: method.grid(size) for name, method in self.methods.items()}
        curves: dict[Method, np.ndarray] = {}
        halves = {"choosing settings": self.setups[::2], "choosing near settings": self.setups[1::2]}
        for task, setups in halves.items():
            entries = {method: method for grid in grids.values() if len(grid) > 1 for method in grid}
            for method, curve in self._play(entries, range(self.config.choosing), task, setups).items():
                curves[method] = np.concatenate([curves[method], curve]) if method in curves else curve
            grids = {name: near(curves, grid) if len(grid) > 1 else grid for name, grid in grids.items()}
        return {name: _best(curves, grid) if len(grid) > 1 else grid[0] for name, grid in grids.items()}

    def compare(self) -> tuple[Regrets, str, str]:
        """Return the curves of all methods, and the best method with the graph and the best without it.

        Methods that may be the best of their kind play further runs, a few at a time.
        """
        first, step = self.config.choosing, self.config.comparing
        curves = self._play(self.methods, range(first, first + step), "comparing methods", self.setups)
        learning = [name for name in self.methods if name != methods.RANDOM]
        with_graph = [name for name in learning if self.methods[name].sees_graph]
        without = [name for name in learning if name not in with_graph]
        for start in range(first + step, first + self.config.deciding + 1, step):
            with_graph, without = near(curves, with_graph), near(curves, without)
            close = [name for names in (with_graph, without) if len(names) > 1 for name in names]
            if not close:
                break
            entries = {name: self.methods[name] for name in close}
            further = self._play(entries, range(start, start + step), "deciding between near methods", self.setups)
            for name in close:
                curves[name] = np.concatenate([curves[name], further[name]], axis=1)
        return curves, _best(curves, with_graph), _best(curves, without)

    def judge(self, best_graph: str, best_without: str) -> Regrets:
        """Return the curves of the best two, full LinUCB, random play and controls, on runs that chose nothing."""
        best = {name: self.methods[name] for name in (best_graph, best_without, methods.FULL, methods.RANDOM)}
        controls = {kind: best[best_graph].control(kind) for kind in methods.CONTROL_LABELS}
        judge_split = partial(self._judge_split, best=best, controls=controls)
        return _stack(self._on_splits(judge_split, self.setups, "judging the best"))

    def _judge_split(self, setup: SplitSetup, best: Mapping[str, Method], controls: Mapping[str, Method]) -> Regrets:
        """Play the best methods in all runs that judge, and controls in the first of them."""
        config = self.config
        names = sorted({basis for method in controls.values() for basis in method.policy.bases} - setup.bases.keys())
        rng = stream(self.seed, "controls", split=setup.number)
        control_bases = {name: methods.compute_control(name, setup.bases, rng) for name in names}
        setup = setup._replace(bases=setup.bases | control_bases)
        first = config.choosing + config.comparing + config.deciding
        runs = []
        for run in range(config.judging_runs):
            entries = {**best, **controls} if run < config.controls else best
            runs.append(play_run(setup, config, self.seed, first + run, entries))
        return _stack(runs)

    def _play(
        self, entries: Mapping[Key, Method], runs: range, task: str, setups: Sequence[SplitSetup]
    ) -> dict[Key, np.ndarray]:
        """Return the curves of methods on some splits, splits x runs x points."""

        def play_split(setup: SplitSetup) -> dict[Key, np.ndarray]:
            return _stack([play_run(setup, self.config, self.seed, number, entries) for number in runs])

        return _stack(self._on_splits(play_split, setups, task))

    def _on_splits(self, function: Callable[[Task], Result], splits: Sequence[Task], task: str) -> list[Result]:
        """Apply a function to every split in parallel, and report each one that is done."""
        numbers = count(1)

        def report(split: Task) -> Result:
            result = function(split)
            self.progress(f"{task}: {next(numbers)} of {len(splits)} splits")
            return result

        return list(self.executor.map(report, splits))


def _stack(parts: Sequence[Mapping[Key, np.ndarray]]) -> dict[Key, np.ndarray]:
    """Put the regrets of splits or runs into one array for each method; the first part has all methods."""
    return {name: np.array([part[name] for part in parts if name in part]) for name in parts[0]}


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
