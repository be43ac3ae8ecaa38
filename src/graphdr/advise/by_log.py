"""What a log of played rounds tells about the best methods of a simulation, on the graph of all data."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise import logs, wording
from graphdr.advise.data import Data, Rewards
from graphdr.advise.logs import ByLog, Log
from graphdr.advise.simulation import methods
from graphdr.advise.simulation.methods import METHODS, ConfiguredMethod
from graphdr.advise.simulation.problems import SimulatedProblem, problem_of_all_data
from graphdr.advise.simulation.splits import Source
from graphdr.advise.simulation.tournament import TournamentResult
from graphdr.core.errors import UserError, quote
from graphdr.core.rng import stream
from graphdr.graphs import arm_features

SAME = "the methods were chosen by rewards of the same log, so that the best of them may look better here than it is"


def with_rewards(data: Data, log: Log | None) -> Data:
    """Take the rewards of items from a log, where no other file has them; items without a round are dropped."""
    if log is None or data.features is None:
        raise UserError("features alone say nothing about rewards; give --rewards FILE, or --log FILE")
    place = _places(log, data)
    kept, item = np.unique(place[log.played], return_inverse=True)
    return data._replace(
        keys=data.keys.take(pa.array(kept)), features=data.features[kept], rewards=Rewards(item, log.rewards)
    )


def check_arms(log: Log, data: Data) -> None:
    """Refuse a log of other items before anything is simulated."""
    _places(log, data)


def check_selected(log: Log, source: Source) -> None:
    """Refuse a log with arms among the items that --nodes leaves out, before anything is simulated."""
    place = pc.index_in(pa.array(log.arms, pa.string()), value_set=source.data.keys).drop_null().to_numpy()
    left_out = np.setdiff1d(place, source.item)
    if len(left_out):
        first = source.data.keys[left_out[0]].as_py()
        raise UserError(
            f"{log.name}: {len(left_out):,} of its arms are not among the {len(source.item):,} items that are taken, "
            f"{first!r} first; give --nodes all"
        )


def _places(log: Log, data: Data) -> np.ndarray:
    """Return the item of every arm."""
    place = pc.index_in(pa.array(log.arms, pa.string()), value_set=data.keys)
    if place.null_count:
        first = log.arms[pc.index(pc.is_null(place), True).as_py()]
        raise UserError(f"{log.name}: {place.null_count:,} of its arms are not among the items, {quote(first)} first")
    return place.to_numpy()


def evaluate_methods(log: Log, source: Source, result: TournamentResult, same_rewards: bool) -> ByLog:
    """Estimate what the policies of the best methods would have earned.

    ``same_rewards`` says that the log chose these methods. A log that cannot be used is a warning, since the simulation
    is already done.
    """
    problem = problem_of_all_data(source, result.setups[0].problem)
    entries = {
        wording.short(name): ConfiguredMethod(METHODS[name], result.settings[name])
        for name in (methods.FULL, result.best_without, result.best_graph)
    }
    best = result.best_graph
    shuffled = methods.CONTROL_LABELS[methods.SHUFFLED].format(wording.short(best))
    control = methods.control(METHODS[best], arm_features.SHUFFLED)
    entries[shuffled] = ConfiguredMethod(control, result.settings[best])
    policies = {label: _policy(entry, problem) for label, entry in entries.items()}
    names = source.data.keys.take(pa.array(source.item)).to_pylist()
    try:
        evaluation = logs.evaluate_by_log(log, names, policies, [wording.short(methods.FULL), shuffled, logs.LOGGED])
    except UserError as error:
        return ByLog([], [f"the log could not be used: {error}"])
    return evaluation._replace(warnings=[*evaluation.warnings, *([SAME] if same_rewards else [])])


def _policy(entry: ConfiguredMethod, problem: SimulatedProblem) -> np.ndarray | logs.GraphPrior | None:
    """Return features for ridge regression, or a graph prior; neither explores."""
    method = entry.method
    if method.basis is None:
        return None
    basis, *second = (methods.compute_basis(name, problem, stream(0, "basis of the log")) for name in method.bases)
    if method.policy in methods.TUNED_POLICIES:
        k = len(basis.values) if entry.settings.k is None else entry.settings.k
        return arm_features.select(method.basis, basis.vectors, k)
    graded = [arm_features.graded(name, part) for name, part in zip(method.bases, (basis, *second), strict=True)]
    return logs.GraphPrior(*graded[0], graded[1] if second else None)
