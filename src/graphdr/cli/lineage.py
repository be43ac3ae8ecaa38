"""What a file was made of, down to raw data and seeds; for one number, only what is behind that number.

Inputs are those that were recorded when a file was built. A focus says which problems, methods and quantities of a file
matter, and every stage passes on what that means for its inputs.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.cli import records
from graphdr.cli.records import Focus, Record
from graphdr.cli.seeds import Stream, streams

COMMITTED = {"compare_paper": paths.PAPER, "judge_claims": paths.PAPER_CLAIMS}  # committed files, read besides


class Node(NamedTuple):
    """A file with the inputs that matter, whether each is still the one that was read, its streams and raw files."""

    record: Record
    focus: Focus
    inputs: dict[str, bool]
    streams: list[Stream]
    raw: list[dict]
    sha256: str | None  # of a committed file


EVERYTHING = Focus()


def trace(start: Mapping[str, Focus], entries: Mapping[str, dict]) -> dict[str, Node]:
    """Return all files behind some files, which are among them; ``entries`` is the manifest."""
    focuses, files = dict(start), {path: records.record_or_flaw(path, entries.get(path)) for path in start}
    waiting = list(start)
    while waiting:
        path = waiting.pop()
        for name, focus in followed(files[path], focuses[path]).items():
            wider = focuses[name] | focus if name in focuses else focus
            if focuses.get(name) != wider:
                focuses[name] = wider
                files[name] = files.get(name) or records.record_or_flaw(name, entries.get(name))
                waiting.append(name)
    return {path: _node(record, focuses[path], files) for path, record in files.items()}


def followed(record: Record, focus: Focus) -> dict[str, Focus]:
    """Return the inputs of a file that matter under a focus, each with what matters of it."""
    with suppress(KeyError):  # of a parameter that an older version did not write down
        if record.stage in FOLLOWED:
            return FOLLOWED[record.stage](record, focus)
    committed = [COMMITTED[record.stage]] if record.stage in COMMITTED else []
    return dict.fromkeys([*record.inputs, *committed], EVERYTHING)


def _of_measurements(record: Record, focus: Focus) -> dict[str, Focus]:
    """Follow measures to the runs of their methods, the paired ones to both, an oracle's to all, and facts to facts."""
    from graphdr.scores.measure import HINDSIGHT, MEASURES

    batch = Path(record.path).stem  # a key, like every last part of a path
    wanted, methods = focus.quantities, focus.methods
    sources: dict[str, list] = record.params["sources"]
    if wanted is None or methods is None:
        return _of_sources(sources, focus.problems) | {paths.facts(batch): Focus(focus.problems)}
    if "regret_gap" in wanted:
        methods = methods | {record.params["against"]}
    if wanted & set(HINDSIGHT):
        methods = methods.union(*(record.params["grids"].get(method, ()) for method in methods))
    chosen = {}
    if wanted & set(MEASURES):
        chosen |= _of_sources({name: sources[name] for name in sorted(methods & sources.keys())}, focus.problems)
    if facts := wanted - set(MEASURES):
        chosen[paths.facts(batch)] = Focus(focus.problems, quantities=facts)
    return chosen


def _of_sources(sources: dict[str, list], problems: frozenset[str] | None) -> dict[str, Focus]:
    """Return the files in which methods were played on some problems, with what both are called there."""
    chosen: dict[str, Focus] = {}
    for played in sources.values():
        for _, path, problem, method in (runs for runs in played if problems is None or runs[0] in problems):
            part = Focus(frozenset([problem]), frozenset([method]))
            chosen[path] = chosen.get(path, part) | part
    return chosen


def _of_evaluation(record: Record, focus: Focus) -> dict[str, Focus]:
    """Follow the score of a predictor to its facts and its target on all problems that are pooled."""
    params = record.params
    chosen = [name for name in params["predictors"] if focus.methods is None or name in focus.methods]
    quantities = {params["target"], *(column for name in chosen for column in params["predictors"][name])}
    methods = {params["method"], params.get("predictor_method", params["method"])}
    return dict.fromkeys(record.inputs, Focus(None, frozenset(methods), frozenset(quantities)))


