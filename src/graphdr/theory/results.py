"""The result of a run: what is measured and stored, and what bounds are compared with."""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    """The last fit of a graph prior, and what theory says of a prior with these weights.

    The shares are those of the reward's squares outside of the fitted columns: as the fit expects, and in truth.
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


class RunResult(NamedTuple):
    """The result of one run at its checkpoints; None is not measured.

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
        The last fit of a graph prior.
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


MEASURED = RunResult._fields[:-2]  # at the checkpoints
FITTED = Fit._fields  # once
