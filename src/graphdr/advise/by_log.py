"""What a log of played rounds says of the best methods of a simulation, on the graph of all data."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise import logs, wording
from graphdr.advise.data import Data, Rewards
from graphdr.advise.logs import ByLog, Log
from graphdr.advise.simulation import field, worlds
from graphdr.advise.simulation.field import FIELD, Method, Settings
from graphdr.advise.simulation.splits import Source
from graphdr.advise.simulation.trial import Trial
from graphdr.core.errors import UserError, quote
from graphdr.core.rng import stream
from graphdr.graphs import arm_features

SAME = "the methods were chosen by rewards of the same log, so that the best of them may look better here than it is"


def with_rewards(data: Data, log: Log | None) -> Data:
    """Take the rewards of items from a log, where nothing else says them; what was never played has none."""
    if log is None:
        raise UserError("features alone say nothing about rewards; give --rewards FILE, or --log FILE")
    names, arms, paid = logs.rewards(log)
    place = _places(log, names, data)
    kept, item = np.unique(place[arms], return_inverse=True)
    there = data._replace(keys=data.keys.take(pa.array(kept)), features=data.features[kept], titles=None)
    return there._replace(rewards=Rewards(item, paid))


def check(log: Log, data: Data) -> None:
    """Refuse a log of other items before anything is simulated."""
    _places(log, log.arms, data)


def check_taken(log: Log, source: Source) -> None:
    """Refuse a log with arms among the items that --nodes leaves out, before anything is simulated."""
    place = pc.index_in(pa.array(log.arms, pa.string()), value_set=source.data.keys).drop_null().to_numpy()
    left_out = np.setdiff1d(place, source.item)
    if len(left_out):
        first = source.data.keys[left_out[0]].as_py()
        raise UserError(
            f"{log.name}: {len(left_out):,} of its arms are not among the {len(source.item):,} items that are taken, "
            f"{first!r} first; give --nodes all"
        )


def _places(log: Log, names: list[str], data: Data) -> np.ndarray:
    place = pc.index_in(pa.array(names, pa.string()), value_set=data.keys)
    if place.null_count:
        first = names[pc.index(pc.is_null(place), True).as_py()]
        raise UserError(f"{log.name}: {place.null_count:,} of its arms are not among the items, {quote(first)} first")
    return place.to_numpy()


def judged(log: Log, source: Source, played: Trial, same: bool) -> ByLog:
    """Estimate what the policies of the best methods would have earned; ``same`` says that the log chose them.

    A log that cannot be used is a warning: by now the simulation is done.
    """
    whole = _whole_world(source, played)
    best, told = FIELD[played.best_graph], played.settings
    shuffled = field.control(best, arm_features.SHUFFLED)
    shuffled = shuffled._replace(label=field.CONTROL_LABELS[field.SHUFFLED].format(wording.short(played.best_graph)))
    compared = [(FIELD[name], told[name]) for name in (field.FULL, played.best_without, played.best_graph)]
    arms = {_label(one): _policy(one, given, whole) for one, given in (*compared, (shuffled, told[played.best_graph]))}
    names = source.data.keys.take(pa.array(source.item)).to_pylist()
    try:
        found = logs.judged_by(log, names, arms, [wording.short(field.FULL), _label(shuffled), logs.LOGGED])
    except UserError as error:
        return ByLog([], [f"the log could not be used: {error}"])
    return found._replace(warnings=[*found.warnings, *([SAME] if same else [])])


def _whole_world(source: Source, played: Trial) -> field.World:
    """Return the world of all data, with nothing held out, for bases alone: its rewards are those of a split."""
    graph, told = worlds.whole_graph(source)
    rows = source.data.interactions
    values = rows is not None and rows.value is not None
    return played.tables[0].world._replace(
        graph=graph,
        item=graph.origin,
        content=worlds.content(source, told if values else None, graph.origin),
        ratings=None if told is None else told.matrix,
    )


def _label(method: Method) -> str:
    return method.label.partition(" (")[0]


def _policy(method: Method, given: Settings, whole: field.World) -> np.ndarray | logs.GraphPrior | None:
    """Return what a log can judge of a method: features for ridge regression, or a graph prior; neither explores."""
    if method.basis is None:
        return None
    parts = (method.basis, method.beside)
    known = [field.compute_basis(basis, whole, stream(0, "basis of the log")) if basis else None for basis in parts]
    if method.policy in field.TUNED:
        return arm_features.select(method.basis, known[0].vectors, given.k)
    beside = known[1] and arm_features.graded(method.beside, known[1])
    return logs.GraphPrior(*arm_features.graded(method.basis, known[0]), beside)
