"""Expand the configuration into flat tables: graphs, bases, problems, batches and who needs what.

A problem is one flat dictionary of factors. Every stage gets just the factors that it uses, so that a
change of any other one does not rerun it.
"""

import inspect
import itertools
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from graphdr.cache import paths
from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES, FACTORS
from graphdr.graphs import from_data
from graphdr.graphs.bases import stored
from graphdr.graphs.neighbours import EXACT
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.graphs.raters import EVERYONE
from graphdr.plan.blocks import Config, Dataset, Evaluation, Experiment, Figure, Method, Shown, Table
from graphdr.plan.config import read
from graphdr.plan.plays import (
    PLAIN,
    POOL_FACTORS,
    RUN_FACTORS,
    SEGMENT_FACTORS,
    THEORY_FACTORS,
    THETA_FACTORS,
    Played,
    assign,
)
from graphdr.plan.references import NO_FILE, check_facts, check_method, check_problem, pick
from graphdr.plan.settings import OWN, Variant, variants
from graphdr.plan.short_forms import problem_name

PRODUCT = ("segmented", "coupling")  # factors of a graph with segments
NODE_CASE = {  # of a configuration that says nothing about contexts, pilots, seeds, shuffled graphs, users and columns
    "context": "node", "bundle": 1, "bundled": "uniform", "pool": 1000, "segments": 1, "segmented": "ring",
    "coupling": 1, "differences": "smooth", "differ": 1, "pilot_from": "prefix", "first_seed": 0, "tuned": OWN,
    "given": NO_FILE, "shuffle": 0, "users": EVERYONE, "search": EXACT, "solver": EXACT,
}  # fmt: skip
# What a graph has beside the parameters of its family.
SHAPE = ("n", "instances", "reward", "content", "rank", "given", "users", "solver")
CHANGES = ("shuffle", "flip", "swap", "perturb")  # factors that make the observed graph another than the clean one

Problem = dict[str, Any]  # factors by name, and `name`, `title`, `items`, `clean` and `graph`


class GraphSpec(NamedTuple):
    """A graph: that of a data set, a sample of it, or one of these after a change."""

    name: str
    dataset: str | None  # None for a random graph
    family: str
    parameters: dict[str, Any]  # of the family
    n: int | str
    reward: str
    content: str
    rank: int
    given: str
    solver: str
    instances: int
    change: dict[str, Any] | None = None
    segments: int = 1  # of users, each with nodes of its own
    users: str = EVERYONE  # who make it and pay rewards, or half of them each
    min_nodes: int = 0  # that must be left: as many as the largest basis and candidate set need
    parent: str | None = None


class Batch(NamedTuple):
    """Problems of one experiment, on one data set, that one job computes."""

    experiment: str
    problems: list[str]


class Design(NamedTuple):
    """Flat tables, each keyed by name; ``members`` are the problems of every experiment, built or not."""

    config: Config
    graphs: dict[str, GraphSpec]
    bases: dict[tuple[str, str], tuple[int, int]]  # by graph and basis: vectors, and random draws besides the first
    problems: dict[str, Problem]
    batches: dict[str, Batch]
    members: dict[str, list[str]]
    variants: dict[str, list[Variant]]  # by experiment: its methods, with every setting of its grid
    methods: dict[str, Method]  # those of the configuration, and all variants
    played: dict[tuple[str, str], Played]  # by problem and method
    plays: dict[str, list[Played]]  # by file
    root: str = ""  # folder of its files


