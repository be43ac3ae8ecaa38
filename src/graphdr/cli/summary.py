"""What a build came to, in a few lines: artifacts, verdicts on the paper's numbers and claims, and time."""

import time
from argparse import Namespace
from collections import Counter
from pathlib import Path

from graphdr.cache import io, paths
from graphdr.core import terminal
from graphdr.core.terminal import Answer
from graphdr.paper.claims import VERDICTS as CLAIM_VERDICTS
from graphdr.paper.compare import VERDICTS

ARTIFACTS = {"tables": "results/tables/*.parquet", "figures": "results/figures/*.parquet"}
PAGES = (paths.page(paths.REPORT), paths.comparison("md"), paths.claims("md"))


def run(options: Namespace, here: Path) -> Answer:
    """Count what is under results/; with the time at which a build began, say how long it took."""
    compared, judged = (
        Counter(io.read(kind, path)["verdict"].to_pylist() if Path(path := pattern("parquet")).exists() else [])
        for kind, pattern in (("comparison", paths.comparison), ("claims", paths.claims))
    )
    answer = {
        "artifacts": {name: len(list(Path().glob(pattern))) for name, pattern in ARTIFACTS.items()},
        "numbers": {verdict: compared[verdict] for verdict in VERDICTS},
        "claims": {first: sum(n for text, n in judged.items() if text.startswith(first)) for first in CLAIM_VERDICTS},
        "seconds": None if options.since is None else round(time.time() - options.since),
        "pages": [page for page in PAGES if Path(page).exists()],
    }
    return 0, answer, lambda: _text(**answer)


def _text(artifacts: dict, numbers: dict, claims: dict, seconds: int | None, pages: list[str]) -> list[str]:
    """Lay the summary out."""
    counted = [", ".join(f"{n} {name}" for name, n in counts.items() if n) for counts in (numbers, claims)]
    lines = {
        "built": ", ".join(f"{count} {name}" for name, count in artifacts.items()),
        "numbers": counted[0] or "not compared yet",
        "claims": counted[1] or "not judged yet",
        "read": ", ".join(pages) or "nothing yet",
    }
    if seconds is not None:
        lines["time"] = "{} min {} s".format(*divmod(seconds, 60))
    return [f"{terminal.paint(f'{name:<8}', 'bold')} {line}" for name, line in lines.items()]
