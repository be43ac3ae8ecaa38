"""The sections of the benchmarks, and the sizes at which they can be measured."""

from typing import NamedTuple

USUAL, LARGE, TINY = "usual", "large", "tiny"  # sizes; a section that has no large size is measured at the usual one


class Section(NamedTuple):
    """The module whose ``measure`` returns the rows of a section, their unit, and whether it runs only when named."""

    module: str
    unit: str
    named_only: bool = False


SECTIONS = {
    "limits": Section("limits", "rate"),
    "kernels": Section("kernels", "microseconds"),
    "methods": Section("methods", "microseconds"),
    "peers": Section("peer_environment", "microseconds"),
    "solvers": Section("solvers", "seconds"),
    "scale": Section("scale", "seconds", named_only=True),
    "arms": Section("many_arms", "seconds", named_only=True),
    "raw": Section("raw", "seconds", named_only=True),
}
AT_SCALE = ("solvers", "scale", "arms")  # what --scale measures
