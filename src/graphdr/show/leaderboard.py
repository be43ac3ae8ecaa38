"""The leaderboard as text, as a picture, and as rows of the page."""

from typing import Any

import numpy as np
import pandas as pd

from graphdr.core.markdown import escape, pipe_table
from graphdr.show.panels import POINTS
from graphdr.show.report.rounding import short
from graphdr.show.style import GREY, INK, blank, log_ticks, looks

BEST = 3  # methods that the text names for every problem
NOTE = (
    "Every method with settings plays with those that did best for it on other seeds; methods without settings play as "
    "they are. A number over the best other's is the mean regret divided by that of the best other method on the same "
    "problem, so that only a winner is below 1; over problems, the mean is geometric. Ranks have 95 % intervals from "
    "resampled games on one problem, and from resampled problems over all. Wins and losses count paired t tests over "
    "the same games against every other method, corrected by Holm's rule (5 %). A round is timed with 1,500 arms, ten "
    "candidates and, where a method projects, k = 10."
)
HEAD = [
    "method", "problems", "regret over the best other's", "largest", "mean rank (95 %)", "wins", "losses",
    "µs a round",
]  # fmt: skip


def lines(overall: pd.DataFrame, labels: dict[str, str]) -> list[list[str]]:
    """Return what is shown of every method over all problems, under ``HEAD``."""
    return [
        [
            labels[row["method"]],
            f"{row['problems']}",
            f"{row['ratio']:.2f}",
            f"{row['worst_ratio']:.2f}",
            f"{row['rank']:.1f} ({row['rank_low']:.1f} to {row['rank_high']:.1f})",
            f"{row['wins']}",
            f"{row['losses']}",
            f"{short(row['microseconds'], 2):g}",
        ]
        for row in overall.to_dict("records")
    ]


def markdown(
    table: pd.DataFrame, overall: pd.DataFrame, titles: dict[str, str], labels: dict[str, str], untuned: list[str]
) -> str:
    """Render the methods over all problems, and the best of every problem beside those without settings."""
    body = [[escape(text) for text in line] for line in lines(overall, labels)]
    above = ["# Leaderboard", "", NOTE, "", *pipe_table(HEAD, body), "", "## Problem by problem", ""]
    own = [name for name in untuned if name in set(table["method"])]
    body = []
    for problem, title in titles.items():
        rows = table[table["problem"] == problem]
        best = [f"{escape(labels[row['method']])} {_with_error(row)}" for row in rows.head(BEST).to_dict("records")]
        found = rows.set_index("method").to_dict("index")
        if best:
            body.append([escape(title), "; ".join(best), *(_placed(found.get(name)) for name in own)])
    head = ["problem", f"the best {BEST}", *(escape(labels[name]) for name in own)]
    return "\n".join([*above, *pipe_table(head, body), ""])


def _with_error(row: dict[str, Any]) -> str:
    return f"{row['regret']:.1f} ± {row['sem']:.1f}"


def _placed(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    rank = f"rank {row['rank']:.0f} ({row['rank_low']:.0f} to {row['rank_high']:.0f})"
    return f"{_with_error(row)}, {row['ratio']:.2f} ×, {rank}"


def leaderboard(spec: dict, leaderboard: pd.DataFrame):
    """Draw the regret of every method over that of the best other one: a dot a problem, a bar for the mean."""
    table = leaderboard[leaderboard["method"].isin(list(spec["labels"]))]
    logs = np.log(table["ratio"]).groupby(table["method"]).mean().sort_values()
    places = {method: -place for place, method in enumerate(logs.index)}
    figure = blank((7.0, 1.2 + 0.24 * len(places)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=GREY, linewidth=0.8)
    parts = []
    for method, style in looks(spec).items():
        rows = table[table["method"] == method]
        if not len(rows):
            continue
        place, mean = places[method], float(np.exp(logs[method]))
        axes.scatter(rows["ratio"], np.full(len(rows), place), color=style.light, s=9, alpha=0.5, linewidths=0)
        axes.vlines(mean, place - 0.35, place + 0.35, color=style.light, linewidth=2.5)
        parts.append(pd.DataFrame({"series": f"{method}: " + rows["problem"], "x": rows["ratio"], "y": place}))
        parts.append(pd.DataFrame([{"series": f"{method}: mean", "x": mean, "y": place}]))
    axes.set(xscale="log", title=spec["title"], ylim=(-len(places), 1))
    axes.set_xlabel("regret over that of the best other method", color=INK)
    axes.set_yticks(list(places.values()), [spec["labels"][method] for method in places], fontsize=7)
    log_ticks(axes.xaxis)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)
