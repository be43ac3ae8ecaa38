"""Refresh the tables of columns in results/README.md and data/README.md from the schemas; ``make docs`` runs it."""

import sys
from pathlib import Path

from docs.markers import between_markers
from graphdr.cache import io
from graphdr.core import atomic
from graphdr.core.terminal import pipe_table

ROOT = Path(__file__).parents[1]
MARKER = "columns"

# Per page: path below its folder, kind, what one row is, and what else to say of the columns.
FILES = {
    "data/README.md": """
raw/{dataset}/receipt.parquet | raw | a raw file: what came from where
tables/{dataset}/nodes.parquet | dataset_nodes | a node
tables/{dataset}/links.parquet | dataset_links | an interaction or citation
tables/{dataset}/users.parquet | dataset_users | a user | what is not known is missing
""",
    "results/README.md": """
graph/{graph}/nodes.parquet | nodes | a node
graph/{graph}/edges.parquet | edges | an edge, i < j
basis/{graph}/{basis}.parquet | basis | a component of a basis
problem/{batch}/theta.parquet | theta | a node's expected reward
problem/{batch}/contexts.parquet | contexts | a node of a context | empty where every arm is a node
problem/{batch}/rewards.parquet | rewards | a value that a pull of a node may pay | empty unless noise is resampled
pilot/{batch}/estimates.parquet | pilot | a node as a pilot saw it | empty where nothing needs a pilot
pilot/{batch}/rounds.parquet | pilot_rounds | a round of a pilot | empty where no fact looks at rounds
problem/{batch}/facts.parquet | facts | a fact that needs no run
runs/{batch}/{kind}.parquet | runs | a checkpoint (informed: by facts, a pilot) | missing without residual or theorem
measurements/{batch}.parquet | measurements | a measured quantity
curves/{batch}.parquet | curves | a round of a regret curve
evaluations/{evaluation}.parquet | measurements | a score of a predictor | `predictor` filled
tables/{table}.parquet | table | a cell
figures/{figure}.parquet | figure | a point drawn
comparison.parquet | comparison | a number of the paper
power.parquet | power | a test of papers made by one protocol
claims.parquet | claims | a claim of the paper
leaderboard.parquet | leaderboard | a method on one problem of the leaderboard
multiverse.parquet | multiverse | a claim with one setting, on one random instance or data set
""",
}  # path, kind, what a row is and, where it needs a word, what more there is to say


def files(page: str) -> list[list[str]]:
    """Return path, kind, row and, if there is one, the remark of every file of a page."""
    return [line.split(" | ") for line in FILES[page].strip().splitlines()]


def table(page: str) -> str:
    """Return the table of a page."""
    rows = []
    for path, kind, row, *remark in files(page):
        columns = f"`{', '.join(io.nothing(kind))}`"
        rows.append([f"`{path}`", f"`{kind}`", row, "; ".join([columns, *remark])])
    lines = pipe_table(["path", "kind", "one row is", "columns"], rows)
    lines[1] = "|---|---|---|---|"
    return "\n".join(lines)


def refreshed(page: str) -> str:
    """Return a page with its table as the schemas are now."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return between_markers(text, MARKER, table(page), page)


def main() -> int:
    """Write the tables."""
    for page in FILES:
        atomic.write_text(refreshed(page), str(ROOT / page))
    print(f"Wrote the columns of {' and '.join(FILES)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
