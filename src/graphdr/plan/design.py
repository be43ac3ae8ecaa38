"""Expand the configuration into flat tables: graphs, bases, problems, batches, and where every run is stored.

Every method is played once on every problem, in the first experiment that asks. Two experiments that ask for the same
runs, under whatever names, share them. Runs are the same if their protocol, the resolved method and all that its
rewards, contexts and facts depend on are equal.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from graphdr.bandit.method import Method as Policy
from graphdr.cache import paths
from graphdr.facts.registry import FACT_BASES, FACTORS
from graphdr.graphs.arm_features import find
from graphdr.plan.blocks import (
    Config,
    Evaluation,
    Experiment,
    Factors,
    FigureView,
    Method,
    Raw,
    TableView,
    View,
    unknown,
)
from graphdr.plan.config import read
from graphdr.plan.job import fill
from graphdr.plan.problem import GraphSpec, Problem, complete, graph_chain
from graphdr.plan.references import in_facts, in_method, in_problem, refuse, too_wide
from graphdr.plan.short_forms import problem_name
from graphdr.stages.pose_problem import PosedProblem
from graphdr.store.problems import StoredRuns

KINDS = PLAIN, INFORMED = "plain", "informed"  # a fact or a pilot that changes makes only the latter play again
OWN = "none"  # of the factor `settings_from`: methods play with the settings of the configuration
# Factors of the size of a problem: settings that were chosen on a problem of another size are valid, too.
SIZES = {"instances", "draws", "horizon", "first_seed", "seeds", "checkpoint", "components", "settings_from"}


class BasisSize(NamedTuple):
    """The size of a basis: its vectors, and random draws besides the first."""

    components: int
    draws: int


class Batch(NamedTuple):
    """Problems of one experiment, on one data set, that one job computes."""

    experiment: str
    problems: list[str]


class Variant(NamedTuple):
    """A method with one setting of a grid: its name in the runs, the name of the method, and the setting."""

    name: str
    method: str
    setting: dict[str, float]


Bases = dict[tuple[str, str], BasisSize]  # by graph and name of the basis
Members = dict[str, list[Problem]]  # by experiment


class Design(NamedTuple):
    """Flat tables, each keyed by name; ``members`` are the problems of every experiment, built or not."""

    config: Config
    graphs: dict[str, GraphSpec]
    bases: Bases
    problems: dict[str, Problem]
    batches: dict[str, Batch]
    members: Members
    variants: dict[str, list[Variant]]  # by experiment: its methods, with every setting of its grid
    methods: dict[str, Method]  # those of the configuration, and all variants
    played: dict[tuple[str, str], StoredRuns]  # by problem and method
    plays: dict[str, list[StoredRuns]]  # by file
    root: str = ""  # folder of its files


def expand(config: Config | Raw, missing: Collection[str] = (), root: str = "") -> Design:
    """Turn the blocks of a configuration into flat tables; nothing is planned on data sets that are missing."""
    config = config if isinstance(config, Config) else read(config)
    members = _members(config)
    problems = {problem.name: problem for several in members.values() for problem in several}
    members = {name: [problems[problem.name] for problem in several] for name, several in members.items()}
    built = {name: [p for p in several if p.dataset not in missing] for name, several in members.items()}
    variants = {name: list(_variants(config, config.experiments[name])) for name in members}
    made = [variant for several in variants.values() for variant in several]
    design = Design(
        config=config,
        graphs=_graphs(config, built),
        bases=_bases(config, built),
        problems=problems,
        batches=_batches(config, members, missing),
        members=members,
        variants=variants,
        methods=config.methods | {v.name: config.methods[v.method].with_settings(v.setting) for v in made},
        played={},
        plays={},
        root=root,
    )
    _check(design)
    _store(design)
    return design


def _members(config: Config) -> Members:
    """Return the problems of every experiment.

    Opt-in experiments come last, the narrowest first, so that they never enlarge a shared basis.
    """

    def precedence(name: str) -> tuple[bool, int]:
        experiment = config.experiments[name]
        components = experiment.problems.set.components or config.protocol.components or 0
        return experiment.opt_in, experiment.opt_in * components

    return {name: list(_expand_problems(config, name)) for name in sorted(config.experiments, key=precedence)}


def _expand_problems(config: Config, experiment: str) -> Iterator[Problem]:
    """Yield the problems of one experiment: every base problem with every combination of the varied factors."""
    grid = config.experiments[experiment].problems
    vary = dict(sorted(grid.vary.items()))
    for base, levels in product(grid.of, product(*map(enumerate, vary.values()))):
        varied = dict(zip(vary, (value for _, value in levels), strict=True))
        turn = sum(place for place, _ in levels)
        varied |= {factor: values[turn % len(values)] for factor, values in grid.cycle.items()}
        changes = grid.set.factors | varied
        factors = complete(config, base, changes)
        name = problem_name(base, changes)
        refuse(f"experiments.{experiment}: problem {name}: ", in_problem(factors))
        _, items, clean, graph = graph_chain(config, factors)
        label = config.datasets[config.problems[base].dataset].label or base
        yield Problem.model_construct(
            **vars(factors),
            name=name,
            title=", ".join([label, *(f"{factor} {value}" for factor, value in varied.items())]),
            items=items.name,
            clean=clean.name,
            graph=graph.name,
        )


def _graphs(config: Config, built: Members) -> dict[str, GraphSpec]:
    """Return the graphs of all problems, each with the fewest nodes that these accept."""
    graphs: dict[str, GraphSpec] = {}
    for problems in built.values():
        for problem in problems:
            for graph in graph_chain(config, problem):
                least = max(graphs.get(graph.name, graph).min_nodes, problem.components, problem.arms)
                graphs[graph.name] = graph._replace(min_nodes=least)
    return graphs


def _bases(config: Config, built: Members) -> Bases:
    """Return all bases, each as large as the problems on its graph need it."""
    bases: Bases = {}
    for name, problems in built.items():
        experiment = config.experiments[name]
        used = {"laplacian_low"} | {FACT_BASES[fact] for fact in experiment.facts if fact in FACT_BASES}
        used.update(*(config.methods[method].method.bases for method in experiment.methods))
        names = sorted(used | {find(basis).stored_name for basis in used})
        for problem in problems:
            needed = [(problem.graph, basis) for basis in names]
            needed += [(problem.clean, "laplacian_low"), (problem.items, "laplacian_low")]
            for graph, basis in dict.fromkeys(needed):
                if experiment.opt_in:
                    basis = wide_enough(bases, graph, basis, problem.components)
                components, draws = bases.get((graph, basis), (0, 0))
                bases[graph, basis] = BasisSize(max(components, problem.components), max(draws, problem.draws))
    return bases


def wide_enough(bases: Bases, graph: str, basis: str, components: int) -> str:
    """Return the planned basis of a graph with enough vectors: that of this name, or one with its size in its name."""
    size = bases.get((graph, basis))
    return basis if size is None or size.components >= components else f"{basis}-{components}"


def _batches(config: Config, members: Members, missing: Collection[str]) -> dict[str, Batch]:
    """Split experiments into batches of problems on one data set, so that a change of it reruns no other."""
    batches = {}
    for experiment, problems in members.items():
        by_dataset: dict[str, list[str]] = {}
        for problem in problems:
            by_dataset.setdefault(problem.dataset, []).append(problem.name)
        for dataset, names in by_dataset.items():
            if dataset in missing:
                continue
            stem = f"{experiment}-{dataset}" if len(by_dataset) > 1 else experiment
            for number, start in enumerate(range(0, len(names), config.batch)):
                name = stem if len(names) <= config.batch else f"{stem}-{number}"
                batches[name] = Batch(experiment, names[start : start + config.batch])
    return batches


def _variants(config: Config, experiment: Experiment) -> Iterator[Variant]:
    """Yield every method of an experiment with every setting of its grid, or as it is where there is none."""
    grid = experiment.settings.plain() if experiment.settings else {}
    for name in experiment.methods:
        levels = {setting: grid[setting] for setting in config.methods[name].method.tunable if setting in grid}
        for values in product(*levels.values()):
            setting = dict(zip(levels, values, strict=True))
            yield Variant(problem_name(name, setting), name, setting)


def _check(design: Design) -> None:
    """Check that methods, facts and chosen settings fit their problems, and that views tell their problems apart."""
    for name, members in design.members.items():
        for problem in members:
            spec, where = design.config.experiments[name], f"problem {problem.name}: "
            for variant, *_ in design.variants[name]:
                mistakes = in_method(design.methods[variant].method, problem)
                refuse(f"experiments.{name}: method {variant} on {where}", mistakes)
            refuse(f"experiments.{name}: {where}", in_facts(spec.facts, problem))
            if problem.settings_from != OWN:
                refuse(f"experiments.{name}: {where}", _without_settings(design, problem, spec.methods))
    for block, views in (("tables", design.config.tables), ("figures", design.config.figures)):
        for name, view in views.items():
            refuse(f"{block}.{name}.", _misplaced(design, view))


def _without_settings(design: Design, problem: Problem, methods: list[str]) -> Iterator[str]:
    """Yield which methods have no setting, or too large ones, in the study that a problem takes settings from."""
    config = design.config
    studies = {spec.target for spec in config.experiments.values() if spec.settings}
    yield from unknown("settings_from: ", "study of settings", problem.settings_from, studies)
    tried = {method: grid for grid, _ in tuned_on(design, problem) for method in config.experiments[grid].methods}
    for method in methods:
        tunable = config.methods[method].method.tunable
        if tunable and method not in tried:
            yield f"no setting of {method!r} on {problem.dataset!r} in {problem.settings_from!r}"
        if "k" in tunable and (k := config.experiments[tried[method]].settings.k):
            yield from too_wide(f"the largest k of {method!r} in {problem.settings_from!r}", max(k), problem)


def tuned_on(design: Design, problem: Problem) -> list[tuple[str, str]]:
    """Return the experiments and problems where the settings of a problem are chosen: they differ only in size."""
    compared = Factors.model_fields.keys() - SIZES
    return [
        (experiment, other.name)
        for experiment, spec in sorted(design.config.experiments.items())
        if spec.settings and spec.target == problem.settings_from
        for other in design.members[experiment]
        if all(getattr(other, factor) == getattr(problem, factor) for factor in compared)
    ]


def _misplaced(design: Design, view: TableView | FigureView) -> Iterator[str]:
    """Yield that a view shows a problem of no experiment of it, or several at one place."""
    sources = " and ".join(view.experiments)
    members = [problem.name for experiment in view.experiments for problem in design.members[experiment]]
    yield from unknown("problem: ", f"problem of {sources}", view.problem, members)
    key = "rows" if isinstance(view, TableView) else "x"
    factor = getattr(view, key)
    if not view.experiments or getattr(view, "kind", "sweep") != "sweep":
        return
    problems = problems_of(design, view)
    by_name = factor in ("method", "player")
    values = {problem.name if by_name else str(getattr(problem, factor, None)) for problem in problems}
    if len(values) < len(problems) or (factor == "method" and len(problems) > 1):
        yield f"{key}: {factor!r} does not tell the {len(problems)} problems of {sources} apart"


def _store(design: Design) -> None:
    """Choose where the runs of every problem and method are: in small experiments rather than in large ones."""
    experiments = design.config.experiments

    def precedence(batch: str) -> tuple[Any, ...]:
        name = design.batches[batch].experiment
        spec = experiments[name]
        return spec.opt_in, spec.target or "", len(design.members[name]), len(spec.methods), len(name), name

    first: dict[Any, StoredRuns] = {}
    for batch in sorted(design.batches, key=precedence):
        experiment, problems = design.batches[batch]
        for problem, variant in product(problems, design.variants[experiment]):
            method = design.methods[variant.name].method
            runs = StoredRuns(paths.runs(batch, INFORMED if method.facts else PLAIN), problem, variant.name)
            if not experiments[experiment].settings:  # no other experiment has the seeds of a grid
                runs = first.setdefault(_identity(design.problems[problem], method), runs)
            design.played[problem, variant.name] = runs
    for runs in dict.fromkeys(design.played.values()):
        design.plays.setdefault(runs.path, []).append(runs)


def _identity(problem: Problem, method: Policy) -> tuple[Any, ...]:
    """Return what runs depend on: equal identities give equal runs."""
    names = sorted({factor for fact in method.facts for factor in FACTORS.get(fact, ())})
    factors_of_facts = repr([getattr(problem, name) for name in names])
    posed = fill(PosedProblem, problem, name="")
    return problem.protocol, posed, method.resolve(problem), factors_of_facts


def problems_of(design: Design, view: View | Evaluation) -> list[Problem]:
    """Return the problems that a view or evaluation rests on: those of its experiments, or the one that it names."""
    if name := getattr(view, "problem", None):
        return [design.problems[name]]
    return [problem for experiment in experiments_behind(design, view) for problem in design.members[experiment]]


def experiments_behind(design: Design, view: View | Evaluation) -> list[str]:
    """Return the experiments that a table, figure, claim or evaluation rests on."""
    names = list(view.experiments)
    for evaluation in getattr(view, "evaluations", ()):
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


def datasets_of(design: Design, view: View | Evaluation) -> set[str]:
    """Return the data sets that a table, figure or evaluation shows."""
    return {problem.dataset for problem in problems_of(design, view)}


def batches_of(design: Design, experiments: Iterable[str], problems: Collection[str] | None = None) -> list[str]:
    """Return the batches of some experiments; with ``problems``, only those that have one of them."""
    return [
        name
        for experiment in experiments
        for name, batch in design.batches.items()
        if batch.experiment == experiment and (problems is None or not set(problems).isdisjoint(batch.problems))
    ]
