"""Optional packages: a missing one is reported in one line, with the extra that installs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from graphdr.core.errors import UserError

FILES = ("jinja2", "pyarrow")  # modules of the extra `files`; all others are in `workflow`


class MissingExtra(UserError, ImportError):
    """An optional package is not installed."""


@contextmanager
def needed_for(feature: str, extra: str | None = None) -> Iterator[None]:
    """Turn a missing package into a message that names the extra to install, by default the smallest that has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "graphdr"):  # a bug of this package
            raise
        extra = extra or ("files" if package in FILES else "workflow")
        raise MissingExtra(f'{feature} needs {package}: pip install "graphdr[{extra}]"') from None
