"""The records of an advice: what it says, and everything that it rests on."""

from typing import NamedTuple

from graphdr.advise.logs import ByLog
from graphdr.advise.paper.decision import Advice
from graphdr.advise.paper.survey import Survey


class Setting(NamedTuple):
    """The simulated rounds: their number, candidates and noise, the seeds, and the copies of a shuffled method."""

    horizon: int
    arms: int
    noise: float
    seeds: int
    choosing_seeds: int
    shuffled_copies: int


class Mean(NamedTuple):
    """A mean and its standard error."""

    mean: float
    sem: float


class Findings(NamedTuple):
    """Advice with its evidence: the JSON of the command."""

    name: str
    label: str
    folder: str
    notes: list[str]
    graph: Survey
    setting: Setting
    advice: Advice
    regret: dict[str, dict[int, Mean]]  # by method and k
    facts: dict[int, dict[str, float]]  # by k
    spectrum: list[float]
    curves: dict[str, list[list[float]]]  # round and mean regret, by method
    log: ByLog | None
    labels: dict[str, str]  # of methods
    styles: dict[str, dict[str, str]]  # of methods
    answer: list[str]
    paste: str
