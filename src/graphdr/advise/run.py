"""Advise on a user's data: simulate, judge, ask a log of played rounds as well, and write the answer."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse.csgraph import connected_components

from graphdr.advise import tables, wording
from graphdr.advise.data import Data, Rewards, single_rewards
from graphdr.advise.findings import Findings, Score, Screen, Size
from graphdr.advise.logs import LOGGED, ByLog, GraphPrior, Log, evaluate_by_log, find_arms
from graphdr.advise.simulation.methods import CONTROL_LABELS, FULL, METHODS, Method, Settings, compute_basis
from graphdr.advise.simulation.problems import SimulatedProblem, Source, problem_of_all_data, select_source
from graphdr.advise.simulation.tournament import SimulationConfig, Tournament, TournamentResult
from graphdr.advise.simulation.verdict import judge
from graphdr.cache import paths
from graphdr.core.atomic import replacing, write_text
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs.arm_features import SHUFFLED

FILES = {"text": "advice.txt", "json": "advice.json", "page": "advice.html"}
RUNS = "runs.parquet"
SAME = "the methods were chosen by rewards of the same log, so that the best of them may look better here than it is"
EVIDENCE = 2.0  # log evidence above which random rewards speak for the graph


class Task(NamedTuple):
    """The label and the name of a data set, how to simulate on it, and how many of its items to take."""

    label: str
    name: str
    simulation: SimulationConfig
    nodes: int | None = None  # None: all
    seed: int = 0


def slug(text: str) -> str:
    """Return a name for a data set: lower case letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"data_{name}".rstrip("_")


