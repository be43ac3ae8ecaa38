"""Jobs from raw files to measurements: one function per stage, from its wildcards to a Job."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import graphdr.stages.build_graph as build
import graphdr.stages.compute_basis as basis_of
import graphdr.stages.describe_problem as describe
import graphdr.stages.estimate_pilot as pilot
import graphdr.stages.fetch_raw as fetch
import graphdr.stages.measure_batch as measure
import graphdr.stages.pose_problem as pose
import graphdr.stages.run_bandit as bandit
import graphdr.stages.tabulate_dataset as tabulate
from graphdr.bandit import contexts
from graphdr.bandit.environment import NEEDS_GRAPH
from graphdr.bandit.methods import on_graph
from graphdr.bandit.pilot_sources import PREFIX
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.cache import paths
from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES, FACTORS, budgets, needs_rounds
from graphdr.graphs.arm_features import ADAPTIVE
from graphdr.graphs.bases import FROM_DATA, FROM_GRAPH, LOW, MADE_OF
from graphdr.graphs.raters import SPLIT
from graphdr.plan.blocks import Experiment, Method, against
from graphdr.plan.design import Design, basis_file, batches_of
from graphdr.plan.job import Job, at, fill
from graphdr.plan.plays import INFORMED, KNOBS, by_theorem, factors_of, pool_factors, theta_factors
from graphdr.plan.settings import OWN
from graphdr.raw import formats
from graphdr.raw.fetch import file_name

# Factors that say how much is played, and names: settings that were chosen with others of these hold all the same.
OF_SIZE = {
    "instances", "draws", "horizon", "first_seed", "seeds", "checkpoint", "components", "tuned", "name", "title",
    "items", "clean", "graph",
}  # fmt: skip


def fetch_raw(design: Design, dataset: str) -> Job[fetch.Input, fetch.Output, fetch.Params]:
    raw = design.config.datasets[dataset].raw.model_dump(exclude_unset=True, include={"sources", "terms", "page"})
    return Job("fetch_raw", fetch.Input(), at(fetch.Output(), dataset=dataset), fetch.Params(dataset, raw))


def tabulate_dataset(design: Design, dataset: str) -> Job[tabulate.Input, tabulate.Output, tabulate.Params]:
    raw = design.config.datasets[dataset].raw
    archives = [archive for source in raw.sources for archive in source.archives or [source]]
    members = {file_name(archive.plain()): archive.members for archive in archives}
    lines = {name: {role: m.lines for role, m in roles.items() if m.lines} for name, roles in members.items()}
    params = tabulate.Params(dataset, lines, raw.release, raw.options or {})
    input, output = tabulate.Input(paths.receipt(dataset)), at(tabulate.Output(), dataset=dataset)
    adapters = tuple(formats.module(name) for name in sorted({source.format for source in raw.sources}))
    return Job("tabulate_dataset", input, output, params, adapters)


def build_graph(design: Design, graph: str) -> Job[build.Input, build.Output, build.Params]:
    spec = design.graphs[graph]
    segmented = "segments" in (spec.change or {})
    source = "perturb" if spec.parent else "from_data" if spec.dataset else "random_graphs"
    maker = f"graphdr.graphs.{'segments' if segmented else source}"
    changed = {"nodes": paths.nodes(spec.parent), "edges": paths.edges(spec.parent)} if spec.parent else {}
    users = {"data_users": paths.dataset_users(spec.dataset)} if segmented and spec.dataset else {}
    data = _data(spec.dataset) if segmented or not spec.parent else {}
    input = build.Input(**changed, **data, **users)
    params = fill(build.Params, spec, maker=maker, seed=design.config.seed)
    return Job("build_graph", input, at(build.Output(), graph=graph), params, (maker,))


def compute_basis(design: Design, graph: str, basis: str) -> Job[basis_of.Input, basis_of.Output, basis_of.Params]:
    spec, (name, *_) = design.graphs[graph], basis.split("-")
    components, draws = design.bases[graph, basis]
    input = basis_of.Input(
        nodes=paths.nodes(graph),
        edges=paths.edges(graph) if name in FROM_GRAPH else "",
        original=paths.basis(graph, basis_file(design, graph, MADE_OF[name], components)) if name in MADE_OF else "",
        **(_data(spec.dataset) if name in FROM_DATA else {}),
        data_users=paths.dataset_users(spec.dataset) if name == "interaction_svd" and spec.dataset else "",
        given=spec.given if name == "given" else "",
    )
    params = basis_of.Params(name, components, draws, design.config.seed, spec.segments)
    if name in LOW:
        params = params._replace(solver=spec.solver)
    if name in FROM_DATA:
        transform = spec.parameters.get("transform", "identity")
        params = params._replace(content=spec.content, rank=spec.rank, transform=transform)
        if spec.users == SPLIT:
            params = params._replace(users=spec.users, dataset=str(spec.dataset))
    return Job("compute_basis", input, at(basis_of.Output(), graph=graph, basis=basis), params)


def check_files(design: Design) -> None:
    """Check that the files are there that a user has to bring: columns of nodes."""
    for graph in sorted({graph for graph, basis in design.bases if basis.split("-")[0] == "given"}):
        if not Path(design.root, path := design.graphs[graph].given).is_file():
            needed = "a parquet file with a column 'node' and columns of numbers is needed"
            raise UserError(f"given: there is no file {path!r}; {needed}")


def pose_problem(design: Design, batch: str) -> Job[pose.Input, pose.Output, pose.Params]:
    names = design.batches[batch].problems
    problems = _problems(design, names, lambda problem: (*theta_factors(problem), *pool_factors(problem)))
    planted = [problem for problem in problems if problem["reward"] in PLANTED]
    sources = {problem.get("items", problem["clean"]) for problem in planted}
    pooled = [problem for problem in problems if "context" in problem]
    chosen = _graphs([problem for problem in pooled if problem["bundled"] == contexts.CHOSEN], "graph")
    paid = _graphs([problem for problem in problems if problem.get("noise") == RESAMPLED], "graph")
    datasets = {graph: str(design.graphs[graph].dataset) for graph in sorted({*chosen, *paid})}
    input = pose.Input(
        basis={graph: paths.basis(graph, "laplacian_low") for graph in sorted(sources)},
        nodes={graph: paths.nodes(graph) for graph in _graphs(problems, "clean", "graph")},
        edges={graph: paths.edges(graph) for graph in _graphs(pooled, "graph")},
        data_links={graph: paths.dataset_links(of) for graph, of in datasets.items()},
        data_nodes={graph: paths.dataset_nodes(datasets[graph]) for graph in paid},
    )
    drawer = contexts.__name__ if pooled else ""
    params = pose.Params(problems, design.config.seed, drawer)
    return Job("pose_problem", input, at(pose.Output(), batch=batch), params, (drawer,) if pooled else ())


def _contexts(design: Design, batch: str) -> str:
    """Return the contexts of a batch, if the arms of a problem are not its nodes."""
    named = any(pool_factors(design.problems[name]) for name in design.batches[batch].problems)
    return paths.contexts(batch) if named else ""


def estimate_pilot(design: Design, batch: str) -> Job[pilot.Input, pilot.Output, pilot.Params]:
    facts = _experiment(design, batch).facts
    problems = _problems(design, design.batches[batch].problems, _pilot_factors)
    for problem in problems:
        played = {problem["pilot"]} if _by_theorem(design, batch) else set()
        problem["budgets"] = sorted(played | set(budgets(facts, problem["pilot"])))
    logged = _graphs([problem for problem in problems if problem.get("pilot_from", PREFIX) != PREFIX], "graph")
    input = pilot.Input(paths.theta(batch), _contexts(design, batch), {graph: paths.nodes(graph) for graph in logged})
    params = pilot.Params(problems, needs_rounds(facts), design.config.seed)
    return Job("estimate_pilot", input, at(pilot.Output(), batch=batch), params)


def _pilot_factors(problem: dict[str, Any]) -> tuple[str, ...]:
    """Return the factors that a pilot depends on: means of nodes take no ridge."""
    regression = pool_factors(problem) or problem["pilot_from"] != PREFIX
    return "instances", "noise", "pilot", *(("ridge", "pilot_from") if regression else ()), *pool_factors(problem)


def has_pilot(design: Design, batch: str) -> bool:
    """Tell whether a fact or a method of a batch looks at a pilot."""
    return bool(_by_theorem(design, batch) or budgets(_experiment(design, batch).facts, 1))


def describe_problem(design: Design, batch: str) -> Job[describe.Input, describe.Output, describe.Params]:
    facts = _experiment(design, batch).facts
    used = {factor for fact in facts for factor in FACTORS.get(fact, ())}
    told = ("instances", *sorted(used))
    problems = _problems(design, design.batches[batch].problems, lambda problem: (*told, *pool_factors(problem)))
    graphs, observed = _graphs(problems, "clean", "graph"), sorted((p["graph"], p["name"]) for p in problems)
    others = sorted({FACT_BASES[fact] for fact in facts if fact in FACT_BASES})
    input = describe.Input(
        theta=paths.theta(batch),
        basis={graph: paths.basis(graph, "laplacian_low") for graph in graphs},
        nodes={graph: paths.nodes(graph) for graph in graphs},
        edges={graph: paths.edges(graph) for graph in graphs},
        others={basis: {graph: _basis(design, name, basis) for graph, name in observed} for basis in others},
        pilot=paths.pilot(batch) if budgets(facts, 1) else "",
        pilot_rounds=paths.pilot_rounds(batch) if needs_rounds(facts) else "",
        contexts=_contexts(design, batch),
    )
    params = describe.Params(problems, facts, design.config.seed)
    return Job("describe_problem", input, at(describe.Output(), batch=batch), params)


def run_bandit(design: Design, batch: str, kind: str) -> Job[bandit.Input, bandit.Output, bandit.Params]:
    output = at(bandit.Output(), batch=batch, kind=kind)
    plays = design.plays[output.runs]
    methods = {runs.method: design.methods[runs.method] for runs in plays}
    factors = dict.fromkeys(factor for method in methods.values() for factor in factors_of(method))
    names = list(dict.fromkeys(runs.problem for runs in plays))
    problems = _problems(design, names, lambda problem: (*factors, *pool_factors(problem)))
    for problem in problems:
        problem["methods"] = [runs.method for runs in plays if runs.problem == problem["name"]]
    chosen = _chosen(design, names, list(methods))
    widest_last = sorted(problems, key=lambda problem: design.problems[problem["name"]]["components"])
    bases = {basis: [p for p in widest_last if basis in _bases(methods, p)] for basis in sorted(_bases(methods))}
    needed = any(method.laplacian or on_graph(method.policy) for method in methods.values())
    drawn = [p for p in problems if needed or p["candidates"] in NEEDS_GRAPH or p.get("segments", 1) > 1]
    graphs = _graphs(drawn, "graph")
    input = bandit.Input(
        theta=paths.theta(batch),
        basis={name: {p["graph"]: _basis(design, p["name"], name) for p in on} for name, on in bases.items()},
        nodes={graph: paths.nodes(graph) for graph in graphs},
        edges={graph: paths.edges(graph) for graph in graphs},
        facts=paths.facts(batch) if kind == INFORMED else "",
        pilot=paths.pilot(batch) if any(map(by_theorem, methods.values())) else "",
        contexts=_contexts(design, batch),
        rewards=paths.rewards(batch) if any(problem["noise"] == RESAMPLED for problem in problems) else "",
        chosen=sorted({path for path, *_ in chosen.values()}),
    )
    knobs = {name: method.model_dump(include=KNOBS) for name, method in methods.items()}
    told = [(*place, grid) for place, (_, grid) in chosen.items()]
    return Job("run_bandit", input, output, bandit.Params(problems, knobs, design.config.seed, told))


def _basis(design: Design, problem: str, basis: str) -> str:
    """Return the file of a basis with as many vectors as a problem asks for."""
    spec = design.problems[problem]
    return paths.basis(spec["graph"], basis_file(design, spec["graph"], basis, spec["components"]))


def _chosen(design: Design, problems: list[str], methods: list[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return where the settings of tuned problems were chosen, by problem and method: measurements, and problem there.

    They are those of the study that the factor `tuned` names, on the same kind of game and with the same method.
    """
    chosen: dict[tuple[str, str], tuple[str, str]] = {}
    tuned = [design.problems[name] for name in problems if design.problems[name]["tuned"] != OWN]
    for problem, (name, spec) in product(tuned, sorted(design.config.experiments.items())):
        if spec.settings is None or spec.target != problem["tuned"]:
            continue
        for batch in batches_of(design, [name]):
            for grid in design.batches[batch].problems:
                if _alike(design.problems[grid], problem):
                    places = {(problem["name"], method) for method in methods if method in spec.methods}
                    chosen |= {place: (paths.measurements(batch), grid) for place in sorted(places)}
    return dict(sorted(chosen.items()))


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two problems are the same kind of game, but for how much of it is played."""
    return all(one[factor] == other.get(factor) for factor in one if factor not in OF_SIZE)


def _bases(methods: dict[str, Method], problem: dict[str, Any] | None = None) -> set[str]:
    """Return the bases that some methods, or those of them that play a problem, project on."""
    names = problem["methods"] if problem else methods
    return {basis for name in names for basis in methods[name].bases}


def _experiment(design: Design, batch: str) -> Experiment:
    return design.config.experiments[design.batches[batch].experiment]


def _by_theorem(design: Design, batch: str) -> dict[str, str]:
    """Return the methods of a batch whose radius is a theorem's, with its rule."""
    methods = {name: design.methods[name] for name, *_ in design.variants[design.batches[batch].experiment]}
    return {name: method.radius for name, method in methods.items() if by_theorem(method)}


