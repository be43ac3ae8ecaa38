"""Facts about how far a noisy graph turned the subspace of the k smoothest eigenvectors, against Davis and Kahan."""

import numpy as np

from graphdr.facts.declare import ProblemInstance, fact
from graphdr.facts.graph_facts import eps_l
from graphdr.graphs import spectral
from graphdr.graphs.arm_features import nontrivial
from graphdr.theory.constants import dk_ratio
from graphdr.theory.rotation import projector_distance

SLACK = 1e-6  # relative: a perturbation of a quarter of the gap is one up to the accuracy that it was scaled with


@fact("k")
def interior_gap(instance: ProblemInstance) -> float:
    """Return the gap around u_2..u_{k+1} of the clean graph."""
    return spectral.interior_gap(instance.low.values, instance.spec["k"])


@fact("k")
def dk_holds_ratio(instance: ProblemInstance) -> float:
    """Return the distance of the projectors over its bound 4 eps / gap; nan where eps is 0 or above gap / 4."""
    eps, gap = eps_l(instance), interior_gap(instance)
    if not 0 < 4 * eps <= (1 + SLACK) * gap or instance.observed.n < instance.clean.n:
        return np.nan
    columns = (nontrivial(basis.vectors, instance.spec["k"]) for basis in (instance.low, instance.observed_low))
    return projector_distance(*columns) / dk_ratio(eps, gap)
