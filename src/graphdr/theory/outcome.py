"""The outcome of a run: what kernels measure, what is stored, and what the bounds are set against."""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    """What a graph prior found at its last fit, and what theory says of a prior with these weights.

    The shares are those of the reward's squares outside of the columns found: as the fit expects, and in truth.
    """

    fit_columns: int
    fit_rho: float
    fit_scale: float
    fit_residual: float
    fit_noise: float
    fit_basis: int
    fit_share: float
    true_share: float
    gain: float
    gain_bound: float


class Outcome(NamedTuple):
    """What one run did up to its checkpoints; None is not measured.

    Attributes
    ----------
    t : ndarray
        The checkpoints.
    regret : ndarray
        Summed up to each of them.
    srl, crw : ndarray, optional
        Those of the run's residual.
    widths : ndarray, optional
        Summed over the arms played.
    srl_pilot, crw_pilot : ndarray, optional
        SRL and CRW with the residual of a pilot.
    arms : ndarray, optional
        The arm chosen in every round.
    fit : Fit, optional
        What a graph prior found at its last fit.
    """

    t: np.ndarray
    regret: np.ndarray
    srl: np.ndarray | None = None
    crw: np.ndarray | None = None
    widths: np.ndarray | None = None
    srl_pilot: np.ndarray | None = None
    crw_pilot: np.ndarray | None = None
    arms: np.ndarray | None = None
    fit: Fit | None = None


MEASURED = Outcome._fields[:-2]  # at the checkpoints
FITTED = Fit._fields  # once
