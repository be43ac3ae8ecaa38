"""The parameters of a policy: their allowed values, and the checks that refuse all others in one line."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from graphdr.graphs.arm_features import IDENTITY
from graphdr.serve import basis as served
from graphdr.serve.tuning import GRAPH, PRIORS, RIDGE

SERVED = (IDENTITY, *served.SERVED)
UCB, TS = "ucb", "ts"
RAISE, IGNORE = "raise", "ignore"  # what to do with rewards of unknown arms
# fit builds the policy from these: a change needs another fit.
FIT_PARAMS = (
    "k", "basis", "prior", "ridge", "laplacian", "intercept", "components", "self_loops", "segment_coupling",
    "segments",
)  # fmt: skip
PLAY_PARAMS = ("radius", "explore", "forget")  # these take effect with the next call

RandomState = int | np.random.Generator | np.random.RandomState | None


def check(policy: Any) -> None:
    """Refuse parameters that no policy can be fitted or play with."""
    k, basis, prior, ridge, laplacian = policy.k, policy.basis, policy.prior, policy.ridge, policy.laplacian
    radius, explore, forget = policy.radius, policy.explore, policy.forget
    if basis not in SERVED:
        raise ValueError(f"no basis {basis!r}; there are: {', '.join(SERVED)}")
    if prior not in (GRAPH, RIDGE):
        raise ValueError(f"no prior {prior!r}; there are: {', '.join(PRIORS)}")
    if not (isinstance(k, Integral) and not isinstance(k, bool) and int(k) >= 1):
        raise ValueError(f"k is a whole number from 1 on, not {k!r}")
    if not is_number(laplacian) or laplacian < 0:
        raise ValueError(f"laplacian is finite and not negative, not {laplacian!r}")
    if ridge is not None and (not is_number(ridge) or ridge <= 0):
        raise ValueError(f"ridge is finite and positive, or None (found from the rewards), not {ridge!r}")
    if radius is not None and (not is_number(radius) or radius < 0):
        raise ValueError(f"radius is finite and not negative, or None (found from the rewards), not {radius!r}")
    if explore not in (UCB, TS) and (not is_number(explore) or not 0 <= explore <= 1):
        raise ValueError(f"explore is {UCB!r}, {TS!r} or the share of random rounds, from 0 to 1, not {explore!r}")
    if not is_number(forget) or not 0 < forget <= 1:
        raise ValueError(f"forget is what is kept from one reward to the next, above 0 and at most 1, not {forget!r}")
    if prior == GRAPH and (ridge is not None or laplacian):
        raise ValueError(f"ridge and laplacian belong to prior={RIDGE!r}; prior={GRAPH!r} finds its own")
    if laplacian and (ridge is None or basis == IDENTITY):
        raise ValueError(f"a Laplacian penalty needs a ridge, and a basis that is not {IDENTITY!r}")
    if not policy.intercept and (prior == GRAPH or ridge is None or radius is None):
        raise ValueError(f"without an intercept, prior={RIDGE!r} with a ridge and a radius is needed")


def check_unknown(unknown: object) -> None:
    """Refuse any other way to treat rewards of unknown arms."""
    if unknown not in (RAISE, IGNORE):
        raise ValueError(f"unknown is {RAISE!r} or {IGNORE!r}, not {unknown!r}")


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator of a seed, of a generator of either kind, or a fresh one for None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        kinds = "a seed (a whole number that is not negative), a generator or None"
        raise ValueError(f"random_state is {kinds}, not {random_state!r}") from None


def spawn(rng: np.random.Generator) -> np.random.Generator:
    """Return a new generator for a copy of a policy: with the same one, both would explore alike."""
    return np.random.default_rng(rng.integers(2**32, size=4))


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(value))  # type: ignore[call-overload]
