"""Text for people: tables that fit without losing anything, numbers in words, and progress."""

from types import SimpleNamespace

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


@pytest.fixture
def clock(monkeypatch) -> SimpleNamespace:
    """A clock that stands still until it is set."""
    time = SimpleNamespace(now=0.0)
    monkeypatch.setattr("time.monotonic", lambda: time.now)
    return time


def test_progress_is_a_line_now_and_then_where_no_terminal_is(clock, capsys):
    say = terminal.Status()
    for clock.now in range(0, 31, 2):
        say(f"at {clock.now}")
        say("")
    say.keep("a first answer")
    assert capsys.readouterr() == ("", "at 6\nat 16\nat 26\na first answer\n")


def test_progress_is_one_line_that_is_written_over_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "20")
    say = terminal.Status()
    for text in ("short", "a text of more than a line", ""):
        say(text)
    assert capsys.readouterr().err.split("\r\033[K") == ["", "short", "a text of more tha…", ""]
