"""Every predicate on an input on which it holds and on one on which it fails, and what it does without data."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphdr.core.errors import UserError
from graphdr.paper.predicates import PREDICATES, NoData, Outcome, Rows, check_arguments
from graphdr.scores import cells


def outcome_of(predicate: str, frame: pd.DataFrame, **arguments) -> Outcome:
    return PREDICATES[predicate](Rows(frame.to_dict("records")), **arguments)


def table(*rows: tuple, **fixed) -> pd.DataFrame:
    """Build a tidy table from (problem, cell, value) and, by keyword, columns such as factors by problem."""
    records = []
    for problem, cell, value in rows:
        quantity, _, key = cell.partition("@")
        row = {"experiment": "e", "problem": problem, "dataset": problem, "instance": 0, "draw": 0}
        cell = {"method": key or None, "predictor": None, "quantity": quantity}
        records.append(row | cell | {"value": value, "sem": np.nan, "count": 6})
    return pd.DataFrame(records).assign(**{name: lambda t, by=by: t["problem"].map(by) for name, by in fixed.items()})


def line(cell: str, *values: float, k=(1, 2, 5)) -> pd.DataFrame:
    """Build a table of one cell along k, not in its order."""
    names = [f"p{i}" for i in range(len(values))]
    rows = list(zip(names, [cell] * len(values), values, strict=True))
    return table(*reversed(rows), k=dict(zip(names, k, strict=False)))


def regrets(**values: float) -> pd.DataFrame:
    return table(*(("p", f"regret@{method}", value) for method, value in values.items()))


def outcomes(*rows: tuple[str, float, float, float]) -> pd.DataFrame:
    """Build a table of data sets with two regrets and a fact."""
    cells = ("regret@a", "regret@b", "zeta")
    return table(*((name, cell, value) for name, *values in rows for cell, value in zip(cells, values, strict=True)))


RATIO = {"of": "regret@a", "to": "regret@b"}
FALLING = {"of": "k_hat", "along": "k", "falls": True, "strict": False, "first": 4, "last": 1}
CLEAN = RATIO | {"where": {"zeta": {"below": 0.3}}, "above": 2}
APART = RATIO | {"by": "zeta"}
EXAMPLES = [  # predicate, table, arguments, whether it holds
    ("lowest", regrets(a=1, b=2, c=3), {"of": "regret@a", "among": ["b", "c"]}, True),
    ("lowest", regrets(a=1, b=2, c=0.5), {"of": "regret@a", "among": ["b", "c"]}, False),
    ("lowest", regrets(a=1, b=1), {"of": "regret@a", "among": ["b"]}, False),  # a tie is no win
    ("lowest", regrets(a=5, b=1, c=2), {"of": ["regret@a", "regret@b"], "among": ["c"]}, True),  # the better of two
    ("lowest", regrets(a=5, b=3, c=2), {"of": ["regret@a", "regret@b"], "among": ["c"]}, False),
    ("highest", regrets(a=3, b=2, c=1), {"of": "regret@a", "among": ["b", "c"]}, True),
    ("highest", regrets(a=3, b=3, c=1), {"of": "regret@a", "among": ["b", "c"]}, False),
    ("ratio", regrets(a=16, b=1), RATIO | {"above": 15}, True),
    ("ratio", regrets(a=15, b=1), RATIO | {"above": 15}, False),
    ("ratio", regrets(a=15, b=1), RATIO | {"at_least": 15}, True),
    ("ratio", regrets(a=15, b=10), RATIO | {"at_most": 1.5}, True),
    ("ratio", regrets(a=15, b=10), RATIO | {"below": 1.5}, False),
    ("ratio", regrets(a=95, b=100), RATIO | {"at_least": 0.9, "at_most": 1.1}, True),
    ("ratio", regrets(a=111, b=100), RATIO | {"at_least": 0.9, "at_most": 1.1}, False),
    ("ratio", outcomes(("x", 9, 3, 0.1), ("y", 5, 2, 0.2)), RATIO | {"above": 2}, True),
    ("ratio", outcomes(("x", 9, 3, 0.1), ("y", 3, 2, 0.2)), RATIO | {"above": 2}, False),  # on every problem
    ("ratio", outcomes(("x", 9, 3, 0.1), ("y", 3, 2, 0.5)), CLEAN, True),  # where a fact is as asked for
    ("ratio", outcomes(("x", 5, 3, 0.1), ("y", 9, 2, 0.5)), CLEAN, False),
    ("growth", line("regret@a", 10, 99, 20), {"of": "regret@a", "along": "k", "at_most": 2}, True),
    ("growth", line("regret@a", 10, 15, 21), {"of": "regret@a", "along": "k", "at_most": 2}, False),
    ("monotone", line("regret@a", 1, 2, 3), {"of": "regret@a", "along": "k"}, True),
    ("monotone", line("regret@a", 1, 2, 2), {"of": "regret@a", "along": "k"}, False),
    ("monotone", line("k_hat", 4, 4, 1), FALLING, True),
    ("monotone", line("k_hat", 4, 2, 2), FALLING, False),  # not down to 1
    ("monotone", line("k_hat", 5, 4, 1), FALLING, False),  # not from 4
    ("argmin", line("regret@a", 3, 2, 1, 4, k=(1, 2, 5, 8)), {"of": "regret@a", "along": "k", "at": 5}, True),
    ("argmin", line("regret@a", 3, 1, 2, 4, k=(1, 2, 5, 8)), {"of": "regret@a", "along": "k", "at": 5}, False),
    ("unimodal", line("regret@a", 3, 1, 2, 4, k=(1, 2, 5, 8)), {"of": "regret@a", "along": "k"}, True),  # wherever
    ("unimodal", line("regret@a", 2, 3, 1, 4, k=(1, 2, 5, 8)), {"of": "regret@a", "along": "k"}, False),
    ("equal", table(("p", "one", 4), ("p", "two", 4), k={"p": 1}), {"of": "one", "to": "two", "along": "k"}, True),
    ("equal", table(("p", "one", 4), ("p", "two", 3), k={"p": 1}), {"of": "one", "to": "two", "along": "k"}, False),
    ("bounded", regrets(a=0.4, b=1), {"of": "regret", "at_most": 1}, True),  # of all methods
    ("bounded", regrets(a=0.4, b=1.1), {"of": "regret", "at_most": 1}, False),
    ("bounded", regrets(a=0.4, b=1.1), {"of": "regret@a", "at_most": 1}, True),
    ("bounded", regrets(a=0.4, b=1.1), {"of": ["regret@a", "regret@b"], "at_most": 1}, False),
    ("bounded", regrets(a=0.4, b=1.1), {"of": ["regret@a", "regret@c"], "at_most": 1}, True),  # there is no c
    ("median", line("bound", 0.5, 2, 3), {"of": "bound", "above": 1}, True),
    ("median", line("bound", 0.5, 0.9, 3), {"of": "bound", "above": 1}, False),
    ("correct", table(("p", "loo_correct@gamma", 5)), {"of": "loo_correct@gamma", "wrong": 1}, True),  # of 6
    ("correct", table(("p", "loo_correct@gamma", 4)), {"of": "loo_correct@gamma", "wrong": 1}, False),
    ("inseparable", outcomes(("x", 1, 2, 0.1), ("y", 2, 1, 0.2), ("z", 1, 2, 0.3)), APART, True),
    ("inseparable", outcomes(("x", 1, 2, 0.1), ("y", 2, 1, 0.2), ("z", 1, 2, 0.15)), APART, False),
    ("inseparable", outcomes(("x", 2, 1, 0.1), ("y", 1, 2, 0.2), ("z", 2, 1, 0.15)), APART, False),  # either direction
]


@pytest.mark.parametrize(("predicate", "frame", "arguments", "expected"), EXAMPLES)
def test_a_predicate_holds_fails_or_has_no_data(predicate, frame, arguments, expected):
    check_arguments("claims.x", predicate, arguments)
    outcome = outcome_of(predicate, frame, **arguments)
    assert outcome.holds is expected
    assert outcome.measured
    for without in (frame.assign(value=np.nan), frame[:0]):
        with pytest.raises(NoData):
            outcome_of(predicate, without, **arguments)


def test_every_predicate_has_an_example_for_either_outcome():
    assert {(name, expected) for name, _, _, expected in EXAMPLES} == {*product(PREDICATES, (True, False))}


def test_the_numbers_that_decide_are_shown():
    def measured(predicate, frame, **arguments):
        return cells.humanize(outcome_of(predicate, frame, **arguments).measured, {})

    clean = outcomes(("x", 9, 3, 0.1), ("y", 8, 2, 0.2), ("z", 3, 2, 0.5))
    assert measured("ratio", clean, **CLEAN) == "a / b = 3 … 4 (2 values); elsewhere 1.5"
    assert measured("lowest", regrets(a=1, b=3, c=2), of="regret@a", among=["b", "c"]) == "a 1, best other c 2"
    assert measured("monotone", line("r", 1e-12, 2, 3), of="r", along="k") == "r at k 1, 2, 5: 0, 2, 3"
    two = outcomes(("x", 1, 2, 0.1), ("y", 2, 1, 0.2))
    assert measured("inseparable", two, **APART) == "zeta where a < b: x 0.1; elsewhere: y 0.2"


def test_a_problem_without_a_number_is_left_out_of_a_pool_only():
    part = outcomes(("x", 1, 2, 0.1), ("y", 2, 1, 0.2), ("z", 1, np.nan, 0.3))
    assert outcome_of("inseparable", part, **APART).used == {"x", "y"}
    with pytest.raises(NoData, match=r"`regret@b` on e:z"):
        outcome_of("ratio", part, **RATIO, above=0)
    assert outcome_of("median", part, of="regret@b", above=0).used == {"x", "y"}


@pytest.mark.parametrize("rows", [[("x", 1, 2, 0.1)], [("x", 2, 1, 0.1), ("y", 3, 1, 0.2)]])
def test_wins_alone_or_losses_alone_cannot_be_told_apart(rows):
    with pytest.raises(NoData, match="wins and losses"):
        outcome_of("inseparable", outcomes(*rows), **APART)


def test_one_problem_in_two_experiments_is_two_problems():
    twice = pd.concat([regrets(a=1, b=2), regrets(a=5, b=2).assign(experiment="other")])
    assert not outcome_of("lowest", twice, of="regret@a", among=["b"]).holds


def test_a_cell_that_is_more_than_one_number_is_a_mistake():
    with pytest.raises(UserError, match="more than one number"):
        outcome_of("ratio", regrets(a=1, b=2), of="regret", to="regret@b", above=1)
    with pytest.raises(UserError, match="twice at one value of 'k'"):
        outcome_of("monotone", line("r", 1, 2, 3, k=(1, 1, 2)), of="r", along="k")


@given(values=st.lists(st.integers(0, 9), min_size=2, max_size=6))
def test_lines_against_plain_python(values):
    along = line("r", *values, k=range(len(values)))
    rises = all(a < b for a, b in pairwise(values))
    assert outcome_of("monotone", along, of="r", along="k").holds == rises
    least = values.index(min(values))
    falls = all(a > b for a, b in pairwise(values[: least + 1]))
    valley = falls and all(a < b for a, b in pairwise(values[least:]))
    assert outcome_of("argmin", along, of="r", along="k", at=least).holds
    assert not outcome_of("argmin", along, of="r", along="k", at=least + 1).holds
    assert outcome_of("unimodal", along, of="r", along="k").holds == valley


@given(rows=st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=6))
def test_thresholds_against_all_of_them(rows):
    wins = [won for won, _ in rows]
    frame = outcomes(*((f"d{i}", 1 - won, 0.5, zeta) for i, (won, zeta) in enumerate(rows)))
    if len(set(wins)) == 1:
        return
    separated = any(
        [zeta < cut for _, zeta in rows] in (wins, [not won for won in wins]) for cut in np.arange(-0.5, 6.5)
    )
    assert outcome_of("inseparable", frame, **APART).holds == (not separated)


@pytest.mark.parametrize(
    ("predicate", "arguments", "message"),
    [
        ("lowst", {}, r"claims.x: no predicate 'lowst'; there are: argmin, bounded, "),
        ("lowest", {"of": "r@a", "amng": ["b"]}, r"no argument of lowest 'amng'; there are: among, of"),
        ("lowest", {"of": "r@a"}, r"lowest needs among"),
        ("lowest", {"of": "r@a", "among": ["b"], "above": 1}, r"no argument of lowest 'above'"),
        ("ratio", {"of": "r@a", "to": "r@b"}, r"ratio needs a bound: above, at_least, below, at_most"),
        ("ratio", {"of": "r@a", "to": "r b", "above": 1}, r"'r b' is not quantity"),
        ("lowest", {"of": ["r@a", "r@"], "among": ["b"]}, r"'r@' is not quantity"),
        ("bounded", {"of": "r.share@a", "at_least": 1}, r"'r.share@a' is of all instances; .* without .share$"),
    ],
)
def test_a_mistake_in_a_check_is_one_line(predicate, arguments, message):
    with pytest.raises(UserError, match=message):
        check_arguments("claims.x", predicate, arguments)
