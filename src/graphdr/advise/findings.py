"""The records of an advice: the answer and all evidence behind it."""

from typing import NamedTuple

from graphdr.advise.logs import ByLog
from graphdr.advise.simulation.methods import Settings
from graphdr.advise.simulation.tournament import SimulationConfig
from graphdr.advise.simulation.verdict import Verdict


class Size(NamedTuple):
    """The size of the data and of the graph; pairs are the lowest and the highest of a split."""

    items: int
    taken: int  # by --nodes
    played: tuple[int, int]
    edges: tuple[int, int]
    components: tuple[int, int]  # of the graph
    split_by: str
    sample: int  # users, or rewards where there are no users
    rewards: int  # single ones: values of users, or rows of rewards
    rare: tuple[float, int] | None  # where rewards are one of two values, the rarer one and how many have it
    noise: float  # standard deviation of a reward around its mean; all mean rewards together have length one


class Score(NamedTuple):
    """A method: its settings, and its mean regret in the runs that judge, with the standard error over splits.

    A method that was behind the best of its kind did not play these runs: ``behind`` says by which share its regret was
    larger, in the runs that chose the best.
    """

    label: str
    sees_graph: bool
    control: bool
    settings: Settings
    regret: float | None = None
    sem: float | None = None
    behind: float | None = None


class Screen(NamedTuple):
    """The quick look before any simulation: the log evidence of the graph, its median and that of every split."""

    log_bayes: float
    by_split: list[float]
    speaks_for_graph: bool


class Findings(NamedTuple):
    """Advice with its evidence: the JSON of the command."""

    name: str
    label: str
    folder: str
    answer: list[str]
    verdict: Verdict
    screen: Screen
    size: Size
    simulation: SimulationConfig
    scores: dict[str, Score]
    curves: dict[str, list[list[float]]]  # round and mean regret in the runs that judge, by method
    log: ByLog | None
    notes: list[str]
