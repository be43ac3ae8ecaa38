"""Rewards, contexts, facts and runs of all problems and instances, in and out of tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphdr.bandit.arm_set import ArmSet
from graphdr.cache import io

if TYPE_CHECKING:
    import pandas as pd

ProblemInstance = tuple[str, int]  # name of a problem and number of an instance
Columns = dict[str, np.ndarray]
KEYS = ("problem", "instance")


class StoredRuns(NamedTuple):
    """Where the runs of a method on a problem are, and what both are called there."""

    path: str
    problem: str
    method: str


def read_thetas(path: str) -> dict[ProblemInstance, np.ndarray]:
    """Read the expected rewards of the nodes."""
    return {key: theta for key, (theta,) in io.read_parts("theta", path, KEYS, "theta").items()}


def read_rewards(path: str) -> dict[ProblemInstance, list[np.ndarray]]:
    """Read the observed rewards: nodes, values, and how many ratings or clicks each value has."""
    return io.read_parts("rewards", path, KEYS, "node", "value", "count")


def read_facts(path: str) -> dict[tuple[str, int, str], float]:
    """Read facts by problem, instance and quantity."""
    *keys, values = (column.tolist() for column in io.arrays(io.read("facts", path), *KEYS, "quantity", "value"))
    return dict(zip(zip(*keys, strict=True), values, strict=True))


def read_estimates(path: str) -> dict[tuple[str, int, int], np.ndarray]:
    """Read the rewards that pilots estimate, by problem, instance and budget."""
    return {key: theta for key, (theta,) in io.read_parts("pilot", path, (*KEYS, "budget"), "theta").items()}


def read_runs(path: str) -> dict[tuple[str, str], Columns]:
    """Read runs: (method, problem) to the other columns; a method without data is left out."""
    table = io.read("runs", path)
    names = [name for name in table.column_names if name not in ("method", "problem")]
    columns = io.arrays(table, *names)
    runs = io.groups(table, "method", "problem")
    return {key: {name: column[rows] for name, column in zip(names, columns, strict=True)} for key, rows in runs}


def final_regrets(runs: Sequence[tuple[str, str, StoredRuns]]) -> "pd.DataFrame":
    """Return the regret at the end of every run of a problem and method with the first draw of its basis.

    A method without data has no runs.
    """
    import pandas as pd

    stored = {path: read_runs(path) for path in dict.fromkeys(source.path for _, _, source in runs)}
    parts = []
    for problem, method, source in runs:
        if columns := stored[source.path].get((source.method, source.problem)):
            ends = (columns["draw"] == 0) & (columns["t"] == columns["t"].max())
            part = {name: columns[name][ends] for name in ("instance", "seed", "regret")}
            parts.append(pd.DataFrame(part).assign(problem=problem, method=method))
    return pd.concat(parts, ignore_index=True)


def write_arm_sets(arm_sets: Mapping[ProblemInstance, ArmSet], path: str) -> None:
    """Write the contexts of arm sets; a set whose arms are the nodes themselves has no rows."""
    parts = []
    for (problem, instance), arm_set in arm_sets.items():
        contexts = arm_set.rows
        if contexts is not None:
            context = np.repeat(np.arange(contexts.shape[0]), np.diff(contexts.indptr))
            columns = {"context": context, "node": contexts.indices, "weight": contexts.data}
            parts.append({"problem": problem, "instance": instance} | columns)
    io.write_parts("contexts", parts, path)


def read_arm_sets(
    path: str, segments: Mapping[str, int], thetas: Mapping[ProblemInstance, np.ndarray]
) -> dict[ProblemInstance, ArmSet]:
    """Read the arm sets of problems, given the number of segments of each; without a file, the arms are nodes."""
    arm_sets = {key: ArmSet(blocks=segments[key[0]]) for key in thetas if key[0] in segments}
    if path:
        import scipy.sparse as sp

        contexts = io.read_parts("contexts", path, KEYS, "context", "node", "weight")
        for key, (context, node, weight) in contexts.items():
            arm_sets[key] = ArmSet(sp.csr_array((weight, (context, node)), shape=(1 + context[-1], len(thetas[key]))))
    return arm_sets
