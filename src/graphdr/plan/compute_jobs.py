"""Jobs from raw files to measurements: one function per stage, from its wildcards to a Job."""

from collections.abc import Iterator
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
from graphdr.bandit.pilot_sources import PREFIX
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.cache import paths
from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES, FACTORS, budgets, needs_rounds
from graphdr.graphs.arm_features import RATINGS, USER_COLUMNS, find, module_of
from graphdr.graphs.raters import SPLIT
from graphdr.plan.blocks import Experiment, Factors
from graphdr.plan.blocks import Method as MethodBlock
from graphdr.plan.design import Design, batches_of, wide_enough
from graphdr.plan.job import Job, at, fill
from graphdr.plan.plays import INFORMED
from graphdr.plan.problem import Problem, contexts_of, has_contexts, posed_problem
from graphdr.plan.settings import OWN
from graphdr.raw import adapters as formats
from graphdr.raw.fetch import file_name
from graphdr.theory.bound_checks import TheoremConstants

# Factors of the size of a problem: settings that were chosen on a problem of another size are valid, too.
SIZES = {"instances", "draws", "horizon", "first_seed", "seeds", "checkpoint", "components", "settings_from"}


def fetch_raw(design: Design, dataset: str) -> Job[fetch.Input, fetch.Output, fetch.Params]:
    raw = design.config.datasets[dataset].raw.model_dump(exclude_unset=True, include={"sources", "terms", "page"})
    return Job("fetch_raw", fetch.Input(), at(fetch.Output(), dataset=dataset), fetch.Params(dataset, raw))


def tabulate_dataset(design: Design, dataset: str) -> Job[tabulate.Input, tabulate.Output, tabulate.Params]:
    raw = design.config.datasets[dataset].raw
    lines: dict[str, dict[str, int]] = {}
    for source in raw.sources:
        for archive in source.archives or [source]:
            name = file_name(archive.plain())
            lines[name] = {role: member.lines for role, member in archive.members.items() if member.lines}
    params = tabulate.Params(dataset, lines, raw.release, raw.options or {})
    input, output = tabulate.Input(paths.receipt(dataset)), at(tabulate.Output(), dataset=dataset)
    adapters = tuple(formats.module(name) for name in sorted({source.format for source in raw.sources}))
    return Job("tabulate_dataset", input, output, params, adapters)


def build_graph(design: Design, graph: str) -> Job[build.Input, build.Output, build.Params]:
    spec = design.graphs[graph]
    has_segments = spec.user_segments is not None
    source = "perturb" if spec.parent else "from_data" if spec.dataset else "random_graphs"
    maker = f"graphdr.graphs.{'segments' if has_segments else source}"
    changed = {"nodes": paths.nodes(spec.parent), "edges": paths.edges(spec.parent)} if spec.parent else {}
    users = {"data_users": paths.dataset_users(spec.dataset)} if has_segments and spec.dataset else {}
    data = _data(spec.dataset) if has_segments or not spec.parent else {}
    input = build.Input(**changed, **data, **users)
    params = fill(build.Params, spec, maker=maker, seed=design.config.seed)
    return Job("build_graph", input, at(build.Output(), graph=graph), params, (maker,))


def compute_basis(design: Design, graph: str, basis: str) -> Job[basis_of.Input, basis_of.Output, basis_of.Params]:
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
    return Job("compute_basis", input, at(basis_of.Output(), graph=graph, basis=basis), params, (module_of(name),))


def check_files(design: Design) -> None:
    """Check that the user's files with columns of nodes exist."""
    reading = {graph for graph, basis in design.bases if find(basis.split("-")[0]).data == USER_COLUMNS}
    for graph in sorted(reading):
        if not Path(design.root, path := design.graphs[graph].user_columns).is_file():
            needed = "a parquet file with a column 'node' and columns of numbers is needed"
            raise UserError(f"user_columns: there is no file {path!r}; {needed}")


def pose_problem(design: Design, batch: str) -> Job[pose.Input, pose.Output, pose.Params]:
    problems = [posed_problem(problem) for problem in _batch_problems(design, batch)]
    basis, edges, links, nodes = {}, {}, {}, {}
    for problem in problems:
        graph, dataset = problem.graph, str(design.graphs[problem.graph].dataset)
        if problem.reward in PLANTED:
            source = problem.segment_rewards.items if problem.segment_rewards else problem.clean
            basis[source] = paths.basis(source, "laplacian_low")
        if problem.contexts:
            edges[graph] = paths.edges(graph)
            if problem.contexts.bundle_sampling == contexts.CHOSEN:
                links[graph] = paths.dataset_links(dataset)
        if problem.ratings:
            links[graph] = paths.dataset_links(dataset)
            nodes[graph] = paths.dataset_nodes(dataset)
    graphs = sorted({graph for problem in problems for graph in (problem.clean, problem.graph)})
    input = pose.Input(basis, {graph: paths.nodes(graph) for graph in graphs}, edges, links, nodes)
    drawer = contexts.__name__ if edges else ""
    params = pose.Params(problems, design.config.seed, drawer)
    return Job("pose_problem", input, at(pose.Output(), batch=batch), params, (drawer,) if drawer else ())


