"""What the page is to show, from the configuration alone: experiments, tables, data sets, and what is missing."""

from collections.abc import Collection, Iterable
from typing import Any

from graphdr.cache import paths
from graphdr.plan.blocks import Table, against
from graphdr.plan.design import Design, is_observed, problems_of

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
    return {
        "paper": paths.PAPER,
        "tables": {name: table["path"] for name, table in tables.items()},
        "curves": curves,
        "measurements": measured,
        "overview": [paths.figure(name, "svg") for name in overviews(design, built)],
        "datasets": {name: card(design, name, *home) for name, home in home_problems(design, batches).items()},
    }


def params(design: Design, batches: dict[str, str], tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what the page must know besides its files; ``tables`` are the parameters of every table that is built."""
    config, built = design.config, _built(design, batches)
    homes = home_problems(design, batches)
    hidden = {"datasets": {"__all__": {"raw"}}, "methods": {"__all__": {"style"}}}
    return {
        "experiments": {name: experiment(design, name, problems) for name, problems in built.items()},
        "tables": {name: table(design, config.tables[name], built, spec) for name, spec in tables.items()},
        "quantities": {name: spec for table in tables.values() for name, spec in table["quantities"].items()},
        "datasets": {name: dataset(design, name, homes.get(name, (None,))[0]) for name in config.datasets},
        "headline": headline(design, built),
        "order": [SYNTHETIC, OBSERVED],
        "opt_in": sorted({spec.target for spec in config.experiments.values() if spec.opt_in}),
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
        "title": title(design, name),
        "group": title(design, spec.target) if spec.target else OBSERVED if observed else SYNTHETIC,
        "methods": spec.methods,
        "against": against(spec),
        "problems": [problem(design, key) for key in built] if len(built) <= MANY else None,
        "count": len(built),
    }


def problem(design: Design, name: str) -> dict[str, Any]:
    """Describe a problem by what its curves depend on most."""
    facts = ("title", "dataset", "n", "k", "horizon", "seeds", "instances", "draws")
    return {"key": name} | {fact: design.problems[name][fact] for fact in facts}


def title(design: Design, name: str) -> str:
    """Turn the name of a block into a heading: a data set by its label, the rest in words."""
    for dataset, block in sorted(design.config.datasets.items(), key=lambda item: -len(item[0])):
        if name == dataset or name.startswith(f"{dataset}_"):
            return (block.label or dataset) + name.removeprefix(dataset).replace("_", " ")
    words = name.replace("_", " ")
    return words if words[1:2] == " " else words[:1].upper() + words[1:]


def table(design: Design, spec: Table, shown: Collection[str], made: dict[str, Any]) -> dict[str, Any]:
    """Describe a table and say with which of its experiments, and with which problem of it alone, it is shown."""
    sources = made["sources"]
    home = [name for name in sources if name in shown]
    one = problems_of(design, spec) if spec.experiment and len(sources) == 1 else []
    return (
        {key: made[key] for key in ("caption", "heading", "columns", "bold", "controls")}
        | {
            "rows": [[row["label"], row["problem"], row.get("method")] for row in made["row_keys"]],
            "experiment": home[-1] if home else None,
            "problem": one[0] if len(one) == 1 and len(design.members[sources[0]]) > 1 else None,
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
    return {
        "label": block.label or name,
        "observed": is_observed(block),
        "parameters": block.factors,
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
        return played | {"problem": problem(design, problems_of(design, spec)[0])}
    return None
