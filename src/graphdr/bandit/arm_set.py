"""The arms of a problem: nodes, or contexts that are vectors over the nodes."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Sparse = Any  # a SciPy matrix, which has no type annotations
NODE = "node"  # the kind of context whose arms are the nodes themselves


@dataclass(frozen=True)
class ContextSpec:
    """The factors that the arms of a problem depend on besides its graph."""

    context: str
    bundle: int
    bundle_sampling: str
    bundle_count: int
    segments: int


class ArmSet(NamedTuple):
    """The arms of a problem: sparse rows over the nodes (None: the nodes themselves), in equal blocks.

    A round offers arms of one block, that of the segment whose user arrives.
    """

    rows: Sparse | None = None
    blocks: int = 1

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Turn values of the nodes, a vector or one a column, into those of the arms."""
        return values if self.rows is None else np.ascontiguousarray(self.rows @ values)

    @property
    def longest(self) -> float:
        """Return L_x, the length of the longest arm."""
        if self.rows is None:
            return 1.0
        from graphdr.graphs.records import row_norms

        return float(row_norms(self.rows).max())


NODES = ArmSet()


def covariance(rows: Sparse, v0_inverse: np.ndarray | None, ridge: float) -> np.ndarray:
    """Return X V_0^-1 X^T, the covariance of the arms' rewards before the first round, in units of the noise.

    A play of arm a subtracts c c^T / (1 + c_a) from it, c its column a: what it does to V^-1 where arms are nodes.
    """
    inner = rows / ridge if v0_inverse is None else rows @ v0_inverse
    product = inner @ rows.T
    return product.toarray() if hasattr(product, "toarray") else np.ascontiguousarray(product)
