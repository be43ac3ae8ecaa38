"""All facts about problems, with the factors and the bases that each needs besides the graph's own."""

from graphdr import diagnosis, diagnostics, rotation

FACTS = diagnostics.FACTS | diagnosis.FACTS | rotation.FACTS
FACTORS = (
    diagnostics.FACTORS | diagnosis.FACTORS | rotation.FACTORS
)  # a change of any other factor does not rerun the fact
FACT_BASES = diagnostics.FACT_BASES | diagnosis.FACT_BASES
