"""Jobs from raw files to measurements: one function per stage, from its wildcards to a Job."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

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
from graphdr.bandit.method import GRAPH, Method
from graphdr.bandit.pilot import PREFIX
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.cache import paths
from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES, FACTORS, budgets, needs_rounds
from graphdr.graphs.arm_features import RATINGS, USER_COLUMNS, find, module_of
from graphdr.graphs.raters import SPLIT
from graphdr.plan.blocks import Experiment
from graphdr.plan.design import INFORMED, Design, Variant, batches_of, tuned_on, wide_enough
from graphdr.plan.job import Job, fill, make_job
from graphdr.plan.problem import Problem
from graphdr.raw import adapters as formats
from graphdr.raw.fetch import file_name
from graphdr.theory.constants import Constants


def fetch_raw(design: Design, dataset: str) -> Job:
    raw = design.config.datasets[dataset].raw.model_dump(exclude_unset=True, include={"sources", "terms", "page"})
    return make_job(fetch, fetch.Input(), fetch.Params(dataset, raw), dataset=dataset)


def tabulate_dataset(design: Design, dataset: str) -> Job:
    raw = design.config.datasets[dataset].raw
    archives = [archive for source in raw.sources for archive in source.archives or [source]]
    lines = {
        file_name(archive.plain()): {role: member.lines for role, member in archive.members.items() if member.lines}
        for archive in archives
    }
    params = tabulate.Params(dataset, lines, raw.release, raw.options or {})
    adapters = tuple(formats.module(name) for name in sorted({source.format for source in raw.sources}))
    return make_job(tabulate, tabulate.Input(paths.receipt(dataset)), params, adapters, dataset=dataset)


def build_graph(design: Design, graph: str) -> Job:
    spec = design.graphs[graph]
    source = "perturb" if spec.parent else "from_data" if spec.dataset else "random_graphs"
    maker = f"graphdr.graphs.{'segments' if spec.user_segments else source}"
    files = {"nodes": paths.nodes(spec.parent), "edges": paths.edges(spec.parent)} if spec.parent else {}
    if spec.user_segments or not spec.parent:
        files |= _data(spec.dataset)
    if spec.user_segments and spec.dataset:
        files["data_users"] = paths.dataset_users(spec.dataset)
    params = fill(build.Params, spec, maker=maker, seed=design.config.seed)
    return make_job(build, build.Input(**files), params, (maker,), graph=graph)


def _data(dataset: str | None) -> dict[str, str]:
    """Return the two tables of a data set, if there is one."""
    return {"data_nodes": paths.dataset_nodes(dataset), "data_links": paths.dataset_links(dataset)} if dataset else {}


def compute_basis(design: Design, graph: str, basis: str) -> Job:
    spec, (name, *_) = design.graphs[graph], basis.split("-")
    components, draws = design.bases[graph, basis]
    declared = find(name)
    input = basis_of.Input(
        nodes=paths.nodes(graph),
        edges=paths.edges(graph) if declared.reads_graph else "",
        original=_basis_file(design, graph, declared.made_of, components) if declared.made_of else "",
        **(_data(spec.dataset) if declared.data else {}),
        data_users=paths.dataset_users(spec.dataset) if declared.data == RATINGS and spec.dataset else "",
        user_columns=spec.user_columns if declared.data == USER_COLUMNS else "",
    )
    params = basis_of.Params(name, components, draws, design.config.seed, spec.segments)
    if "solver" in declared.reads:
        params = params._replace(solver=spec.solver)
    if declared.data:
        transform = str(spec.parameters.get("transform", "identity"))
        params = params._replace(content=spec.content, rank=spec.rank, transform=transform)
        if spec.holdout == SPLIT:
            params = params._replace(holdout=spec.holdout, dataset=str(spec.dataset))
    return make_job(basis_of, input, params, (module_of(name),), graph=graph, basis=basis)


def low_basis(graph: str) -> str:
    """Return the file of the lowest eigenvectors of a graph."""
    return paths.basis(graph, "laplacian_low")


def _each(path: Callable[[str], str], graphs: Iterable[str]) -> dict[str, str]:
    """Return the file of every graph."""
    return {graph: path(graph) for graph in sorted(graphs)}


def _basis_file(design: Design, graph: str, basis: str, components: int) -> str:
    """Return the file of a basis with enough vectors."""
    return paths.basis(graph, wide_enough(design.bases, graph, basis, components))


def check_files(design: Design) -> None:
    """Check that the user's files with columns of nodes exist."""
    reading = {graph for graph, basis in design.bases if find(basis.split("-")[0]).data == USER_COLUMNS}
    for graph in sorted(reading):
        if not Path(design.root, path := design.graphs[graph].user_columns).is_file():
            needed = "a parquet file with a column 'node' and columns of numbers is needed"
            raise UserError(f"user_columns: there is no file {path!r}; {needed}")


