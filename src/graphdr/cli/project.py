"""The project of a command: its folder, its configuration, its jobs, and the files that a user means by a name."""

import difflib
import os.path
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphdr.cache import paths
from graphdr.core.errors import UserError

if TYPE_CHECKING:
    from graphdr.plan.blocks import Config
    from graphdr.plan.job import Job

MARKERS = {"config.yaml": paths.CONFIGS, "Snakefile": ("Snakefile", "workflow/Snakefile")}  # files and their places
TABLES, FIGURES = Path(paths.table("x", "parquet")).parent, Path(paths.figure("x", "parquet")).parent
PAGES = ("comparison", *paths.JUDGED)


def missing(folder: Path) -> list[str]:
    """Return the files of a project that a folder lacks: none in a checkout or where something was built."""
    if (folder / paths.MANIFEST).is_dir():
        return []
    return [name for name, places in MARKERS.items() if not any((folder / place).exists() for place in places)]


def load_config() -> "Config":
    """Read and check the configuration, including options of the last build."""
    from graphdr.plan import config

    return config.load(Path(paths.config()), Path(), config.recall())


def planned_jobs() -> "dict[str, Callable[[], Job]]":
    """Return what makes the job of every file of the present configuration, by the path of the file."""
    from graphdr.plan import design, jobs
    from graphdr.raw import fetch

    settings = load_config()
    planned: dict[str, Callable[[], Job]] = {}
    expanded = design.expand(settings, fetch.missing_datasets(settings.plain()))
    for stage, make in jobs.JOBS.items():
        for key in jobs.keys(expanded, stage):
            job = cache(partial(make, expanded, **key))
            planned |= {path.format(**key): job for path in jobs.outputs(stage).values()}
    return planned


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint at the name that is most similar to an unknown one, or nothing."""
    close = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def resolve(target: str, here: Path) -> tuple[str, bool]:
    """Return the file that a path or name means, relative to the project if it is inside, and whether it was a name.

    A relative path starts at the project or, if there is no such file, at ``here``. A table wins over a figure of the
    same name.
    """
    for path in (Path(target), here / target):
        if os.path.isfile(path):  # unlike Path.is_file, also of a name that is too long
            absolute, root = path.resolve(), Path.cwd().resolve()
            return (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix(), False
    built = {path.stem: path.as_posix() for folder in (FIGURES, TABLES) for path in sorted(folder.glob("*.parquet"))}
    built |= {name: page for name in PAGES if os.path.isfile(page := paths.judged(name, "parquet"))}
    if target in built:
        return built[target], True
    for path in (Path("results", target), Path("results", f"{target}.parquet")):
        if os.path.isfile(path):
            return path.as_posix(), path.parent in (TABLES, FIGURES)
    if os.path.isdir(target):
        raise UserError(f"{target}: a folder; graphdr ls {target} lists it")
    if "/" in target or Path(target).suffix:
        folder = next(parent for parent in Path(target).parents if os.path.isdir(parent))
        siblings = [path.as_posix() for path in sorted(folder.iterdir())]
        raise UserError(f"{target}: no such file{nearest(target, [*siblings, *built])}")
    config = load_config()
    for block, place in ((config.tables, paths.table), (config.figures, paths.figure)):
        if target in block:
            raise UserError(f"{target}: not built yet; run snakemake {place(target, 'parquet')}")
    names = sorted({*built, *config.tables})
    hint = nearest(target, names) or f"; there are: {', '.join(names)}"
    raise UserError(f"no table, figure or file {target!r}{hint}")
