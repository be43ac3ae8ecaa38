"""``graphdr summary``: what was built, the verdicts on the paper's numbers and claims, and the time of the build."""

import time
from argparse import Namespace
from pathlib import Path

from graphdr.cache import io, paths
from graphdr.cli.records import counted
from graphdr.core.terminal import Answer, paint
from graphdr.paper.compare import VERDICTS, headline
from graphdr.paper.verdicts import count_verdicts

PAGES = (paths.page(paths.REPORT), paths.comparison("md"), paths.claims("md"))


def run(options: Namespace, here: Path) -> Answer:
    """Count what is under results/; with the start of a build, also give its duration."""
    compared, judged = [], []
    if Path(paths.comparison("parquet")).exists():
        compared = io.read("comparison", paths.comparison("parquet")).to_pylist()
    if Path(paths.claims("parquet")).exists():
        judged = io.read("claims", paths.claims("parquet")).column("verdict").to_pylist()
    artifacts = {kind: len(list(Path("results", kind).glob("*.parquet"))) for kind in ("tables", "figures")}
    numbers, claims = headline(compared), count_verdicts(judged)
    seconds = None if options.since is None else round(time.time() - options.since)
    pages = [page for page in PAGES if Path(page).exists()]

    def text() -> list[str]:
        kinds = {kind: counted(counts, VERDICTS) for kind, counts in numbers.items()}
        lines = {
            "built": counted(artifacts, artifacts) or "nothing yet",
            "numbers": "; ".join(f"{kind}: {counts}" for kind, counts in kinds.items() if counts) or "not compared yet",
            "claims": counted(claims, claims) or "not judged yet",
            "read": ", ".join(pages) or "nothing yet",
        }
        if seconds is not None:
            lines["time"] = "{} min {} s".format(*divmod(seconds, 60))
        return [f"{paint(f'{name:<8}', 'bold')} {line}" for name, line in lines.items()]

    return 0, {"artifacts": artifacts, "numbers": numbers, "claims": claims, "seconds": seconds, "pages": pages}, text
