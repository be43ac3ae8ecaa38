"""Randomness has a name: every generator is derived from a root seed and the facts that identify its use."""

import hashlib
import json

import numpy as np


def stream(seed: int, purpose: str, **key: int | str) -> np.random.Generator:
    """Return the generator of one purpose, e.g. ``stream(0, "arms", instance=3, n=200, m=10, run=1)``.

    Equal keys give equal streams in every experiment and for every method, so that runs are paired
    and adding a method changes no other number.

    Parameters
    ----------
    seed : int
        The seed of all.
    purpose : str
        What is drawn.
    **key : int or str
        What else tells this stream from others.

    Returns
    -------
    Generator

    Examples
    --------
    >>> one, same, other = (graphdr.stream(0, name).random() for name in ("arms", "arms", "noise"))
    >>> one == same, one == other
    (True, False)
    """
    text = json.dumps([seed, purpose, key], sort_keys=True)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))
