"""Rank methods on every problem over the same games, and over all problems together.

A game is a seed on a data set, or an instance of a random graph. All methods play the same games, so that they are
compared game by game.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from graphdr.core.terminal import escape, pipe_table

LEVEL = 0.95  # of intervals, and one minus the level of the tests
ENDS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
DRAWS = 2000  # resamples of games, or of data sets, behind an interval of ranks
BEST = 3  # methods that the text names for every problem
NOTE = (
    "Every method with settings plays with those that did best for it on other seeds, one seed on data sets. The "
    "weights of Laplacian penalties were not calibrated, so that methods with a penalty may be better than they look "
    "here (see docs/leaderboard.md). Methods without settings play as they are. “Regret over the best "
    "other's” divides the mean regret of a method by that of the best other method on the same problem: only a winner "
    "is below 1. Over problems, its mean is geometric. Ranks have 95 % intervals: on one problem from resampled games, "
    "over all from resampled data sets. Wins and losses are paired t tests over the same games, all pairs of a problem "
    "corrected together by Holm's rule (5 %). Only rows with the same problems can be compared: some methods need "
    "ratings, or are too slow for large graphs."
)
HEAD = ["method", "problems", "regret over the best other's", "largest", "mean rank (95 %)", "wins", "losses"]


def games(finals: pd.DataFrame) -> pd.DataFrame:
    """Return the final regret of every game: a row per (problem, game), a column per method.

    ``finals`` has the columns problem, instance, seed, method and regret. On a problem with several instances each
    instance is a game, with the mean regret over its seeds.
    """
    several = finals.groupby("problem", sort=False)["instance"].transform("nunique") > 1
    game = finals["instance"].where(several, finals["seed"])
    rows = finals.assign(game=game).groupby(["problem", "game", "method"], sort=False)["regret"].mean()
    return rows.unstack("method")


def by_problem(regret: pd.DataFrame, datasets: Mapping[str, str]) -> pd.DataFrame:
    """Compare the methods on every problem, best first.

    ``ratio`` is the mean regret over that of the best other method, so that only the winner is below one. ``rank`` has
    an interval from resampled games. A method wins against another if it has less regret in a paired t test, corrected
    for the number of pairs (Holm, 1979). Of several methods that played every game alike, only the first counts.
    """
    rng = np.random.default_rng(0)  # the same games give the same intervals
    parts = []
    for problem, rows in regret.groupby(level="problem", sort=False):
        compared = _compare(_distinct_methods(rows.droplevel("problem")), rng)
        parts.append(compared.assign(problem=problem, dataset=datasets[str(problem)]))
    return pd.concat(parts, ignore_index=True)


def _distinct_methods(regret: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the methods that played, without repetitions of the same regrets."""
    played = regret.dropna(axis=1, how="all")
    missing = played.isna().any()
    if missing.any():
        raise ValueError(f"{missing.idxmax()} did not play all games")
    return played.loc[:, ~played.T.duplicated()]