def _problems(design: Design, batch: str) -> list[Problem]:
    return [design.problems[name] for name in design.batches[batch].problems]


def _experiment(design: Design, batch: str) -> Experiment:
    return design.config.experiments[design.batches[batch].experiment]


def _methods(design: Design, batch: str) -> dict[str, Method]:
    """Return the methods of a batch, with every setting of its grid."""
    return {variant.name: design.methods[variant.name].method for variant in _variants(design, batch)}


def _variants(design: Design, batch: str) -> list[Variant]:
    return design.variants[design.batches[batch].experiment]


def _contexts(batch: str, problems: Iterable[Problem]) -> str:
    """Return the contexts of a batch, if the arms of a problem are not single nodes."""
    return paths.contexts(batch) if any(problem.contexts for problem in problems) else ""


def pose_problem(design: Design, batch: str) -> Job:
    problems = [fill(pose.PosedProblem, problem) for problem in _problems(design, batch)]
    graphs = {graph for problem in problems for graph in (problem.clean, problem.graph)}
    input = pose.Input({}, _each(paths.nodes, graphs), {}, {}, {})
    for problem in problems:
        graph, dataset = problem.graph, str(design.graphs[problem.graph].dataset)
        if problem.reward in PLANTED:
            source = problem.segment_rewards.items if problem.segment_rewards else problem.clean
            input.basis[source] = low_basis(source)
        if problem.contexts:
            input.edges[graph] = paths.edges(graph)
        if problem.ratings or (problem.contexts and problem.contexts.bundle_sampling == contexts.CHOSEN):
            input.data_links[graph] = paths.dataset_links(dataset)
        if problem.ratings:
            input.data_nodes[graph] = paths.dataset_nodes(dataset)
    drawers = (contexts.__name__,) if input.edges else ()
    return make_job(pose, input, pose.Params(problems, design.config.seed, *drawers), drawers, batch=batch)


def estimate_pilot(design: Design, batch: str) -> Job:
    facts, by_theorem = _experiment(design, batch).facts, _by_theorem(design, batch)
    problems, nodes = [], {}
    for problem in _problems(design, batch):
        needed = {*budgets(facts, problem.pilot), *([problem.pilot] if by_theorem else [])}
        is_regression = problem.contexts or problem.pilot_source != PREFIX
        ridge = problem.ridge if is_regression else 1.0  # means of nodes take no ridge
        problems.append(fill(pilot.PilotProblem, problem, budgets=sorted(needed), ridge=ridge))
        if problem.pilot_source != PREFIX:
            nodes[problem.graph] = paths.nodes(problem.graph)
    input = pilot.Input(paths.theta(batch), _contexts(batch, _problems(design, batch)), nodes)
    return make_job(pilot, input, pilot.Params(problems, needs_rounds(facts), design.config.seed), batch=batch)


def _by_theorem(design: Design, batch: str) -> dict[str, str]:
    """Return the methods of a batch whose radius is a theorem's, with its rule."""
    return {name: m.radius for name, m in _methods(design, batch).items() if isinstance(m, LinUCB) and m.by_theorem}


def has_pilot(design: Design, batch: str) -> bool:
    """Tell whether a fact or a method of a batch looks at a pilot."""
    return bool(_by_theorem(design, batch) or budgets(_experiment(design, batch).facts, 1))


def describe_problem(design: Design, batch: str) -> Job:
    problems, facts = _problems(design, batch), _experiment(design, batch).facts
    factors = sorted({factor for fact in facts for factor in FACTORS.get(fact, ())})
    described = []
    for problem in problems:
        used = {name: getattr(problem, name) for name in factors}
        described.append(fill(describe.DescribedProblem, problem, factors=used))
    graphs = {graph for problem in problems for graph in (problem.clean, problem.graph)}
    observed = sorted(problems, key=lambda problem: (problem.graph, problem.name))
    others = {FACT_BASES[fact] for fact in facts if fact in FACT_BASES}
    input = describe.Input(
        theta=paths.theta(batch),
        basis=_each(low_basis, graphs),
        nodes=_each(paths.nodes, graphs),
        edges=_each(paths.edges, graphs),
        others={b: {p.graph: _basis_file(design, p.graph, b, p.components) for p in observed} for b in sorted(others)},
        pilot=paths.pilot(batch) if budgets(facts, 1) else "",
        pilot_rounds=paths.pilot_rounds(batch) if needs_rounds(facts) else "",
        contexts=_contexts(batch, problems),
    )
    return make_job(describe, input, describe.Params(described, facts, design.config.seed), batch=batch)


