"""All facts about problems, with the factors and the bases that each needs besides the graph's own."""

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
