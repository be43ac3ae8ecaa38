"""Grids of settings: every method with every setting of a grid, and the best of them that another experiment takes."""

from itertools import product
from typing import NamedTuple

from graphdr.plan.blocks import Experiment, Method
from graphdr.plan.short_forms import problem_name

OWN = "none"  # of the factor `settings_from`: methods play with the settings of the configuration


class Variant(NamedTuple):
    """A method with one setting of a grid: its name in the runs, the name of the method, and the setting."""

    name: str
    method: str
    setting: dict[str, float]


def variants(experiment: Experiment, methods: dict[str, Method]) -> list[Variant]:
    """Return every method of an experiment with every setting of its grid, or as it is where there is none."""
    grid = experiment.settings.plain() if experiment.settings else {}
    spread = []
    for name in experiment.methods:
        levels = {setting: grid[setting] for setting in methods[name].method.tunable if setting in grid}
        for values in product(*levels.values()):
            settings = dict(zip(levels, values, strict=True))
            spread.append(Variant(problem_name(name, settings), name, settings))
    return spread
