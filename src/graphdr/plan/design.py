"""Expand the configuration into flat tables: graphs, bases, problems, batches, and where every run is stored."""

import inspect
import itertools
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from graphdr.cache import paths
from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES
from graphdr.graphs import from_data
from graphdr.graphs.arm_features import find
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.plan.blocks import Config, Evaluation, Experiment, Factors, FigureView, Method, TableView, View
from graphdr.plan.config import read
from graphdr.plan.job import fill
from graphdr.plan.plays import PLAIN, Played, assign
from graphdr.plan.problem import Problem
from graphdr.plan.references import check_facts, check_method, check_names, check_problem
from graphdr.plan.schema.values import Raw
from graphdr.plan.settings import Variant, variants
from graphdr.plan.short_forms import problem_name
from graphdr.stages.build_graph import FactorValue, GraphChange, UserSegments

CHANGES = ("shuffle", "flip", "swap", "perturb")  # factors that change the observed graph


class GraphSpec(NamedTuple):
    """A graph: that of a data set, a sample of it, or one of these after a change."""

    name: str
    dataset: str | None  # None for a random graph
    family: str
    parameters: dict[str, FactorValue]  # of the family
    n: int | str
    reward: str
    content: str
    rank: int
    user_columns: str
    solver: str
    instances: int
    holdout: str
    change: GraphChange | None = None
    user_segments: UserSegments | None = None
    segments: int = 1  # of users; every segment has its own nodes
    min_nodes: int = 0  # needed by the largest basis and candidate set
    parent: str | None = None


GRAPH_FACTORS = sorted(set(GraphSpec._fields) & set(Factors.model_fields) - {"dataset", "segments"})


class GraphChain(NamedTuple):
    """The graphs behind a problem; several may be the same."""

    whole: GraphSpec  # of the data set
    items: GraphSpec
    clean: GraphSpec
    graph: GraphSpec


class BasisSize(NamedTuple):
    """The size of a basis: its vectors, and random draws besides the first."""

    components: int
    draws: int


class Batch(NamedTuple):
    """Problems of one experiment, on one data set, that one job computes."""

    experiment: str
    problems: list[str]


Bases = dict[tuple[str, str], BasisSize]  # by graph and name of the basis
Members = dict[str, list[Problem]]  # by experiment


class Design(NamedTuple):
    """Flat tables, each keyed by name; ``members`` are the problems of every experiment, built or not."""

    config: Config
    graphs: dict[str, GraphSpec]
    bases: Bases
    problems: dict[str, Problem]
    batches: dict[str, Batch]
    members: dict[str, list[str]]
    variants: dict[str, list[Variant]]  # by experiment: its methods, with every setting of its grid
    methods: dict[str, Method]  # those of the configuration, and all variants
    played: dict[tuple[str, str], Played]  # by problem and method
    plays: dict[str, list[Played]]  # by file
    root: str = ""  # folder of its files


def expand(config: Config | Raw, missing: Collection[str] = (), root: str = "") -> Design:
    """Turn the blocks of a configuration into flat tables; nothing is planned on data sets that are missing."""
    config = config if isinstance(config, Config) else read(config)
    members = _members(config)
    spread = {name: variants(config.experiments[name], config.methods) for name in members}
    built = {name: [p for p in problems if p.dataset not in missing] for name, problems in members.items()}
    design = Design(
        config=config,
        graphs=_graphs(config, built),
        bases=_bases(config, built),
        problems={problem.name: problem for problems in members.values() for problem in problems},
        batches=_batches(config, members, built),
        members={name: [problem.name for problem in problems] for name, problems in members.items()},
        variants=spread,
        methods=_methods(config, spread),
        played={},
        plays={},
        root=root,
    )
    _check_experiments(design)
    for name, table in config.tables.items():
        _check_shown_problem(design, f"tables.{name}", table)
        if table.experiment:
            _check_distinct(design, f"tables.{name}.rows", table, table.rows)
    for name, figure in config.figures.items():
        _check_shown_problem(design, f"figures.{name}", figure)
        if figure.kind == "sweep":
            _check_distinct(design, f"figures.{name}.x", figure, figure.x)
    played = assign(_requested_runs(design), design.problems, design.methods) | _grid_runs(design)
    return design._replace(played=played, plays=_by_file(played))