def _contexts(design: Design, batch: str) -> str:
    """Return the contexts of a batch, if the arms of a problem are not single nodes."""
    return paths.contexts(batch) if any(map(has_contexts, _batch_problems(design, batch))) else ""


def estimate_pilot(design: Design, batch: str) -> Job[pilot.Input, pilot.Output, pilot.Params]:
    facts = _experiment(design, batch).facts
    by_theorem = bool(_by_theorem(design, batch))
    problems, nodes = [], {}
    for problem in _batch_problems(design, batch):
        needed = {*budgets(facts, problem.pilot), *([problem.pilot] if by_theorem else [])}
        is_regression = has_contexts(problem) or problem.pilot_source != PREFIX
        ridge = problem.ridge if is_regression else 1.0  # means of nodes take no ridge
        problems.append(fill(pilot.PilotProblem, problem, budgets=sorted(needed), ridge=ridge))
        if problem.pilot_source != PREFIX:
            nodes[problem.graph] = paths.nodes(problem.graph)
    input = pilot.Input(paths.theta(batch), _contexts(design, batch), nodes)
    params = pilot.Params(problems, needs_rounds(facts), design.config.seed)
    return Job("estimate_pilot", input, at(pilot.Output(), batch=batch), params)


def has_pilot(design: Design, batch: str) -> bool:
    """Tell whether a fact or a method of a batch looks at a pilot."""
    return bool(_by_theorem(design, batch) or budgets(_experiment(design, batch).facts, 1))


def describe_problem(design: Design, batch: str) -> Job[describe.Input, describe.Output, describe.Params]:
    facts = _experiment(design, batch).facts
    used = sorted({factor for fact in facts for factor in FACTORS.get(fact, ())})
    problems = []
    for problem in _batch_problems(design, batch):
        factors = {name: getattr(problem, name) for name in used}
        described = fill(describe.DescribedProblem, problem, factors=factors, contexts=contexts_of(problem))
        problems.append(described)
    graphs = sorted({graph for problem in problems for graph in (problem.clean, problem.graph)})
    observed = sorted((problem.graph, problem.name) for problem in problems)
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
    played: dict[str, list[str]] = {}  # methods by problem
    for runs in design.plays[output.runs]:
        played.setdefault(runs.problem, []).append(runs.method)
    names = dict.fromkeys(runs.method for runs in design.plays[output.runs])
    methods = {name: design.methods[name].method for name in names}
    problems = [_run_problem(design, name, {m: methods[m] for m in used}) for name, used in played.items()]
    chosen = _chosen(design, list(played), list(methods))
    on_graphs = any(method.uses_laplacian or method.space == GRAPH for method in methods.values())
    drawn = [p.graph for p in problems if on_graphs or p.protocol.candidates in NEEDS_GRAPH or p.segments > 1]
    input = bandit.Input(
        theta=paths.theta(batch),
        basis=_bases_of(design, methods, problems),
        nodes={graph: paths.nodes(graph) for graph in sorted({*drawn})},
        edges={graph: paths.edges(graph) for graph in sorted({*drawn})},
        facts=paths.facts(batch) if kind == INFORMED else "",
        pilot=paths.pilot(batch) if any(method.uses_pilot for method in methods.values()) else "",
        contexts=_contexts(design, batch),
        rewards=paths.rewards(batch) if any(problem.protocol.noise == RESAMPLED for problem in problems) else "",
        chosen=sorted({path for path, *_ in chosen.values()}),
    )
    sources = [(*place, grid) for place, (_, grid) in chosen.items()]
    modules = {type(method).__module__ for method in methods.values()}
    modules |= {module_of(basis) for method in methods.values() for basis in method.bases}  # which columns are features
    params = bandit.Params(problems, methods, design.config.seed, sources)
    return Job("run_bandit", input, output, params, tuple(sorted(modules)))


def _run_problem(design: Design, name: str, methods: dict[str, Method]) -> bandit.RunProblem:
    """Return what the runs of some methods on a problem depend on."""
    problem = design.problems[name]
    settings = {name: getattr(problem, name) for method in methods.values() for name in method.missing}
    return fill(
        bandit.RunProblem,
        problem,
        protocol=fill(bandit.Protocol, problem),
        methods=list(methods),
        settings=bandit.InheritedSettings(**settings),
        contexts=contexts_of(problem),
    )


def _bases_of(
    design: Design, methods: dict[str, Method], problems: list[bandit.RunProblem]
) -> dict[str, dict[str, str]]:
    """Return the files of the bases that methods take columns from, by name and graph; the widest of a graph wins."""
    widest_last = sorted(problems, key=lambda problem: design.problems[problem.name].components)
    files: dict[str, dict[str, str]] = {name: {} for name in sorted({b for m in methods.values() for b in m.bases})}
    for problem in widest_last:
        for basis in {basis for name in problem.methods for basis in methods[name].bases}:
            files[basis][problem.graph] = _basis(design, problem.name, basis)
    return files


