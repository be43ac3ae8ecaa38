"""The one exception that reaches a user as a single line, without a traceback."""


class UserError(Exception):
    """Say what is wrong, where, and what would be right."""


def no_raw_files(what: str, datasets) -> UserError:
    """Build the message for something that shows only data sets whose raw files are missing."""
    names = sorted(set(datasets))
    advice = f"get them: snakemake {' '.join(names)}"
    return UserError(f"{what}: no data: the raw files of {', '.join(names)} are not here; {advice}")


def no_such(where: str, kind: str, name: object, choices) -> UserError:
    """Build the message for a name that is not in a registry, with the valid choices."""
    return UserError(f"{where}: no {kind} {name!r}; there are: {', '.join(sorted(map(str, choices)))}")
