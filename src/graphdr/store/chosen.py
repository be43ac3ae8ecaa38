"""Settings that did best in a grid, out of tables."""

from collections.abc import Iterable

from graphdr.cache import io
from graphdr.scores.chosen import CHOSEN


def read_chosen(paths: Iterable[str]) -> dict[tuple[str, str], dict[str, float | int]]:
    """Read the settings that did best, by problem and method."""
    chosen: dict[tuple[str, str], dict[str, float | int]] = {}
    for path in paths:
        table = io.read("measurements", path)
        columns = [io.values(table[name]).tolist() for name in ("problem", "method", "quantity", "value")]
        for problem, method, quantity, value in zip(*columns, strict=True):
            if quantity in CHOSEN:
                setting = CHOSEN[quantity]
                chosen.setdefault((problem, method), {})[setting] = int(value) if setting == "k" else value
    return chosen
