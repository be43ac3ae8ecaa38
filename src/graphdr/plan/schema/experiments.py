"""Experiments, the problems that they play, and evaluations over several of them."""

from graphdr.plan.schema.factors import Factors, Levels
from graphdr.plan.schema.values import ABSENT, Block, Count, Distinct, Name, Names, Number, Positive


class BaseProblem(Factors):
    """A problem that experiments play or vary."""

    dataset: str


class ProblemGrid(Block):
    """The problems of an experiment: base problems with every combination of the varied factors."""

    of: Names
    set: Factors = Factors()
    vary: Levels = {}
    cycle: Levels = {}  # factors that take their values in turn along the varied ones, instead of crossing them


class Settings(Block):
    """Values of the settings of methods; a method plays with every combination of those that it has."""

    noun = "setting"
    alpha: Distinct[Number] = ABSENT
    ridge: Distinct[Positive] = ABSENT
    k: Distinct[Count] = ABSENT
    rho: Distinct[Positive] = ABSENT


class Experiment(Block):
    """Methods that play problems, and the facts to compute about these problems."""

    title: str = ABSENT  # on the page; without it, the name in words
    problems: ProblemGrid
    methods: Names
    facts: Names = []
    settings: Settings = ABSENT  # every method plays with all of them, in place of those of its problem
    varies: Names = []  # experiments of the paper whose claims are judged with each of these settings
    against: str = ABSENT  # the method of the paired differences; see `reference_method`
    opt_in: bool = False  # built by its target alone, not by `all`
    target: Name = ABSENT  # of Snakemake; `synthetic` leaves out experiments that have one

    @property
    def reference_method(self) -> str:
        """Return the method that paired differences are taken against."""
        return self.against or ("graphdr" if "graphdr" in self.methods else self.methods[0])


class Target(Block):
    """A study of several experiments, which Snakemake builds under its name."""

    title: str


class Evaluation(Block):
    """How well facts predict a measure over the problems of some experiments."""

    label: str
    experiments: Names
    method: str
    target: str
    predictors: Names = []
    joint: dict[str, Names] = {}  # several facts as one predictor
    means: Names = []  # facts whose mean on every data set is reported, too
    predictor_method: str = ABSENT  # whose run a measured predictor is taken from
    scores: Names

    @property
    def predictor_facts(self) -> dict[str, list[str]]:
        """Return the facts of every predictor, joint ones included."""
        return {name: [name] for name in self.predictors} | self.joint
