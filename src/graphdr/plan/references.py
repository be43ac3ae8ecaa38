"""Check every name in the configuration against what it refers to, and factors against each other."""

from collections.abc import Callable, Collection, Mapping
from itertools import product
from typing import Any

from graphdr.bandit.contexts import BUNDLES, CHOSEN, CONTEXTS
from graphdr.bandit.environment import CANDIDATES
from graphdr.bandit.methods import GRAPH, GRAPH_PRIORS, NOTHING, POLICIES, on_graph, over_grid
from graphdr.bandit.pilot_sources import PREFIX, SOURCES
from graphdr.bandit.pool import NODE
from graphdr.bandit.radii import A_PRIORI, CONSTANT, RADII, SPECTRAL, facts_behind, of_theorem
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.core.errors import UserError, no_such
from graphdr.facts.registry import FACT_BASES, FACTORS, FACTS
from graphdr.graphs import from_data
from graphdr.graphs.arm_features import ADAPTIVE, IDENTITY, NESTED, k_fact
from graphdr.graphs.bases import BASES, FROM_DATA, stored
from graphdr.graphs.filters import CUT, FILTERS
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.graphs.raters import SPLIT
from graphdr.graphs.segments import SEGMENTATIONS
from graphdr.paper.predicates import check_arguments
from graphdr.plan import blocks
from graphdr.plan.settings import OWN, knobs
from graphdr.raw.formats import formats
from graphdr.scores import cells
from graphdr.scores.measure import MEASURES
from graphdr.scores.predictor_scores import SCORES
from graphdr.show.kinds import KINDS

Places = dict[str, tuple[str, Collection[str]]]  # the kind of name that stands there, and its choices
NO_FILE = "none"  # of the factor `given`: no file with columns
SPACE = ("basis", "beside")  # what describes the arms of a method
PRIOR = ("filter", "rho", "alpha", "ridge", "in_noise")  # knobs of a method whose model is not found while playing
RING = "ring"  # of segments of a random graph, which has no users
TARGETS = {"all", "synthetic", "headline", "fetch", "paper"}  # of the Snakefile


def check(config: blocks.Config) -> None:
    """Raise a UserError that names the place and the valid choices for the first mistake."""
    experiments, datasets = ("experiment", config.experiments), ("dataset", config.datasets)
    drawn: Places = {"experiment": experiments, "evaluation": ("evaluation", config.evaluations)}
    references: dict[str, Places] = {
        "datasets": {},
        "problems": {"dataset": datasets},
        "methods": {},
        "experiments": {
            "methods": ("method", config.methods),
            "facts": ("fact", FACTS),
            "stands_for": experiments,
        },
        "evaluations": {"experiments": experiments, "scores": ("score", SCORES), "target": ("measure", MEASURES)},
        "tables": {"rows": ("factor", [*blocks.KINDS, "method", "player", "label", "title"]), **drawn},
        "figures": {"kind": ("kind of figure", KINDS), **drawn},
        "claims": {"dataset": datasets, **drawn},
        "pseudo_papers": {"control": experiments, "others": experiments},
    }
    for block, places in references.items():
        for name, entry in getattr(config, block).items():
            where = f"{block}.{name}"
            if isinstance(entry, blocks.Shown) and bool(entry.experiment) == bool(entry.evaluation):
                raise UserError(f"{where}: either an experiment or an evaluation is needed")
            for place, (kind, choices) in places.items():
                pick(f"{where}.{place}", kind, getattr(entry, place), choices)
            if block in CHECKS:
                CHECKS[block](config, where, entry)


def pick(where: str, kind: str, names: str | Collection[str] | None, choices: Collection[str]) -> None:
    """Raise a UserError with the valid choices for the first name that is not among them."""
    for name in [names] if isinstance(names, str) else names or ():
        if name not in choices:
            raise no_such(where, kind, name, choices)


def _dataset(config: blocks.Config, where: str, entry: blocks.Dataset) -> None:
    kind, families = ("observed", from_data.FAMILIES) if entry.raw else ("random", FAMILIES)
    pick(f"{where}.family", f"family of {kind} graphs", entry.family, families)
    if entry.raw and where.removeprefix("datasets.") in TARGETS:
        raise UserError(f"{where}: a data set with raw files is a target of its own; {sorted(TARGETS)} are taken")
    for place, source in enumerate(entry.raw.sources if entry.raw else ()):
        here = f"{where}.raw.sources.{place}"
        pick(f"{here}.format", "format", source.format, formats())
        if source.archives and (source.archive or source.wheel or source.members):
            raise UserError(f"{here}: either archives, or one archive or wheel with members, is needed")
        places = {f"{here}.archives.{number}": archive for number, archive in enumerate(source.archives or ())}
        for there, archive in (places or {here: source}).items():
            if not ((archive.archive or archive.wheel) and archive.members):
                raise UserError(f"{there}: an archive or a wheel, and its members, are needed")