def _compare(regret: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Compare the methods (columns) over the games (rows) of one problem."""
    from scipy.stats import rankdata

    values = regret.to_numpy()
    count, size = values.shape
    mean = values.mean(axis=0)
    best_other = np.array([np.delete(mean, place).min(initial=np.inf) for place in range(size)])
    resampled = values[rng.integers(count, size=(DRAWS, count))].mean(axis=1)
    rank_low, rank_high = np.quantile(rankdata(resampled, axis=1), ENDS, axis=0)
    wins, losses = _count_wins(values)
    columns = {
        "method": regret.columns,
        "games": count,
        "regret": mean,
        "sem": values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.nan,
        "ratio": mean / best_other,
        "rank": rankdata(mean),
        "rank_low": rank_low,
        "rank_high": rank_high,
        "wins": wins,
        "losses": losses,
    }
    return pd.DataFrame(columns).sort_values("regret", kind="stable")


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Summarize the problems that each method played, lowest geometric mean of the ratios first.

    The interval of the mean rank resamples whole data sets, because their problems are alike: it shows how much the
    rank depends on the choice of data sets.
    """
    rng = np.random.default_rng(0)  # the same table gives the same intervals
    summaries = []
    for method, rows in table.groupby("method", sort=False):
        on_dataset = rows.groupby("dataset")["rank"].agg(["sum", "count"]).to_numpy()
        drawn = on_dataset[rng.integers(len(on_dataset), size=(DRAWS, len(on_dataset)))]
        sums, counts = drawn.sum(axis=1).T
        rank_low, rank_high = np.quantile(sums / counts, ENDS)
        summary = {
            "method": method,
            "problems": len(rows),
            "ratio": np.exp(np.log(rows["ratio"]).mean()),
            "worst_ratio": rows["ratio"].max(),
            "rank": rows["rank"].mean(),
            "rank_low": rank_low,
            "rank_high": rank_high,
            "wins": rows["wins"].sum(),
            "losses": rows["losses"].sum(),
        }
        summaries.append(summary)
    return pd.DataFrame(summaries).sort_values("ratio", kind="stable", ignore_index=True)


def _count_wins(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count the wins and losses of every column, in paired t tests of all pairs of columns over the rows."""
    from scipy.stats import ttest_1samp

    size = values.shape[1]
    first, second = np.triu_indices(size, 1)
    difference = values[:, first] - values[:, second]
    if len(values) < 2:  # a single game decides nothing
        return np.zeros(size, int), np.zeros(size, int)
    with warnings.catch_warnings(action="ignore"):  # of differences that are all the same
        p = np.nan_to_num(ttest_1samp(difference, 0.0).pvalue, nan=1.0)
    significant = holm(p) <= 1 - LEVEL
    mean = difference.mean(axis=0)
    won = np.where(mean < 0, first, second)[significant & (mean != 0)]
    lost = np.where(mean < 0, second, first)[significant & (mean != 0)]
    return np.bincount(won, minlength=size), np.bincount(lost, minlength=size)


def holm(p: np.ndarray) -> np.ndarray:
    """Correct p values for their number (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def lines(overall: pd.DataFrame, labels: Mapping[str, str]) -> list[list[str]]:
    """Format the summary of every method over all problems, under ``HEAD``."""
    body = []
    for row in overall.itertuples():
        rank = f"{row.rank:.1f} ({row.rank_low:.1f} to {row.rank_high:.1f})"
        ratios = [f"{row.ratio:.2f}", f"{row.worst_ratio:.2f}"]
        body.append([labels[row.method], f"{row.problems}", *ratios, rank, f"{row.wins}", f"{row.losses}"])
    return body


def markdown(table: pd.DataFrame, titles: Mapping[str, str], labels: Mapping[str, str], untuned: Sequence[str]) -> str:
    """Render all methods over all problems, then the best of every problem with the methods without settings."""
    summary = [[escape(text) for text in line] for line in lines(overall(table), labels)]
    above = ["# Leaderboard", "", NOTE, "", *pipe_table(HEAD, summary), "", "## Problem by problem", ""]
    without_settings = [name for name in untuned if name in set(table["method"])]
    body = []
    for problem, title in titles.items():
        rows = {row.method: row for row in table[table["problem"] == problem].itertuples()}
        if not rows:
            continue
        best = [f"{escape(labels[name])} {_regret(row)}" for name, row in list(rows.items())[:BEST]]
        cells = dict.fromkeys(without_settings, "–")
        for name in rows.keys() & cells.keys():
            row = rows[name]
            place = f"rank {row.rank:.0f} ({row.rank_low:.0f} to {row.rank_high:.0f})"
            cells[name] = f"{_regret(row)}, {row.ratio:.2f} ×, {place}"
        body.append([escape(title), "; ".join(best), *cells.values()])
    head = ["problem", f"the best {BEST}", *(escape(labels[name]) for name in without_settings)]
    return "\n".join([*above, *pipe_table(head, body), ""])


def _regret(row: Any) -> str:
    return f"{row.regret:.1f} ± {row.sem:.1f}"
