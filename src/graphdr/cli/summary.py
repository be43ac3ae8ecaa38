"""What a build came to, in a few lines: artifacts, verdicts on the paper's numbers and claims, and time."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from graphdr.cache import io, paths
from graphdr.core import terminal
from graphdr.paper.claims import VERDICTS as CLAIM_VERDICTS
from graphdr.paper.compare import VERDICTS

ARTIFACTS = {"tables": "results/tables/*.parquet", "figures": "results/figures/*.parquet"}
PAGES = (paths.REPORT, paths.comparison("md"), paths.claims("md"))


def run(since: float | None = None) -> tuple[dict, Callable[[], list[str]]]:
    """Count what is under results/; with the time at which a build began, say how long it took."""
    compared = _column("comparison", paths.comparison("parquet"))
    judged = _column("claims", paths.claims("parquet"))
    answer = {
        "artifacts": {name: len(list(Path().glob(pattern))) for name, pattern in ARTIFACTS.items()},
        "numbers": {verdict: compared[verdict] for verdict in VERDICTS},
        "claims": {first: sum(n for text, n in judged.items() if text.startswith(first)) for first in CLAIM_VERDICTS},
        "seconds": None if since is None else round(time.time() - since),
        "pages": [page for page in PAGES if Path(page).exists()],
    }
    return answer, lambda: _text(**answer)


def _column(kind: str, path: str) -> Counter:
    return Counter(io.read(kind, path)["verdict"].to_pylist() if Path(path).exists() else [])


def _text(artifacts: dict, numbers: dict, claims: dict, seconds: int | None, pages: list[str]) -> list[str]:
    """Lay the summary out."""
    lines = [
        ("built", ", ".join(f"{count} {name}" for name, count in artifacts.items())),
        ("numbers", _counted(numbers, "not compared yet")),
        ("claims", _counted(claims, "not judged yet")),
        ("read", ", ".join(pages) or "nothing yet"),
    ]
    if seconds is not None:
        lines.append(("time", "{} min {} s".format(*divmod(seconds, 60))))
    return [f"{terminal.paint(f'{name:<8}', 'bold')} {line}" for name, line in lines]


def _counted(counts: dict[str, int], nothing: str) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or nothing
