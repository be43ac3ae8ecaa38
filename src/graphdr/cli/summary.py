"""What a build came to, in a few lines: artifacts, verdicts on the paper's numbers and claims, and time."""

import time
from argparse import Namespace
from pathlib import Path

from graphdr.cache import io, paths
from graphdr.core import terminal
from graphdr.core.terminal import Answer
from graphdr.paper.compare import VERDICTS, headline
from graphdr.paper.verdicts import count_verdicts

ARTIFACTS = {"tables": "results/tables/*.parquet", "figures": "results/figures/*.parquet"}
PAGES = (paths.page(paths.REPORT), paths.comparison("md"), paths.claims("md"))


def run(options: Namespace, here: Path) -> Answer:
    """Count what is under results/; with the time at which a build began, say how long it took."""
    compared, claims = (
        io.read(kind, path).to_pylist() if Path(path := pattern("parquet")).exists() else []
        for kind, pattern in (("comparison", paths.comparison), ("claims", paths.claims))
    )
    answer = {
        "artifacts": {name: len(list(Path().glob(pattern))) for name, pattern in ARTIFACTS.items()},
        "numbers": headline(compared),
        "claims": count_verdicts(line["verdict"] for line in claims),
        "seconds": None if options.since is None else round(time.time() - options.since),
        "pages": [page for page in PAGES if Path(page).exists()],
    }
    return 0, answer, lambda: _text(**answer)


def _text(artifacts: dict, numbers: dict, claims: dict, seconds: int | None, pages: list[str]) -> list[str]:
    """Lay the summary out."""
    told = {kind: {name: counts[name] for name in VERDICTS} for kind, counts in numbers.items()} | {"claims": claims}
    counted = {kind: ", ".join(f"{n} {name}" for name, n in counts.items() if n) for kind, counts in told.items()}
    distinct = [f"{kind}: {counted[kind]}" for kind in numbers if counted[kind]]
    lines = {
        "built": ", ".join(f"{count} {name}" for name, count in artifacts.items()),
        "numbers": "; ".join(distinct) or "not compared yet",
        "claims": counted["claims"] or "not judged yet",
        "read": ", ".join(pages) or "nothing yet",
    }
    if seconds is not None:
        lines["time"] = "{} min {} s".format(*divmod(seconds, 60))
    return [f"{terminal.paint(f'{name:<8}', 'bold')} {line}" for name, line in lines.items()]
