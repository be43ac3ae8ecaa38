"""Settings that did best in a grid, out of tables."""

from collections.abc import Iterable

from graphdr.cache import io
from graphdr.scores.chosen import CHOSEN


def read_chosen(paths: Iterable[str]) -> dict[tuple[str, str], dict[str, float | int]]:
    """Read the settings that did best: (problem, method) to those that the method has."""
    chosen: dict[tuple[str, str], dict[str, float | int]] = {}
    for path in paths:
        table = io.read("measurements", path)
        columns = [io.values(table[name]).tolist() for name in ("problem", "method", "quantity", "value")]
        for problem, method, quantity, value in zip(*columns, strict=True):
            if quantity in CHOSEN:
                knob = CHOSEN[quantity]
                chosen.setdefault((problem, method), {})[knob] = int(value) if knob == "k" else value
    return chosen