def _members(config: Config) -> Members:
    """Return the problems of every experiment.

    Opt-in experiments come last, the narrowest first, so that they never enlarge a shared basis.
    """

    def precedence(name: str) -> tuple[bool, int]:
        experiment = config.experiments[name]
        factors = config.protocol.factors | experiment.problems.set.factors
        return experiment.opt_in, factors.get("components", 0) if experiment.opt_in else 0

    return {name: _expand_problems(config, name) for name in sorted(config.experiments, key=precedence)}


def _expand_problems(config: Config, experiment: str) -> list[Problem]:
    """Return the problems of one experiment: every base problem with every combination of the varied factors."""
    grid = config.experiments[experiment].problems
    vary = dict(sorted(grid.vary.items()))
    problems = []
    for base, places in itertools.product(grid.of, itertools.product(*(range(len(v)) for v in vary.values()))):
        varied = {factor: values[at] for (factor, values), at in zip(vary.items(), places, strict=True)}
        varied |= {factor: values[sum(places) % len(values)] for factor, values in grid.cycle.items()}
        changes = grid.set.factors | varied
        factors = _complete(config, base, config.problems[base].factors | changes)
        name = problem_name(base, changes)
        check_problem(f"experiments.{experiment}: problem {name}", factors)
        chain = graph_chain(config, factors)
        label = config.datasets[config.problems[base].dataset].label or base
        problem = Problem.model_construct(
            **vars(factors),
            name=name,
            title=", ".join([label, *(f"{factor} {value}" for factor, value in varied.items())]),
            items=chain.items.name,
            clean=chain.clean.name,
            graph=chain.graph.name,
        )
        problems.append(problem)
    return problems


def _complete(config: Config, base: str, changes: Raw) -> Factors:
    """Return all factors of a problem: those of its data set with some changes."""
    factors = Factors.model_construct(**_usual(config, changes["dataset"]) | changes)
    if absent := [name for name in _needed_factors(factors.family) if getattr(factors, name) is None]:
        raise UserError(f"problems.{base}: factor {absent[0]!r} has no value")
    return factors


def _usual(config: Config, dataset: str) -> Raw:
    """Return the factors that every problem on a data set starts from."""
    block = config.datasets[dataset]
    return config.protocol.factors | (config.observed.factors if block.is_observed else {}) | block.factors


@cache  # thousands of problems share a few families
def _parameters(family: str) -> tuple[str, ...]:
    """Return the factors that a graph family takes: its keyword-only arguments."""
    signature = inspect.signature((FAMILIES | from_data.FAMILIES)[family])
    return tuple(p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY)


@cache
def _needed_factors(family: str) -> list[str]:
    """Return the factors that a problem needs: all but those of other graph families, and the grid of an adaptive k."""
    of_families = {name for other in FAMILIES | from_data.FAMILIES for name in _parameters(other)}
    return sorted(set(Factors.model_fields) - of_families - {"k_grid"} | set(_parameters(family)))


def graph_chain(config: Config, factors: Factors) -> GraphChain:
    """Return the graphs behind a problem.

    The items are a sample of the graph of the data set, if one is asked for. The clean graph has them once for every
    segment of users. The observed graph is the clean one after a change, if there is one.
    """
    dataset, family = factors.dataset, factors.family
    parameters = {name: getattr(factors, name) for name in _parameters(family)}
    source = dataset if config.datasets[dataset].is_observed else None
    whole = fill(GraphSpec, factors, name="", dataset=source, segments=1, parameters=_without_defaults(parameters))
    usual = _usual(config, dataset)
    named = {name: getattr(factors, name) for name in (*GRAPH_FACTORS, *parameters)}
    changed = {name: value for name, value in named.items() if value != usual.get(name, _default(name))}
    whole = whole._replace(name=problem_name(dataset, changed))
    items = whole
    if 0 < factors.sample < from_data.most(factors.n):
        items = _derive(whole, {"sample": factors.sample}, GraphChange("sample", factors.sample))
    clean = items
    if factors.segments > 1:
        users = fill(UserSegments, factors)
        clean = _derive(items, vars(users))._replace(segments=users.segments, user_segments=users)
    return GraphChain(whole, items, clean, _observed(clean, factors))


def _default(factor: str) -> Any:
    return Factors.model_fields[factor].default


def _without_defaults(factors: Raw) -> Raw:
    """Omit defaults, so that adding a factor invalidates no cached job."""
    return {name: value for name, value in factors.items() if value != _default(name)}


