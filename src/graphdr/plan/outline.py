"""What the page is to show, from the configuration alone: experiments, tables, data sets, and what is missing."""

from collections.abc import Collection, Iterable
from typing import Any

from graphdr.cache import manifest, paths
from graphdr.plan import words
from graphdr.plan.blocks import Claim, against
from graphdr.plan.design import Design, is_observed, problems_of
from graphdr.show.words import FACTORS

MANY = 40  # problems above which an experiment is one cloud of points and not a choice of curves
# What numbers depend on: how they are shown, and where raw files come from, left out.
SETTINGS = {"seed", "batch", "protocol", "observed", "datasets", "problems", "methods", "experiments", "evaluations"}
SYNTHETIC, OBSERVED = "Synthetic graphs", "Data sets"


def files(design: Design, batches: dict[str, str], tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the files that the page reads, by role; ``batches`` maps every batch to its data set."""
    curves: dict[str, list[str]] = {}
    measured: dict[str, dict[str, list[str]]] = {}
    built = _built(design, batches)
    for batch, dataset in batches.items():
        experiment = design.batches[batch].experiment
        measured.setdefault(experiment, {}).setdefault(dataset, []).append(paths.measurements(batch))
        if len(built[experiment]) <= MANY:
            curves.setdefault(experiment, []).append(paths.curves(batch))
    drawings = [paths.figure(name, "svg") for name in overviews(design, built)]
    return {
        "paper": paths.PAPER,
        "reasons": paths.PAPER_REASONS,
        "tables": {name: table["path"] for name, table in tables.items()},
        "curves": curves,
        "measurements": measured,
        "overview": drawings,
        "drawn": [manifest.of_drawing(path) for path in drawings],
        "datasets": {name: card(design, name, *home) for name, home in home_problems(design, batches).items()},
    }


def params(design: Design, batches: dict[str, str], tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what the page must know besides its files; ``tables`` are the parameters of every table that is built."""
    config, built = design.config, _built(design, batches)
    homes = home_problems(design, batches)
    unseen = {"datasets": "raw", "methods": "style", "experiments": "title"}  # what no number depends on
    hidden = {block: {"__all__": {key}} for block, key in unseen.items()}
    opt_in = sorted({spec.target for spec in config.experiments.values() if spec.opt_in and spec.target})
    return {
        "experiments": {name: experiment(design, name, problems) for name, problems in built.items()},
        "tables": {name: table(built, spec) for name, spec in tables.items()},
        "quantities": {name: spec for table in tables.values() for name, spec in table["quantities"].items()},
        "labels": words.labels(config) | titles(design, built),
        "datasets": {name: dataset(design, name, homes.get(name, (None,))[0]) for name in config.datasets},
        "headline": headline(design, built),
        "order": [SYNTHETIC, OBSERVED],
        "first": sorted(name for name, claim in config.claims.items() if is_about_who_wins(claim)),
        "opt_in": {name: group(design, name) for name in opt_in},
        "settings": config.model_dump(exclude_unset=True, include=SETTINGS, exclude=hidden),
        "styles": {name: method.look for name, method in config.methods.items() if method.style},
    }


def _built(design: Design, batches: Iterable[str]) -> dict[str, list[str]]:
    """Return the problems of every experiment that are built."""
    problems: dict[str, list[str]] = {}
    for batch in batches:
        problems.setdefault(design.batches[batch].experiment, []).extend(design.batches[batch].problems)
    return problems


def experiment(design: Design, name: str, built: list[str]) -> dict[str, Any]:
    """Describe an experiment: title, group, methods and, unless there are many, the problems that were built."""
    spec = design.config.experiments[name]
    observed = any(is_observed(design.config.datasets[design.problems[p]["dataset"]]) for p in design.members[name])
    return {
        "title": spec.title or words.heading(name),
        "group": group(design, spec.target) if spec.target else OBSERVED if observed else SYNTHETIC,
        "methods": spec.methods,
        "against": against(spec),
        "problems": [problem(design, key, name) for key in built] if len(built) <= MANY else None,
        "count": len(built),
    }


def problem(design: Design, name: str, experiment: str) -> dict[str, Any]:
    """Describe a problem by what its curves depend on most."""
    facts = ("dataset", "n", "k", "horizon", "seeds", "instances", "draws")
    own = design.problems[name]
    title = words.title(design.config, own, design.config.experiments[experiment])
    return {"key": name, "title": title} | {fact: own[fact] for fact in facts}


def group(design: Design, target: str) -> str:
    """Return the title of a study."""
    named = design.config.targets.get(target)
    return named.title if named else words.heading(target)


def titles(design: Design, built: dict[str, list[str]]) -> dict[str, str]:
    """Return the words for the titles of problems, which name rows, and for the problems of large experiments."""
    named: dict[str, str] = {}
    for name, problems in sorted(built.items()):
        for key in problems:
            own = design.problems[key]
            place = own["title"] if len(problems) <= MANY else key
            named[place] = words.title(design.config, own, design.config.experiments[name])
    return named


def is_about_who_wins(claim: Claim) -> bool:
    """Tell whether a claim sets the regrets of two methods against each other."""
    checks = [arguments for check in claim.checks for arguments in check.values()]
    return any({"to", "among"} & set(arguments) and "regret@" in str(arguments.get("of")) for arguments in checks)


def table(shown: Collection[str], made: dict[str, Any]) -> dict[str, Any]:
    """Describe a table and say with which of its experiments it is shown."""
    home = [name for name in made["sources"] if name in shown]
    return (
        {key: made[key] for key in ("caption", "columns", "bold", "controls")}
        | {
            "heading": FACTORS.get(made["heading"], made["heading"]),
            "rows": [[row["label"], row["problem"], row.get("method")] for row in made["row_keys"]],
            "experiment": home[-1] if home else None,
        }
        | made["compared"]
    )


def home_problems(design: Design, batches: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Choose the problem that stands for every data set, and a batch with it: the plainest, by its short name.

    ``batches`` maps every batch to its data set.
    """
    homes: dict[str, tuple[str, str]] = {}
    plainest = [(len(name), name, len(batch), batch) for batch in batches for name in design.batches[batch].problems]
    for _, name, _, batch in sorted(plainest):
        if design.problems[name]["graph"] == design.problems[name]["clean"]:
            homes.setdefault(batches[batch], (name, batch))
    return dict(sorted(homes.items()))


def dataset(design: Design, name: str, problem: str | None) -> dict[str, Any]:
    """Describe a data set: what it is called, on what terms it comes, and its problem with k."""
    block = design.config.datasets[name]
    raw = block.raw.plain() if block.raw else {}
    factors = {FACTORS.get(key, key): value for key, value in block.factors.items() if key != "family"}
    return {
        "label": block.label or name,
        "observed": is_observed(block),
        "parameters": factors,
        "problem": problem,
        "k": design.problems[problem]["k"] if problem else None,
    } | {key: raw[key] for key in ("licence", "citation", "page", "terms") if key in raw}


def card(design: Design, name: str, problem: str, batch: str) -> dict[str, str]:
    """Return the files behind the card of a data set: graph, basis, rewards and, if there are any, titles."""
    graph = design.problems[problem]["graph"]
    files = {"nodes": paths.nodes(graph), "edges": paths.edges(graph), "basis": paths.basis(graph, "laplacian_low")}
    titles = {"titles": paths.dataset_nodes(name)} if is_observed(design.config.datasets[name]) else {}
    return files | {"theta": paths.theta(batch)} | titles


def overviews(design: Design, shown: Collection[str]) -> list[str]:
    """Return the figure that shows the pipeline, if there is one and its experiment is built."""
    drawn = sorted(name for name, spec in design.config.figures.items() if spec.kind == "overview")
    return [name for name in drawn if design.config.figures[name].experiments[0] in shown][:1]


def headline(design: Design, shown: Collection[str]) -> dict[str, Any] | None:
    """Choose the problem of the overview picture for the numbers at the top."""
    for name in overviews(design, shown):
        spec = design.config.figures[name]
        experiment = spec.experiments[0]
        played = {"experiment": experiment, "against": against(design.config.experiments[experiment])}
        return played | {"problem": problem(design, problems_of(design, spec)[0], experiment)}
    return None
