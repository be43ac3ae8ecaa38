"""All facts about problems, and what they need: factors, bases, and the budgets and rounds of pilots."""

from collections.abc import Iterable

from graphdr.facts import graph_facts, selection_facts  # noqa: F401  (they declare their facts)
from graphdr.facts.declare import FACTS as FACTS
from graphdr.facts.declare import PROBLEM

FACTORS = {name: fact.factors for name, fact in FACTS.items() if fact.factors}
FACT_BASES = {name: fact.basis for name, fact in FACTS.items() if fact.basis}  # besides laplacian_low
FAVOURABLE = {name: fact.favourable for name, fact in FACTS.items() if fact.favourable} | {"srl": -1, "crw": -1}


def budgets(names: Iterable[str], problem_budget: int) -> list[int]:
    """Return the budgets (pulls per node) of the pilots that these facts read, given that of the problem's pilot."""
    declared = (FACTS[name].budget for name in names)
    return sorted({problem_budget if budget == PROBLEM else int(budget) for budget in declared if budget is not None})


def needs_rounds(names: Iterable[str]) -> bool:
    """Tell whether any of these facts reads the rounds of the problem's pilot."""
    return any(FACTS[name].rounds for name in names)
