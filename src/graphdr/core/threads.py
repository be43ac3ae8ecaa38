"""Number of threads of linear algebra."""

from contextlib import AbstractContextManager
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside a ``with`` block: further threads cost CPU time and hardly save wall time."""
    import scipy.linalg  # noqa: F401  (only loaded libraries are limited, and SciPy has its own BLAS)
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits
