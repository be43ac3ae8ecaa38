"""The outcome of a run: what kernels measure, what is stored, and what the bounds are set against."""

from typing import NamedTuple

import numpy as np


class Outcome(NamedTuple):
    """What one run did up to its checkpoints t, and the arms that it chose in every round; None is not measured.

    SRL and CRW are those of a residual, true or a pilot's; widths are summed over the arms played.
    """

    t: np.ndarray
    regret: np.ndarray
    srl: np.ndarray | None = None
    crw: np.ndarray | None = None
    widths: np.ndarray | None = None
    srl_pilot: np.ndarray | None = None
    crw_pilot: np.ndarray | None = None
    arms: np.ndarray | None = None


MEASURED = Outcome._fields[:-1]  # at the checkpoints
