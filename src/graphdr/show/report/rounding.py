"""Few digits and few points: what keeps the page small without changing what it shows."""

import math
from collections.abc import Iterable

import numpy as np


def short(value: float | None, digits: int = 4) -> float | int | None:
    """Round to significant digits; what is not a finite number becomes None, as JSON has no other word for it."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def shorts(values: Iterable[float], digits: int = 4) -> list[float | int | None]:
    """Round every value to significant digits."""
    return [short(value, digits) for value in np.asarray(values, float).tolist()]


def thinned(size: int, most: int) -> np.ndarray:
    """Return at most ``most`` positions out of ``size``, evenly spaced, the first and the last among them."""
    if size <= most:
        return np.arange(size)
    return np.unique(np.linspace(0, size - 1, most).round().astype(int))
