"""What kernels do after a play to keep V + x x^T: update its inverse, its factor, or a square root of its inverse.

By the formula of Sherman and Morrison it is V^-1 - scale u u^T with u = V^-1 x and scale = 1 / (1 + x^T u). Both loops
run along rows of V^-1, and subtracting w w^T with w = sqrt(scale) u keeps it exactly symmetric.
"""

from typing import NamedTuple

import numpy as np

from graphdr.core.compiled import inlined, summed

BLOCK = 32  # distinct arms between two flushes of a dense inverse: fewer flush too often, more slow each round
WHOLE = 8  # square roots of inverses have zeros up to whole blocks of so many rows and columns


@inlined
def multiply(v, x, u, k):
    """Write V^-1 x into u."""
    u[:] = 0.0
    for j in range(k):
        xj = x[j]
        for i in range(k):
            u[i] += v[j, i] * xj


@inlined
def subtract(v, w, k):
    """Subtract w w^T from V^-1."""
    for i in range(k):
        step = w[i]
        for j in range(k):
            v[i, j] -= step * w[j]


@inlined
def rotate(root, told, x, y, k):
    """Add x x^T to V = R^T R and y x to r, of which R and told = R^-T r are kept: rotations turn x into zeros."""
    for i in range(k):
        length = np.sqrt(root[i, i] * root[i, i] + x[i] * x[i])
        cosine, sine = root[i, i] / length, x[i] / length
        root[i, i] = length
        for j in range(i + 1, k):
            before = root[i, j]
            root[i, j] = cosine * before + sine * x[j]
            x[j] = cosine * x[j] - sine * before
        before = told[i]
        told[i] = cosine * before + sine * y
        y = cosine * y - sine * before


@summed
def dot(x, y, k):
    """Return the sum of the first k products."""
    total = 0.0
    for i in range(k):
        total += x[i] * y[i]
    return total


@inlined
def through(half, x, p, u, k):
    """Write p = Q x and u = V^-1 x = Q^T p, where V^-1 = Q^T Q; return x^T V^-1 x."""
    u[:] = 0.0
    square = 0.0
    for j in range(0, k, 4):  # four rows at a time, so that u is read and written less often
        a, b, c, d = dot(half[j], x, k), dot(half[j + 1], x, k), dot(half[j + 2], x, k), dot(half[j + 3], x, k)
        p[j], p[j + 1], p[j + 2], p[j + 3] = a, b, c, d
        square += (a * a + b * b) + (c * c + d * d)
        for i in range(k):
            u[i] += (a * half[j, i] + b * half[j + 1, i]) + (c * half[j + 2, i] + d * half[j + 3, i])
    return square


@inlined
def draw(half, p, u, square, z, drawn, k):
    """Add x x^T to V, with what ``through`` wrote, and then Q^T z to ``drawn``: it varies as V^-1 says if z is normal.

    With s = sqrt(1 + x^T V^-1 x), Q - p u^T / (s (s + 1)) is a square root of the inverse of V + x x^T.
    """
    root = np.sqrt(1.0 + square)
    shrink = 1.0 / (root * (root + 1.0))
    for j in range(0, k, 4):
        a, b, c, d = shrink * p[j], shrink * p[j + 1], shrink * p[j + 2], shrink * p[j + 3]
        e, f, g, h = z[j], z[j + 1], z[j + 2], z[j + 3]
        for i in range(k):
            v = u[i]
            r0, r1 = half[j, i] - a * v, half[j + 1, i] - b * v
            r2, r3 = half[j + 2, i] - c * v, half[j + 3, i] - d * v
            half[j, i], half[j + 1, i], half[j + 2, i], half[j + 3, i] = r0, r1, r2, r3
            drawn[i] += (e * r0 + f * r1) + (g * r2 + h * r3)


class Block(NamedTuple):
    """The inverse of a V + one-hot plays, of which only columns are asked for: V^-1 = M - C^T K C.

    C holds the rows of M of the distinct arms played since the last flush, K is the small core. ``slot`` is the place
    of an arm among these rows (-1: none), ``members`` are the arms of the places. Only the lower triangle of M is kept.
    """

    lower: np.ndarray
    rows: np.ndarray
    core: np.ndarray
    slot: np.ndarray
    members: np.ndarray


def blocked(v0_inverse: np.ndarray, size: int = BLOCK) -> Block:
    """Return V_0^-1 with an empty block."""
    n = len(v0_inverse)
    m_inverse = np.array(v0_inverse, order="F")  # BLAS updates it in place
    empty = np.empty((size, n)), np.zeros((size, size)), np.full(n, -1, np.int64), np.empty(size, np.int64)
    return Block(m_inverse, *empty)


def flush(block: Block, size: int) -> None:
    """Subtract C^T K C from M, and empty the block."""
    from scipy.linalg.blas import dsyrk

    factor = np.linalg.cholesky(block.core[:size, :size]).T @ block.rows[:size]
    dsyrk(-1.0, factor.T, beta=1.0, c=block.lower, lower=1, overwrite_c=1)
    block.slot[block.members[:size]] = -1


@inlined
def enter(lower, rows, core, slot, members, size, arm):
    """Give an arm the next place of the block."""
    slot[arm] = size
    members[size] = arm
    for i in range(arm + 1):
        rows[size, i] = lower[arm, i]
    for i in range(arm + 1, len(slot)):
        rows[size, i] = lower[i, arm]
    core[size, : size + 1] = 0.0
    core[:size, size] = 0.0


@inlined
def column(rows, core, slot, size, arm, h, u):
    """Write the column u of V^-1 of an arm of the block, with h = e_arm - K C[:, arm] and u = C^T h."""
    h[:size] = 0.0
    for j in range(size):
        weight = rows[j, arm]
        for i in range(size):
            h[i] -= core[j, i] * weight
    h[slot[arm]] += 1.0
    u[:] = 0.0
    for i in range(size):
        for j in range(len(u)):
            u[j] += h[i] * rows[i, j]


@inlined
def fold(core, h, scale, size):
    """Count a play of the arm whose column was written: K gains scale h h^T, with scale = 1 / (1 + u_arm)."""
    for i in range(size):
        weight = h[i] * scale
        for j in range(size):
            core[i, j] += weight * h[j]
