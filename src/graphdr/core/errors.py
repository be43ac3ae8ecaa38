"""The one exception that reaches a user as a single line, without a traceback."""

DENSE_LIMIT = 20_000  # nodes: a matrix of all pairs has 3 GB


class UserError(Exception):
    """Say what is wrong, where, and what would be right: one line, whatever names of a user are in it."""

    def __init__(self, message: str):
        super().__init__("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in message))


class MissingFile(UserError, FileNotFoundError):
    """A file that a user names and that is not there."""


def no_raw_files(what: str, datasets) -> UserError:
    """Build the message for something that shows only data sets whose raw files are missing."""
    names = sorted(set(datasets))
    advice = f"get them: snakemake {' '.join(names)}"
    return UserError(f"{what}: no data: the raw files of {', '.join(names)} are not here; {advice}")


def no_such(where: str, kind: str, name: object, choices) -> UserError:
    """Build the message for a name that is not in a registry, with the valid choices."""
    return UserError(f"{where}: no {kind} {name!r}; there are: {', '.join(sorted(map(str, choices)))}")


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
