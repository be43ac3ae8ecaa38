"""Text for people: tables that fit without losing anything, and numbers in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphdr.core import terminal


@given(
    body=st.lists(st.lists(st.text("ab c\n", max_size=30), min_size=3, max_size=3), max_size=5),
    room=st.integers(1, 120),
)
def test_a_layout_keeps_every_letter(body, room):
    lines = terminal.table(["x", "y", "z"], body, [False, True, False], room, keys=0)
    for letter in "abc":
        assert "".join(lines).count(letter) == sum(cell.count(letter) for row in body for cell in row)


@pytest.mark.parametrize(
    ("spelt", "expected"),
    [
        (terminal.size(999), "999 B"),
        (terminal.size(1000), "1.0 kB"),
        (terminal.size(123_456_789), "123 MB"),
        (terminal.age(59), "59 s"),
        (terminal.age(3600 * 30), "1 d"),
        (terminal.number(float("nan")), "–"),
        (terminal.number(None), "–"),
        (terminal.number([1.0] * 5), "[1, 1, 1, … 5 values]"),
        (terminal.number(np.float64(1 / 3)), "0.333333"),
        (terminal.with_error(1.5, 0.0), "1.5"),
        (terminal.plural(1, "row"), "1 row"),
    ],
)
def test_numbers_in_words(spelt, expected):
    assert spelt == expected