def _basis(design: Design, problem: str, basis: str) -> str:
    """Return the file of a basis with as many vectors as a problem asks for."""
    spec = design.problems[problem]
    return _basis_file(design, spec.graph, basis, spec.components)


def _basis_file(design: Design, graph: str, basis: str, components: int) -> str:
    return paths.basis(graph, wide_enough(design.bases, graph, basis, components))


def _chosen(design: Design, problems: list[str], methods: list[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return where the settings of problems were chosen, by problem and method: measurements, and problem there.

    The factor `settings_from` names the study; its problem differs only in size, and plays the same method.
    """
    chosen: dict[tuple[str, str], tuple[str, str]] = {}
    for name in problems:
        problem = design.problems[name]
        for batch, grid in _grid_problems(design, problem.settings_from):
            if _alike(design.problems[grid], problem):
                played = design.config.experiments[design.batches[batch].experiment].methods
                for method in methods:
                    if method in played:
                        chosen[name, method] = paths.measurements(batch), grid
    return dict(sorted(chosen.items()))


def _grid_problems(design: Design, target: str) -> Iterator[tuple[str, str]]:
    """Yield the batches and problems of the experiments of a target that choose settings."""
    if target == OWN:
        return
    for name, spec in sorted(design.config.experiments.items()):
        if spec.settings is not None and spec.target == target:
            for batch in batches_of(design, [name]):
                for problem in design.batches[batch].problems:
                    yield batch, problem


def _alike(problem: Problem, other: Problem) -> bool:
    """Tell whether two problems differ in nothing but their size and names."""
    compared = Factors.model_fields.keys() - SIZES
    return all(getattr(problem, factor) == getattr(other, factor) for factor in compared)


def _experiment(design: Design, batch: str) -> Experiment:
    return design.config.experiments[design.batches[batch].experiment]


def _by_theorem(design: Design, batch: str) -> dict[str, str]:
    """Return the methods of a batch whose radius is a theorem's, with its rule."""
    names = [variant.name for variant in design.variants[design.batches[batch].experiment]]
    methods = {name: design.methods[name].method for name in names}
    return {name: m.radius for name, m in methods.items() if isinstance(m, LinUCB) and m.by_theorem}


def measure_batch(design: Design, batch: str) -> Job[measure.Input, measure.Output, measure.Params]:
    spec, radii = _experiment(design, batch), _by_theorem(design, batch)
    problems = _batch_problems(design, batch)
    variants = design.variants[design.batches[batch].experiment]
    methods = {variant.name: design.methods[variant.name] for variant in variants}
    sources = {
        method: [measure.RunSource(problem.name, *design.played[problem.name, method]) for problem in problems]
        for method in methods
    }
    chosen = _chosen(design, design.batches[batch].problems, spec.methods)
    params = measure.Params(
        sources=sources,
        against=spec.reference_method,
        radii=radii,
        constants={problem.name: fill(TheoremConstants, problem) for problem in problems} if radii else {},
        grids={name: _fixed_dimensions(methods, m.method) for name, m in methods.items() if _is_adaptive(m.method)},
        variants=[variant for variant in variants if variant.setting],
        chosen=[(*place, grid) for place, (_, grid) in chosen.items()],
        ranked=[name for name, method in methods.items() if not method.control] if chosen else [],
    )
    files = sorted({runs.path for played in sources.values() for runs in played})
    input = measure.Input(files, paths.facts(batch), sorted({path for path, _ in chosen.values()}))
    return Job("measure_batch", input, at(measure.Output(), batch=batch), params)


def _is_adaptive(method: Method) -> bool:
    return isinstance(method, LinUCB) and method.plays_grid


def _fixed_dimensions(methods: dict[str, MethodBlock], adaptive: Method) -> dict[str, int]:
    """Return the methods with a fixed k on the basis of an adaptive one, with their k."""
    others = {name: block.method for name, block in methods.items() if block.method.bases == adaptive.bases}
    return {name: k for name, method in others.items() if isinstance(k := getattr(method, "k", None), int)}


def measurements(design: Design, experiments: list[str], problems: set[str] | None = None) -> list[str]:
    """Return the measurements of some experiments; with ``problems``, only of batches that have one of them."""
    return [paths.measurements(batch) for batch in batches_of(design, experiments, problems)]


def _batch_problems(design: Design, batch: str) -> list[Problem]:
    return [design.problems[name] for name in design.batches[batch].problems]


def _data(dataset: str | None) -> dict[str, str]:
    """Return the two tables of a data set, if there is one."""
    return {"data_nodes": paths.dataset_nodes(dataset), "data_links": paths.dataset_links(dataset)} if dataset else {}