def _method(config: blocks.Config, where: str, entry: blocks.Method) -> None:
    policy = POLICIES[entry.policy]
    if policy.space == NOTHING:
        if extra := entry.model_fields_set & {*SPACE, "filter", "rho", "laplacian", "radius", "k", "in_noise"}:
            raise UserError(f"{where}.{min(extra)}: the {entry.policy} policy takes no basis, k, penalty or radius")
        return
    if policy.space == GRAPH:
        if extra := entry.model_fields_set & {*SPACE, "filter", "rho", "radius", "k", "ridge"}:
            raise UserError(
                f"{where}.{min(extra)}: the policy {entry.policy!r} plays on the graph itself; leave it out"
            )
        if bool(entry.laplacian) != policy.penalty:
            needed = "a weight of its Laplacian above 0" if policy.penalty else "no penalty"
            raise UserError(f"{where}.laplacian: the policy {entry.policy!r} takes {needed}")
        return
    _filter(where, entry)
    pick(f"{where}.basis", "basis", entry.basis if "basis" in entry.model_fields_set else "", [*BASES, IDENTITY])
    if entry.beside:
        _beside(where, entry)
    if entry.basis == IDENTITY and entry.k is not None:
        raise UserError(f"{where}.k: the basis {IDENTITY!r} has no dimension to choose")
    if over_grid(entry.policy, entry.k):
        pick(f"{where}.basis", "basis whose columns are the same for every k", entry.basis, NESTED)
        if entry.laplacian and entry.k == ADAPTIVE:
            raise UserError(f"{where}.laplacian: a method with an adaptive k takes no penalty")
    penalised = entry.laplacian and not policy.penalty
    if entry.policy != "linucb" and (entry.basis == IDENTITY or penalised or entry.k == ADAPTIVE):
        nor = "no adaptive k" if policy.penalty else "neither penalty nor adaptive k"
        raise UserError(f"{where}.policy: {entry.policy!r} needs a basis, and {nor}")
    if "k_grid" in policy.factors and entry.k is not None:
        raise UserError(f"{where}.k: the policy {entry.policy!r} plays with every k of k_grid; leave it out")
    if entry.policy in GRAPH_PRIORS and (extra := entry.model_fields_set & {"radius", "k", *PRIOR}):
        raise UserError(f"{where}.{min(extra)}: the policy {entry.policy!r} finds all weights by itself; leave it out")
    pick(f"{where}.radius", "radius", entry.radius, RADII)
    if entry.policy != "linucb" and entry.radius != CONSTANT:
        raise UserError(f"{where}.radius: the policy {entry.policy!r} has no radius; leave it out")
    plain = entry.basis == "laplacian_low" and not entry.laplacian and entry.k is None
    plain &= entry.filter == CUT and not entry.in_noise
    if of_theorem(entry.radius) and not plain:
        needed = "the basis 'laplacian_low' without filter, penalty, own k or in_noise"
        raise UserError(f"{where}.radius: {entry.radius!r} needs {needed}")
    if entry.radius == SPECTRAL and (entry.filter != CUT or entry.in_noise):
        raise UserError(
            f"{where}.radius: {entry.radius!r} is told the eigenvalues by a penalty; leave filter and in_noise out"
        )


def _beside(where: str, entry: blocks.Method) -> None:
    if entry.policy not in GRAPH_PRIORS:
        can = " and ".join(map(repr, GRAPH_PRIORS))
        raise UserError(f"{where}.beside: the policy {entry.policy!r} takes one basis; {can} take a second")
    pick(f"{where}.beside", "basis", entry.beside, BASES)
    if entry.beside == entry.basis:
        raise UserError(f"{where}.beside: {entry.beside!r} is the first basis already; leave it out")


def _filter(where: str, entry: blocks.Method) -> None:
    pick(f"{where}.filter", "filter", entry.filter, FILTERS)
    if entry.filter == CUT and "rho" in entry.model_fields_set:
        raise UserError(f"{where}.rho: the filter {CUT!r} has no strength; there are: {', '.join(FILTERS)}")
    if entry.filter != CUT and entry.basis == IDENTITY:
        advice = "take `laplacian: rho * ridge`, which is the filter 'smooth', or another basis"
        raise UserError(f"{where}.filter: the basis {IDENTITY!r} has no columns to weigh; {advice}")


