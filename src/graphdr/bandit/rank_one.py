"""What kernels do after a play to keep V + x x^T: update its inverse, or its factor.

By the formula of Sherman and Morrison it is V^-1 - scale u u^T with u = V^-1 x and scale = 1 / (1 + x^T u). Both loops
run along rows of V^-1, and subtracting w w^T with w = sqrt(scale) u keeps it exactly symmetric.
"""

import numpy as np

from graphdr.core.compiled import inlined


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
