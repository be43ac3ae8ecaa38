"""Arm sets of all problems and instances, in and out of tables."""

from collections.abc import Mapping

import numpy as np

from graphdr.bandit.arm_set import ArmSet
from graphdr.cache import io
from graphdr.store.rows import ProblemInstance, groups, stack


def write_arm_sets(arm_sets: Mapping[ProblemInstance, ArmSet], path: str) -> None:
    """Write the contexts of arm sets; a set whose arms are the nodes themselves has no rows."""
    parts = []
    for (problem, instance), arm_set in arm_sets.items():
        contexts = arm_set.rows
        if contexts is not None:
            context = np.repeat(np.arange(contexts.shape[0]), np.diff(contexts.indptr))
            columns = {"context": context, "node": contexts.indices, "weight": contexts.data}
            parts.append({"problem": problem, "instance": instance} | columns)
    io.write("contexts", stack(parts) if parts else io.nothing("contexts"), path)


def read_arm_sets(
    path: str, segments: Mapping[str, int], thetas: Mapping[ProblemInstance, np.ndarray]
) -> dict[ProblemInstance, ArmSet]:
    """Read the arm sets of problems, given the number of segments of each; without a file, the arms are nodes."""
    arm_sets = {key: ArmSet(blocks=segments[key[0]]) for key in thetas if key[0] in segments}
    if path:
        import scipy.sparse as sp

        table = io.read("contexts", path)
        context, node, weight = (io.values(table[name]) for name in ("context", "node", "weight"))
        for (problem, instance), rows in groups(table, "problem", "instance"):
            shape = 1 + context[rows][-1], len(thetas[problem, instance])
            contexts = sp.csr_array((weight[rows], (context[rows], node[rows])), shape=shape)
            arm_sets[problem, instance] = ArmSet(contexts)
    return arm_sets
