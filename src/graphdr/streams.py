"""What a bandit meets: candidate sets and noise, drawn once per seed and shared by all methods."""

from typing import NamedTuple

import numba
import numpy as np

from graphdr.rng import stream


class Stream(NamedTuple):
    """Candidate arms (rounds x m) and one noise value a round, whatever the arm."""

    arms: np.ndarray
    noise: np.ndarray


@numba.njit(cache=True)
def uniform(n: int, rounds: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Draw m of n arms without replacement in every round (partial Fisher–Yates)."""
    if m > n:
        raise ValueError("more candidates a round than arms")
    pool = np.arange(n, dtype=np.int32)
    arms = np.empty((rounds, m), np.int32)
    for t in range(rounds):
        for c in range(m):
            pick = c + int(rng.random() * (n - c))
            arms[t, c] = pool[pick]
            pool[pick] = pool[c]
            pool[c] = arms[t, c]
    return arms


CANDIDATES = {"uniform": uniform}


def draw(root: int, spec: dict, n: int, instance: int, seed: int) -> Stream:
    """Draw the stream of one seed from the factors of a problem (arms, candidates, horizon, noise)."""
    key = _key(spec, n, instance, seed)
    arms = CANDIDATES[spec["candidates"]](n, spec["horizon"], spec["arms"], stream(root, "arms", **key))
    noise = spec["noise"] * stream(root, "noise", **key).standard_normal(spec["horizon"])
    return Stream(arms, noise)


def random_choices(root: int, spec: dict, n: int, instance: int, seed: int) -> np.ndarray:
    """Draw the column of the candidate set that the random policy plays in every round."""
    rng = stream(root, "random", **_key(spec, n, instance, seed))
    return rng.integers(spec["arms"], size=spec["horizon"])


def _key(spec: dict, n: int, instance: int, seed: int) -> dict:
    """Return what identifies a set-up: equal set-ups in two experiments meet equal rounds."""
    return {"instance": instance, "n": n, "m": spec["arms"], "candidates": spec["candidates"], "run": seed}
