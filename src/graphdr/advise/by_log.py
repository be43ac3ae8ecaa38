"""What a log of played rounds tells about the best methods of a simulation, on the graph of all data."""

import numpy as np
import pyarrow as pa

from graphdr.advise import logs, wording
from graphdr.advise.data import Data, Rewards
from graphdr.advise.logs import ByLog, Log
from graphdr.advise.ope.policies import find_arms
from graphdr.advise.simulation.methods import CONTROL_LABELS, FULL, TUNED_POLICIES, Method, compute_basis
from graphdr.advise.simulation.problems import SimulatedProblem, problem_of_all_data
from graphdr.advise.simulation.splits import Source
from graphdr.advise.simulation.tournament import TournamentResult
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import SHUFFLED


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
    policies = {label: _policy(method, problem) for label, method in played.items()}
    try:
        return logs.evaluate_by_log(log, names, policies, [wording.short(FULL), shuffled, logs.LOGGED])
    except UserError as error:
        return ByLog([], [f"the log could not be used: {error}"])


def _policy(method: Method, problem: SimulatedProblem) -> np.ndarray | logs.GraphPrior | None:
    """Return features for ridge regression, or a graph prior; neither explores."""
    if method.basis is None:
        return None
    bases = [compute_basis(name, problem, stream(0, "basis of the log")) for name in method.bases]
    if method.policy in TUNED_POLICIES:
        k = method.settings.k or len(bases[0].values)
        return arm_features.select(method.basis, bases[0].vectors, k)
    first, *second = (arm_features.graded(name, basis) for name, basis in zip(method.bases, bases, strict=True))
    return logs.GraphPrior(*first, *second)
