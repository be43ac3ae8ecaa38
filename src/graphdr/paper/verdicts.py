"""The kinds of verdicts on claims, and their counts."""

from collections.abc import Iterable

VERDICTS = {  # kinds of verdict, each with the words of a count
    "holds": "hold",
    "vacuous": "are bounds that hold but that no policy could break",
    "mixed": "mixed",
    "fails": "fail",
    "no data": "have no data",
}


def verdict_kind(verdict: str) -> str:
    """Return the kind of a verdict, which may go on with reservations; a vacuous bound holds, but is a kind apart."""
    if verdict.startswith("holds, vacuous"):
        return "vacuous"
    return next(kind for kind in VERDICTS if verdict.startswith(kind))


def count_verdicts(verdicts: Iterable[str]) -> dict[str, int]:
    """Count verdicts by their kind."""
    kinds = [verdict_kind(verdict) for verdict in verdicts]
    return {kind: kinds.count(kind) for kind in VERDICTS}
