"""Who is best: methods compared on every problem over the same games, and over all problems together.

A game is a seed on a data set, and an instance of a random graph; methods meet the same games, so that differences are
taken game by game.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from graphdr.core.markdown import escape, pipe_table

LEVEL = 0.95  # of intervals, and one minus the level of the tests
DRAWS = 2000  # resamples of games, or of problems, behind an interval of ranks
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

    ``finals`` has problem, instance, seed, method and regret. Where there are several instances, each is a game, with
    the mean over its seeds.
    """
    several = finals.groupby("problem", sort=False)["instance"].transform("nunique") > 1
    game = finals["instance"].where(several, finals["seed"])
    rows = finals.assign(game=game).groupby(["problem", "game", "method"], sort=False)["regret"].mean()
    return rows.unstack("method")


def by_problem(regret: pd.DataFrame, datasets: dict[str, str]) -> pd.DataFrame:
    """Return how every method did on every problem, the best first.

    ``ratio`` is its mean regret over that of the best other method: below one for the winner alone. ``rank`` is that of
    the mean, with an interval from resampled games. A method wins against another if it has less regret in a paired
    t test, corrected for the number of pairs (Holm, 1979). A method that played every game as another did counts once.
    """
    rng = np.random.default_rng(0)  # the same games give the same intervals
    return pd.concat(
        [
            _on_one(_played(rows.droplevel("problem")), rng).assign(problem=problem, dataset=datasets[problem])
            for problem, rows in regret.groupby(level="problem", sort=False)
        ],
        ignore_index=True,
    )


def _played(regret: pd.DataFrame) -> pd.DataFrame:
    """Return the methods that played, of several that played alike the first."""
    played = regret.dropna(axis=1, how="all")
    if (missing := played.isna().any()).any():
        raise ValueError(f"{missing.idxmax()} did not play all games")
    return played.loc[:, ~played.T.duplicated()]


def _on_one(regret: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    values = regret.to_numpy()
    count, size = values.shape
    mean = values.mean(axis=0)
    resampled = values[rng.integers(count, size=(DRAWS, count))].mean(axis=1)
    low, high = _interval(_ranks(resampled), axis=0)
    wins, losses = _decided(values)
    table = pd.DataFrame(
        {
            "method": regret.columns,
            "games": count,
            "regret": mean,
            "sem": values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.nan,
            "ratio": mean / np.array([np.delete(mean, at).min(initial=np.inf) for at in range(size)]),
            "rank": _ranks(mean[None])[0],
            "rank_low": low,
            "rank_high": high,
            "wins": wins,
            "losses": losses,
        }
    )
    return table.sort_values("regret", kind="stable")


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up over the problems that a method played: ratios, ranks, wins and losses, the least mean ratio first.

    The mean ratio is geometric. The interval of the mean rank is from resampled data sets, each with all its problems,
    which are alike: it says how much hangs on the choice of data sets.
    """
    rng, found = np.random.default_rng(0), []  # the same table gives the same intervals
    for method, rows in table.groupby("method", sort=False):
        on_dataset = rows.groupby("dataset")["rank"].agg(["sum", "count"]).to_numpy()
        sums, counts = on_dataset[rng.integers(len(on_dataset), size=(DRAWS, len(on_dataset)))].sum(axis=1).T
        low, high = _interval(sums / counts, axis=0)
        ratios = {"ratio": np.exp(np.log(rows["ratio"]).mean()), "worst_ratio": rows["ratio"].max()}
        ranked = {"rank": rows["rank"].mean(), "rank_low": low, "rank_high": high}
        counts = {"wins": rows["wins"].sum(), "losses": rows["losses"].sum()}
        found.append({"method": method, "problems": len(rows)} | ratios | ranked | counts)
    return pd.DataFrame(found).sort_values("ratio", kind="stable", ignore_index=True)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank every row from the least value on; equal values share the mean of their ranks."""
    from scipy.stats import rankdata

    return rankdata(values, axis=1)


def _interval(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=axis)
    return low, high


def _decided(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count for every column the columns that it wins and loses against, by paired tests of all pairs over the rows."""
    size = values.shape[1]
    one, other = np.triu_indices(size, 1)
    difference = values[:, one] - values[:, other]
    known, mean = holm(_p_values(difference)) <= 1 - LEVEL, difference.mean(axis=0)
    first, second = known & (mean < 0), known & (mean > 0)
    wins = np.bincount(one[first], minlength=size) + np.bincount(other[second], minlength=size)
    losses = np.bincount(other[first], minlength=size) + np.bincount(one[second], minlength=size)
    return wins, losses


def _p_values(difference: np.ndarray) -> np.ndarray:
    """Return the two-sided p of a t test that the mean of each column is zero; one game decides nothing."""
    from scipy.stats import t

    count = len(difference)
    if count < 2:
        return np.ones(difference.shape[1])
    mean, error = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(error > 0, np.abs(mean) / error, np.where(mean == 0, 0.0, np.inf))
    return 2 * t.sf(statistic, count - 1)


def holm(p: np.ndarray) -> np.ndarray:
    """Return p values corrected for their number (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def lines(found: pd.DataFrame, labels: dict[str, str]) -> list[list[str]]:
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
        ]
        for row in found.to_dict("records")
    ]


def markdown(table: pd.DataFrame, titles: dict[str, str], labels: dict[str, str], untuned: Sequence[str]) -> str:
    """Render the methods over all problems, and the best of every problem beside those without settings."""
    body = [[escape(text) for text in line] for line in lines(overall(table), labels)]
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
