"""Mistakes of a user: exceptions that are shown as one line without a traceback, and builders of their messages."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

DENSE_LIMIT = 20_000  # nodes; a dense matrix of this size takes 3 GB
FILES = ("jinja2", "pyarrow")  # modules of the extra `files`; all others are in `workflow`
QUOTED = 80  # longest quotation from a file in a message, in characters

Value = TypeVar("Value")


class UserError(Exception):
    """A message of one line: what is wrong, where, and what would be right."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(text: str) -> str:
    """Return a text without line breaks and other characters that cannot be printed."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def elide(text: str, width: int) -> str:
    """Cut a text to a width in characters; an ellipsis marks a cut."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def quote(value: object, parts: int = 1) -> str:
    """Return the repr of a value for a message, at most 80 characters, divided by the number of ``parts`` quoted."""
    return elide(repr(value), QUOTED // parts)


def join_names(names: Iterable[object], parts: int = 1) -> str:
    """Join names from a file for a message, with the limit of ``quote``."""
    return elide(one_line(", ".join(map(str, names))), QUOTED // parts)


def quote_cell(column: object, value: object) -> str:
    """Name a column of a file and quote one of its values."""
    return f"{join_names([column], 2)} {quote(value, 2)}"


class MissingFile(UserError, FileNotFoundError):
    """A file that a user named does not exist."""


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


def no_raw_files(artifact: str, datasets: Iterable[str]) -> UserError:
    """Build the message for a table or figure that needs raw files which are missing."""
    names = sorted(set(datasets))
    advice = f"get them: snakemake {' '.join(names)}"
    return UserError(f"{artifact}: no data: the raw files of {', '.join(names)} are not here; {advice}")


def no_such(where: str, kind: str, name: object, choices: Iterable[object]) -> UserError:
    """Build the message for a name that is not in a registry, with the valid choices."""
    return UserError(f"{where}: no {kind} {quote(name)}; there are: {', '.join(sorted(map(str, choices)))}")


def no_column(where: str, name: object, names: Iterable[object], kind: str = "column") -> UserError:
    """Build the message for a missing column, with the columns of the file."""
    return UserError(f"{where}: no {kind} {quote(name)}; there are: {join_names(sorted(map(str, names)))}")


def check_dense(purpose: str, n: int, nodes: str = "nodes") -> None:
    """Refuse a dense matrix of all pairs of nodes that would not fit into memory."""
    if n > DENSE_LIMIT:
        size = f"a dense matrix of {8e-9 * n**2:,.0f} GB"
        raise UserError(f"{purpose}: {n:,} {nodes} need {size}; leave it out, or take at most {DENSE_LIMIT:,} {nodes}")


def required(value: Value | None, name: str) -> Value:
    """Return a value that must be there; if it is None, raise a ValueError that names it."""
    if value is None:
        raise ValueError(f"{name}: a value is needed, and there is none")
    return value


def reason(error: Exception) -> str:
    """Return the cause of an error as one line."""
    inner = getattr(error, "reason", error)
    text = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return text.splitlines()[0]


def exhausted(command: str, error: MemoryError | RecursionError) -> str:
    """Return the message for too little memory or too deeply nested input."""
    if isinstance(error, RecursionError):
        return f"error: {command}: its input is nested too deeply to be read"
    return f"error: {command}: not enough memory; take fewer nodes or a part of the data, or a machine with more memory"
