"""Settings of methods: every one of a grid that an experiment plays, and the best of it that another takes over."""

from itertools import product
from typing import Any, NamedTuple

from graphdr.bandit.radii import CONSTANT
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
    """Return the settings that a method has: whoever learns a width and a ridge, k where it projects, rho of a filter.

    A method whose radius is a theorem's has none: the theorem sets them.
    """
    if method.policy not in ("linucb", "per_segment") or method.radius != CONSTANT:
        return []
    projects = method.basis != IDENTITY and method.k is None
    return ["alpha", "ridge", *(["k"] if projects else []), *(["rho"] if method.filter != CUT else [])]


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
