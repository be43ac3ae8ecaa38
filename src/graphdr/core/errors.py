"""The one exception that reaches a user as a single line, without a traceback."""

from collections.abc import Iterable

DENSE_LIMIT = 20_000  # nodes: a matrix of all pairs has 3 GB
QUOTED = 80  # characters of a file that a message repeats, at most


class UserError(Exception):
    """Say what is wrong, where, and what would be right: one line, whatever names of a user are in it."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


def one_line(text: str) -> str:
    """Return a text without line breaks and other characters that cannot be printed."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def elide(text: str, room: int) -> str:
    """Cut a text to so many columns, with an ellipsis where something is missing."""
    return text if len(text) <= room else text[: max(room - 1, 0)] + "…"


def quote(value: object, parts: int = 1) -> str:
    """Format a value of a file for a message: its repr, at most 80 characters.

    A message that quotes several values divides the 80 characters into so many parts.
    """
    return elide(repr(value), QUOTED // parts)


def join_names(names: Iterable[object], parts: int = 1) -> str:
    """Join names from a file for a message, at most 80 characters, divided as in ``quote``."""
    return elide(one_line(", ".join(map(str, names))), QUOTED // parts)


def quote_cell(column: object, value: object) -> str:
    """Name a column of a file and quote one of its values."""
    return f"{join_names([column], 2)} {quote(value, 2)}"


class MissingFile(UserError, FileNotFoundError):
    """A file that a user names and that is not there."""


def no_raw_files(what: str, datasets) -> UserError:
    """Build the message for something that shows only data sets whose raw files are missing."""
    names = sorted(set(datasets))
    advice = f"get them: snakemake {' '.join(names)}"
    return UserError(f"{what}: no data: the raw files of {', '.join(names)} are not here; {advice}")


def no_such(where: str, kind: str, name: object, choices) -> UserError:
    """Build the message for a name that is not in a registry, with the valid choices."""
    return UserError(f"{where}: no {kind} {quote(name)}; there are: {', '.join(sorted(map(str, choices)))}")


def no_column(where: str, name: object, names: Iterable[object], kind: str = "column") -> UserError:
    """Build the message for a column that a file does not have, with those that it has."""
    return UserError(f"{where}: no {kind} {quote(name)}; there are: {join_names(sorted(map(str, names)))}")


def check_dense(what: str, n: int, nodes: str = "nodes") -> None:
    """Refuse a matrix of all pairs of nodes that would not fit into memory."""
    if n > DENSE_LIMIT:
        size = f"a dense matrix of {8e-9 * n**2:,.0f} GB"
        raise UserError(f"{what}: {n:,} {nodes} need {size}; leave it out, or take at most {DENSE_LIMIT:,} {nodes}")


def reason(error: Exception) -> str:
    """Return what went wrong as one line."""
    inner = getattr(error, "reason", error)
    text = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return text.splitlines()[0]
