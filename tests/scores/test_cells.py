"""Cells in words: names in backticks, and nothing else, become what a reader knows."""

import pytest

from graphdr.scores import cells

LABELS = {"regret": "R(T)", "graphdr": "GraphDR", "flip": "share of pairs flipped", "worst": "worst policy"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`graphdr` 21, best other `x` 5", "GraphDR 21, best other x 5"),
        ("`regret@graphdr` at `flip` 0, 1: 2, 3", "GraphDR: R(T) at share of pairs flipped 0, 1: 2, 3"),
        ("`regret@x` and `y@graphdr`", "x: R(T) and y@graphdr"),
        ("the regret of the worst policy", "the regret of the worst policy"),
    ],
)
def test_names_become_words(text, expected):
    assert cells.worded(text, LABELS) == expected