def run_bandit(design: Design, batch: str, kind: str) -> Job:
    played: dict[str, list[str]] = {}  # methods by problem
    for runs in design.plays[paths.runs(batch, kind)]:
        played.setdefault(runs.problem, []).append(runs.method)
    methods = {name: design.methods[name].method for names in played.values() for name in names}
    problems = [design.problems[name] for name in played]
    specs = []
    for problem in problems:
        settings = {name: getattr(problem, name) for used in played[problem.name] for name in methods[used].missing}
        specs.append(fill(bandit.RunProblem, problem, methods=played[problem.name], settings=settings))
    bases: dict[str, dict[str, str]] = {b: {} for b in sorted({b for m in methods.values() for b in m.bases})}
    for problem in sorted(problems, key=lambda problem: problem.components):  # the widest of a graph wins
        for basis in {basis for name in played[problem.name] for basis in methods[name].bases}:
            bases[basis][problem.graph] = _basis_file(design, problem.graph, basis, problem.components)
    chosen_in, chosen = _chosen(design, problems, methods)
    on_graphs = any(method.uses_laplacian or method.space == GRAPH for method in methods.values())
    drawn = {p.graph for p in problems if on_graphs or p.candidates in NEEDS_GRAPH or p.segments > 1}
    input = bandit.Input(
        theta=paths.theta(batch),
        basis=bases,
        nodes=_each(paths.nodes, drawn),
        edges=_each(paths.edges, drawn),
        facts=paths.facts(batch) if kind == INFORMED else "",
        pilot=paths.pilot(batch) if any(method.uses_pilot for method in methods.values()) else "",
        contexts=_contexts(batch, _problems(design, batch)),
        rewards=paths.rewards(batch) if any(problem.noise == RESAMPLED for problem in problems) else "",
        chosen=chosen_in,
    )
    modules = {type(method).__module__ for method in methods.values()}
    modules |= {module_of(basis) for basis in bases}  # which columns are features
    params = bandit.Params(specs, methods, design.config.seed, chosen)
    return make_job(bandit, input, params, tuple(sorted(modules)), batch=batch, kind=kind)


def _chosen(
    design: Design, problems: list[Problem], methods: Iterable[str]
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return where the settings of problems were chosen: measurements, and the problem there for every method.

    The factor `settings_from` names the study; its problem differs only in size, and plays the same method.
    """
    grids: dict[tuple[str, str], str] = {}
    files = set()
    for problem in problems:
        for experiment, grid in tuned_on(design, problem):
            tried = [name for name in methods if name in design.config.experiments[experiment].methods]
            grids |= {(problem.name, method): grid for method in tried}
            files.update(measurements(design, [experiment], {grid}) if tried else [])
    return sorted(files), [(*place, grid) for place, grid in sorted(grids.items())]


def measure_batch(design: Design, batch: str) -> Job:
    spec, radii, problems = _experiment(design, batch), _by_theorem(design, batch), _problems(design, batch)
    methods = _methods(design, batch)
    runs = {method: [(p.name, design.played[p.name, method]) for p in problems] for method in methods}
    chosen_in, chosen = _chosen(design, problems, spec.methods)
    grids = {}
    for name, adaptive in methods.items():
        if isinstance(adaptive, LinUCB) and adaptive.plays_grid:
            fixed = {other: getattr(m, "k", None) for other, m in methods.items() if m.bases == adaptive.bases}
            grids[name] = {other: k for other, k in fixed.items() if isinstance(k, int)}
    params = measure.Params(
        runs=runs,
        against=spec.reference_method,
        radii=radii,
        constants={problem.name: fill(Constants, problem) for problem in problems} if radii else {},
        grids=grids,
        variants=[variant for variant in _variants(design, batch) if variant.setting],
        chosen=chosen,
        ranked=[name for name in methods if not design.methods[name].control] if chosen else [],
    )
    files = sorted({stored.path for played in runs.values() for _, stored in played})
    return make_job(measure, measure.Input(files, paths.facts(batch), chosen_in), params, batch=batch)


def measurements(design: Design, experiments: Iterable[str], problems: Collection[str] | None = None) -> list[str]:
    """Return the measurements of some experiments; with ``problems``, only of batches that have one of them."""
    return [paths.measurements(batch) for batch in batches_of(design, experiments, problems)]
