"""Views of results: tables, figures and claims, and how numbers are shown and compared."""

from typing import Annotated, Any, Literal

from pydantic import Field

from graphdr.plan.schema.values import (
    ABSENT,
    Block,
    Columns,
    Count,
    Names,
    Natural,
    Number,
    OneOrMore,
    Pair,
    Share,
    Text,
    as_list,
)

Check = Annotated[dict[str, dict[str, Any]], Field(min_length=1, max_length=1)]
Checks = Annotated[list[Check], Field(min_length=1)]


class View(Block):
    """A view of the results of experiments or of evaluations, one or several."""

    experiment: OneOrMore = ABSENT
    evaluation: OneOrMore = ABSENT

    @property
    def experiments(self) -> list[str]:
        """Return the experiments, none if it shows evaluations."""
        return as_list(self.experiment)

    @property
    def evaluations(self) -> list[str]:
        """Return the evaluations, none if it shows experiments."""
        return as_list(self.evaluation)


class TableView(View):
    """A table: rows by factor or method, and a quantity per column."""

    caption: str
    problem: Text = ABSENT
    methods: Names = ABSENT
    rows: Text
    heading: str = ABSENT  # of the first column; without it, the name of the factor
    columns: Columns
    bold: Literal["column_min", "row_min"] = ABSENT
    paper_rows: dict[str | int | float, str | int | float] = {}


class FigureView(View):
    """A figure of some kind."""

    kind: str
    title: str
    problem: Text = ABSENT
    methods: Names = ABSENT
    x: str = ABSENT
    claim: str = ABSENT  # whose effect is shown with every setting
    y_label: str = ABSENT


class Claim(View):
    """How to judge a claim, of the paper or another one."""

    where: str = ABSENT
    statement: str = ABSENT
    criterion: str = ABSENT
    dataset: OneOrMore = ABSENT  # without it, all data sets of the experiments
    each: Literal["dataset"] = ABSENT
    exceptions: Names = Field(default=[], alias="except")  # data sets on which the claim states the opposite
    share: Share = ABSENT  # of the instances in which a theorem must hold; else the share of them decides
    min_problems: Count = ABSENT  # problems or data sets that the paper pools; fewer cannot refute it
    vacuous: str = ABSENT  # a bound, which says nothing where it is above the regret of the worst policy
    checks: Checks
    alternatives: dict[str, Checks] = {}  # other criteria, shown but not decisive

    @property
    def datasets(self) -> list[str]:
        """Return the data sets that it names."""
        return as_list(self.dataset)


class SimulatedPapers(Block):
    """Experiments that print the regrets of a table by our protocol and by others, to be judged as the paper is."""

    control: str  # our protocol, with more instances than the table shows
    protocols: list[Pair]  # experiments by other ones, each with the difference in words, which may name {factors}
    aliases: dict[str, str] = {}  # methods of these experiments by the method of the table that they replace

    @property
    def others(self) -> dict[str, str]:
        """Return the experiments by other protocols, with words."""
        return {name: words for pair in self.protocols for name, words in pair.items()}


class Quantity(Block):
    """How a number is shown, and compared with the paper's."""

    label: str
    tex: str = ABSENT
    digits: Natural
    better: Literal["low", "high"] = ABSENT
    tolerance: Number = ABSENT
