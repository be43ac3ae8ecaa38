"""Fewer digits and fewer points, to keep the page small."""

import math

import numpy as np
from numpy.typing import ArrayLike


def short(value: float | None, digits: int = 4) -> float | int | None:
    """Round to significant digits; NaN and infinity become None, because JSON has neither."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def shorts(values: ArrayLike, digits: int = 4) -> list[float | int | None]:
    """Round every value to significant digits."""
    return [short(value, digits) for value in np.asarray(values, float).tolist()]


def thinned(size: int, most: int) -> np.ndarray:
    """Return at most ``most`` positions out of ``size``, evenly spaced, the first and the last among them."""
    if size <= most:
        return np.arange(size)
    return np.unique(np.linspace(0, size - 1, most).round().astype(int))