def _observed(clean: GraphSpec, factors: Factors) -> GraphSpec:
    """Return the clean graph after the change that a problem asks for, if any."""
    changes = {name: getattr(factors, name) for name in CHANGES if getattr(factors, name)}
    if len(changes) > 1:
        raise UserError(f"{factors.dataset}: only one of {', '.join(changes)} can change a graph")
    if not changes:
        return clean
    ((kind, size),) = changes.items()
    if kind != "perturb":
        return _derive(clean, changes, GraphChange(kind, size))
    return _derive(clean, changes | {"k": factors.k}, GraphChange(kind, size, factors.k))


def _derive(parent: GraphSpec, factors: Raw, change: GraphChange | None = None) -> GraphSpec:
    """Return a graph that is made of another one, with the factors that its name ends with."""
    name = problem_name(parent.name, factors)
    return parent._replace(name=name, change=change, user_segments=None, parent=parent.name)


def _graphs(config: Config, built: Members) -> dict[str, GraphSpec]:
    """Return the graphs of all problems, each with the fewest nodes that these accept."""
    graphs: dict[str, GraphSpec] = {}
    for problem in itertools.chain(*built.values()):
        for graph in graph_chain(config, problem):
            planned = graphs.get(graph.name, graph)
            least = max(planned.min_nodes, problem.components, problem.arms)
            graphs[graph.name] = planned._replace(min_nodes=least)
    return graphs


def _bases(config: Config, built: Members) -> Bases:
    """Return all bases, each as large as the problems on its graph need it."""
    bases: Bases = {}
    for name, problems in built.items():
        experiment = config.experiments[name]
        names = _needed_bases(config, experiment)
        for problem in problems:
            needed = [(problem.graph, basis) for basis in names]
            needed += [(problem.clean, "laplacian_low"), (problem.items, "laplacian_low")]
            for graph, basis in dict.fromkeys(needed):
                if experiment.opt_in:
                    basis = wide_enough(bases, graph, basis, problem.components)
                components, draws = bases.get((graph, basis), (0, 0))
                bases[graph, basis] = BasisSize(max(components, problem.components), max(draws, problem.draws))
    return bases


def _needed_bases(config: Config, experiment: Experiment) -> list[str]:
    """Return the bases that the methods and facts of an experiment use."""
    names = {"laplacian_low"} | {FACT_BASES[fact] for fact in experiment.facts if fact in FACT_BASES}
    for method in experiment.methods:
        names.update(config.methods[method].method.bases)
    return sorted(names | {find(name).stored_name for name in names})


def wide_enough(bases: Bases, graph: str, basis: str, components: int) -> str:
    """Return the planned basis of a graph with enough vectors: that of this name, or one with its size in its name."""
    size = bases.get((graph, basis))
    return basis if size is None or size.components >= components else f"{basis}-{components}"


def _batches(config: Config, members: Members, built: Members) -> dict[str, Batch]:
    """Split experiments into batches of problems on one data set, so that a change of it reruns no other."""
    batches = {}
    for experiment, problems in built.items():
        several = len({problem.dataset for problem in members[experiment]}) > 1
        for dataset in dict.fromkeys(problem.dataset for problem in problems):
            names = [problem.name for problem in problems if problem.dataset == dataset]
            stem = f"{experiment}-{dataset}" if several else experiment
            starts = range(0, len(names), config.batch)
            for number, start in enumerate(starts):
                name = stem if len(starts) == 1 else f"{stem}-{number}"
                batches[name] = Batch(experiment, names[start : start + config.batch])
    return batches


def _methods(config: Config, spread: dict[str, list[Variant]]) -> dict[str, Method]:
    methods = dict(config.methods)
    for variant in itertools.chain(*spread.values()):
        methods[variant.name] = config.methods[variant.method].with_settings(variant.setting)
    return methods


def _check_experiments(design: Design) -> None:
    """Check that the methods and facts of every experiment fit its problems."""
    for name, members in design.members.items():
        for variant, problem in itertools.product(design.variants[name], members):
            where = f"experiments.{name}: method {variant.name} on problem {problem}"
            check_method(where, design.methods[variant.name].method, design.problems[problem])
        for problem in members:
            facts = design.config.experiments[name].facts
            check_facts(f"experiments.{name}.facts: problem {problem}", facts, design.problems[problem])


