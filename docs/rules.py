"""Draw which rule needs which, as Snakemake sees them, into docs/rules.svg; ``make docs`` runs it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "rules.svg"
TARGETS = ("all", "ml_1m")  # the second for the rules of raw files, which need not be here
STYLE = """
    nodesep=0.3; ranksep=0.35;
    node[shape=box, style=rounded, fontname="sans-serif", fontsize=11, color="#4477aa", penwidth=1.2];
    edge[color="#888888"];
"""


def graph() -> str:
    """Return the rules and what each needs in the language of Graphviz, targets left out."""
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "dot", "--", *TARGETS]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', text))
    needs = {(names[one], names[other]) for one, other in re.findall(r"(\d+) -> (\d+)", text)}
    lines = [f"{one} -> {other};" for one, other in sorted(needs) if one != other and other not in TARGETS]
    return "\n".join(["digraph rules {", STYLE, *lines, "}"])


def main() -> None:
    """Draw the picture where Graphviz is here; what follows from other needs is left out."""
    if not shutil.which("dot"):
        print("Kept docs/rules.svg: Graphviz is not here")
        return
    reduced = subprocess.run(["tred"], input=graph(), capture_output=True, text=True, check=True).stdout
    PICTURE.write_text(
        subprocess.run(["dot", "-Tsvg"], input=reduced, capture_output=True, text=True, check=True).stdout
    )
    print("Wrote docs/rules.svg")


if __name__ == "__main__":
    main()
