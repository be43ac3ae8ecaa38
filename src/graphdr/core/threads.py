"""How many threads a computation takes."""

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager:
    """Hold BLAS to one thread inside of a ``with`` block: more of them spend CPU on a basis, and hardly save time."""
    import scipy.linalg  # noqa: F401  (a limit reaches libraries that are loaded, and SciPy has a BLAS of its own)
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "blas")