def expand(config: Config | Mapping[str, Any], missing: Collection[str] = (), root: str = "") -> Design:
    """Turn the blocks of a configuration into flat tables; nothing is planned on data sets that are missing."""
    config = config if isinstance(config, Config) else read(config)
    design = Design(config, {}, {}, {}, {}, {}, {}, dict(config.methods), {}, {}, root)
    for name, experiment in sorted(config.experiments.items(), key=lambda item: _precedence(config, item[1])):
        members = _members(config, name, experiment)
        design.variants[name] = variants(experiment, config.methods)
        for variant, method, setting in design.variants[name]:
            design.methods[variant] = config.methods[method].model_copy(update=setting)
        design.members[name] = [problem["name"] for problem in members]
        design.problems.update(zip(design.members[name], members, strict=True))
        for (method, *_), problem in itertools.product(design.variants[name], members):
            where = f"experiments.{name}: method {method} on problem {problem['name']}"
            check_method(where, design.methods[method], problem)
        for problem in members:
            check_facts(f"experiments.{name}.facts: problem {problem['name']}", experiment.facts, problem)
        here = [problem for problem in members if problem["dataset"] not in missing]
        wanted = {"laplacian_low"} | {FACT_BASES[fact] for fact in experiment.facts if fact in FACT_BASES}
        wanted |= {basis for method in experiment.methods for basis in config.methods[method].bases}
        wanted |= set(map(stored, wanted))
        for problem in here:
            for graph in _chain(config, problem).values():
                planned = design.graphs.get(graph.name, graph)
                least = max(planned.min_nodes, problem["components"], problem["arms"])
                design.graphs[graph.name] = planned._replace(min_nodes=least)
            needed = [(problem["graph"], basis) for basis in sorted(wanted)]
            needed += [(problem[role], "laplacian_low") for role in ("clean", "items")]
            for graph, basis in dict.fromkeys(needed):
                if experiment.opt_in:
                    basis = basis_file(design, graph, basis, problem["components"])
                components, draws = design.bases.get((graph, basis), (0, 0))
                design.bases[graph, basis] = max(components, problem["components"]), max(draws, problem["draws"])
        several = len({problem["dataset"] for problem in members}) > 1
        for batch, part in _split(name, here, several, config.batch):
            design.batches[batch] = Batch(name, [problem["name"] for problem in part])
    _check_rows(design)
    design.played.update(assign(_asked(design), design.problems, design.methods))
    design.played.update(_grids(design))
    for runs in dict.fromkeys(design.played.values()):
        design.plays.setdefault(runs.path, []).append(runs)
    return design


def _precedence(config: Config, experiment: Experiment) -> tuple[bool, int]:
    """Put what is built on demand alone last, the narrowest first, so that none widens the bases of those before it."""
    widths = config.protocol.factors | experiment.problems.set.factors
    return experiment.opt_in, widths["components"] if experiment.opt_in else 0


def _asked(design: Design) -> Iterator[tuple[str, str, str]]:
    """Yield what every batch wants played, in order of precedence: no small experiment is to wait for a large one."""
    experiments = design.config.experiments

    def precedence(batch: str) -> tuple[Any, ...]:
        name = design.batches[batch].experiment
        size = len(design.members[name]), len(experiments[name].methods), len(name)
        return experiments[name].opt_in, experiments[name].target or "", size, name

    for batch in sorted(design.batches, key=precedence):
        spec = design.batches[batch]
        if not experiments[spec.experiment].settings:
            methods = experiments[spec.experiment].methods
            yield from ((batch, *pair) for pair in itertools.product(spec.problems, methods))


def _grids(design: Design) -> Iterator[tuple[tuple[str, str], Played]]:
    """Yield where the runs of grids are: thousands, whose seeds are their own, so that none is shared."""
    for batch, (experiment, problems) in design.batches.items():
        if design.config.experiments[experiment].settings:
            path = paths.runs(batch, PLAIN)
            for problem, (variant, *_) in itertools.product(problems, design.variants[experiment]):
                yield (problem, variant), Played(path, problem, variant)


def basis_file(design: Design, graph: str, basis: str, components: int) -> str:
    """Return the basis that has as many vectors: that of its name, or a wider one of its own beside it."""
    planned = design.bases.get((graph, basis))
    return basis if planned is None or planned[0] >= components else f"{basis}-{components}"


def is_observed(dataset: Dataset) -> bool:
    """Tell whether a data set comes from raw files (and not from a random graph)."""
    return dataset.raw is not None


