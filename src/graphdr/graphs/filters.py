"""Spectral filters: the prior variance of a column of a basis, given its roughness and the filter's strength rho.

Each is one on a column that is not rough at all. A method multiplies its columns by the root of it.
"""

import numpy as np

CUT = "cut"
NU = 1.5  # smoothness of the Matérn kernel


def cut(roughness: np.ndarray, rho: float) -> np.ndarray:
    """Weigh the selected columns equally; the columns after them are cut off."""
    return np.ones(len(roughness))


def smooth(roughness: np.ndarray, rho: float) -> np.ndarray:
    """Return 1 / (1 + rho l): with all columns, the penalty ridge (I + rho L) of Laplacian-regularised methods."""
    return 1.0 / (1.0 + rho * roughness)


def heat(roughness: np.ndarray, rho: float) -> np.ndarray:
    """Return exp(-rho l), the heat kernel (Kondor and Lafferty, 2002) after the time rho."""
    return np.exp(-rho * roughness)


def matern(roughness: np.ndarray, rho: float) -> np.ndarray:
    """Return (2 nu / rho + l)^-nu, one at l = 0: the Matérn kernel of Borovitskiy et al. (2021), rho their kappa^2."""
    return (1.0 + rho * roughness / (2.0 * NU)) ** -NU


FILTERS = {f.__name__: f for f in (cut, smooth, heat, matern)}


def column_weights(name: str, roughness: np.ndarray, rho: float) -> np.ndarray:
    """Return the factor of every column."""
    return np.sqrt(FILTERS[name](roughness, rho))
