"""The configuration: all blocks of config.yaml, whose types are in the modules of `schema`."""

from graphdr.plan.schema.datasets import Dataset
from graphdr.plan.schema.experiments import BaseProblem, Evaluation, Experiment, Target
from graphdr.plan.schema.factors import Factors
from graphdr.plan.schema.methods import Method
from graphdr.plan.schema.values import ABSENT, Block, Count, Distinct, Name, Natural
from graphdr.plan.schema.views import Claim, FigureView, Quantity, SimulatedPapers, TableView, View

__all__ = ["Claim", "Config", "Dataset", "Evaluation", "Experiment", "Factors", "FigureView", "Method", "Quantity",
           "SimulatedPapers", "TableView", "View"]  # fmt: skip


class Config(Block):
    """All blocks of config.yaml."""

    seed: Natural
    batch: Count
    horizons: Distinct[Count] = []  # at which claims are judged with other settings
    mirror: str = ABSENT
    protocol: Factors
    observed: Factors
    datasets: dict[Name, Dataset]
    problems: dict[Name, BaseProblem]
    methods: dict[Name, Method]
    experiments: dict[Name, Experiment]
    targets: dict[Name, Target] = {}
    evaluations: dict[Name, Evaluation]
    tables: dict[Name, TableView]
    figures: dict[Name, FigureView]
    claims: dict[Name, Claim]
    simulated_papers: dict[Name, SimulatedPapers] = {}
    quantities: dict[Name, Quantity]
