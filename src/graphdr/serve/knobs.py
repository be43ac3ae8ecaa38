"""What a policy may be told: the choices and the ranges of its parameters, each refused with one clear line."""

from numbers import Integral, Real

import numpy as np

from graphdr.graphs.arm_features import IDENTITY
from graphdr.serve import basis as served
from graphdr.serve.tuning import GRAPH, PRIORS, RIDGE

SERVED = (IDENTITY, *served.SERVED)
UCB, TS = "ucb", "ts"
RAISE, IGNORE = "raise", "ignore"  # what to do with rewards of arms that are not there
# What fit builds the policy from; all else counts from the next call on.
BUILT = {
    "k", "basis", "prior", "ridge", "laplacian", "intercept", "components", "self_loops", "segments", "coupling",
}  # fmt: skip
PLAYED = {"radius", "explore", "forget"}
WATCHED = BUILT | PLAYED
SEEN = (*PLAYED, "intercept")  # when what is played is checked
WITHOUT_INTERCEPT = f"without an intercept, prior={RIDGE!r} with a ridge and a radius is needed"


def check_built(k, basis: str, prior: str, ridge, laplacian, intercept: bool) -> None:
    """Refuse what a policy cannot be built from."""
    if basis not in SERVED:
        raise ValueError(f"no basis {basis!r}; there are: {', '.join(SERVED)}")
    if prior not in (GRAPH, RIDGE):
        raise ValueError(f"no prior {prior!r}; there are: {', '.join(PRIORS)}")
    if not (isinstance(k, Integral) and not isinstance(k, bool) and k >= 1):
        raise ValueError(f"k is a whole number from 1 on, not {k!r}")
    if not (_is_number(laplacian) and laplacian >= 0):
        raise ValueError(f"laplacian is finite and not negative, not {laplacian!r}")
    if ridge is not None and not (_is_number(ridge) and ridge > 0):
        raise ValueError(f"ridge is finite and positive, or None (found from the rewards), not {ridge!r}")
    if prior == GRAPH and (ridge is not None or laplacian):
        raise ValueError(f"ridge and laplacian belong to prior={RIDGE!r}; prior={GRAPH!r} finds its own")
    if laplacian and (ridge is None or basis == IDENTITY):
        raise ValueError(f"a Laplacian penalty needs a ridge, and a basis that is not {IDENTITY!r}")
    if not intercept and (prior == GRAPH or ridge is None):
        raise ValueError(WITHOUT_INTERCEPT)


def check_played(radius, explore, forget, intercept: bool) -> None:
    """Refuse what a policy cannot be played with."""
    if radius is None and not intercept:
        raise ValueError(WITHOUT_INTERCEPT)
    if radius is not None and not (_is_number(radius) and radius >= 0):
        raise ValueError(f"radius is finite and not negative, or None (found from the rewards), not {radius!r}")
    if explore not in (UCB, TS) and not (_is_number(explore) and 0 <= explore <= 1):
        raise ValueError(f"explore is {UCB!r}, {TS!r} or the share of random rounds, from 0 to 1, not {explore!r}")
    if not (_is_number(forget) and 0 < forget <= 1):
        raise ValueError(f"forget is what is kept from one reward to the next, above 0 and at most 1, not {forget!r}")


def check_unknown(unknown) -> None:
    """Refuse another way to treat rewards of arms that are not there."""
    if unknown not in (RAISE, IGNORE):
        raise ValueError(f"unknown is {RAISE!r} or {IGNORE!r}, not {unknown!r}")


def generator(random_state) -> np.random.Generator:
    """Return the generator of a seed, of a generator of either kind, or a fresh one for None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        kinds = "a seed (a whole number that is not negative), a generator or None"
        raise ValueError(f"random_state is {kinds}, not {random_state!r}") from None


def offspring(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator of its own for a copy of a policy: with the same one, two would explore alike."""
    return np.random.default_rng(rng.integers(2**32, size=4))


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(value))
