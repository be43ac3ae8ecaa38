"""From a user's files to advice: read, look at the evidence, simulate, judge, and write it down."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse.csgraph import connected_components

from graphdr.advise import by_log, wording
from graphdr.advise.data import Data, single_rewards
from graphdr.advise.findings import Findings, Score, Screen, Size
from graphdr.advise.logs import Log
from graphdr.advise.paper import block, in_memory
from graphdr.advise.paper.building import own_folder
from graphdr.advise.simulation import field, splits
from graphdr.advise.simulation.field import FIELD, Settings
from graphdr.advise.simulation.trial import Game, Trial, trial
from graphdr.advise.simulation.verdict import judge
from graphdr.cache import paths
from graphdr.core.atomic import replacing, update
from graphdr.core.errors import UserError

FILES = {"text": "advice.txt", "json": "advice.json", "page": "advice.html"}
RUNS = "runs.parquet"
SPEAKS = 2.0  # log evidence from which on random rewards speak for the graph


def advise(
    data: Data, label: str, name: str, config: dict, game: Game, nodes: int | None, log: Log | None = None,
    say: Callable[[str], None] = print, keep: Callable[[str], None] = print,
) -> tuple[Findings, Trial]:  # fmt: skip
    """Return advice with its evidence, and the runs behind it; ``nodes`` None takes all, and a log is optional.

    ``config`` is what ``advise.settings`` makes of it; ``say`` is told what is going on, ``keep`` a first answer.
    """
    block.check_name(name, set())
    rewarded = data.rewards is not None or data.interactions is not None
    if log is not None:
        by_log.check(log, data)
    data = data if rewarded else by_log.with_rewards(data, log)
    source = splits.source(data, nodes)
    if log is not None:
        by_log.check_taken(log, source)
    if len(source.item) < max(game.arms, 4):
        raise UserError(
            f"{len(source.item)} items are fewer than the {max(game.arms, 4)} that a round needs; bring more data"
        )
    say("making graphs and features")
    played = trial(source, game, config["seed"], say, lambda found: keep(wording.screen(_screen([found]))))
    say("asking the paper's protocol")
    posed = in_memory.problem(data, config, len(data.keys) if nodes is None else nodes)
    verdict = judge(played, source.split.spread)
    paper = None if posed is None else wording.paper(in_memory.advice(posed, config), verdict.outcome)
    size = _size(source, played)
    findings = Findings(
        name=name,
        label=label,
        folder=f"{paths.ADVICE}/{name}",
        answer=[],
        verdict=verdict,
        screen=_screen([table.log_bayes for table in played.tables]),
        paper=paper,
        size=size,
        game=game,
        scores=_scores(played),
        curves=_curves(played),
        log=by_log.judged(log, source, played, same=not rewarded) if log else None,
        notes=[*wording.notes(source, size), *data.notes, *(log.notes if log else ())],
    )
    return findings._replace(answer=wording.answer(findings)), played


def _size(source: splits.Source, played: Trial) -> Size:
    graphs = [table.world.graph for table in played.tables]
    values = single_rewards(source.data)
    return Size(
        items=source.available,
        taken=len(source.item),
        played=_ends(graph.n for graph in graphs),
        edges=_ends(graph.adjacency.nnz // 2 for graph in graphs),
        components=_ends(connected_components(graph.adjacency, directed=False)[0] for graph in graphs),
        split_by=source.split.by,
        sample=_sample(source.data),
        rewards=len(values),
        rare=_rare(values),
        noise=float(np.mean([table.world.noise for table in played.tables])),
    )


def _ends(counts: Iterable[int]) -> tuple[int, int]:
    found = [int(count) for count in counts]
    return min(found), max(found)


def _rare(values: np.ndarray) -> tuple[float, int] | None:
    """Return the rarer of two values and how many rewards have it; None where rewards have other values."""
    kinds, counts = np.unique(values, return_counts=True)
    if len(kinds) != 2:
        return None
    at = int(counts.argmin())
    return float(kinds[at]), int(counts[at])


def _sample(data: Data) -> int:
    """Count the users behind the rewards of the items that are taken, or these rewards."""
    return len(np.unique(data.interactions.user)) if data.rewards is None else len(data.rewards.value)


def _screen(factors: list[float]) -> Screen:
    middle = float(np.median(factors))
    return Screen(middle, factors, middle > SPEAKS)


def _scores(played: Trial) -> dict[str, Score]:
    """Return how every method and control did; the verdict rests on the same runs."""
    scores = {name: _score(name, played) for name in played.curves}
    best = FIELD[played.best_graph]
    for name, text in field.CONTROL_LABELS.items():
        regret, error = _mean_regret(played.judged[name])
        label = text.format(wording.short(played.best_graph))
        scores[name] = Score(label, best.sees_graph, True, Settings(), regret, error)
    return scores


def _score(name: str, played: Trial) -> Score:
    method = FIELD[name]
    about = method.label, method.sees_graph, False, played.settings[name]
    if name in played.judged:
        return Score(*about, *_mean_regret(played.judged[name]))
    return Score(*about, None, None, _behind(name, played))


def _mean_regret(curve: np.ndarray) -> tuple[float, float]:
    """Return the mean final regret, and its standard error over splits."""
    by_split = curve[:, :, -1].mean(axis=1)
    return float(by_split.mean()), float(by_split.std(ddof=1) / np.sqrt(len(by_split)))


def _behind(name: str, played: Trial) -> float:
    """Return by which share a method's regret was larger than that of the best of its kind, in runs of both."""
    best = played.best_graph if FIELD[name].sees_graph else played.best_without
    regret = played.curves[name][:, :, -1]
    least = played.curves[best][:, : regret.shape[1], -1]
    return float(regret.mean() / least.mean() - 1)


def _curves(played: Trial) -> dict[str, list[list[float]]]:
    """Return the mean regret along the rounds of all methods that are judged, without controls."""
    curves = {name: curve.mean(axis=(0, 1)) for name, curve in played.judged.items() if name in FIELD}
    return {
        name: np.column_stack([played.game.every * np.arange(1, 1 + len(curve)), curve]).tolist()
        for name, curve in curves.items()
    }


def write(findings: Findings, played: Trial, root: Path, text: str, json: str) -> None:
    """Write advice down: as text, as JSON, as a page, and every run as parquet."""
    from graphdr.advise import page

    folder = own_folder(root, findings.name)
    for kind, content in {"text": f"{text}\n", "json": f"{json}\n", "page": page.fill(findings)}.items():
        update(content.encode(), folder / FILES[kind])
    with replacing(folder / RUNS) as beside:
        pq.write_table(runs(played), beside)


def runs(played: Trial) -> pa.Table:
    """Return the regret of every run along its rounds, where methods are compared and where the best are judged."""
    phases = {"compared": played.curves, "judged": played.judged}
    return pa.concat_tables(
        _rows(phase, name, curve, played.game.every)
        for phase, curves in phases.items()
        for name, curve in curves.items()
    )


def _rows(phase: str, method: str, regret: np.ndarray, every: int) -> pa.Table:
    split, run, point = (part.ravel() for part in np.indices(regret.shape))
    columns = {"split": split, "run": run, "round": every * (point + 1), "regret": regret.ravel()}
    words = {name: pa.repeat(word, regret.size) for name, word in {"phase": phase, "method": method}.items()}
    return pa.table(words | {name: pa.array(values) for name, values in columns.items()})
