"""Settings of methods: every one of a grid that an experiment plays, and the best of it that another takes over."""

from itertools import product
from typing import Any, NamedTuple

from graphdr.bandit.methods import POLICIES
from graphdr.bandit.radii import CONSTANT, of_theorem
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.filters import CUT
from graphdr.plan.blocks import Experiment, Method
from graphdr.plan.short_forms import problem_name

OWN = "none"  # of the factor `tuned`: methods play with the settings of the configuration


class Variant(NamedTuple):
    """A method with one setting of a grid: what it is called in runs, which method it is, and what it is told."""

    name: str
    method: str
    setting: dict[str, Any]


def knobs(method: Method) -> list[str]:
    """Return the settings that a method has: those of its policy, k where it projects, rho where it has a filter.

    A method whose radius is a theorem's has none: the theorem sets them. Another radius of its own takes no width.
    """
    if of_theorem(method.radius):
        return []
    fixed = set() if method.radius == CONSTANT else {"alpha"}
    if method.basis == IDENTITY or method.k is not None:
        fixed.add("k")
    knobs = [knob for knob in POLICIES[method.policy].knobs if knob not in fixed]
    return knobs + (["rho"] if method.filter != CUT else [])


def variants(experiment: Experiment, methods: dict[str, Method]) -> list[Variant]:
    """Return every method of an experiment with every setting of its grid, or as it is where there is none."""
    grid = experiment.settings.plain() if experiment.settings else {}
    spread = []
    for name in experiment.methods:
        levels = {knob: grid[knob] for knob in knobs(methods[name]) if knob in grid}
        for values in product(*levels.values()):
            setting = dict(zip(levels, values, strict=True))
            spread.append(Variant(problem_name(name, setting), name, setting))
    return spread