def _members(config: Config, experiment: str, spec: Experiment) -> list[Problem]:
    """Expand the problems of one experiment: every base with every combination of the varied factors."""
    members = []
    fixed, cycle = spec.problems.set.factors, spec.problems.cycle.plain()
    vary = dict(sorted(spec.problems.vary.plain().items()))
    for base in spec.problems.of:
        for places in itertools.product(*(range(len(values)) for values in vary.values())):
            varied = {factor: values[at] for (factor, values), at in zip(vary.items(), places, strict=True)}
            # A cycled factor takes its values in turn along the varied ones, instead of crossing them.
            varied |= {factor: values[sum(places) % len(values)] for factor, values in cycle.items()}
            own = config.problems[base].factors | fixed | varied
            factors = defaults(config, own["dataset"]) | own
            if missing := sorted(_required(factors["family"]) - set(factors)):
                raise UserError(f"problems.{base}: factor {missing[0]!r} has no value")
            name = problem_name(base, fixed | varied)
            check_problem(f"experiments.{experiment}: problem {name}", factors)
            chain = _chain(config, factors)
            roles = {role: chain[role].name for role in ("items", "clean", "graph")}
            label = config.datasets[config.problems[base].dataset].label or base
            title = ", ".join([label, *(f"{factor} {value}" for factor, value in varied.items())])
            members.append(factors | {"name": name, "title": title} | roles)
    return members


def defaults(config: Config, dataset: str) -> dict[str, Any]:
    """Return the factors that every problem on a data set starts from."""
    block = config.datasets[dataset]
    return NODE_CASE | config.protocol.factors | (config.observed.factors if is_observed(block) else {}) | block.factors


def _check_rows(design: Design) -> None:
    """Check that the rows of every table, and the positions of every sweep, tell the problems apart."""
    for block, place in (("tables", "rows"), ("figures", "x")):
        for name, spec in getattr(design.config, block).items():
            sources = " and ".join(spec.experiments)
            members = [problem for experiment in spec.experiments for problem in design.members[experiment]]
            pick(f"{block}.{name}.problem", f"problem of {sources}", spec.problem, members)
            if spec.evaluation or getattr(spec, "kind", "sweep") != "sweep":
                continue
            factor = getattr(spec, place)
            problems = [design.problems[name] for name in problems_of(design, spec)]
            named = factor in ("method", "player")
            values = {problem["name"] if named else str(problem.get(factor)) for problem in problems}
            if len(values) < len(problems) or (factor == "method" and len(problems) > 1):
                told = f"{factor!r} does not tell the {len(problems)} problems of {sources} apart"
                raise UserError(f"{block}.{name}.{place}: {told}")


def problems_of(design: Design, spec: Table | Figure) -> list[str]:
    """Return the problems that a table or figure shows: those of its experiments, or the one that it names."""
    members = [name for experiment in spec.experiments for name in design.members[experiment]]
    return [spec.problem] if spec.problem else members


def is_opt_in(design: Design, spec: Shown | Evaluation) -> bool:
    """Tell whether a table, figure or evaluation is built by a target of its own alone."""
    return any(design.config.experiments[name].opt_in for name in experiments_behind(design, spec))


def experiments_behind(design: Design, spec: Shown | Evaluation) -> list[str]:
    """Return the experiments that a table, figure or evaluation rests on."""
    evaluations = [design.config.evaluations[name] for name in getattr(spec, "evaluations", ())]
    return list(dict.fromkeys([*spec.experiments, *(name for part in evaluations for name in part.experiments)]))


def target_of(design: Design, spec: Shown | Evaluation) -> str | None:
    """Return the target of its own that a table, figure or evaluation belongs to, if any."""
    targets = [design.config.experiments[name].target for name in experiments_behind(design, spec)]
    return next((target for target in targets if target), None)


def dataset_of(design: Design, batch: str) -> str:
    """Return the data set that all problems of a batch are on."""
    return design.problems[design.batches[batch].problems[0]]["dataset"]


