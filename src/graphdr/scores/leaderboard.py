"""Who is best: methods compared on every problem over the same games, and over all problems together.

A game is a seed on a data set, and an instance of a random graph; methods meet the same games, so that differences are
taken game by game.
"""

import numpy as np
import pandas as pd

LEVEL = 0.95  # of intervals, and one minus the level of the tests
DRAWS = 2000  # resamples of games, or of problems, behind an interval of ranks


def games(finals: pd.DataFrame) -> pd.DataFrame:
    """Return the final regret of every game: a row per (problem, game), a column per method.

    ``finals`` has problem, instance, seed, method and regret. Where there are several instances, each is a game, with
    the mean over its seeds.
    """
    several = finals.groupby("problem", sort=False)["instance"].transform("nunique") > 1
    game = finals["instance"].where(several, finals["seed"])
    rows = finals.assign(game=game).groupby(["problem", "game", "method"], sort=False)["regret"].mean()
    return rows.unstack("method")


def by_problem(regret: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return how every method did on every problem, the best first.

    ``ratio`` is its mean regret over that of the best other method: below one for the winner alone. ``rank`` is that of
    the mean, with an interval from resampled games. A method wins against another if it has less regret in a paired
    t test, corrected for the number of others (Holm, 1979).
    """
    return pd.concat(
        [
            _on_one(rows.droplevel("problem").dropna(axis=1), rng).assign(problem=problem)
            for problem, rows in regret.groupby(level="problem", sort=False)
        ],
        ignore_index=True,
    )


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

    The mean ratio is geometric. The interval of the mean rank is from resampled problems: it says how much hangs on
    the choice of problems.
    """
    rng, found = np.random.default_rng(0), []  # the same table gives the same intervals
    for method, rows in table.groupby("method", sort=False):
        ranks = rows["rank"].to_numpy()
        low, high = _interval(ranks[rng.integers(len(ranks), size=(DRAWS, len(ranks)))].mean(axis=1), axis=0)
        ratios = {"ratio": np.exp(np.log(rows["ratio"]).mean()), "worst_ratio": rows["ratio"].max()}
        ranked = {"rank": ranks.mean(), "rank_low": low, "rank_high": high}
        counts = {"wins": rows["wins"].sum(), "losses": rows["losses"].sum()}
        time = {"microseconds": rows["microseconds"].iloc[0]} if "microseconds" in rows else {}
        found.append({"method": method, "problems": len(rows)} | ratios | ranked | counts | time)
    return pd.DataFrame(found).sort_values("ratio", kind="stable", ignore_index=True)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank every row from the least value on; equal values share the mean of their ranks."""
    from scipy.stats import rankdata

    return rankdata(values, axis=1)


def _interval(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=axis)
    return low, high


def _decided(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count for every column the columns that it wins and loses against, by paired tests over the rows."""
    size = values.shape[1]
    wins, losses = np.zeros(size, int), np.zeros(size, int)
    for one in range(size):
        others = np.delete(np.arange(size), one)
        difference = values[:, [one]] - values[:, others]
        known = holm(_p_values(difference)) <= 1 - LEVEL
        wins[one] = np.sum(known & (difference.mean(axis=0) < 0))
        losses[one] = np.sum(known & (difference.mean(axis=0) > 0))
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
