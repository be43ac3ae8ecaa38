"""The random streams behind a file: the root seed, the purpose of each stream, and what tells its draws apart."""

from collections.abc import Iterator
from typing import NamedTuple

from graphdr.cli.records import Focus, Record


class Stream(NamedTuple):
    """A generator of ``rng.stream``: root seed, purpose, and its key in words."""

    seed: int
    purpose: str
    key: str


def streams(record: Record, focus: Focus) -> list[Stream]:
    """Return the random streams that a file was made with, those that matter under a focus."""
    drawn = DRAWN[record.stage](record.params, focus) if record.stage in DRAWN else ()
    return [Stream(record.params["seed"], purpose, key) for purpose, key in dict.fromkeys(drawn)]


def _span(name: str, count: int, first: int = 0) -> str:
    return f"{name} {first}" if count == 1 else f"{name} {first} to {first + count - 1}"


def _instances(params: dict, focus: Focus) -> Iterator[tuple[dict, str]]:
    """Yield the problems that matter, each with the key of the streams of its instances."""
    return ((p, f"number of nodes, {_span('instance', p['instances'])}") for p in focus.among(params["problems"]))


def _of_graph(params: dict, focus: Focus) -> Iterator[tuple[str, str]]:
    from graphdr.graphs.raters import SPLIT

    key = f"family {params['family']}, n {params['n']}, {_span('instance', params['instances'])}"
    changes = params["change"] or {}
    drawn = ("sample", "shuffle", "flip", "swap", "perturb", *(("segments",) if params["dataset"] else ()))
    yield from ((purpose, key) for purpose in drawn if purpose in changes)
    if not changes and not params["dataset"]:
        yield "graph", key
    if not changes and params["dataset"] and params["instances"] > 1:
        yield "ties", f"data set {params['dataset']}, each instance from 2 on"
    if not changes and params.get("users") == SPLIT:
        yield "users", f"data set {params['dataset']}, {_span('instance', params['instances'])}"


def _of_basis(params: dict, focus: Focus) -> Iterator[tuple[str, str]]:
    from graphdr.graphs.bases import REDRAWN
    from graphdr.graphs.raters import SPLIT

    if params.get("users") == SPLIT:
        yield "users", f"data set {params['dataset']}, each instance"
    if params["basis"] in REDRAWN:
        yield "basis", f"basis {params['basis']}, each instance, {_span('draw', 1 + params['draws'])}"


def _of_theta(params: dict, focus: Focus) -> Iterator[tuple[str, str]]:
    from graphdr.bandit.rewards import PLANTED

    for problem, key in _instances(params, focus):
        if problem["reward"] in PLANTED:
            yield "theta", key
            if problem["tail"]:
                yield "theta outside", key
            if problem.get("segments", 1) > 1:
                yield "theta between", key
        if problem.get("context") == "bundle":
            yield "contexts", f"{key}, bundles of {problem['bundle']}, {problem['bundled']}"


def _of_facts(params: dict, focus: Focus) -> Iterator[tuple[str, str]]:
    from graphdr.facts.registry import FACTS

    wanted = FACTS.keys() if focus.quantities is None else FACTS.keys() & focus.quantities
    facts = [FACTS[name] for name in params["facts"] if name in wanted]
    return ((purpose, key) for _, key in _instances(params, focus) for fact in facts for purpose in fact.streams)


def _of_runs(params: dict, focus: Focus) -> Iterator[tuple[str, str]]:
    from graphdr.bandit.methods import POLICIES
    from graphdr.bandit.rewards import RESAMPLED

    for problem in focus.among(params["problems"]):
        instances = _span("instance", problem["instances"])
        seeds = _span("run", problem["seeds"], problem["first_seed"])
        key = f"{problem['candidates']}, {problem['arms']} arms, {instances}, {seeds}"
        yield from (("arms", key), ("ratings" if problem["noise"] == RESAMPLED else "noise", key))
        if problem.get("segments", 1) > 1:
            yield "arrivals", key
        policies = [POLICIES[method["policy"]] for method in focus.of(params["methods"]).values()]
        yield from ((purpose, key) for purpose in sorted({name for policy in policies for name in policy.streams}))


DRAWN = {
    "build_graph": _of_graph,
    "compute_basis": _of_basis,
    "pose_problem": _of_theta,
    "estimate_pilot": lambda params, focus: (("pilot", key) for _, key in _instances(params, focus)),
    "describe_problem": _of_facts,
    "run_bandit": _of_runs,
}
