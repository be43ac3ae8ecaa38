"""The raw formats by name; an adapter is imported where it is used, so that an edit of one reruns no other format."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from graphdr.raw.tables import Tables


@cache
def formats() -> list[str]:
    """Return the names of all formats: the modules of adapters, found without importing them."""
    return sorted(module.name for module in pkgutil.iter_modules([str(files("graphdr.raw") / "adapters")]))


def module(format: str) -> str:
    """Return the module of a format's adapter."""
    return f"graphdr.raw.adapters.{format}"


def adapter(format: str) -> Callable[..., Tables]:
    """Return the function that reads a format."""
    return importlib.import_module(module(format)).read