def _experiment(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    pick(f"{where}.problems.of", "problem", entry.problems.of, config.problems)
    pick(f"{where}.against", "method of this experiment", blocks.against(entry), entry.methods)
    datasets = [config.datasets[config.problems[problem].dataset] for problem in entry.problems.of]
    bases = {name: config.methods[name].basis for name in entry.methods} | FACT_BASES
    for name in [*entry.methods, *entry.facts]:
        if stored(bases.get(name, "")) in FROM_DATA - {"given"} and not all(dataset.raw for dataset in datasets):
            raise UserError(f"{where}: {name!r} needs {bases[name]!r}, which a random graph does not have")
    if entry.target in TARGETS | set(config.datasets):
        raise UserError(f"{where}.target: {entry.target!r} is a target already")
    if entry.opt_in and not entry.target:
        raise UserError(f"{where}.target: an experiment that is opt_in needs a target that builds it")
    if entry.stands_for and not (entry.settings and config.horizons):
        needed = "settings, and horizons at the top level, are needed to judge claims again"
        raise UserError(f"{where}.stands_for: {needed}")
    for name in entry.stands_for:
        varied = config.experiments[name].problems.vary.plain()
        if both := sorted(set(varied) & set(entry.settings.plain())):
            raise UserError(f"{where}.settings.{both[0]}: {name!r}, which it stands for, varies it by itself")
    if entry.problems.set.factors.get("tuned", OWN) != OWN:
        _tuned(config, where, entry)
    for name in entry.methods:
        chosen = k_fact(config.methods[name].k)
        if chosen and chosen not in entry.facts:
            raise UserError(f"{where}.facts: method {name!r} takes its k from {chosen!r}; add it to the facts")
        if lacking := sorted(set(facts_behind(config.methods[name].radius)) - set(entry.facts)):
            raise UserError(f"{where}.facts: the radius of {name!r} needs {lacking[0]!r}; add it to the facts")


def _tuned(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    """Check that the study that settings are taken from has them for every method on every data set."""
    own = config.protocol.factors | entry.problems.set.factors
    target, components = own["tuned"], own["components"]
    grids = [spec for spec in config.experiments.values() if spec.target == target and spec.settings]
    pick(
        f"{where}.problems.set.tuned",
        "study of settings",
        target,
        [spec.target for spec in config.experiments.values() if spec.settings],
    )
    for method, problem in product([name for name in entry.methods if knobs(config.methods[name])], entry.problems.of):
        dataset = config.problems[problem].dataset
        tried = [
            g for g in grids if method in g.methods and dataset in {config.problems[p].dataset for p in g.problems.of}
        ]
        if not tried:
            raise UserError(f"{where}.problems.set.tuned: {target!r} tries no setting of {method!r} on {dataset!r}")
        most = max([*(tried[-1].settings.k or []), 0]) if "k" in knobs(config.methods[method]) else 0
        if most + 2 > components:
            raise UserError(f"{where}.problems.set: k = {most} of {target!r} needs components >= {most + 2}")


def _evaluation(config: blocks.Config, where: str, entry: blocks.Evaluation) -> None:
    if not entry.predictors and not entry.joint:
        raise UserError(f"{where}: predictors, or joint ones, are needed")
    for name in entry.experiments:
        experiment = config.experiments[name]
        pick(f"{where}.method", f"method of {name}", entry.method, experiment.methods)
        pick(f"{where}.means", f"fact of {name}", entry.means, experiment.facts)
        joint = {f"joint.{predictor}": parts for predictor, parts in entry.joint.items()}
        for place, parts in ({"predictors": entry.predictors} | joint).items():
            pick(f"{where}.{place}", f"fact or measure of {name}", parts, [*experiment.facts, *MEASURES])


def _table(config: blocks.Config, where: str, entry: blocks.Table) -> None:
    evaluations = [config.evaluations[name] for name in entry.evaluations]
    experiments = [config.experiments[name] for name in entry.experiments]
    quantities = ["mean"] if evaluations else [*MEASURES]
    quantities += [name for spec in evaluations for name in spec.scores]
    quantities += [name for spec in experiments for name in spec.facts]
    keys = [method for spec in experiments for method in spec.methods]
    pick(f"{where}.methods", "method there", entry.methods if experiments else (), keys)
    for spec in evaluations:
        means = [f"{fact}_{dataset}" for fact in spec.means for dataset in config.datasets]
        keys += [*spec.predictors, *spec.joint, *means]
    for column, text in cells.named(entry.columns):
        place = f"{where}.columns.{column}"
        cell = cells.parse(place, text)
        pick(place, "quantity measured there", cell.quantity, quantities)
        pick(place, "quantity", cell.quantity, config.quantities)
        pick(place, "method or predictor there", cell.key, keys)


def _figure(config: blocks.Config, where: str, entry: blocks.Figure) -> None:
    if entry.evaluation:
        raise UserError(f"{where}.evaluation: a figure shows an experiment")
    experiments = [config.experiments[name] for name in entry.experiments]
    if len(experiments) > 1 and entry.kind not in ("dots", "widths", "specifications", "leaderboard"):
        raise UserError(f"{where}.experiment: a figure of kind {entry.kind!r} shows one experiment")
    methods = [method for experiment in experiments for method in experiment.methods]
    pick(f"{where}.methods", "method of this experiment", entry.methods, methods)
    for experiment in experiments if entry.kind in ("sweep", "widths") else ():
        pick(f"{where}.x", "varied factor", entry.x or "", experiment.problems.vary.plain())
    if entry.kind == "specifications":
        pick(f"{where}.claim", "claim", entry.claim or "", config.claims)


def _claim(config: blocks.Config, where: str, entry: blocks.Claim) -> None:
    pick(f"{where}.except", "dataset", entry.exceptions, config.datasets)
    if entry.exceptions and not entry.each:
        raise UserError(f"{where}.except: only a claim on each data set by itself has exceptions")
    criteria = {"checks": entry.checks} | {f"beside.{label}": checks for label, checks in entry.beside.items()}
    for place, checks in criteria.items():
        for predicate, arguments in ((name, check[name]) for check in checks for name in check):
            check_arguments(f"{where}.{place}", predicate, arguments)


def _pseudo_papers(config: blocks.Config, where: str, entry: blocks.PseudoPapers) -> None:
    pick(where, "table", where.removeprefix("pseudo_papers."), config.tables)
    wanted = config.experiments[entry.control].methods
    pick(f"{where}.stand_ins", "method of the control", entry.stand_ins.values(), wanted)
    for name in entry.others:
        played = [entry.stand_ins.get(method, method) for method in config.experiments[name].methods]
        pick(f"{where}.others", f"method of {name}", wanted, played)


# What a block's entries must hold besides their references.
CHECKS: dict[str, Callable[[blocks.Config, str, Any], None]] = {
    "datasets": _dataset, "methods": _method, "experiments": _experiment, "evaluations": _evaluation,
    "tables": _table, "figures": _figure, "claims": _claim, "pseudo_papers": _pseudo_papers,
}  # fmt: skip


def check_problem(where: str, problem: Mapping[str, Any]) -> None:
    """Check the factors of one expanded problem against each other."""
    pick(where, "candidate construction", problem["candidates"], CANDIDATES)
    if problem["family"] in FAMILIES and problem["reward"] not in PLANTED:
        raise UserError(f"{where}: reward = {problem['reward']!r} comes from data, and a random graph has none")
    if problem["k_min"] > problem["k_max"]:
        raise UserError(f"{where}: k_min = {problem['k_min']} is above k_max = {problem['k_max']}")
    if problem["family"] in FAMILIES and problem["n"] == from_data.ALL:
        raise UserError(f"{where}: n = {from_data.ALL!r} takes all nodes of a data set, and a random graph has no data")
    n = from_data.most(problem["n"])
    for factor in ("k", "k_star", "k_max"):
        _check_fits(where, factor, problem[factor], problem)
    for factor, noun in (("arms", " candidates per round"), ("components", "")):
        if problem[factor] > n:
            raise UserError(f"{where}: {factor} = {problem[factor]}{noun} are more than n = {n} nodes")
    _check_contexts(where, problem, n)
    _check_raters(where, problem)
    horizon, checkpoint = problem["horizon"], problem["checkpoint"]
    if horizon % checkpoint:
        raise UserError(f"{where}: horizon = {horizon} is not a multiple of checkpoint = {checkpoint}")


def _check_contexts(where: str, problem: Mapping[str, Any], n: float) -> None:
    """Check what the arms of a problem are, on a graph of n items."""
    pick(f"{where}: context", "kind of context", problem["context"], CONTEXTS)
    pick(f"{where}: bundled", "way to bundle", problem["bundled"], BUNDLES)
    pick(f"{where}: pilot_from", "source of a pilot", problem["pilot_from"], SOURCES)
    random, segments = problem["family"] in FAMILIES, problem["segments"]
    pick(f"{where}: segmented", "segmentation", problem["segmented"], [RING] if random else [RING, *SEGMENTATIONS])
    if problem["context"] != NODE and problem["candidates"] != "uniform":
        raise UserError(f"{where}: candidates = {problem['candidates']!r} are nodes; contexts are offered 'uniform'")
    if problem["context"] == "bundle":
        if random and problem["bundled"] == CHOSEN:
            raise UserError(f"{where}: bundled = {CHOSEN!r} needs users, and a random graph has none")
        if problem["bundle"] > n or problem["arms"] > problem["pool"]:
            raise UserError(f"{where}: bundle needs at most n = {n} nodes, and arms at most pool = {problem['pool']}")
    if segments > 1:
        if problem["context"] != "segment":
            raise UserError(f"{where}: segments = {segments} needs context = 'segment', not {problem['context']!r}")
        if not random and problem["segmented"] == RING:
            raise UserError(
                f"{where}: segmented = {RING!r} is for random graphs; there are: {', '.join(SEGMENTATIONS)}"
            )
        if problem["tail"]:
            raise UserError(f"{where}: tail = {problem['tail']} is not drawn for segments; leave one of both out")


def _check_raters(where: str, problem: Mapping[str, Any]) -> None:
    """Check that there are ratings where users are split or rewards drawn from what they gave."""
    for factor, value in (("users", SPLIT), ("noise", RESAMPLED)):
        if problem[factor] == value and (problem["family"], problem["reward"]) != (from_data.knn.__name__, "mean"):
            there = f"family = {problem['family']!r} with reward = {problem['reward']!r} has none"
            raise UserError(f"{where}: {factor} = {value!r} needs ratings by users, and {there}")
        if problem[factor] == value and problem["context"] != NODE:
            raise UserError(f"{where}: {factor} = {value!r} needs context = {NODE!r}, not {problem['context']!r}")


def check_facts(where: str, facts: Collection[str], problem: Mapping[str, Any]) -> None:
    """Check that facts about the noise have a number to start from."""
    for fact in facts:
        if problem["noise"] == RESAMPLED and "noise" in FACTORS.get(fact, ()):
            raise UserError(f"{where}: {fact!r} needs a number for the noise, not {RESAMPLED!r}; leave one of both out")


def check_method(where: str, method: blocks.Method, problem: Mapping[str, Any]) -> None:
    """Check that a method with dimensions of its own, a known error of its pilot, or nodes as arms fits a problem."""
    if method.radius == A_PRIORI and (problem["context"], problem["pilot_from"]) != (NODE, PREFIX):
        means = f"context = {NODE!r} and pilot_from = {PREFIX!r}"
        raise UserError(f"{where}: the radius {A_PRIORI!r} knows the error of means of nodes alone; it needs {means}")
    if problem["given"] == NO_FILE and (own := [basis for basis in method.bases if stored(basis) == "given"]):
        needed = "a parquet file with a column 'node' and columns of numbers"
        raise UserError(f"{where}: the basis {min(own)!r} needs the factor 'given', {needed}")
    if method.in_noise and not problem["noise"]:
        raise UserError(f"{where}: in_noise measures width and ridge in noise, and there is none; leave it out")
    if on_graph(method.policy) and problem["context"] == "bundle":
        raise UserError(f"{where}: the arms of {method.policy!r} are nodes of the graph, not bundles of them")
    if problem["noise"] == RESAMPLED and facts_behind(method.radius):
        raise UserError(f"{where}: the radius {method.radius!r} needs a number for the noise, not {RESAMPLED!r}")
    if over_grid(method.policy, method.k):
        if "k_grid" not in problem:
            raise UserError(f"{where}: factor 'k_grid' has no value, and an adaptive k is one of it")
        _check_fits(where, "k_grid", max(problem["k_grid"]), problem)
    elif isinstance(method.k, int):
        _check_fits(where, "k", method.k, problem)


def _check_fits(where: str, factor: str, k: int, problem: Mapping[str, Any]) -> None:
    """Check that u_2..u_{k+1} and the gap behind them are there."""
    if k + 2 > from_data.most(problem["n"]):
        raise UserError(f"{where}: {factor} = {k} needs a graph of {k + 2} nodes, n = {problem['n']}")
    if k + 2 > problem["components"]:
        raise UserError(f"{where}: {factor} = {k} needs components >= {k + 2}, components = {problem['components']}")
