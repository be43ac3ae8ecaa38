"""Copy a snapshot of results/ into docs/, and its headline into README.md; ``make snapshot`` runs it after a build.

The date stated is that of the results, so the same results give the same files.
"""

import os
import shutil
import sys
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

import graphdr
from docs.markers import between_markers
from graphdr.cache import io, paths
from graphdr.core import atomic
from graphdr.core.errors import UserError
from graphdr.core.terminal import pipe_table
from graphdr.paper import power
from graphdr.paper.compare import JUDGED
from graphdr.paper.compare import headline as summary
from graphdr.plan.config import load

TABLE, OURS = "main_synthetic", "graphdr"
POWER = "docs/comparison.md#what-these-verdicts-can-notice"


def headline(table: list[dict], comparison: list[dict], labels: dict[str, str], powers: list[dict]) -> str:
    """Return what the main comparison says in a sentence, as a markdown table, and a line that counts the verdicts."""
    printed = {(line["row"], line["column"]): line for line in comparison if line["artifact"] == TABLE}
    rows = [row for row in table if row["column"] == "regret"]
    body = []
    for row in rows:
        paper = printed.get((row["row"], row["column"]), {"paper": np.nan, "paper_sem": np.nan})
        spread = f"{row['panel_median']:.1f} ({row['panel_low']:.1f} … {row['panel_high']:.1f})"
        ours, theirs = _value(row["value"], row["sem"]), _value(paper["paper"], paper["paper_sem"])
        body.append([labels.get(row["row"], row["row"]), ours, spread, theirs])
    instances = max(len(row["panel"]) for row in rows)
    head = ["method", "ours ± s.e.m.", f"median (5–95 %) of {instances} instances", "paper ± s.e.m."]
    return "\n".join([_sentence(rows, printed), "", *pipe_table(head, body), "", _verdicts(comparison, powers)])


def _sentence(rows: list[dict], printed: dict) -> str:
    """Say how many times less regret ours has than the next best method: in the median, on instance 0, in the paper."""
    panels = {row["row"]: np.asarray(row["panel"], float) for row in rows}
    paper = {row: line["paper"] for (row, column), line in printed.items() if column == "regret"}
    ours, theirs = (
        min(values[row] for row in values if row != OURS) / values[OURS]
        for values in ({row["row"]: row["value"] for row in rows}, paper)
    )
    middle = np.median(np.min([panels[row] for row in panels if row != OURS], axis=0) / panels[OURS])
    return (
        f"GraphDR has {middle:.0f} times less regret than the next best of these methods in the median of "
        f"{len(panels[OURS])} instances (instance 0: {ours:.0f}; paper: {theirs:.0f})."
    )


def _value(value: float, sem: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.1f}" + ("" if np.isnan(sem) else f" ± {sem:.1f}")


def _verdicts(comparison: list[dict], powers: list[dict]) -> str:
    """Count the verdicts on distinct numbers, synthetic and real apart, and what has none."""
    lines, unjudged = [], Counter()
    for kind, count in summary(comparison).items():
        unjudged.update({name: count[name] for name in ("other data", "no data")})
        parts = ", ".join(f"{count[name]} `{name}`" for name in JUDGED)
        lines.append(f"- Of {sum(count[name] for name in JUDGED)} distinct {kind} numbers of the paper: {parts}.")
    other, missing = unjudged["other data"], unjudged["no data"]
    lines.append(f"- {other} more distinct numbers come from other data and are not judged; {missing} are missing.")
    noticed = f"{power.sentence(powers)} [What these verdicts can notice]({POWER})".strip()
    return "\n".join([*lines, f"- `not contradicted` says little. {noticed}."])


def gallery(figures: dict[str, str], built: str) -> str:
    """Return the page that shows all figures and leads to the rest of the snapshot."""
    pictures = [f"## {title}\n\n![{title}]({name}.png)" for name, title in figures.items()]
    links = (
        "[The paper's numbers beside ours](comparison.md) · [its claims with verdicts](claims.md) · "
        "[where it disagrees with itself or its data](findings.md) · [all pages](README.md)"
    )
    about = f"{built} `make snapshot` refreshes all of it; data sets that were not there are missing."
    return "\n\n".join(["# What a build shows, without running it", about, links, *pictures]) + "\n"


def main() -> int:
    """Check that everything is there, then write; a missing file is one line and changes nothing."""
    os.chdir(Path(__file__).parent.parent)
    config = load(Path("config.yaml"))
    shown = {name: spec.title for name, spec in config.figures.items()}
    figures = [paths.figure(name, "png") for name in shown]
    pages = {name: paths.judged(name, "md") for name in ("comparison", paths.CLAIMS, paths.MULTIVERSE)}
    try:
        for path in (*figures, *pages.values()):
            if not Path(path).is_file():
                raise UserError(f"{path}: no such file; run make first")
        table = io.read("table", paths.table(TABLE, "parquet")).to_pandas().to_dict("records")
        comparison = io.read("comparison", paths.comparison("parquet")).to_pandas().to_dict("records")
        powers = io.read("power", paths.power).to_pylist()
        labels = {name: method.label for name, method in config.methods.items()}
        readme = Path("README.md").read_text(encoding="utf-8")
        readme = between_markers(readme, "headline", headline(table, comparison, labels, powers), "README.md")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in figures:
        shutil.copyfile(path, Path("docs", Path(path).name))
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    day = datetime.fromtimestamp(Path(pages["comparison"]).stat().st_mtime, UTC).date()
    built = f"Built on {day} with graphdr {graphdr.__version__}, {packages}."
    for name, path in pages.items():
        atomic.write_text(f"{built}\n\n{Path(path).read_text(encoding='utf-8')}", f"docs/{name}.md")
    atomic.write_text(gallery(shown, built), "docs/gallery.md")
    atomic.write_text(readme, "README.md")
    print(f"Wrote README.md, docs/gallery.md, {', '.join(f'docs/{name}.md' for name in pages)}, {len(figures)} figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
