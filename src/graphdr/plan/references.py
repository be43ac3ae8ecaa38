"""Check every name in the configuration against what it refers to, and factors against each other.

Each rule yields a text per mistake, which starts with the place inside of the entry that it is about.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import reduce
from typing import Any

from graphdr.bandit.arm_set import NODE
from graphdr.bandit.contexts import CHOSEN
from graphdr.bandit.method import GRAPH, Method
from graphdr.bandit.pilot import PREFIX
from graphdr.bandit.radii import A_PRIORI
from graphdr.bandit.rewards import RESAMPLED
from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES, FACTORS, FACTS
from graphdr.graphs import from_data
from graphdr.graphs.arm_features import CONTENT, IDENTITY, RATINGS, USER_COLUMNS, find
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.graphs.raters import SPLIT
from graphdr.graphs.segments import SEGMENTATIONS
from graphdr.paper.predicates import check_arguments
from graphdr.plan import blocks
from graphdr.plan.blocks import RING, unknown
from graphdr.scores import cells
from graphdr.scores.measure import MEASURES

Mistakes = Iterator[str]

NO_FILE = "none"  # of the factor `user_columns`: no file with columns
TARGETS = {"all", "synthetic", "headline", "fetch", "paper"}  # of the Snakefile
SEVERAL_EXPERIMENTS = ("dots", "widths", "specifications", "leaderboard")  # kinds of figures that show more than one
FROM_DATA = {"reward": ("mean", "modal_group"), "n": (from_data.ALL,), "bundle_sampling": (CHOSEN,)}  # values
SHOWN = {"experiment": "experiment", "evaluation": "evaluation"}

# What the keys of a block name: an entry of another block.
NAMES = {
    "problems": {"dataset": "dataset"},
    "experiments": {"methods": "method", "varies": "experiment", "problems.of": "problem"},
    "evaluations": {"experiments": "experiment"},
    "tables": SHOWN,
    "figures": SHOWN,
    "claims": SHOWN | {"dataset": "dataset", "except": "dataset"},
    "simulated_papers": {"control": "experiment"},
}


def check(config: blocks.Config) -> None:
    """Raise a UserError that names the place and the valid choices for the first mistake."""
    for block, kinds in NAMES.items():
        for name, entry in getattr(config, block).items():
            written = entry.plain()
            for key, kind in kinds.items():
                named: Any = reduce(dict.get, key.split("."), written)
                refuse(f"{block}.{name}.{key}: ", unknown("", kind, named, getattr(config, f"{kind}s")))
    for block, rule in RULES.items():
        for name, entry in getattr(config, block).items():
            refuse(f"{block}.{name}", rule(config, name, entry))


def refuse(where: str, mistakes: Iterable[str]) -> None:
    """Raise a UserError for the first mistake."""
    for text in mistakes:
        raise UserError(f"{where}{text}")


def _dataset(config: blocks.Config, name: str, entry: blocks.Dataset) -> Mistakes:
    if entry.is_observed and name in TARGETS:
        yield f": a data set with raw files is a target of its own; {sorted(TARGETS)} are taken"


def _experiment(config: blocks.Config, name: str, entry: blocks.Experiment) -> Mistakes:
    yield from unknown(".against: ", "method of this experiment", entry.against, entry.methods)
    methods = {method: config.methods[method].method for method in entry.methods}
    if not all(config.datasets[config.problems[problem].dataset].is_observed for problem in entry.problems.of):
        bases = {method: settings.bases[:1] for method, settings in methods.items()}  # the second may be missing
        bases |= {fact: (FACT_BASES[fact],) for fact in entry.facts if fact in FACT_BASES}
        for player, needed in bases.items():
            for basis in needed:
                if _data_behind(basis) in (CONTENT, RATINGS):
                    yield f": {player!r} needs {basis!r}, which a random graph does not have"
    if entry.target in TARGETS | set(config.datasets):
        yield f".target: {entry.target!r} is a target already"
    if entry.opt_in and not entry.target:
        yield ".target: an experiment that is opt_in needs a target that builds it"
    if entry.varies and not (entry.settings and config.horizons):
        yield ".varies: settings, and horizons at the top level, are needed to judge claims again"
    for original in entry.varies:
        for factor in sorted(entry.settings.model_fields_set & config.experiments[original].problems.vary.keys()):
            yield f".settings.{factor}: the experiment {original!r} in `varies` varies it already"
    for method, settings in methods.items():
        for fact in sorted(set(settings.facts) - set(entry.facts)):
            yield f".facts: method {method!r} needs {fact!r}; add it to the facts"


def _data_behind(basis: str) -> str | None:
    """Return the data that a basis, or the basis that it is made of, needs besides the graph."""
    return None if basis == IDENTITY else find(find(basis).stored_name).data


def _evaluation(config: blocks.Config, name: str, entry: blocks.Evaluation) -> Mistakes:
    if not entry.predictor_facts:
        yield ": predictors, or joint ones, are needed"
    for experiment in entry.experiments:
        spec = config.experiments[experiment]
        yield from unknown(".method: ", f"method of {experiment}", entry.method, spec.methods)
        yield from unknown(".means: ", f"fact of {experiment}", entry.means, spec.facts)
        for predictor, facts in entry.predictor_facts.items():
            where, kind = f": predictor {predictor!r}: ", f"fact or measure of {experiment}"
            yield from unknown(where, kind, facts, [*spec.facts, *MEASURES])


def _table(config: blocks.Config, name: str, entry: blocks.TableView) -> Mistakes:
    quantities, keys = (list(MEASURES) if entry.experiments else ["mean"]), list[str]()
    for experiment in entry.experiments:
        quantities += config.experiments[experiment].facts
        keys += config.experiments[experiment].methods
    for evaluation in entry.evaluations:
        spec = config.evaluations[evaluation]
        quantities += spec.scores
        keys += [*spec.predictor_facts, *(f"{fact}_{dataset}" for fact in spec.means for dataset in config.datasets)]
    if entry.experiments:
        yield from unknown(".methods: ", "method there", entry.methods, keys)
    for column, text in cells.named(entry.columns):
        place = f".columns.{column}: "
        cell = cells.parse(f"tables.{name}.columns.{column}", text)
        yield from unknown(place, "quantity measured there", cell.quantity, quantities)
        yield from unknown(place, "quantity", cell.quantity, [*config.quantities, *FACTS])
        yield from unknown(place, "method or predictor there", cell.key, keys)


def _figure(config: blocks.Config, name: str, entry: blocks.FigureView) -> Mistakes:
    experiments = [config.experiments[name] for name in entry.experiments]
    if not experiments:
        yield ".evaluation: a figure shows an experiment"
    if len(experiments) > 1 and entry.kind not in SEVERAL_EXPERIMENTS:
        yield f".experiment: a figure of kind {entry.kind!r} shows one experiment"
    methods = [method for experiment in experiments for method in experiment.methods]
    yield from unknown(".methods: ", "method of this experiment", entry.methods, methods)
    for experiment in experiments if entry.kind in ("sweep", "widths") else ():
        yield from unknown(".x: ", "varied factor", entry.x or "", experiment.problems.vary)
    if entry.kind == "specifications":
        yield from unknown(".claim: ", "claim", entry.claim or "", config.claims)


def _claim(config: blocks.Config, name: str, entry: blocks.Claim) -> Mistakes:
    if entry.exceptions and not entry.each:
        yield ".except: only a claim on each data set by itself has exceptions"
    criteria = {"checks": entry.checks}  # these decide; alternatives are only shown
    criteria |= {f"alternatives.{label}": checks for label, checks in entry.alternatives.items()}
    for place, checks in criteria.items():
        for predicate, arguments in cells.named(checks):
            check_arguments(f"claims.{name}.{place}", predicate, arguments)


def _simulated_papers(config: blocks.Config, table: str, entry: blocks.SimulatedPapers) -> Mistakes:
    yield from unknown(": ", "table", table, config.tables)
    yield from unknown(".protocols: ", "experiment", entry.others, config.experiments)
    methods = config.experiments[entry.control].methods
    yield from unknown(".aliases: ", "method of the control", entry.aliases.values(), methods)
    for name in entry.others:
        played = [entry.aliases.get(method, method) for method in config.experiments[name].methods]
        yield from unknown(".protocols: ", f"method of {name}", methods, played)


RULES: dict[str, Callable[[blocks.Config, str, Any], Mistakes]] = {
    "datasets": _dataset,
    "experiments": _experiment,
    "evaluations": _evaluation,
    "tables": _table,
    "figures": _figure,
    "claims": _claim,
    "simulated_papers": _simulated_papers,
}


def in_problem(problem: blocks.Factors) -> Mistakes:
    """Yield which factors of one expanded problem do not go together."""
    n, is_random = from_data.most(problem.n), problem.family in FAMILIES
    for factor, values in FROM_DATA.items() if is_random else ():
        if (value := getattr(problem, factor)) in values:
            yield f"{factor} = {value!r} comes from data, and a random graph has none"
    if problem.k_min > problem.k_max:
        yield f"k_min = {problem.k_min} is above k_max = {problem.k_max}"
    for factor in ("k", "k_star", "k_max"):
        yield from too_wide(factor, getattr(problem, factor), problem)
    if problem.arms > n:
        yield f"arms = {problem.arms} candidates per round are more than n = {n} nodes"
    if problem.components > n:
        yield f"components = {problem.components} are more than n = {n} nodes"
    if problem.horizon % problem.checkpoint:
        yield f"horizon = {problem.horizon} is not a multiple of checkpoint = {problem.checkpoint}"
    if problem.context != NODE and problem.candidates != "uniform":
        yield f"candidates = {problem.candidates!r} are nodes; contexts are offered 'uniform'"
    if problem.context == "bundle" and (problem.bundle > n or problem.arms > problem.bundle_count):
        yield f"bundle has at most n = {n} nodes, and arms at most bundle_count = {problem.bundle_count}"
    if is_random or problem.segments > 1:
        choices = [RING] if is_random else SEGMENTATIONS
        yield from unknown("segment_by: ", "segmentation", problem.segment_by, choices)
    if problem.segments > 1:
        if problem.context != "segment":
            yield f"segments = {problem.segments} needs context = 'segment', not {problem.context!r}"
        if problem.tail:
            yield f"tail = {problem.tail} is not drawn for segments; leave one of both out"
    of_ratings = (problem.family, problem.reward, problem.context) == ("knn", "mean", NODE)
    for factor, value in (("holdout", SPLIT), ("noise", RESAMPLED)):
        if getattr(problem, factor) == value and not of_ratings:
            yield f"{factor} = {value!r} needs ratings: family = 'knn', reward = 'mean' and context = {NODE!r}"


def in_facts(facts: Collection[str], problem: blocks.Factors) -> Mistakes:
    """Yield which facts about the noise have no number to start from."""
    for fact in facts:
        if problem.noise == RESAMPLED and "noise" in FACTORS.get(fact, ()):
            yield f"{fact!r} needs a number for the noise, not {RESAMPLED!r}; leave one of both out"


def in_method(method: Method, problem: blocks.Factors) -> Mistakes:
    """Yield why a method does not fit a problem: its bases, its dimensions, its facts and what its arms are."""
    radius = getattr(method, "radius", None)
    if radius == A_PRIORI and (problem.context, problem.pilot_source) != (NODE, PREFIX):
        means = f"context = {NODE!r} and pilot_source = {PREFIX!r}"
        yield f"the radius {A_PRIORI!r} knows the error of means of nodes alone; it needs {means}"
    for basis in method.bases:
        if problem.user_columns == NO_FILE and _data_behind(basis) == USER_COLUMNS:
            needed = "a parquet file with a column 'node' and columns of numbers"
            yield f"the basis {basis!r} needs the factor 'user_columns', {needed}"
    if getattr(method, "noise_units", False) and not problem.noise:
        yield "noise_units measures width and ridge in noise, and there is none; leave it out"
    if method.space == GRAPH and problem.context == "bundle":
        yield f"the arms of {method.policy!r} are nodes of the graph, not bundles of them"
    if problem.noise == RESAMPLED and method.uses_pilot:
        yield f"the radius {radius!r} needs a number for the noise, not {RESAMPLED!r}"
    if method.plays_grid:
        grid = getattr(method, "k_grid", None) or problem.k_grid
        if grid is None:
            yield "factor 'k_grid' has no value, and an adaptive k is one of it"
        yield from too_wide("k_grid", max(grid), problem)
    elif isinstance(k := getattr(method, "k", None), int):
        yield from too_wide("k", k, problem)


def too_wide(factor: str, k: int, problem: blocks.Factors) -> Mistakes:
    """Yield why u_2..u_{k+1} and the gap behind them are not there; no basis has more components than nodes."""
    if k + 2 > problem.components:
        yield f"{factor} = {k} needs components >= {k + 2}, components = {problem.components}"
