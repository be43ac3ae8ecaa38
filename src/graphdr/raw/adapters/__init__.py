"""One module per raw format: its ``read`` turns raw files into the tables of a data set.

An adapter is imported where it is used, so that an edit of it reruns no other format.
"""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from graphdr.raw.tables import Tables


@cache
def formats() -> list[str]:
    """Return the names of all formats: the modules of this package, without importing them."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def module(format: str) -> str:
    """Return the module of a format's adapter."""
    return f"{__name__}.{format}"


def adapter(format: str) -> Callable[..., Tables]:
    """Return the function that reads a format."""
    read: Callable[..., Tables] = importlib.import_module(module(format)).read
    return read
