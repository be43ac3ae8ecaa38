"""All facts about problems, with the factors and the bases that each needs besides the graph's own."""

import re
from collections.abc import Collection

from graphdr.facts import graph_facts, rotation_facts, selection_facts

FACTS = graph_facts.FACTS | selection_facts.FACTS | rotation_facts.FACTS
FACTORS = (
    graph_facts.FACTORS | selection_facts.FACTORS | rotation_facts.FACTORS
)  # a change of any other factor does not rerun the fact
FACT_BASES = graph_facts.FACT_BASES | selection_facts.FACT_BASES

# What favours GraphDR according to the theory: large values (1) or small ones (-1). Every diagnosis is of a residual.
FAVOURABLE = dict.fromkeys(("gamma", "gamma_graph", "gamma_full", "gamma_pilot", "energy", "eigengap"), 1)
FAVOURABLE |= dict.fromkeys(("zeta", "rho", "srl", "crw"), -1)
FAVOURABLE |= {name + suffix: -1 for name in selection_facts.DIAGNOSES for suffix in selection_facts.SEEN}

NEEDS_ROUNDS = {end.__name__ for end in selection_facts.ENDS}  # of a pilot, for the bootstrap


def budgets(facts: Collection[str], problem_budget: int) -> list[int]:
    """Return the budgets, in pulls per node, of the pilots that facts look at."""
    wanted = {int(match[1]) for fact in facts if (match := re.fullmatch(r".*_pilot_(\d+)", fact))}
    own = any(fact.endswith("_pilot") or fact == "pilot_error" or fact in NEEDS_ROUNDS for fact in facts)
    return sorted(wanted | ({problem_budget} if own else set()))


def needs_rounds(facts: Collection[str]) -> bool:
    """Tell whether facts look at the rounds of a pilot, and not at its estimates alone."""
    return not NEEDS_ROUNDS.isdisjoint(facts)
