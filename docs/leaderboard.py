"""Write the tables of docs/leaderboard.md from a built leaderboard: ``python -m docs.leaderboard`` after the target."""

import sys
from pathlib import Path

import pandas as pd

from docs.markers import between_markers, write_page
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.core.terminal import escape, pipe_table
from graphdr.plan.claim_jobs import ranking
from graphdr.plan.config import load
from graphdr.plan.design import expand
from graphdr.scores import leaderboard
from graphdr.show.report.content import short

PAGE = "docs/leaderboard.md"
OURS = ("graph_prior", "graph_prior_beside_interaction_svd")  # on the graph, and on graph and ratings


def page(
    text: str, table: pd.DataFrame, titles: dict[str, str], labels: dict[str, str], times: dict[str, float]
) -> str:
    """Return the page with the tables of a leaderboard: methods over all problems, and ours problem by problem."""
    overall = leaderboard.overall(table)
    body = [
        [*map(escape, line), f"{short(times[method], 2):g}" if method in times else "–"]
        for method, line in zip(overall["method"], leaderboard.lines(overall, labels), strict=True)
    ]
    text = between_markers(text, "methods", "\n".join(pipe_table([*leaderboard.HEAD, "µs per round"], body)), PAGE)
    return between_markers(text, "problems", "\n".join(pipe_table(*_problems(table, titles, labels))), PAGE)


def _problems(table: pd.DataFrame, titles: dict[str, str], labels: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return head and body of the table of our methods on every problem, each over the best rival."""
    body = []
    for problem, title in titles.items():
        rows = table[table["problem"] == problem].set_index("method")
        rivals = rows[~rows.index.str.startswith(OURS[0])]
        if not len(rivals):
            continue
        best = rivals.loc[rivals["regret"].idxmin()]
        line = [escape(title), f"{escape(labels[str(best.name)])} {_with_error(best)}"]
        for ours in OURS:
            found = rows.loc[ours] if ours in rows.index else None
            line += ["–"] * 2 if found is None else [_with_error(found), f"{found['regret'] / best['regret']:.2f}"]
        body.append(line)
    head = ["problem", "best rival"]
    return head + [text for name in OURS for text in (escape(labels[name]), "over the rival's")], body


def _with_error(row: pd.Series) -> str:
    return f"{row['regret']:.1f} ± {row['sem']:.1f}"


def written() -> str:
    """Return the page from results/ and from times measured now."""
    from benchmarks.methods import time_a_round

    path = paths.leaderboard("parquet")
    if not Path(path).is_file():
        raise UserError(f"{path} is not there; build it with `snakemake --cores all leaderboard`")
    config = load(Path("config.yaml"))
    _, params = ranking(expand(config))
    table = io.read("leaderboard", path).to_pandas()
    return page(Path(PAGE).read_text("utf-8"), table, params.ranking.titles, params.labels, time_a_round(config))


if __name__ == "__main__":
    sys.exit(write_page(PAGE, written))