def _check_shown_problem(design: Design, where: str, view: TableView | FigureView) -> None:
    members = [problem for experiment in view.experiments for problem in design.members[experiment]]
    check_names(f"{where}.problem", f"problem of {' and '.join(view.experiments)}", view.problem, members)


def _check_distinct(design: Design, where: str, view: TableView | FigureView, factor: str) -> None:
    """Check that a factor, which places the problems of a view, is different for all of them."""
    problems = [design.problems[problem] for problem in problems_of(design, view)]
    by_name = factor in ("method", "player")
    values = {problem.name if by_name else str(getattr(problem, factor, None)) for problem in problems}
    if len(values) < len(problems) or (factor == "method" and len(problems) > 1):
        sources = " and ".join(view.experiments)
        raise UserError(f"{where}: {factor!r} does not tell the {len(problems)} problems of {sources} apart")


def _requested_runs(design: Design) -> Iterator[tuple[str, str, str]]:
    """Yield batch, problem and method of all runs in order of precedence: small experiments before large ones."""
    experiments = design.config.experiments

    def precedence(batch: str) -> tuple[bool, str, int, int, int, str]:
        name = design.batches[batch].experiment
        spec = experiments[name]
        return spec.opt_in, spec.target or "", len(design.members[name]), len(spec.methods), len(name), name

    for batch in sorted(design.batches, key=precedence):
        spec = experiments[design.batches[batch].experiment]
        if not spec.settings:
            for problem, method in itertools.product(design.batches[batch].problems, spec.methods):
                yield batch, problem, method


def _grid_runs(design: Design) -> dict[tuple[str, str], Played]:
    """Return where the runs of grids are: no other experiment has their seeds, so that none is shared."""
    played = {}
    for batch, (experiment, problems) in design.batches.items():
        if design.config.experiments[experiment].settings:
            path = paths.runs(batch, PLAIN)
            for problem, variant in itertools.product(problems, design.variants[experiment]):
                played[problem, variant.name] = Played(path, problem, variant.name)
    return played


def _by_file(played: dict[tuple[str, str], Played]) -> dict[str, list[Played]]:
    plays: dict[str, list[Played]] = {}
    for runs in dict.fromkeys(played.values()):
        plays.setdefault(runs.path, []).append(runs)
    return plays


def problems_of(design: Design, view: TableView | FigureView) -> list[str]:
    """Return the problems that a table or figure shows: those of its experiments, or the one that it names."""
    members = [name for experiment in view.experiments for name in design.members[experiment]]
    return [view.problem] if view.problem else members


def experiments_behind(design: Design, view: View | Evaluation) -> list[str]:
    """Return the experiments that a table, figure, claim or evaluation rests on."""
    names = list(view.experiments)
    for evaluation in view.evaluations if isinstance(view, View) else ():
        names += design.config.evaluations[evaluation].experiments
    return list(dict.fromkeys(names))


def is_opt_in(design: Design, view: View | Evaluation) -> bool:
    """Tell whether a table, figure or evaluation is built by its target alone."""
    return any(design.config.experiments[name].opt_in for name in experiments_behind(design, view))


def target_of(design: Design, view: View | Evaluation) -> str | None:
    """Return the target of the experiments that a table, figure or evaluation rests on, if any."""
    targets = [design.config.experiments[name].target for name in experiments_behind(design, view)]
    return next((target for target in targets if target), None)


def dataset_of(design: Design, batch: str) -> str:
    """Return the data set that all problems of a batch are on."""
    return design.problems[design.batches[batch].problems[0]].dataset


def datasets_of(design: Design, view: TableView | FigureView | Evaluation) -> set[str]:
    """Return the data sets that a table, figure or evaluation shows."""
    names = [name for experiment in experiments_behind(design, view) for name in design.members[experiment]]
    if isinstance(view, TableView | FigureView) and view.experiments and view.problem:
        names = [view.problem]
    return {design.problems[name].dataset for name in names}


def batches_of(design: Design, experiments: Iterable[str], problems: Collection[str] | None = None) -> list[str]:
    """Return the batches of some experiments; with ``problems``, only those that have one of them."""
    names = []
    for experiment in experiments:
        for name, batch in design.batches.items():
            if batch.experiment == experiment and (problems is None or set(problems) & set(batch.problems)):
                names.append(name)
    return names
