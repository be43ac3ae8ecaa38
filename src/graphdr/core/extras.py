"""Packages that only some people need: what asks for one that is not installed ends in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from graphdr.core.errors import UserError

FILES = ("jinja2", "pyarrow")  # modules that the extra `files` brings besides the core; `workflow` brings all


class MissingExtra(UserError, ImportError):
    """A package is not installed that an extra of this one brings."""


@contextmanager
def needed_for(what: str, extra: str | None = None) -> Iterator[None]:
    """Name the extra to install, the smallest unless it is given, where a package is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "graphdr"):  # a mistake of ours
            raise
        extra = extra or ("files" if package in FILES else "workflow")
        raise MissingExtra(f'{what} needs {package}: pip install "graphdr[{extra}]"') from None