def advise(
    data: Data,
    task: Task,
    log: Log | None = None,
    progress: Callable[[str], None] = print,
    keep: Callable[[str], None] = print,
) -> tuple[Findings, TournamentResult]:
    """Return advice with its evidence, and the runs behind it.

    ``progress`` receives what is being done, and ``keep`` a first answer.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", task.name):
        raise UserError(f"--name: {task.name!r} is not a name of lower case letters, digits and _, a letter first")
    has_rewards = data.rewards is not None or data.interactions is not None
    if not has_rewards:
        data = with_rewards(data, log)
    source = select_source(data, task.nodes)
    names = data.keys.take(pa.array(source.item)).to_pylist()
    if log is not None:
        find_arms(log, names, "; give --nodes all" if len(names) < len(data.keys) else "")
    progress("making graphs and features")

    def first_look(log_bayes: float) -> None:
        keep(wording.screen(screen([log_bayes])))

    result = Tournament(source, task.simulation, task.seed, progress, first_look).run()
    size = _size(source, result)
    evaluation = evaluate_methods(log, names, source, result) if log else None
    if evaluation and evaluation.estimates and not has_rewards:
        evaluation.warnings.append(SAME)
    findings = Findings(
        name=task.name,
        label=task.label,
        folder=f"{paths.ADVICE}/{task.name}",
        answer=[],
        verdict=judge(result, source.split.spread),
        screen=screen([setup.log_bayes for setup in result.setups]),
        size=size,
        simulation=task.simulation,
        scores=_scores(result),
        curves=_curves(result),
        log=evaluation,
        notes=[*wording.notes(source, size), *data.notes, *(log.notes if log else ())],
    )
    return findings._replace(answer=wording.answer(findings)), result


def with_rewards(data: Data, log: Log | None) -> Data:
    """Take the rewards of items from a log, where no other file has them; items without a round are dropped."""
    if log is None or data.features is None:
        raise UserError("features alone say nothing about rewards; give --rewards FILE, or --log FILE")
    kept, item = np.unique(find_arms(log, data.keys.to_pylist())[log.played], return_inverse=True)
    return data._replace(
        keys=data.keys.take(pa.array(kept)), features=data.features[kept], rewards=Rewards(item, log.rewards)
    )


def evaluate_methods(log: Log, names: list[str], source: Source, result: TournamentResult) -> ByLog:
    """Estimate what the policies of the best methods would have earned.

    A log that cannot be used is a warning, since the simulation is already done.
    """
    problem, best = problem_of_all_data(source, result.setups[0].problem), result.methods[result.best_graph]
    played = {wording.short(name): result.methods[name] for name in (FULL, result.best_without, result.best_graph)}
    shuffled = CONTROL_LABELS[SHUFFLED].format(wording.short(result.best_graph))
    played[shuffled] = best.control(SHUFFLED)
    policies = {label: _without_exploration(method, problem) for label, method in played.items()}
    try:
        return evaluate_by_log(log, names, policies, [wording.short(FULL), shuffled, LOGGED])
    except UserError as error:
        return ByLog([], [f"the log could not be used: {error}"])


def _without_exploration(method: Method, problem: SimulatedProblem) -> np.ndarray | GraphPrior | None:
    """Return features for ridge regression, or a graph prior; None for items by themselves."""
    names, purpose = method.policy.bases, "basis of the log"
    arms = method.arms({name: compute_basis(name, problem, stream(0, purpose)) for name in names})
    if arms.features is None or not arms.features.size:
        return None
    return arms.features if arms.roughness is None else GraphPrior(arms.features, arms.roughness, arms.second_basis)


def _size(source: Source, result: TournamentResult) -> Size:
    data, problems = source.data, [setup.problem for setup in result.setups]
    graphs = [problem.graph for problem in problems]
    values = single_rewards(data)
    distinct, counts = np.unique(values, return_counts=True)
    rarest = int(counts.argmin())

    def ends(values: Iterable[int]) -> tuple[int, int]:
        ordered = sorted(int(value) for value in values)
        return ordered[0], ordered[-1]

    return Size(
        items=len(data.keys),
        taken=len(source.item),
        played=ends(graph.n for graph in graphs),
        edges=ends(graph.adjacency.nnz // 2 for graph in graphs),
        components=ends(connected_components(graph.adjacency, directed=False)[0] for graph in graphs),
        split_by=source.split.by,
        sample=len(np.unique(data.required_interactions.user)) if data.rewards is None else len(values),
        rewards=len(values),
        rare=(float(distinct[rarest]), int(counts[rarest])) if len(distinct) == 2 else None,
        noise=float(np.mean([problem.reward_model.noise for problem in problems])),
    )


def screen(factors: list[float]) -> Screen:
    """Summarise the log evidence of the splits."""
    median = float(np.median(factors))
    return Screen(median, factors, median > EVIDENCE)


def _scores(result: TournamentResult) -> dict[str, Score]:
    """Score every method, and the controls of the best one, on the runs that judge or, behind the best, compare."""
    scores = {}
    for name, compared in result.curves.items():
        method = result.methods[name]
        scores[name] = Score(method.label, method.sees_graph, False, method.settings)
        if name not in result.judged:
            best = result.curves[result.best_graph if method.sees_graph else result.best_without]
            lowest = best[:, : compared.shape[1], -1].mean()
            scores[name] = scores[name]._replace(behind=float(compared[:, :, -1].mean() / lowest - 1))
    for kind, label in CONTROL_LABELS.items():
        scores[kind] = Score(label.format(wording.short(result.best_graph)), True, True, Settings())
    for name, curve in result.judged.items():
        by_split = curve[:, :, -1].mean(axis=1)
        error = by_split.std(ddof=1) / np.sqrt(len(by_split))
        scores[name] = scores[name]._replace(regret=float(by_split.mean()), sem=float(error))
    return scores


def _curves(result: TournamentResult) -> dict[str, list[list[float]]]:
    """Return the mean regret along the rounds of all judged methods, without controls."""
    curves = {}
    for name, curve in result.judged.items():
        if name not in METHODS:
            continue
        mean = curve.mean(axis=(0, 1))
        rounds = result.config.every * np.arange(1, 1 + len(mean))
        curves[name] = np.column_stack([rounds, mean]).tolist()
    return curves


def write(findings: Findings, result: TournamentResult, root: Path, text: str, json: str) -> None:
    """Write the advice as text, JSON and a page, and every run as parquet."""
    folder = root / findings.folder
    if folder.is_symlink():  # it could lead to another project, whose files would be overwritten
        raise UserError(f"{folder}: a link; remove it, or give another --name: advise writes to folders of its own")
    for kind, content in {"text": f"{text}\n", "json": f"{json}\n", "page": tables.page(findings)}.items():
        write_text(content, folder / FILES[kind])
    with replacing(folder / RUNS) as temporary_path:
        pq.write_table(runs(result), temporary_path)


def runs(result: TournamentResult) -> pa.Table:
    """Return the regret of every run along its rounds: where methods are compared, and where the best are judged."""
    parts = []
    for phase, curves in {"compared": result.curves, "judged": result.judged}.items():
        for method, regret in curves.items():
            split, run, point = (part.ravel() for part in np.indices(regret.shape))
            columns = {"split": split, "run": run, "round": result.config.every * (point + 1), "regret": regret.ravel()}
            names = {"phase": pa.repeat(phase, regret.size), "method": pa.repeat(method, regret.size)}
            parts.append(pa.table(names | columns))
    return pa.concat_tables(parts)
