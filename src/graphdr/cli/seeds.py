"""The random streams behind a file: the root seed, the purpose of each stream, and what tells its draws apart."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from graphdr.cli.records import Record

if TYPE_CHECKING:
    from graphdr.cli.lineage import Focus


class Stream(NamedTuple):
    """A generator of ``rng.stream``: root seed, purpose, and its key in words."""

    seed: int
    purpose: str
    key: str


def streams(record: Record, focus: "Focus") -> list[Stream]:
    """Return the random streams that a file was made with, those that matter under a focus."""
    if record.stage not in DRAWN:
        return []
    seed = record.params["seed"]
    return [Stream(seed, purpose, key) for purpose, key in dict.fromkeys(DRAWN[record.stage](record.params, focus))]


def _problems(params: dict, focus: "Focus") -> list[dict]:
    return [p for p in params["problems"] if focus.problems is None or p["name"] in focus.problems]


def _span(name: str, count: int) -> str:
    return f"{name} 0" if count == 1 else f"{name} 0 to {count - 1}"


def _of_graph(params: dict, focus: "Focus") -> Iterator[tuple[str, str]]:
    key = f"family {params['family']}, n {params['n']}, {_span('instance', params['instances'])}"
    for purpose in ("sample", "flip", "swap", "perturb"):
        if purpose in (params["change"] or {}):
            yield purpose, key
    if not params["change"] and not params["dataset"]:
        yield "graph", key


def _of_basis(params: dict, focus: "Focus") -> Iterator[tuple[str, str]]:
    from graphdr.graphs.bases import REDRAWN

    if params["basis"] in REDRAWN:
        yield "basis", f"basis {params['basis']}, each instance, {_span('draw', 1 + params['draws'])}"


def _of_theta(params: dict, focus: "Focus") -> Iterator[tuple[str, str]]:
    for problem in _problems(params, focus):
        if problem["reward"] == "planted":
            key = f"number of nodes, {_span('instance', problem['instances'])}"
            yield "theta", key
            if problem["tail"]:
                yield "theta outside", key


def _of_pilot(params: dict, focus: "Focus") -> Iterator[tuple[str, str]]:
    for problem in _problems(params, focus):
        yield "pilot", f"number of nodes, {_span('instance', problem['instances'])}"


def _of_facts(params: dict, focus: "Focus") -> Iterator[tuple[str, str]]:
    drawn = fact_streams()
    for problem in _problems(params, focus):
        key = f"number of nodes, {_span('instance', problem['instances'])}"
        for fact in params["facts"]:
            if focus.quantities is None or fact in focus.quantities:
                yield from ((purpose, key) for purpose in drawn.get(fact, ()))


def fact_streams() -> dict[str, tuple[str, ...]]:
    """Return the purposes of the streams of every fact that has a random part."""
    from graphdr.facts.registry import FACTS

    return {name: fact.streams for name, fact in FACTS.items() if fact.streams}


def _of_runs(params: dict, focus: "Focus") -> Iterator[tuple[str, str]]:
    for problem in _problems(params, focus):
        instances = _span("instance", problem["instances"])
        key = f"{problem['candidates']}, {problem['arms']} arms, {instances}, {_span('run', problem['seeds'])}"
        yield from (("arms", key), ("noise", key))
        if params["method"].get("policy") == "random":
            yield "random", key


DRAWN: dict[str, Callable] = {
    "build_graph": _of_graph,
    "compute_basis": _of_basis,
    "pose_problem": _of_theta,
    "estimate_pilot": _of_pilot,
    "describe_problem": _of_facts,
    "run_bandit": _of_runs,
}
