"""The file that a user means by a path, or by the name of a table, a figure, the comparison or the claims."""

import difflib
from collections.abc import Iterable
from pathlib import Path

from graphdr.cache import paths
from graphdr.core.errors import UserError

TABLES, FIGURES = Path(paths.table("x", "parquet")).parent, Path(paths.figure("x", "parquet")).parent
PAGES = {name: paths.judged(name, "parquet") for name in ("comparison", *paths.JUDGED)}


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint at the name that is most similar to an unknown one, or nothing."""
    close = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def named() -> dict[str, str]:
    """Return the file of every name; a table wins over a figure of the same name."""
    pages = {name: path for name, path in PAGES.items() if Path(path).exists()}
    return _built(FIGURES) | _built(TABLES) | pages


def _built(folder: Path) -> dict[str, str]:
    return {path.stem: path.as_posix() for path in sorted(folder.glob("*.parquet"))}


def is_figure(name: str) -> bool:
    """Return whether a name is that of a built figure and of no built table."""
    return name in _built(FIGURES) and name not in _built(TABLES)


def table_file(name: str) -> str:
    """Return the parquet file of a table from its name or from one of its files."""
    tables = _built(TABLES)
    path = Path(name)
    stem = path.stem if path.suffix and path.parent in (TABLES, TABLES.resolve()) else name
    if stem in tables:
        return tables[stem]
    raise UserError(_not_built(name, tables, "table"))


def resolve(target: str, here: Path) -> tuple[str, bool]:
    """Return the file that is meant, relative to the project if it is inside, and whether the target was a name.

    A relative path starts at the project or, if there is no such file, at ``here``.
    """
    try:
        for place in (Path(target), here / target):
            if place.is_file():
                return _inside(place), False
            if place.is_dir() and target not in named():
                raise UserError(f"{target}: a folder; graphdr ls {target} lists it")
        if target in (files := named()):
            return files[target], True
        for place in (Path("results", target), Path("results", f"{target}.parquet")):
            if place.is_file():
                return place.as_posix(), place.parent in (TABLES, FIGURES)
    except (OSError, ValueError) as error:  # a name too long, or with a null byte
        raise UserError(f"{target[:80]!r}: cannot be a path ({error})") from None
    if "/" in target or Path(target).suffix:
        raise UserError(f"{target}: no such file{nearest(target, _files(target))}")
    raise UserError(_not_built(target, files, "table, figure or file"))


def _inside(place: Path) -> str:
    absolute, root = place.resolve(), Path.cwd().resolve()
    return (absolute.relative_to(root) if absolute.is_relative_to(root) else absolute).as_posix()


def _files(target: str) -> list[str]:
    """Return the files and folders beside a path, or in its nearest existing folder."""
    folder = next(parent for parent in Path(target).parents if parent.is_dir())
    return [path.as_posix() for path in sorted(folder.iterdir())] + list(named().values())


def _not_built(name: str, built: Iterable[str], noun: str) -> str:
    from graphdr.cli.project import load_config

    config = load_config()
    for block, path in ((config.tables, paths.table), (config.figures, paths.figure)):
        if name in block:
            return f"{name}: not built yet; run snakemake {path(name, 'parquet')}"
    names = sorted({*built, *config.tables})
    return f"no {noun} {name!r}" + (nearest(name, names) or f"; there are: {', '.join(names)}")
