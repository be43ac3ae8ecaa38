"""Advise on a user's data: simulate, judge, and write the answer."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse.csgraph import connected_components

from graphdr.advise import by_log, wording
from graphdr.advise.data import Data, single_rewards
from graphdr.advise.findings import Findings, Score, Screen, Size
from graphdr.advise.logs import Log
from graphdr.advise.simulation.methods import CONTROL_LABELS, METHODS, Settings
from graphdr.advise.simulation.playing import SimulationConfig
from graphdr.advise.simulation.splits import Source, select_source
from graphdr.advise.simulation.tournament import Tournament, TournamentResult
from graphdr.advise.simulation.verdict import judge
from graphdr.cache import paths
from graphdr.core.atomic import replacing, update
from graphdr.core.errors import UserError

FILES = {"text": "advice.txt", "json": "advice.json", "page": "advice.html"}
RUNS = "runs.parquet"
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
    if log is not None:
        by_log.check_arms(log, data)
    if not has_rewards:
        data = by_log.with_rewards(data, log)
    source = select_source(data, task.nodes)
    if log is not None:
        by_log.check_selected(log, source)
    fewest = max(task.simulation.arms, 4)
    if len(source.item) < fewest:
        raise UserError(f"{len(source.item)} items are fewer than the {fewest} that a round needs; bring more data")
    progress("making graphs and features")

    def first_look(log_bayes: float) -> None:
        keep(wording.screen(screen([log_bayes])))

    result = Tournament(source, task.simulation, task.seed, progress, first_look).run()
    size = _size(source, result)
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
        log=by_log.evaluate_methods(log, source, result, same_rewards=not has_rewards) if log else None,
        notes=[*wording.notes(source, size), *data.notes, *(log.notes if log else ())],
    )
    return findings._replace(answer=wording.answer(findings)), result


def _size(source: Source, result: TournamentResult) -> Size:
    problems = [setup.problem for setup in result.setups]
    adjacencies = [problem.graph.adjacency for problem in problems]
    values = single_rewards(source.data)
    return Size(
        items=source.available,
        taken=len(source.item),
        played=_range(problem.graph.n for problem in problems),
        edges=_range(adjacency.nnz // 2 for adjacency in adjacencies),
        components=_range(connected_components(adjacency, directed=False)[0] for adjacency in adjacencies),
        split_by=source.split.by,
        sample=_sample(source.data),
        rewards=len(values),
        rare=_rare(values),
        noise=float(np.mean([problem.noise for problem in problems])),
    )


def _range(counts: Iterable[int]) -> tuple[int, int]:
    """Return the lowest and the highest count."""
    ordered = sorted(int(count) for count in counts)
    return ordered[0], ordered[-1]


def _rare(values: np.ndarray) -> tuple[float, int] | None:
    """Return the rarer of two values and how many rewards have it; None where rewards have other values."""
    kinds, counts = np.unique(values, return_counts=True)
    if len(kinds) != 2:
        return None
    at = int(counts.argmin())
    return float(kinds[at]), int(counts[at])


def _sample(data: Data) -> int:
    """Count the users behind the rewards of the selected items, or these rewards."""
    return len(np.unique(data.required_interactions.user)) if data.rewards is None else len(data.rewards.value)


def screen(factors: list[float]) -> Screen:
    """Summarise the log evidence of the splits."""
    median = float(np.median(factors))
    return Screen(median, factors, median > EVIDENCE)


def _scores(result: TournamentResult) -> dict[str, Score]:
    """Score every method and control on the runs behind the verdict."""
    scores = {name: _score(name, result) for name in result.curves}
    best = METHODS[result.best_graph]
    for name, text in CONTROL_LABELS.items():
        regret, error = _mean_regret(result.judged[name])
        label = text.format(wording.short(result.best_graph))
        scores[name] = Score(label, best.sees_graph, True, Settings(), regret, error)
    return scores


def _score(name: str, result: TournamentResult) -> Score:
    method = METHODS[name]
    regret, error, behind = None, None, None
    if name in result.judged:
        regret, error = _mean_regret(result.judged[name])
    else:
        behind = _behind(name, result)
    return Score(method.label, method.sees_graph, False, result.settings[name], regret, error, behind)


def _mean_regret(curve: np.ndarray) -> tuple[float, float]:
    """Return the mean final regret, and its standard error over splits."""
    by_split = curve[:, :, -1].mean(axis=1)
    return float(by_split.mean()), float(by_split.std(ddof=1) / np.sqrt(len(by_split)))


def _behind(name: str, result: TournamentResult) -> float:
    """Return by which share a method's regret exceeds that of the best of its kind, on runs of both."""
    best = result.best_graph if METHODS[name].sees_graph else result.best_without
    regret = result.curves[name][:, :, -1]
    lowest = result.curves[best][:, : regret.shape[1], -1]
    return float(regret.mean() / lowest.mean() - 1)


def _curves(result: TournamentResult) -> dict[str, list[list[float]]]:
    """Return the mean regret along the rounds of all judged methods, without controls."""
    curves = {}
    for name, curve in result.judged.items():
        if name in METHODS:
            mean = curve.mean(axis=(0, 1))
            rounds = result.config.every * np.arange(1, 1 + len(mean))
            curves[name] = np.column_stack([rounds, mean]).tolist()
    return curves


def write(findings: Findings, result: TournamentResult, root: Path, text: str, json: str) -> None:
    """Write the advice as text, JSON and a page, and every run as parquet."""
    from graphdr.advise import page

    folder = root / findings.folder
    if folder.is_symlink():  # it could lead to another project, whose files would be overwritten
        raise UserError(f"{folder}: a link; remove it, or give another --name: advise writes to folders of its own")
    for kind, content in {"text": f"{text}\n", "json": f"{json}\n", "page": page.fill(findings)}.items():
        update(content.encode(), folder / FILES[kind])
    with replacing(folder / RUNS) as temporary_path:
        pq.write_table(runs(result), temporary_path)


def runs(result: TournamentResult) -> pa.Table:
    """Return the regret of every run along its rounds: where methods are compared, and where the best are judged."""
    parts = []
    for phase, curves in {"compared": result.curves, "judged": result.judged}.items():
        parts += [_rows(phase, name, curve, result.config.every) for name, curve in curves.items()]
    return pa.concat_tables(parts)


def _rows(phase: str, method: str, regret: np.ndarray, every: int) -> pa.Table:
    split, run, point = (part.ravel() for part in np.indices(regret.shape))
    return pa.table(
        {
            "phase": pa.repeat(phase, regret.size),
            "method": pa.repeat(method, regret.size),
            "split": split,
            "run": run,
            "round": every * (point + 1),
            "regret": regret.ravel(),
        }
    )
