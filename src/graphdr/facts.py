"""All facts about problems, with the factors and the bases that each needs besides the graph's own."""

from graphdr import diagnosis, diagnostics, rotation

FACTS = diagnostics.FACTS | diagnosis.FACTS | rotation.FACTS
FACTORS = (
    diagnostics.FACTORS | diagnosis.FACTORS | rotation.FACTORS
)  # a change of any other factor does not rerun the fact
FACT_BASES = diagnostics.FACT_BASES | diagnosis.FACT_BASES

# What favours GraphDR according to the theory: large values (1) or small ones (-1). Every diagnosis is of a residual.
FAVOURABLE = dict.fromkeys(("gamma", "gamma_graph", "gamma_full", "gamma_pilot", "energy", "eigengap"), 1)
FAVOURABLE |= dict.fromkeys(("zeta", "rho", "srl", "crw"), -1)
FAVOURABLE |= {name + suffix: -1 for name in diagnosis.DIAGNOSES for suffix in diagnosis.SEEN}
