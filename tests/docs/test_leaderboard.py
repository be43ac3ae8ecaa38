"""The page of the leaderboard: its tables, on numbers known beforehand."""

import pandas as pd

from docs import leaderboard
from graphdr.scores.leaderboard import by_problem, games

PAGE = "Before\n<!-- methods -->\n<!-- /methods -->\nBetween\n<!-- problems -->\nold\n<!-- /problems -->\nAfter\n"
PRIOR, BOTH = leaderboard.OURS
LABELS = {PRIOR: "Prior", BOTH: "Both", "full": "Full | LinUCB", "graph_prior_thompson": "Thompson"}


def test_methods_are_shown_over_all_problems_and_ours_beside_the_best_rival():
    regrets = {PRIOR: [10, 12], BOTH: [8, 10], "full": [20, 24], "graph_prior_thompson": [1, 1]}
    rows = [(m, "p", 0, seed, r) for m, values in regrets.items() for seed, r in enumerate(values)]
    rows += [("full", "q", 0, 0, 5.0), ("full", "q", 0, 1, 7.0), (PRIOR, "q", 0, 0, 9.0), (PRIOR, "q", 0, 1, 9.0)]
    table = by_problem(
        games(pd.DataFrame(rows, columns=["method", "problem", "instance", "seed", "regret"])), {"p": "d", "q": "d"}
    )
    text = leaderboard.page(PAGE, table, {"p": "P", "q": "Q", "unbuilt": "U"}, LABELS, {PRIOR: 1.7345})
    assert "| P | Full \\| LinUCB 22.0 ± 2.0 | 11.0 ± 1.0 | 0.50 | 9.0 ± 1.0 | 0.41 |" in text
    assert "| Q | Full \\| LinUCB 6.0 ± 1.0 | 9.0 ± 0.0 | 1.50 | – | – |" in text
    assert "| Prior | 2 | " in text
    assert text.count(" | 1.7 |\n") == 1  # the only time that was measured
    assert "| Thompson | 1 | " in text
    assert "old" not in text