def _of_facts(record: Record, focus: Focus) -> dict[str, Focus]:
    """Follow facts to the graphs of their problems, and to another basis only if they need it."""
    from graphdr.facts.registry import FACT_BASES, budgets

    inputs = _on_graphs(record, focus, "clean", "graph")
    if focus.quantities is not None:
        needed = {FACT_BASES.get(fact) for fact in focus.quantities}
        graphs = {problem["graph"] for problem in record.params["problems"]}
        idle = {paths.basis(graph, basis) for graph in graphs for basis in set(FACT_BASES.values()) - needed}
        if not budgets(focus.quantities, 1):
            idle |= {path for path in inputs if path.startswith(PILOTS)}
        inputs = [path for path in inputs if path not in idle]
    return dict.fromkeys(inputs, Focus(focus.problems))


def _of_runs(record: Record, focus: Focus) -> dict[str, Focus]:
    """Follow runs to the rewards, features and graphs of their problems, and to the facts that they start from."""
    from graphdr.bandit.radii import facts_behind
    from graphdr.graphs.arm_features import k_fact

    every, methods = record.params["methods"].values(), focus.of(record.params["methods"]).values()
    told = {fact for method in methods if (fact := k_fact(method["k"]))}
    theorems = {fact for method in methods for fact in facts_behind(method["radius"])}
    unused = _projected_on(every) - _projected_on(methods)
    idle = {paths.basis("any", basis) for basis in unused}
    idle |= set() if theorems else {paths.pilot("any")}
    idle |= set() if theorems or told else {paths.facts("any")}
    names = {Path(path).name for path in idle}
    inputs = [path for path in _on_graphs(record, focus, "graph") if Path(path).name not in names]
    return dict.fromkeys(inputs, Focus(focus.problems, quantities=frozenset(told | theorems)))


def _projected_on(methods: Iterable[dict[str, Any]]) -> set[str]:
    """Return the bases of methods, second ones included."""
    return {method[knob] for method in methods for knob in ("basis", "beside") if method.get(knob)}


def _on_graphs(record: Record, focus: Focus, *roles: str) -> list[str]:
    """Return the inputs of a batch without those on graphs that no problem in focus has in one of these roles."""
    problems = record.params["problems"]
    mine = {problem[role] for problem in focus.among(problems) for role in (*roles, "items") if role in problem}
    others = {p[role] for p in problems for role in ("clean", "graph")} - mine
    folders = {Path(place).parent for graph in others for place in (paths.nodes(graph), paths.basis(graph, "any"))}
    return [path for path in record.inputs if Path(path).parent not in folders]


PILOTS = paths.pilot.partition("{")[0]  # folder of all pilots

FOLLOWED = {
    "measure_batch": _of_measurements,
    "evaluate_predictors": _of_evaluation,
    "pose_problem": lambda record, focus: dict.fromkeys(_on_graphs(record, focus, "clean", "graph"), EVERYTHING),
    "estimate_pilot": lambda record, focus: dict.fromkeys(record.inputs, Focus(focus.problems)),
    "describe_problem": _of_facts,
    "run_bandit": _of_runs,
}


def _node(record: Record, focus: Focus, files: Mapping[str, Record]) -> Node:
    # A committed file is not recorded, and has no hash either.
    inputs = {path: record.inputs.get(path) == files[path].hash for path in followed(record, focus)}
    raw = records.rows(record.path).to_pylist() if record.kind == "raw" else []
    committed = record.path in COMMITTED.values() and record.broken is None
    digest = io.file_digest(paths.committed(record.path)) if committed else None
    return Node(record, focus, inputs, streams(record, focus), raw, digest)
