"""The words of verdicts on claims, and their counts."""

from collections.abc import Iterable

MOST = 0.95  # a claim holds in at least this share of instances or settings, and fails in at most the rest
VERDICTS = {  # kinds of verdict, each with the words of a count
    "holds": "hold",
    "vacuous": "are bounds that hold but that no policy could break",
    "mixed": "mixed",
    "fails": "fail",
    "no data": "have no data",
}


def word_for(share: float, needed: float | None = None) -> str:
    """Return the verdict on a claim that holds in a share of the instances; a theorem states the share it needs."""
    if needed is not None:
        return "holds" if share >= needed else "fails"
    return "holds" if share >= MOST else "fails" if share <= 1 - MOST else "mixed"


def verdict_kind(verdict: str) -> str:
    """Return the kind of a verdict, which may go on with reservations."""
    if verdict.startswith("holds, vacuous"):
        return "vacuous"
    return next(kind for kind in VERDICTS if verdict.startswith(kind))


def count_verdicts(verdicts: Iterable[str]) -> dict[str, int]:
    """Count verdicts by their kind."""
    kinds = [verdict_kind(verdict) for verdict in verdicts]
    return {kind: kinds.count(kind) for kind in VERDICTS}
