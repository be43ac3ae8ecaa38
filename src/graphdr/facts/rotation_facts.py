"""Facts about how far a noisy graph turned the subspace of the k smoothest eigenvectors, against Davis and Kahan."""

import numpy as np

from graphdr.facts.graph_facts import Setting, eps_l
from graphdr.graphs import spectral
from graphdr.theory import rotation

SLACK = 1e-6  # relative: a perturbation of a quarter of the gap is one up to the accuracy that it was scaled with


def interior_gap(setting: Setting) -> float:
    """Return the gap around u_2..u_{k+1} of the clean graph."""
    return spectral.interior_gap(setting.low.values, setting.spec["k"])


def dk_holds_ratio(setting: Setting) -> float:
    """Return the distance of the projectors over its bound 4 eps / gap; nan where eps is 0 or above gap / 4."""
    eps, gap = eps_l(setting), interior_gap(setting)
    if not 0 < 4 * eps <= (1 + SLACK) * gap or setting.observed.n < setting.clean.n:
        return np.nan
    return rotation.davis_kahan(setting.low, setting.observed_low, eps, setting.spec["k"], "experiments").ratio


FACTS = {f.__name__: f for f in (interior_gap, dk_holds_ratio)}
FACTORS = {name: ("k",) for name in FACTS}
