"""Methods compared over the same games: ratios, ranks, tests."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphdr.scores import leaderboard

DATASETS = {"p": "one", "q": "two", "apart": "one", "mixed": "two"}


def finals(regrets: dict[str, list[float]], problem: str = "p", instances: bool = False) -> pd.DataFrame:
    """Build the ends of games: regrets of every method, seed by seed or instance by instance."""
    rows = [
        (m, problem, g if instances else 0, 0 if instances else g, r)
        for m, v in regrets.items()
        for g, r in enumerate(v)
    ]
    return pd.DataFrame(rows, columns=["method", "problem", "instance", "seed", "regret"])


def ranked(*frames: pd.DataFrame) -> pd.DataFrame:
    games = leaderboard.games(pd.concat(frames))
    return leaderboard.by_problem(games, DATASETS)


def test_the_ratio_is_to_the_best_other_method_and_the_best_comes_first():
    table = ranked(finals({"a": [10, 12], "b": [20, 24], "c": [40, 48]})).set_index("method")
    assert table["ratio"].to_dict() == {"a": 0.5, "b": 2.0, "c": 4.0}
    assert table.index.tolist() == ["a", "b", "c"]
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["games"].tolist() == [2, 2, 2]


def test_instances_are_games_and_their_seeds_are_not():
    twice = pd.concat(
        [finals({"a": [1, 3, 5]}, instances=True), finals({"a": [3, 5, 7]}, instances=True).assign(seed=1)]
    )
    games = leaderboard.games(twice)
    assert games["a"].tolist() == [2, 4, 6]


def test_ranks_that_hang_on_the_games_have_wide_intervals():
    apart = {"a": [1, 1, 1, 1], "b": [9, 9, 9, 9]}
    mixed = {"a": [1, 9, 1, 8], "b": [9, 1, 8, 2]}
    table = ranked(finals(apart, "apart"), finals(mixed, "mixed")).set_index(["problem", "method"])
    assert table.loc[("apart", "a"), ["rank_low", "rank_high"]].tolist() == [1, 1]
    assert table.loc[("mixed", "a"), ["rank_low", "rank_high"]].tolist() == [1, 2]


def test_wins_and_losses_are_those_of_paired_tests():
    rng = np.random.default_rng(1)
    luck = 100 * rng.standard_normal(12)  # of a game, which all methods share
    regrets = {"a": luck, "b": luck + 1 + 0.1 * rng.standard_normal(12), "c": luck + 3 * rng.standard_normal(12)}
    table = ranked(finals(regrets)).set_index("method")
    assert table["wins"].to_dict() == {"a": 1, "b": 0, "c": 0}
    assert table["losses"].to_dict() == {"a": 0, "b": 1, "c": 0}
    same = {"a": luck, "b": luck.copy(), "c": luck + 1}  # of equal regrets the first counts, and a constant gap wins
    assert ranked(finals(same)).set_index("method")["wins"].to_dict() == {"a": 1, "c": 0}
    table = ranked(finals({"a": [1], "b": [100]}))  # one game decides nothing
    assert table[["wins", "losses"]].to_numpy().tolist() == [[0, 0], [0, 0]]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_one_test_and_all_of_them(p):
    p = np.array(p)
    result = leaderboard.holm(p)
    assert (result >= p).all()
    assert (result <= np.minimum(1, p * len(p))).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(result[order]) >= 0).all()


def test_over_all_problems_every_method_counts_those_it_played():
    table = ranked(finals({"a": [1, 1], "b": [2, 2]}, "p"), finals({"a": [8, 8], "b": [2, 2], "c": [4, 4]}, "q"))
    result = leaderboard.overall(table).set_index("method")
    assert result["problems"].to_dict() == {"a": 2, "b": 2, "c": 1}
    assert result.loc["a", "ratio"] == pytest.approx(np.sqrt(0.5 * 4))
    assert result.loc["a", "worst_ratio"] == 4
    assert result.loc["a", "rank"] == 2
    assert (result.loc["b", ["wins", "losses"]] == [2, 1]).all()


def test_a_method_without_games_is_left_out_and_one_with_some_is_a_mistake():
    both = finals({"a": [1, 2], "b": [3, 4]})
    elsewhere = finals({"a": [1, 2], "c": [1, 1]}, "q")
    assert set(ranked(both, elsewhere).query("problem == 'p'")["method"]) == {"a", "b"}
    with pytest.raises(ValueError, match="b did not play all games"):
        ranked(both[(both["method"] == "a") | (both["seed"] == 0)])


def test_problems_on_one_data_set_are_resampled_together():
    table = ranked(finals({"a": [1, 1], "b": [2, 2]}, "p"), finals({"a": [9, 9], "b": [2, 2]}, "mixed"))
    result = leaderboard.overall(table).set_index("method")
    assert result.loc["a", ["rank_low", "rank_high"]].tolist() == [1, 2]
    result = leaderboard.overall(table.assign(dataset="one")).set_index("method")
    assert result.loc["a", ["rank_low", "rank_high"]].tolist() == [1.5, 1.5]