def datasets_of(design: Design, spec: Table | Figure | Evaluation) -> set[str]:
    """Return the data sets that a table, figure or evaluation shows."""
    members = [name for experiment in experiments_behind(design, spec) for name in design.members[experiment]]
    problem = getattr(spec, "problem", None) if spec.experiments else None
    return {design.problems[name]["dataset"] for name in ([problem] if problem else members)}


def batches_of(design: Design, experiments: list[str], problems: set[str] | None = None) -> list[str]:
    """Return the batches of some experiments, those with one of the given problems if any are given."""
    return [
        name
        for experiment in experiments
        for name, batch in design.batches.items()
        if batch.experiment == experiment and (problems is None or problems & set(batch.problems))
    ]


@cache
def _required(family: str) -> frozenset[str]:
    graph = {*_parameters(family), "n", "sample", "components", "content", "rank", "given", "users", "solver", *CHANGES}
    graph |= {"segments", *PRODUCT, *(factor for factor in SEGMENT_FACTORS if factor != "items")}
    return frozenset(graph.union(THETA_FACTORS, RUN_FACTORS, THEORY_FACTORS, POOL_FACTORS, *FACTORS.values()))


@cache  # thousands of problems share a few families
def _parameters(family: str) -> tuple[str, ...]:
    """Return the factors that a graph family takes: its keyword-only arguments."""
    signature = inspect.signature((FAMILIES | from_data.FAMILIES)[family])
    return tuple(p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY)


def _chain(config: Config, factors: Problem) -> dict[str, GraphSpec]:
    """Return the graphs behind a problem by role: the one of its data set, its items, the clean and the observed one.

    The items are a sample of the first, if a sample is asked for; the clean graph has them once for every segment of
    users; the observed one is the clean one after a change, if any is asked for. Roles may share a graph.
    """
    family, dataset = factors["family"], factors["dataset"]
    taken = {name: factors[name] for name in _parameters(family)}
    # Those at the value of a configuration that is silent are left out: a new one leaves all jobs as they were.
    parameters = {name: value for name, value in taken.items() if value != NODE_CASE.get(name)}
    shape = {name: factors[name] for name in SHAPE}
    usual = defaults(config, dataset)
    told = {"family": family} | shape | taken
    changed = {name: value for name, value in told.items() if value != usual.get(name)}
    source = dataset if is_observed(config.datasets[dataset]) else None
    whole = GraphSpec(problem_name(dataset, changed), source, family, parameters, **shape)
    sampled = 0 < factors["sample"] < from_data.most(factors["n"])
    items = clean = _changed(whole, {"sample": factors["sample"]}) if sampled else whole
    if factors["segments"] > 1:
        product = {name: factors[name] for name in ("segments", *PRODUCT)}
        clean = _changed(items, product)._replace(segments=factors["segments"])
    changes = {name: factors[name] for name in CHANGES if factors[name]}
    if len(changes) > 1:
        raise UserError(f"{dataset}: only one of {', '.join(changes)} can change a graph")
    if "perturb" in changes:
        changes["k"] = factors["k"]  # its size is relative to the gap of this subspace
    return {"whole": whole, "items": items, "clean": clean, "graph": _changed(clean, changes) if changes else clean}


def _changed(parent: GraphSpec, change: dict[str, Any]) -> GraphSpec:
    return parent._replace(name=problem_name(parent.name, change), change=change, parent=parent.name)


def _split(experiment: str, members: list[Problem], several: bool, size: int) -> Iterator[tuple[str, list[Problem]]]:
    """Yield batches of problems on one data set each, so that a change of one data set reruns no other."""
    for dataset in dict.fromkeys(member["dataset"] for member in members):
        alike = [member for member in members if member["dataset"] == dataset]
        stem = f"{experiment}-{dataset}" if several else experiment
        parts = [alike[start : start + size] for start in range(0, len(alike), size)]
        for number, part in enumerate(parts):
            yield stem if len(parts) == 1 else f"{stem}-{number}", part
