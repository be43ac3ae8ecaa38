"""The options of `graphdr advise` that say how files are read, through the command itself."""

import json

import numpy as np
import pytest

from graphdr.cli.main import main

BRIEF = ("--rounds", "100", "--splits", "2", "--json")


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Return a function that asks for advice in an empty folder, and returns the exit code and the answer."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        code = main(["advise", *arguments, *BRIEF])
        printed = capsys.readouterr()
        return code, printed.out if code == 0 else printed.err

    return call


def test_columns_encoding_and_separator_can_be_named(ask, tmp_path):
    rng = np.random.default_rng(0)
    lines = ["leser;titel;sterne;wann"]
    for reader in range(30):
        for book in rng.choice(20, 8, replace=False):
            lines.append(f"Jörg {reader};Bücher {book};{rng.integers(1, 6)};{rng.integers(10**6)}")
    (tmp_path / "books.csv").write_text("\n".join(lines), encoding="latin-1")
    columns = ("--user", "leser", "--item", "titel", "--value", "sterne", "--time", "wann")
    reading = ("--encoding", "latin-1", "--separator", ";", "--transform", "identity", "--name", "books")
    code, text = ask("books.csv", *columns, *reading, "--candidates", "popularity", "--nodes", "15")
    answer = json.loads(text)
    assert (code, answer["name"], answer["size"]["taken"]) == (0, "books", 15)
    assert answer["simulation"]["candidates"] == "popularity"


def test_edges_may_repeat_and_rewards_may_be_of_others(ask, tmp_path):
    ring = [f"a{i},a{(i + 1) % 12},1" for i in range(12)]
    (tmp_path / "edges.csv").write_text("von,nach,gewicht\n" + "\n".join([*ring, ring[0], "a3,a3,1"]) + "\n")
    rewards = [f"a{i % 12},{'yes' if i % 3 else 'no'}" for i in range(240)]
    (tmp_path / "rewards.csv").write_text("ort,klick\n" + "\n".join([*rewards, "stranger,yes"]) + "\n")
    files = ("--edges", "edges.csv", "--source", "von", "--target", "nach", "--weight", "gewicht")
    files += ("--rewards", "rewards.csv", "--node", "ort", "--reward", "klick", "--positive", "yes")
    code, message = ask(*files)
    assert code == 1
    assert "line 14" in message
    lenient = ("--merge-duplicates", "--drop-loops", "--ignore-unknown")
    for options in (lenient, ("--tolerant",)):
        code, text = ask(*files, *options)
        assert code == 0, text
        assert json.loads(text)["size"]["items"] == 12


def test_the_first_line_may_be_data(ask, tmp_path):
    lines = [f"u{user},i{item},{(user * item) % 5 + 1}" for user in range(20) for item in range(user % 3, 14)]
    (tmp_path / "ratings.csv").write_text("\n".join(lines) + "\n")
    code, text = ask("ratings.csv", "--no-header")
    assert code == 0, text
    assert json.loads(text)["size"]["items"] == 14
