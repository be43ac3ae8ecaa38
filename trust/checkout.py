"""Checkouts of the tiny configuration to try things in, calls of Snakemake there, and what they built."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graphdr.cache import io, paths
from tests.support import films, project

ROOT = Path(__file__).parent.parent
UNLIKE = {*map(paths.page, paths.PAGES)}  # they show how long each stage took
LEAVE_OUT = shutil.ignore_patterns("__pycache__")


@contextmanager
def workshop() -> Iterator[Path]:
    """Hand out a folder, removed at the end, with a copy of the package: edits made meanwhile change nothing."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: terminated"))  # which removes the folder, too
    with tempfile.TemporaryDirectory(prefix="graphdr-trust-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src" / "graphdr", folder / "package" / "graphdr", ignore=LEAVE_OUT)
        yield folder


def lay_out(folder: Path, with_films: bool = False) -> Path:
    """Lay out a checkout of the tiny configuration, with a small data set besides if asked for."""
    project.lay_out(folder)
    if with_films:
        _add_films(folder)
    return folder


def _add_films(folder: Path) -> None:
    import yaml

    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    films.add_to(config, n=24)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    raw = folder / paths.receipt("films")
    raw.parent.mkdir(parents=True)
    (raw.parent / "films.inter").write_bytes(films.ratings())


def environment(shop: Path, **changes: str) -> dict[str, str]:
    """Return an environment in which the copy of the package is used, and its kernels are compiled once."""
    kept = {name: value for name, value in os.environ.items() if name != "GRAPHDR_MIRROR"}
    own = {"PYTHONPATH": str(shop / "package"), "NUMBA_CACHE_DIR": str(shop / "compiled"), "TMPDIR": str(shop)}
    return kept | own | changes


def command(*arguments: str, cores: int = 2, python: str = sys.executable) -> list[str]:
    """Return a call of Snakemake as an argument list."""
    return [python, "-m", "snakemake", "--cores", str(cores), *arguments]


def snakemake(
    folder: Path, env: Mapping[str, str], *arguments: str, cores: int = 2, python: str = sys.executable
) -> subprocess.CompletedProcess:
    """Call Snakemake in a checkout and wait for it."""
    return subprocess.run(
        command(*arguments, cores=cores, python=python),
        cwd=folder,
        env=dict(env),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def files(folder: Path) -> list[str]:
    """Return all that was built under data/ and results/: no logs, no times, no manifest, no README."""
    readme = ("data/README.md", "results/README.md")
    apart = ("results/logs", paths.TIMES, paths.OVERRIDES, paths.MANIFEST, "data/paper", "data/sources.yaml", *readme)
    found = [path.relative_to(folder).as_posix() for top in ("data", "results") for path in (folder / top).rglob("*")]
    return sorted(name for name in found if (folder / name).is_file() and not name.startswith(apart))


def contents(folder: Path) -> dict[str, str]:
    """Return a hash of every built file: of path and data of a parquet file, of the bytes of any other."""
    return {name: content(folder, name) for name in files(folder) if name not in UNLIKE}


def content(folder: Path, name: str) -> str:
    """Return the hash of a file, computed from what is in it and not taken from its footer."""
    if name.endswith(".parquet"):
        with pq.ParquetFile(folder / name) as file:
            return io.content_hash(file.read(), name)
    return io.file_digest(str(folder / name))


def rows(folder: Path, kind: str) -> pa.Table:
    """Return the rows of all files of a folder of results/, in one order whatever the files."""
    tables = [
        pq.read_table(path).replace_schema_metadata() for path in sorted((folder / "results" / kind).rglob("*.parquet"))
    ]
    table = pa.concat_tables(tables)
    keys = [name for name in table.column_names if not pa.types.is_floating(table.schema.field(name).type)]
    return table.sort_by([(name, "ascending") for name in keys])


def last_lines(done: subprocess.CompletedProcess, count: int = 12) -> str:
    """Return the end of what a call said."""
    return "\n".join((done.stdout + done.stderr).splitlines()[-count:])
