"""The project that a command is about: its folder, its configuration, and what every job of it would be today."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path

import yaml

from graphdr.cache import paths
from graphdr.core.errors import UserError

CONFIG = "config.yaml"
MARKERS = (CONFIG, "Snakefile")  # what is in the folder of a project

# What each stage with wildcards writes; a stage without any has one job, whatever it writes.
OUTPUTS: dict[str, list[Callable[..., str]]] = {
    "fetch_raw": [paths.receipt],
    "tabulate_dataset": [paths.dataset_nodes, paths.dataset_links],
    "build_graph": [paths.nodes, paths.edges],
    "compute_basis": [paths.basis],
    "pose_problem": [paths.theta],
    "describe_problem": [paths.facts, paths.pilots],
    "run_bandit": [paths.runs],
    "measure_batch": [paths.measurements, paths.curves],
    "evaluate_predictors": [paths.evaluation],
    "make_table": [partial(paths.table, suffix=suffix) for suffix in paths.TABLE_FORMATS],
    "make_figure": [partial(paths.figure, suffix=suffix) for suffix in paths.FIGURE_FORMATS],
}


def check_root(root: Path) -> Path:
    """Return the folder if it is that of a project."""
    if not root.is_dir():
        raise UserError(f"{root}: no such folder")
    if missing := [name for name in MARKERS if not (root / name).is_file()]:
        raise UserError(
            f"{root}: not the folder of a project (no {' and no '.join(missing)}); go there, or give --root PATH"
        )
    return root


def stages() -> list[str]:
    """Return all stages, in order of execution, those without wildcards last."""
    folder = Path(__file__).parent.parent / "stages"
    found = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return [*(stage for stage in OUTPUTS if stage in found), *sorted(found - set(OUTPUTS))]


def load_config(path: str = CONFIG) -> dict:
    """Read and check a configuration."""
    from graphdr.plan.config import check, typed

    try:
        text = Path(path).read_text(encoding="utf-8")
        config = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{path}: cannot be read ({' '.join(str(error).split())})") from None
    try:
        config = typed(config)
        check(config)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    return config


class Plan:
    """What every job would read and be told today, by the file that it writes or, where there is one job, by stage."""

    def __init__(self, config: dict) -> None:
        from graphdr.plan import design, jobs
        from graphdr.raw import fetch

        self._design = design.expand(config, fetch.missing_datasets(config))
        self._jobs = {name: job for name in stages() if (job := getattr(jobs, name, None))}
        self._keys = {
            path(**key): (stage, key)
            for stage, places in OUTPUTS.items()
            if stage in self._jobs
            for key in self.wildcards(stage)
            for path in places
        }

    def job(self, stage: str, path: str):
        """Return the job of a stage that writes a file, or None if the present configuration has no such job."""
        if stage not in OUTPUTS:
            return self._job(stage)
        expected, key = self._keys.get(path, (None, {}))
        return self._job(stage, **key) if expected == stage else None

    @cache  # noqa: B019 - a plan lives as long as the process
    def _job(self, stage: str, **key: str):
        return self._jobs[stage](self._design, **key) if stage in self._jobs else None

    def wildcards(self, stage: str) -> Iterator[dict[str, str]]:
        """Yield the wildcards of every job of a stage, whose names are those of its function's arguments."""
        design = self._design
        names = tuple(inspect.signature(self._jobs[stage]).parameters)[1:]
        if names == ("graph", "basis"):
            values = list(design.bases)
        elif names == ("batch", "method"):
            experiments = design.config["experiments"]
            methods = {name: experiments[batch["experiment"]]["methods"] for name, batch in design.batches.items()}
            values = [pair for name in methods for pair in product([name], methods[name])]
        else:
            values = [(value,) for value in _values(design, *names)]
        return (dict(zip(names, value, strict=True)) for value in values)


def _values(design, name: str) -> list[str]:
    if name == "dataset":
        return [dataset for dataset, block in design.config["datasets"].items() if "raw" in block]
    blocks = {"graph": design.graphs, "batch": design.batches}
    return list(blocks[name] if name in blocks else design.config[f"{name}s"])
