"""The rank-one update of V^-1 that every LinUCB kernel on k features makes after a play: (V + x x^T)^-1.

By the formula of Sherman and Morrison it is V^-1 - scale u u^T with u = V^-1 x and scale = 1 / (1 + x^T u). Both loops
run along rows of V^-1, and subtracting w w^T with w = sqrt(scale) u keeps it exactly symmetric.
"""

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
