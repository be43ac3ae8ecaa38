"""Who plays what: every method once on every problem, for the first experiment that asks.

Two experiments that ask for the same runs, under whatever names, share them: what tells runs apart is what the stage
is told of a problem and a method.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from graphdr.bandit import contexts
from graphdr.bandit.methods import POLICIES
from graphdr.bandit.pool import NODE
from graphdr.bandit.radii import SPECTRAL, facts_behind, of_theorem
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.cache import paths
from graphdr.facts.registry import FACTORS
from graphdr.graphs.arm_features import ADAPTIVE, IDENTITY, k_fact
from graphdr.plan.blocks import Method

# Of a method: what is not only shown.
KNOBS = {"policy", "basis", "beside", "filter", "rho", "laplacian", "k", "radius", "alpha", "ridge", "in_noise"}
THETA_FACTORS = ("instances", "reward", "k_star", "tail")
RUN_FACTORS = (
    "instances", "draws", "horizon", "first_seed", "seeds", "checkpoint", "candidates", "arms", "noise", "ridge",
    "alpha", "k", "tuned",
)  # fmt: skip
THEORY_FACTORS = ("delta", "pilot")  # of runs with the radius of a theorem, besides
ADAPTIVE_FACTORS = ("delta", "k_grid")  # of runs that find their k, besides
POOL_FACTORS = (*contexts.FACTORS, "segments")  # of problems whose arms are no single nodes …
PAID_FACTORS = ("noise", "dataset", "users")  # of what pulls may pay, where noise is resampled
SEGMENT_FACTORS = ("segments", "differ", "differences", "items")  # … and of rewards that are drawn for segments


class Played(NamedTuple):
    """Where the runs of a method on a problem are, and what both are called there."""

    path: str
    problem: str
    method: str


KINDS = PLAIN, INFORMED = "plain", "informed"  # a fact or a pilot that changes makes only the latter play again


def by_theorem(method: Method) -> bool:
    """Tell whether the radius of a method is a theorem's."""
    return of_theorem(method.radius)


def facts_of(method: Method) -> list[str]:
    """Return the facts that a method starts from."""
    fact = k_fact(method.k)
    return [*([fact] if fact else ()), *facts_behind(method.radius)]


def kind_of(method: Method) -> str:
    """Tell methods that take their k or radius from facts or a pilot from others."""
    return INFORMED if facts_of(method) else PLAIN


def factors_of(method: Method) -> tuple[str, ...]:
    """Return the factors of a problem that a method is told."""
    further = THEORY_FACTORS if by_theorem(method) else ADAPTIVE_FACTORS if method.k == ADAPTIVE else ()
    return RUN_FACTORS + further + POLICIES[method.policy].factors + (("delta",) if method.radius == SPECTRAL else ())


def pool_factors(problem: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the factors that its contexts depend on, none where the arms are nodes."""
    return POOL_FACTORS if problem["context"] != NODE else ()


def theta_factors(problem: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the factors that its reward, and what a pull pays, depend on besides the graph and the noise."""
    paid = PAID_FACTORS if problem["noise"] == RESAMPLED else ()
    return THETA_FACTORS + paid + (SEGMENT_FACTORS if problem["segments"] > 1 and problem["reward"] in PLANTED else ())


def _identity(problem: Mapping[str, Any], knobs: dict[str, Any], factors: Iterable[str]) -> str:
    """Spell what runs depend on: equal identities give equal runs."""
    k = None if knobs["basis"] == IDENTITY else knobs["k"] or problem["k"]
    told = {factor: problem[factor] for factor in (*factors, *theta_factors(problem), *pool_factors(problem))}
    own = {name: knobs[name] for name in ("alpha", "ridge") if knobs[name] is not None}
    rest = sorted((knobs | {"k": k, "alpha": None, "ridge": None}).items())
    return repr((problem["clean"], problem["graph"], rest, told | own))


def assign(
    asked: Iterable[tuple[str, str, str]], problems: Mapping[str, Mapping[str, Any]], methods: Mapping[str, Method]
) -> dict[tuple[str, str], Played]:
    """Return where the runs of every problem and method are, from (batch, problem, method) in order of precedence."""
    knobs = {name: method.model_dump(include=KNOBS) for name, method in methods.items()}
    factors = {name: _factors_behind(method) for name, method in methods.items()}
    first: dict[str, Played] = {}
    played: dict[tuple[str, str], Played] = {}
    for batch, problem, method in asked:
        identity = _identity(problems[problem], knobs[method], factors[method])
        path = paths.runs(batch, kind_of(methods[method]))
        played[problem, method] = first.setdefault(identity, Played(path, problem, method))
    return played


def _factors_behind(method: Method) -> list[str]:
    """Return the factors that runs depend on: k only where a fact does, since a method's own is known."""
    facts = {factor for fact in facts_of(method) for factor in FACTORS.get(fact, ())}
    return sorted({*factors_of(method)} - {"k"} | facts)
