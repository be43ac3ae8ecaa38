"""What a build came to, in a few lines: artifacts, verdicts on the paper's numbers and claims, and time."""

import time
from collections import Counter
from pathlib import Path

from graphdr.cache import io, paths
from graphdr.core import terminal
from graphdr.paper import claims
from graphdr.paper.compare import VERDICTS

ARTIFACTS = {"tables": "results/tables/*.parquet", "figures": "results/figures/*.parquet"}
PAGES = (paths.REPORT, paths.comparison("md"), paths.claims("md"))


def run(since: float | None = None) -> dict:
    """Count what is under results/; with the time at which a build began, say how long it took."""
    compared = _column("comparison", paths.comparison("parquet"))
    judged = _column("claims", paths.claims("parquet"))
    return {
        "artifacts": {name: len(list(Path().glob(pattern))) for name, pattern in ARTIFACTS.items()},
        "numbers": {verdict: compared[verdict] for verdict in VERDICTS},
        "claims": {first: sum(n for text, n in judged.items() if text.startswith(first)) for first in claims.VERDICTS},
        "seconds": None if since is None else round(time.time() - since),
        "pages": [page for page in PAGES if Path(page).exists()],
    }


def _column(kind: str, path: str) -> Counter:
    return Counter(io.read(kind, path)["verdict"].to_pylist() if Path(path).exists() else [])


def text(found: dict) -> list[str]:
    """Lay the summary out."""
    lines = [
        ("built", ", ".join(f"{count} {name}" for name, count in found["artifacts"].items())),
        ("numbers", _counted(found["numbers"], "not compared yet")),
        ("claims", _counted(found["claims"], "not judged yet")),
        ("read", ", ".join(found["pages"]) or "nothing yet"),
    ]
    if found["seconds"] is not None:
        lines.append(("time", "{} min {} s".format(*divmod(found["seconds"], 60))))
    return [f"{terminal.paint(f'{name:<8}', 'bold')} {line}" for name, line in lines]


def _counted(counts: dict[str, int], nothing: str) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or nothing
