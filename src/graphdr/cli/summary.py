"""``graphdr summary``: what was built, the verdicts on the paper's numbers and claims, and the time of the build."""

import time
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import io, paths
from graphdr.core import terminal
from graphdr.core.terminal import Answer
from graphdr.paper.claims import count_verdicts
from graphdr.paper.compare import VERDICTS, headline

ARTIFACTS = {"tables": "results/tables/*.parquet", "figures": "results/figures/*.parquet"}
PAGES = (paths.page(paths.REPORT), paths.comparison("md"), paths.claims("md"))


class Summary(NamedTuple):
    """Counts of artifacts, of verdicts on numbers by kind, and of verdicts on claims; the time and the pages."""

    artifacts: dict[str, int]
    numbers: dict[str, dict[str, int]]
    claims: dict[str, int]
    seconds: int | None
    pages: list[str]


def run(options: Namespace, here: Path) -> Answer:
    """Count what is under results/; with the start of a build, also give its duration."""
    compared = _rows("comparison", paths.comparison("parquet"))
    claims = _rows("claims", paths.claims("parquet"))
    summary = Summary(
        artifacts={name: len(list(Path().glob(pattern))) for name, pattern in ARTIFACTS.items()},
        numbers=headline(compared),
        claims=count_verdicts(claim["verdict"] for claim in claims),
        seconds=None if options.since is None else round(time.time() - options.since),
        pages=[page for page in PAGES if Path(page).exists()],
    )
    return 0, summary, lambda: _text(summary)


def _rows(kind: str, path: str) -> list[dict[str, str]]:
    return io.read(kind, path).to_pylist() if Path(path).exists() else []


def _text(summary: Summary) -> list[str]:
    numbers = {kind: _join({name: counts[name] for name in VERDICTS}) for kind, counts in summary.numbers.items()}
    lines = {
        "built": ", ".join(f"{count} {name}" for name, count in summary.artifacts.items()),
        "numbers": "; ".join(f"{kind}: {text}" for kind, text in numbers.items() if text) or "not compared yet",
        "claims": _join(summary.claims) or "not judged yet",
        "read": ", ".join(summary.pages) or "nothing yet",
    }
    if summary.seconds is not None:
        lines["time"] = "{} min {} s".format(*divmod(summary.seconds, 60))
    return [f"{terminal.paint(f'{name:<8}', 'bold')} {line}" for name, line in lines.items()]


def _join(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