def measure_batch(design: Design, batch: str) -> Job[measure.Input, measure.Output, measure.Params]:
    spec, radii = _experiment(design, batch), _by_theorem(design, batch)
    constants = ("k", "noise", "delta", "ridge") if radii else ()
    names = design.batches[batch].problems
    played = design.variants[design.batches[batch].experiment]
    methods = {name: design.methods[name] for name, *_ in played}
    chosen = _chosen(design, names, spec.methods)
    sources = {method: [(name, *design.played[name, method]) for name in names] for method in methods}
    params = measure.Params(
        sources=sources,
        against=against(spec),
        radii=radii,
        problems={name: {factor: design.problems[name][factor] for factor in constants} for name in names},
        grids={
            name: {other: m.k for other, m in methods.items() if m.basis == method.basis and isinstance(m.k, int)}
            for name, method in methods.items()
            if method.k == ADAPTIVE
        },
        variants=[variant for variant in played if variant.setting],
        chosen=[(*place, grid) for place, (_, grid) in chosen.items()],
        ranked=[name for name, method in methods.items() if not method.control] if chosen else [],
    )
    files = sorted({design.played[name, method].path for name, method in product(names, methods)})
    input = measure.Input(files, paths.facts(batch), sorted({path for path, *_ in chosen.values()}))
    return Job("measure_batch", input, at(measure.Output(), batch=batch), params)


def measurements(design: Design, experiments: list[str], problems: set[str] | None = None) -> list[str]:
    """Return the measurements of some experiments, of the batches with one of the given problems if any are given."""
    return [paths.measurements(batch) for batch in batches_of(design, experiments, problems)]


def _problems(
    design: Design, names: list[str], factors: tuple[str, ...] | Callable[[dict[str, Any]], tuple[str, ...]]
) -> list[dict[str, Any]]:
    """Return of every problem its names and the given factors, or those that a function names for it."""
    problems = [design.problems[name] for name in names]
    told = [factors(problem) if callable(factors) else factors for problem in problems]
    wanted = [("name", "clean", "graph", *own) for own in told]
    return [{name: problem[name] for name in own} for problem, own in zip(problems, wanted, strict=True)]


def _graphs(problems: list[dict[str, Any]], *roles: str) -> list[str]:
    return sorted({problem[role] for problem in problems for role in roles})


def _data(dataset: str | None) -> dict[str, Any]:
    """Return the two tables of a data set, if there is one."""
    return {"data_nodes": paths.dataset_nodes(dataset), "data_links": paths.dataset_links(dataset)} if dataset else {}
