"""All facts about problems, and what they need: factors and bases, and of pilots their budgets and rounds."""

from collections.abc import Iterable

from graphdr.facts import graph_facts, prior_facts, selection_facts  # noqa: F401  (they declare their facts)
from graphdr.facts.declare import FACTS, PROBLEM

FACTORS = {name: fact.factors for name, fact in FACTS.items() if fact.factors}
FACT_BASES = {name: fact.basis for name, fact in FACTS.items() if fact.basis}  # besides laplacian_low
FAVOURABLE = {name: fact.favourable for name, fact in FACTS.items() if fact.favourable} | {"srl": -1, "crw": -1}


def budgets(names: Iterable[str], problem_budget: int | None) -> list[int]:
    """Return the budgets (pulls per node) of the pilots that these facts read, those of the problem's own included."""
    read = {FACTS[name].budget for name in names} - {None}
    return sorted({problem_budget if budget == PROBLEM else budget for budget in read})


def needs_rounds(names: Iterable[str]) -> bool:
    """Say whether any of these facts reads the rounds of the problem's own pilot."""
    return any(FACTS[name].rounds for name in names)
