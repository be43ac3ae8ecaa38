"""Add x x^T to V where kernels keep a square root Q of its inverse, V^-1 = Q^T Q."""

import numpy as np

from graphdr.core.compiled import inlined, summed

WHOLE = 8  # square roots of inverses are padded with zeros to whole blocks of so many rows and columns


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
